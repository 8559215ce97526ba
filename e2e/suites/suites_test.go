// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// suitesDir returns the folder of checkouts, or skips the test.
func suitesDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PNAGENT_SUITES")
	if dir == "" {
		t.Skip("PNAGENT_SUITES does not name a folder with checkouts of the suites")
	}
	return dir
}

// needs skips the test where the folder of checkouts has none of a suite.
func needs(t *testing.T, dir, suite string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, suite)); err != nil {
		t.Skip("no checkout of the suite: ", err)
	}
}

// result counts what was tried of a suite.
type result struct {
	right, wrong, warned int
	refused              map[string]int // by reason
}

func (r *result) tried() int {
	n := r.right + r.wrong + r.warned
	for _, times := range r.refused {
		n += times
	}
	return n
}

// results are results by suite.
type results map[string]*result

func (rs results) of(suite string) *result {
	if rs[suite] == nil {
		rs[suite] = &result{refused: map[string]int{}}
	}
	return rs[suite]
}

// count counts the outcome of one file or behaviour.
func (rs results) count(suite string, err error) {
	switch r := rs.of(suite); {
	case err == nil:
		r.right++
	case errors.Is(err, errRefused):
		r.refused[reason(err)]++
	case errors.Is(err, errWarned):
		r.warned++
	default:
		r.wrong++
	}
}

var (
	place  = regexp.MustCompile(`^.*?:\d+:\d+: `)
	quoted = regexp.MustCompile(`"[^"]*"`)
	guard  = regexp.MustCompile(`^the guard of |: (?:line \d+, )?column \d+: `)
)

// reason returns the first fault of a refusal, without its place and names, and
// without what was expected.
func reason(err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), errRefused.Error()+": "), "\n")
	text = quoted.ReplaceAllString(place.ReplaceAllString(text, ""), "…")
	text, _, _ = strings.Cut(text, "; expected")
	if guard.MatchString(text) {
		return "a condition that pnagent does not compile"
	}
	return text
}

// print writes a table in Markdown, and the reasons of refusals below it. The first
// word of a suite is the name of its checkout.
func (rs results) print(w io.Writer, what, dir string) {
	fmt.Fprintf(w, "| suite | commit | %s tried | right | refused | warned | wrong |\n|---|---|---|---|---|---|---|\n", what)
	for _, suite := range slices.Sorted(maps.Keys(rs)) {
		r := rs[suite]
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %d |\n", suite, commit(filepath.Join(dir, strings.Fields(suite)[0])), r.tried(), r.right, r.tried()-r.right-r.warned-r.wrong, r.warned, r.wrong)
	}
	all := map[string]int{}
	for _, r := range rs {
		for why, n := range r.refused {
			all[why] += n
		}
	}
	fmt.Fprintf(w, "\n| refused | %s |\n|---|---|\n", what)
	for _, why := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(all[b]-all[a], strings.Compare(a, b)) }) {
		fmt.Fprintf(w, "| %s | %d |\n", why, all[why])
	}
	fmt.Fprintln(w)
}

// commit returns the commit of a checkout, or "unknown".
func commit(dir string) string {
	out, err := exec.Command("git", "-C", dir, "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// Each behaviour that a test of a suite states is right or refused.
func TestBehaviours(t *testing.T) { behaviours(t, "behaviours", whole) }

// They are the same if an engine ends after each step, and the next one replays what
// it did.
func TestBehavioursWithReplays(t *testing.T) {
	behaviours(t, "behaviours with a replay after each step", replays)
}

// They are the same if the next one begins with a snapshot.
func TestBehavioursWithSnapshots(t *testing.T) {
	behaviours(t, "behaviours with a snapshot after each step", resumes)
}

func behaviours(t *testing.T, what string, l life) {
	dir := suitesDir(t)
	rs := results{}
	for _, s := range scenarios(t) {
		if l != whole && s.lasts(24*time.Hour) {
			continue // a journal is looked after ten times a second
		}
		t.Run(s.name, func(t *testing.T) {
			needs(t, dir, s.suite)
			err := play(t, s, dir, l)
			rs.count(s.suite, err)
			switch {
			case err == nil:
			case errors.Is(err, errRefused), errors.Is(err, errWarned):
				t.Logf("%s: %s", s.at, err)
			default:
				t.Errorf("%s: %s", s.at, err)
			}
		})
	}
	rs.print(os.Stdout, what, dir)
}

// Each BPMN file of the suites becomes nets that an engine accepts, or is refused
// with a reason.
func TestFiles(t *testing.T) {
	dir := suitesDir(t)
	rs := results{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isBPMN(path) {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		suite, _, _ := strings.Cut(filepath.ToSlash(inside), "/")
		_, err = newPlayer(&scenario{suite: ".", files: []string{inside}}, dir)
		rs.count(suite, err)
		if err != nil && !errors.Is(err, errRefused) {
			t.Errorf("%s: %s", inside, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rs.print(os.Stdout, "files", dir)
}

// isBPMN reports whether a file has BPMN by its name.
func isBPMN(path string) bool {
	return slices.ContainsFunc([]string{".bpmn", ".bpmn20.xml", ".bpmn2"}, func(suffix string) bool { return strings.HasSuffix(path, suffix) })
}
