// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

// A log is of one split of one net with one number of instances. An engine with another
// one reports that and ends.
func TestALogOfSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, line(), 3, 0)
	a := f.start("a")
	l := f.injections(inRegion)
	l.grows(t, 10)
	l.end()
	a.Stop(t, syscall.SIGTERM)
	g := newFleet(t, func() string { return js.url }, line(), 12, 4)
	b := g.start("b")
	g.shared("b")
	b.Stop(t, syscall.SIGTERM)
	other := kit.Write(t, "other.yaml", strings.Replace(lineRegions, "two: [t2], three: [t3]", "two: [t2, t3]", 1))
	changed := kit.Write(t, "line.pnml", strings.Replace(lineNet, `<place id="done"/>`, `<place id="done"/><place id="more"/>`, 1))
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
		r := kit.Pnagent(t, args...)
		if r.Code != c.code || kit.Submatch(r.Err, c.want) == nil {
			t.Errorf("%s: %d, %s; want %d and %q", c.name, r.Code, r.Err, c.code, c.want)
		}
	}
}
