// SPDX-License-Identifier: Apache-2.0

//go:build release

package upgrade

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/cachetest"
)

func TestMain(m *testing.M) { kit.Main(m) }

// version is an earlier version, and what this one and that one do with each other's files. Where a
// line says nothing, each of them continues with the files of the other one.
type version struct {
	name    string   // a tag, or a commit of before the first tag
	why     string   // what changed behind it
	journal string   // how this version refuses its journal
	aside   bool     // its sidecar puts counters of this version aside, and counts from 0
	gone    []string // what its sidecar showed, and that of this version does not
}

// versions are commits of before the first tag: the last ones with a form of files that is read, or
// refused, today. Every tag v* of the repository comes to them. One that does not continue with files of
// this version, or the other way round, gets a line here that says how.
var versions = []version{
	{name: "577d6cc9", why: "sidecars keep counters and alarms in their first form", journal: `it has format 0, and this version reads format \d`, aside: true,
		gone: []string{"metric pnagent_counter_save_bytes of type GAUGE", "metric pnagent_counter_save_failures_total of type COUNTER", "metric pnagent_counter_saves_total of type COUNTER"}},
	{name: "634b8a65", why: "files of state get frames with checksums, and counters become a log", journal: `it has format 0, and this version reads format \d`, aside: true},
	{name: "f10d9765", why: "a journal gets the number of its format", journal: `it has format 0, and this version reads format \d`},
	{name: "68bc612f", why: "packages are made: all files have their form of today"},
}

// each runs a test with the program of each earlier version.
func each(t *testing.T, test func(t *testing.T, v version, program string)) {
	all := versions
	tags, err := exec.CommandContext(t.Context(), "git", "tag", "--list", "v*").Output()
	if err != nil {
		t.Skip("no history, so there are no earlier versions: ", err)
	}
	for _, tag := range strings.Fields(string(tags)) {
		all = append(all, version{name: tag})
	}
	for _, v := range all {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			test(t, v, build(t, v.name))
		})
	}
}

// build returns the program of a version, which is built once.
func build(t *testing.T, name string) string {
	t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("rev-parse", "--verify", "--quiet", name+"^{commit}")
	if err != nil {
		t.Skipf("the history does not have %s: a clone with all of it has", name)
	}
	dir := cachetest.Dir(t, "earlier-", []byte(commit), func(dir string) error {
		tree := filepath.Join(t.TempDir(), "pnagent")
		if out, err := git("worktree", "add", "--detach", tree, commit); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		defer func() {
			if out, err := git("worktree", "remove", "--force", tree); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}()
		compile := exec.CommandContext(t.Context(), "go", "build", "-tags", "slim", "-ldflags=-w", "-o", filepath.Join(dir, "pnagent"), "./cmd/pnagent")
		compile.Dir = tree
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
		return nil
	})
	return filepath.Join(dir, "pnagent")
}
