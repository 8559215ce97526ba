// SPDX-License-Identifier: Apache-2.0

package split

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// build returns a net of arcs such as "p>t", "p-o t" (inhibitor), "p?t" (read),
// "p!t" (reset), "p&t" (join); places begin with p, transitions with t. Line n of
// the text has position n:1.
func build(t testing.TB, text string) *petri.Tables {
	t.Helper()
	n := &petri.Net{ID: "n", File: "n.pnml"}
	seen := map[string]bool{}
	node := func(id string, pos petri.Pos) {
		if seen[id] {
			return
		}
		seen[id] = true
		if id[0] == 'p' {
			n.Places = append(n.Places, petri.Place{ID: id, Pos: pos})
		} else {
			n.Transitions = append(n.Transitions, petri.Transition{ID: id, Pos: pos})
		}
	}
	kinds := map[byte]petri.ArcKind{'>': petri.Normal, 'o': petri.Inhibitor, '?': petri.Read, '!': petri.Reset, '&': petri.Join}
	for line, fields := range strings.Split(text, "\n") {
		pos := petri.Pos{Line: line + 1, Column: 1}
		for _, f := range strings.Fields(fields) {
			at := strings.IndexAny(f, ">o?!&")
			if at < 0 {
				node(f, pos)
				continue
			}
			node(f[:at], pos)
			node(f[at+1:], pos)
			n.Arcs = append(n.Arcs, petri.Arc{ID: f, Source: f[:at], Target: f[at+1:], Kind: kinds[f[at]], Weight: 1, Pos: pos})
		}
	}
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// names makes a region function of "t1=a t2=b".
func names(text string) func(string) string {
	by := map[string]string{}
	for _, f := range strings.Fields(text) {
		id, name, _ := strings.Cut(f, "=")
		by[id] = name
	}
	return func(id string) string { return by[id] }
}

// show writes a plan as "a: t1 p1 p2 <b >c; …".
func show(t *petri.Tables, p *Plan) string {
	var out []string
	for _, r := range p.Regions {
		s := r.Name + ":"
		for tr, in := range r.Transitions {
			if in {
				s += " " + t.Net.Transitions[tr].ID
			}
		}
		for pl, in := range r.Places {
			if in {
				s += " " + t.Net.Places[pl].ID
			}
		}
		for _, k := range r.Upstream {
			s += " <" + p.Regions[k].Name
		}
		for _, k := range r.Downstream {
			s += " >" + p.Regions[k].Name
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestRegionsOfNets(t *testing.T) {
	for _, c := range []struct{ rule, net, said, merged, want string }{
		{"nothing is said: all is main", "p1>t1 t1>p2 p2>t2 t2>p3", "", "", "main: t1 t2 p1 p2 p3"},
		{"a place belongs to who takes from it, not to who puts", "p1>t1 t1>p2 p2>t2", "t1=a t2=b", "", "a: t1 p1 >b; b: t2 p2 <a"},
		{"or reads it", "p1?t1 t2>p1", "t1=a t2=b", "", "a: t1 p1 <b; b: t2 >a"},
		{"or is inhibited by it", "p1ot1 t2>p1", "t1=a t2=b", "", "a: t1 p1 <b; b: t2 >a"},
		{"or empties it", "p1!t1 t2>p1", "t1=a t2=b", "", "a: t1 p1 <b; b: t2 >a"},
		{"a transition goes with those it shares places with", "p1>t1 p1>t2 p2>t2 p2>t3 p3>t4", "t3=a", "", "a: t1 t2 t3 p1 p2; main: t4 p3"},
		{"a place from which nothing leads belongs to the first that puts into it", "p1>t1 p2>t2 t2>p3 t1>p3", "t1=a t2=b", "", "a: t1 p1 p3 <b; b: t2 p2 >a"},
		{"a place without arcs belongs to the first region", "p0 p1>t1 p2>t2", "t1=a t2=b", "", "a: t1 p0 p1; b: t2 p2"},
		{"a net without transitions is one region", "p1", "", "", "main: p1"},
		{"two sets may name the same region", "p1>t1 p2>t2 p3>t3", "t1=a t2=b t3=a", "", "a: t1 t3 p1 p3; b: t2 p2"},
		{"regions that are merged are one", "p1>t1 p1>t2 p2>t3", "t1=a t2=b t3=c", "b a", "b: t1 t2 p1; c: t3 p2"},
		{"merging reaches over groups", "p1>t1 p1>t2 p1>t3", "t1=a t2=b t3=c", "a b,b c", "a: t1 t2 t3 p1"},
		{"what is main can be merged too", "p1>t1 p2>t2", "t1=a", "a main", "a: t1 t2 p1 p2"},
		{"an inclusive join is with all that can reach it", "p0>t0 t0>p1 p1&t1 p3>t3 t3>p2 p2&t1 t1>p4 p4>t4", "t3=a t4=b", "",
			"a: t0 t1 t3 p0 p1 p3 p2 >b; b: t4 p4 <a"},
		{"two regions may feed each other", "p1>t1 t1>p2 p2>t2 t2>p1", "t1=a t2=b", "", "a: t1 p1 <b >b; b: t2 p2 <a >a"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			tables := build(t, c.net)
			var merge [][]string
			for group := range strings.SplitSeq(c.merged, ",") {
				if group != "" {
					merge = append(merge, strings.Fields(group))
				}
			}
			plan, err := Split(tables, names(c.said), merge)
			if err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(c.want, show(tables, plan)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			for k := range plan.Regions {
				if r := &plan.Regions[k]; r.Check(tables) != nil || r.Whole() != (len(plan.Regions) == 1) {
					t.Errorf("%v, whole %v", r.Check(tables), r.Whole())
				}
			}
		})
	}
}

func TestEveryConflictIsReported(t *testing.T) {
	for _, c := range []struct{ rule, net, said, merged, want string }{
		{"directly, at the place", "p0>t0\np1>t1 p1>t2", "t1=a t2=b", "",
			`n.pnml:2:1: transition "t1" in region "a" and transition "t2" in region "b" both look at place "p1"; expected one region, or that the two are merged`},
		{"by another transition", "p1>t1 p1>t2\np2>t2 p2?t3", "t1=a t3=b", "",
			`n.pnml:2:1: transition "t2", which shares places with "t1" in region "a", and transition "t3" in region "b" both look at place "p2"; expected one region, or that the two are merged`},
		{"all of them", "p1>t1 p1>t2 p1ot3\np2>t2 p2>t3", "t1=a t2=b t3=c", "",
			`n.pnml:1:1: transition "t1" in region "a" and transition "t2" in region "b" both look at place "p1"; expected one region, or that the two are merged
n.pnml:1:1: transition "t1" in region "a" and transition "t3" in region "c" both look at place "p1"; expected one region, or that the two are merged
n.pnml:2:1: transition "t2" in region "b" and transition "t3" in region "c" both look at place "p2"; expected one region, or that the two are merged`},
		{"a join and what it waits for", "p0>t0 t0>p1 p1&t1", "t0=a t1=b", "",
			`n.pnml:1:1: transition "t0" in region "a" and transition "t1" in region "b" both look at place "p0"; expected one region, or that the two are merged`},
		{"a merge of what there is not", "p1>t1", "t1=a", "a c", `n.pnml: net "n": region "c" is merged with others, but no transition is in it`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var merge [][]string
			if c.merged != "" {
				merge = [][]string{strings.Fields(c.merged)}
			}
			_, err := Split(build(t, c.net), names(c.said), merge)
			if err == nil {
				t.Fatal("no error")
			}
			if d := gocmp.Diff(c.want, err.Error()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var net, said strings.Builder
	for k := range 300 {
		fmt.Fprintf(&net, "p1>t%d ", k)
		fmt.Fprintf(&said, "t%d=r%d ", k, k)
	}
	_, err := Split(build(t, net.String()), names(said.String()), nil)
	if lines := strings.Split(err.Error(), "\n"); len(lines) != petri.MaxFaults+1 || !strings.HasSuffix(lines[petri.MaxFaults], "199 more faults not shown") {
		t.Errorf("%d faults, the last %q", len(lines), lines[len(lines)-1])
	}
}

// together finds by a fixed point which transitions have to be in one region.
func together(t *petri.Tables) [][]bool {
	n := t.Transitions()
	same := make([][]bool, n)
	looks := func(p, tr int) bool {
		if j := t.Join(tr); j != nil && j.Reach[p] != 0 {
			return true
		}
		return slices.ContainsFunc(t.Net.Arcs, func(a petri.Arc) bool {
			return a.Source == t.Net.Places[p].ID && a.Target == t.Net.Transitions[tr].ID
		})
	}
	for a := range same {
		same[a] = make([]bool, n)
		for b := range n {
			same[a][b] = a == b
			for p := range t.Places() {
				same[a][b] = same[a][b] || looks(p, a) && looks(p, b)
			}
		}
	}
	for via := range n {
		for a := range n {
			for b := range n {
				same[a][b] = same[a][b] || same[a][via] && same[via][b]
			}
		}
	}
	return same
}

// On random nets with random names, Split keeps together what has to be in one region,
// and returns an error only if that is impossible.
func TestThePlanFitsTheNet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	refused, several := 0, 0
	for round := range 2000 {
		net := petritest.RandomNet(r)
		if round%2 == 0 {
			net = petritest.RandomGateways(r)
		}
		if round%3 > 0 { // more of them fall apart
			net.Arcs = net.Arcs[:min(len(net.Arcs), 1+len(net.Transitions)/2)]
		}
		tables, err := petri.Compile(net)
		if err != nil || tables.Transitions() > 40 {
			continue
		}
		said := map[string]string{}
		for _, tr := range net.Transitions {
			if r.IntN(3) == 0 {
				said[tr.ID] = string(rune('a' + r.IntN(3)))
			}
		}
		same := together(tables)
		possible := true
		for a := range same {
			for b := range same {
				x, y := said[net.Transitions[a].ID], said[net.Transitions[b].ID]
				possible = possible && (!same[a][b] || x == "" || y == "" || x == y)
			}
		}
		plan, err := Split(tables, func(id string) string { return said[id] }, nil)
		if (err == nil) != possible {
			t.Fatalf("round %d: %v, want it to be possible: %v", round, err, possible)
		}
		if err != nil {
			refused++
			continue
		}
		several += min(len(plan.Regions)-1, 1)
		checkPlan(t, tables, plan, said, same)
	}
	if refused < 100 || several < 100 {
		t.Errorf("%d refused, %d of several regions", refused, several)
	}
}

func checkPlan(t *testing.T, tables *petri.Tables, plan *Plan, said map[string]string, same [][]bool) {
	t.Helper()
	of := make([]int, tables.Transitions())
	for tr := range of {
		of[tr] = slices.IndexFunc(plan.Regions, func(p Part) bool { return p.Transitions[tr] })
		if name := said[tables.Net.Transitions[tr].ID]; name != "" && plan.Regions[of[tr]].Name != name {
			t.Fatalf("transition %d is in %q, not %q", tr, plan.Regions[of[tr]].Name, name)
		}
	}
	for a := range same {
		for b := range same {
			if same[a][b] && of[a] != of[b] {
				t.Fatalf("transitions %d and %d are apart", a, b)
			}
		}
	}
	for p := range tables.Places() {
		n := 0
		for k := range plan.Regions {
			if plan.Regions[k].Places[p] {
				n++
			}
		}
		if n != 1 || !plan.Regions[plan.Owner(p)].Places[p] {
			t.Fatalf("place %d is in %d regions, its owner is %d", p, n, plan.Owner(p))
		}
	}
	for k := range plan.Regions {
		if err := plan.Regions[k].Check(tables); err != nil {
			t.Fatal(err)
		}
	}
	for i := range tables.Net.Arcs {
		a := &tables.Net.Arcs[i]
		if tr, ok := tables.TransitionIndex(a.Source); ok {
			p, _ := tables.PlaceIndex(a.Target)
			if to := plan.Owner(p); to != of[tr] && (!slices.Contains(plan.Regions[to].Upstream, of[tr]) || !slices.Contains(plan.Regions[of[tr]].Downstream, to)) {
				t.Fatalf("region %d puts into %d, which is not said", of[tr], to)
			}
		}
	}
}

func TestAPartOfAnotherNetIsRefused(t *testing.T) {
	tables := build(t, "p1>t1 t1>p2 p2>t2")
	for name, p := range map[string]Part{
		"of another size":              {Places: make([]bool, 2), Transitions: make([]bool, 1)},
		"one that tests beyond itself": {Places: make([]bool, 2), Transitions: []bool{true, false}},
	} {
		if p.Check(tables) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// All runs of the scopes of an instance are in one process.
func TestANetWithScopesHasOneRegion(t *testing.T) {
	n := &petri.Net{ID: "n", Scopes: []petri.Scope{{ID: "s"}}, Places: []petri.Place{{ID: "p", Scope: "s"}, {ID: "q"}},
		Transitions: []petri.Transition{{ID: "t"}, {ID: "u"}},
		Arcs:        []petri.Arc{{ID: "a", Source: "p", Target: "t", Weight: 1}, {ID: "b", Source: "q", Target: "u", Weight: 1}}}
	tables := petritest.Compile(t, n)
	if _, err := Split(tables, func(string) string { return "" }, nil); err != nil {
		t.Error(err)
	}
	if _, err := Split(tables, func(id string) string { return id }, nil); err == nil || !strings.Contains(err.Error(), "has scopes and 2 regions") {
		t.Errorf("two regions: %v", err)
	}
}
