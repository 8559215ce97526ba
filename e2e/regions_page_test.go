// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// What the pages have one type does what they say.
func TestTheCommandsOfTheRegionsPagesDoWhatThePagesSay(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"../docs/regions.md", "../examples/regions/README.md"} {
		t.Run(filepath.Base(filepath.Dir(page)), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
			if len(blocks) == 0 {
				t.Fatal("the page has no commands")
			}
			js := startJetStream(t, nil)
			for _, b := range blocks {
				for line := range strings.Lines(b[1]) {
					types(t, js, strings.TrimSpace(line))
				}
			}
		})
	}
}

// types runs one command line as it is, but for where files and servers are.
func types(t *testing.T, js *jetStream, line string) {
	t.Helper()
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(strings.TrimSuffix(line, "&"))
	for i := range words {
		words[i] = strings.NewReplacer("nats://127.0.0.1:4222", js.url, "examples/", examples+"/").Replace(words[i])
	}
	switch args := words[1:]; {
	case words[0] == "nats-server": // one runs
	case words[0] != "pnagent":
		t.Fatalf("the page has a command that is not run: %s", line)
	case args[0] == "engine":
		start(t, built.pnagent, args...).says(t, "engine runs")
	case args[0] == "serve":
		args = append(args, "--web.listen-address", "127.0.0.1:0", "--mib-dir", t.TempDir())
		start(t, built.pnagent, args...).says(t, "sidecar serves")
	default:
		until(t, line+" shows owners and stand-bys", func() error {
			r := pnagent(t, args...)
			out := regexp.MustCompile(` +`).ReplaceAllString(r.out, " ")
			if r.code != 0 || !strings.HasPrefix(out, "PART OWNER EPOCH COMMITS STAND-BYS (LAG) AWAY\n") {
				return fmt.Errorf("%d: %s%s", r.code, r.out, r.err)
			}
			for row := range strings.Lines(out) {
				if strings.Contains(row, " nobody ") || strings.Contains(row, " none ") {
					return errors.New(r.out)
				}
			}
			return nil
		})
	}
}

// A log is of one way to cut a net, of one net, and of so many instances. Who has
// another says so and ends.
func TestALogOfSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, line(), 3, 0)
	a := f.start("a")
	l := f.injections(inRegion)
	l.grows(t, 10)
	l.end()
	a.stop(t, syscall.SIGTERM)
	g := newFleet(t, func() string { return js.url }, line(), 12, 4)
	b := g.start("b")
	g.shared("b")
	b.stop(t, syscall.SIGTERM)
	other := write(t, "other.yaml", strings.Replace(lineRegions, "two: [t2], three: [t3]", "two: [t2, t3]", 1))
	changed := write(t, "line.pnml", strings.Replace(lineNet, `<place id="done"/>`, `<place id="done"/><place id="more"/>`, 1))
	for _, c := range []struct {
		name, want string
		code       int
		args       []string
	}{
		{"other regions", `the journal is of another engine: it is of part "(one|two)" of the plan \w+; this one plays part "(one|two)" of the plan`, 1,
			[]string{"--bindings", other, "--instances", "3", f.net}},
		{"other instances", "the journal is of another engine: it has 3 instances of each net; this one runs 4", 1,
			[]string{"--bindings", f.bindings, "--instances", "4", f.net}},
		{"another net", "the journal is of another engine: net 1 is", 1, []string{"--bindings", f.bindings, "--instances", "3", changed}},
		{"other partitions", `it is of part "p\d" of the plan 4-partitions; this one plays part "p\d" of the plan 3-partitions`, 1,
			[]string{"--partitions", "3", "--instances", "12", f.net}},
		{"no such region", `no region "four"; expected one of "one", "two", "three"`, 2, []string{"--bindings", f.bindings, "--region", "four", f.net}},
		{"a dispatcher", "a part plays its instances in turn", 2, []string{"--dispatch", "fifo", "--bindings", f.bindings, f.net}},
	} {
		args := append([]string{"engine", "--nats", js.url, "--journal", "jetstream", "--source", "c"}, c.args...)
		r := pnagent(t, args...)
		if r.code != c.code || submatch(r.err, c.want) == nil {
			t.Errorf("%s: %d, %s; want %d and %q", c.name, r.code, r.err, c.code, c.want)
		}
	}
}
