// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/buildtest"
)

// largest is how large pnagent may be, built with the tag slim, as make build does, in bytes.
const largest = 30_000_000

// The two programs of a release: one without the parts that most processes do not need, and the
// one with all, which the first runs for what it does not have.
func TestASmallProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slim := filepath.Join(dir, "pnagent")
	if err := buildtest.Build(t.Context(), ".", slim, "github.com/pnagent/pnagent/cmd/pnagent", "-tags", "slim", "-ldflags=-s -w"); err != nil {
		t.Fatal(err)
	}
	t.Run("is small", func(t *testing.T) {
		info, err := os.Stat(slim)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > largest {
			t.Errorf("%d bytes; want at most %d: docs/dependencies.md has what each part takes", info.Size(), largest)
		}
	})
	t.Run("is replaced by the full one", func(t *testing.T) { replaced(t, slim) })
	full := filepath.Join(dir, "pnagent-full")
	if err := os.Symlink(kit.Built().Pnagent, full); err != nil {
		t.Fatal(err)
	}
	t.Run("has the commands of the full one", func(t *testing.T) {
		for _, args := range []string{"--help", "demo --help", "attach sql --help", "attach temporal", "attach lines --help", "report --since 1s", "top --show nothing",
			"dashboards --help", "integrations nothing", "integrations", "completion bash", "completion fish", "attach sql --list", "attach scrape --print rabbitmq", "attach sql --print nothing",
			"attach lines nothing.pnml", "check nothing.pnml", "check --explore x", "convert nothing.pnml", "version"} {
			got, want := kit.Tool(t, nil, slim, strings.Fields(args)...), kit.Tool(t, nil, full, strings.Fields(args)...)
			got.CPU, want.CPU = 0, 0
			if d := cmp.Diff(want, got); d != "" || got.Out+got.Err == "" {
				t.Errorf("%s: the full program and the small one differ:\n%s", args, d)
			}
		}
	})
	t.Run("runs the demo", func(t *testing.T) {
		r := kit.Tool(t, nil, slim, "demo", "--for", "1s", "--http", "127.0.0.1:0", "--snmp", "127.0.0.1:0")
		if r.Code != 0 || !strings.HasPrefix(r.Out, "pnagent demo: two engines") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("does not run another version", func(t *testing.T) {
		r := kit.Tool(t, []string{"PNAGENT_SLIM_VERSION=another"}, full, "demo")
		if r.Code != 1 || !strings.Contains(r.Err, "was run by pnagent another; install both of one release") {
			t.Errorf("%+v", r)
		}
	})
}

// replaced tests that pnagent-full, wherever it is, gets the process, its arguments and its
// environment. The small one is at path.
func replaced(t *testing.T, path string) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bin, linked := filepath.Join(root, "bin"), filepath.Join(root, "linked")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, filepath.Join(bin, "pnagent")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(bin, "pnagent"), linked); err != nil {
		t.Fatal(err)
	}
	const args = `demo|--for|1s|--http|a b`
	for _, c := range []struct{ where, in string }{{"nowhere", ""}, {"PATH", "other"}, {"libexec", "libexec/pnagent"}, {"beside it", "bin"}} {
		path := filepath.Join(root, c.in, "pnagent-full")
		if c.in != "" {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			script := "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$*\" \"$#\" \"$MINE\" \"$$\"\nexit 42\n"
			if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
				t.Fatal(err)
			}
		}
		// The shell's process becomes that of pnagent, and then that of pnagent-full.
		env := []string{"PATH=" + filepath.Join(root, "other") + ":/bin:/usr/bin", "MINE=1"}
		r := kit.Tool(t, env, "/bin/sh", append([]string{"-c", `echo $$; exec "$@"`, "sh", linked}, strings.Split(args, "|")...)...)
		pid, rest, _ := strings.Cut(r.Out, "\n")
		if c.in == "" {
			want := fmt.Sprintf("pnagent: pnagent demo: pnagent-full is not in %s, %s or PATH; install that of pnagent ", bin, filepath.Join(root, "libexec", "pnagent"))
			if r.Code != 1 || rest != "" || !strings.HasPrefix(r.Err, want) {
				t.Errorf("%s: %+v; want %s", c.where, r, want)
			}
			continue
		}
		want := path + "\n" + strings.ReplaceAll(args, "|", " ") + "\n5\n1\n" + pid + "\n"
		if r.Code != 42 || rest != want || r.Err != "" {
			t.Errorf("%s: %+v; want\n%s", c.where, r, want)
		}
	}
}
