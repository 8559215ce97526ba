// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// net makes a net from lines "in in > name > out out"; places hold a token for
// each time that marked names them.
func net(drawing, marked string) *petri.Net {
	n := &petri.Net{ID: "n", File: "n.pnml"}
	place := func(id string) string {
		if !slices.ContainsFunc(n.Places, func(p petri.Place) bool { return p.ID == id }) {
			p := petri.Place{ID: id}
			for m := range strings.FieldsSeq(marked) {
				if m == id {
					p.Initial++
				}
			}
			n.Places = append(n.Places, p)
		}
		return id
	}
	for line := range strings.Lines(drawing) {
		part := strings.Split(strings.TrimSpace(line), ">")
		if len(part) != 3 {
			continue
		}
		tr := strings.TrimSpace(part[1])
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
		for in := range strings.FieldsSeq(part[0]) {
			n.Arcs = append(n.Arcs, petri.Arc{ID: in + tr, Source: place(in), Target: tr, Weight: 1})
		}
		for out := range strings.FieldsSeq(part[2]) {
			n.Arcs = append(n.Arcs, petri.Arc{ID: tr + out, Source: tr, Target: place(out), Weight: 1})
		}
	}
	return n
}

func tables(t testing.TB, n *petri.Net) *petri.Tables {
	t.Helper()
	compiled, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// netX is graph X with a place for each edge, and one at each end.
const netX = `
	in > a > 1
	1 > b > 2 3
	2 > c > 4 5
	3 > d > 6
	4 > e > 7
	5 > f > 9 11
	7 > h > 8
	9 > i > 10
	6 11 > g > 12
	8 10 12 > j > 13
	13 > k > out`

func TestOracleOfGraphXFromItsNet(t *testing.T) {
	g, starts, err := FromTables(tables(t, net(netX, "in")))
	if err != nil {
		t.Fatal(err)
	}
	c := newCursor(t, g, starts...)
	rows := walk(t, c, nil, 100)
	want := []string{"in", "1", "2 3", "4 5 3", "4 5 6", "7 5 6", "7 9 11 6", "7 9 11", "8 9 11", "8 10 11", "8 10 12", "10 12", "12", "13", "out", ""}
	for i, r := range rows {
		if i >= len(want) || r.threads != want[i] {
			t.Fatalf("row %d has the threads %q", i, r.threads)
		}
	}
	if len(rows) != len(want) || c.Waiting() != nil {
		t.Errorf("%d rows, want %d; waiting %v", len(rows), len(want), c.Waiting())
	}
}

func TestFromTablesMakes(t *testing.T) {
	for _, c := range []struct {
		rule, drawing, marked string
		edges                 string // "id from>to"
		starts                string
	}{
		{"an edge of a place with one transition on each side", "p > t > q\nq > u > r", "p", "p ->t, q t>u, r u>-", "p"},
		{"a start for each token", "p q > t > ", "p p q", "p ->t, q ->t", "p p q"},
		{"a choice of a place with two transitions behind it", "p > t > x\np > u > y", "p", "p ->p, p>t p>t, p>u p>u, x t>-, y u>-", "p"},
		{"a choice of a place with two transitions before it", "a > t > p\nb > u > p\np > v > ", "a b", "a ->t, t>p t>p, u>p u>p, p>v p>v, b ->u", "a b"},
		{"an end of a place with two transitions before it", "a > t > p\nb > u > p", "a", "a ->t, t>p t>p, u>p u>p, b ->u", "a"},
		{"a circle of one place", "p > t > p", "p", "p t>t", "p"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			g, starts, err := FromTables(tables(t, net(c.drawing, c.marked)))
			if err != nil {
				t.Fatal(err)
			}
			name := func(n int) string {
				if n == None {
					return "-"
				}
				return g.Nodes[n].ID
			}
			var edges, at []string
			for _, e := range g.Edges {
				edges = append(edges, e.ID+" "+name(e.From)+">"+name(e.To))
			}
			for _, s := range starts {
				at = append(at, g.Edges[s].ID)
			}
			if d := cmp.Diff(c.edges, strings.Join(edges, ", ")); d != "" || strings.Join(at, " ") != c.starts {
				t.Errorf("starts %q\n%s", at, d)
			}
			for _, n := range g.Nodes {
				if n.Choice != (n.ID == "p" && strings.Contains(c.rule, "two")) {
					t.Errorf("node %+v", n)
				}
			}
		})
	}
}

func TestFromTablesRefusesByName(t *testing.T) {
	const choice = "p > t > x\np > u > y"
	arc := func(kind petri.ArcKind, weight uint32) func(*petri.Net) {
		return func(n *petri.Net) { n.Arcs[0].Kind, n.Arcs[0].Weight = kind, weight }
	}
	for _, c := range []struct {
		rule, drawing string
		change        func(*petri.Net)
		want          string // "" is not refused
	}{
		{"inhibitor", choice, arc(petri.Inhibitor, 1), `inhibitor arc "pt" from "p" to "t"`},
		{"read", choice, arc(petri.Read, 1), `read arc "pt" from "p" to "t"`},
		{"reset", choice, arc(petri.Reset, 1), `reset arc "pt" from "p" to "t"`},
		{"inclusive join", choice, arc(petri.Join, 1), `join arc "pt" from "p" to "t"`},
		{"inclusive split", choice, func(n *petri.Net) { n.Arcs[1].Kind = petri.Branch }, `branch arc "tx" from "t" to "x"`},
		{"weight", choice, arc(petri.Normal, 2), `the arcs from "p" to "t" weigh more than 1`},
		{"parallel arcs", choice, func(n *petri.Net) { n.Arcs = append(n.Arcs, n.Arcs[0]) }, `the arcs from "p" to "t" weigh more than 1`},
		{"a source", "> t > p", func(*petri.Net) {}, `transition "t" has no inputs`},
		{"a choice that is not free", "p q > t > x\np > u > y", func(*petri.Net) {}, `transition "t" competes for place "p" and takes from others besides`},
		{"a guard of a competitor", choice, func(n *petri.Net) { n.Transitions[0].Guard = "ok" }, ""},
		{"a guard of another", "p > t > x", func(n *petri.Net) { n.Transitions[0].Guard = "ok" }, `transition "t" has a guard`},
		{"preemption", choice, func(n *petri.Net) { n.Transitions[1].Preempts = true }, `transition "u" preempts`},
		{"a lonely place", choice, func(n *petri.Net) { n.Places = append(n.Places, petri.Place{ID: "z", Initial: 1}) }, `place "z" has no arcs`},
		{"too many tokens", choice, func(n *petri.Net) { n.Places[0].Initial, n.Places[1].Initial = 1<<32-1, 1 }, `place "p" starts with 4294967295 tokens`},
		{"too many tokens together", choice, func(n *petri.Net) { n.Places[0].Initial, n.Places[1].Initial = MaxThreads, 1 }, `place "x" starts with 1 tokens, 65537 with those before it`},
		{"priority and trigger", choice, func(n *petri.Net) { n.Transitions[0].Priority, n.Transitions[0].Trigger.Kind = 3, petri.TriggerEvent }, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := net(c.drawing, "p")
			c.change(n)
			_, _, err := FromTables(tables(t, n))
			var fault *petri.Fault
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &fault) || !strings.HasPrefix(err.Error(), "n.pnml: "+c.want)) {
				t.Errorf("got  %v\nwant n.pnml: %s…", err, c.want)
			}
		})
	}
}

func TestDuplicateNamesOfEdgesAreRefused(t *testing.T) {
	n := net("p > t > x\np > u > y", "p")
	n.Places = append(n.Places, petri.Place{ID: "p>t"})
	n.Arcs = append(n.Arcs, petri.Arc{ID: "clash", Source: "t", Target: "p>t", Weight: 1})
	if _, _, err := FromTables(tables(t, n)); err == nil || !strings.Contains(err.Error(), `the id "p>t" is there twice`) {
		t.Error(err)
	}
}

// FromTables returns an error or a valid graph for any net.
func TestFromTablesOfAnyNet(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for i := range 4000 {
		n := petritest.RandomNet(r)
		if i%2 == 0 {
			n = petritest.RandomGateways(r)
		}
		if g, starts, err := FromTables(tables(t, n)); err == nil && len(starts) > 0 {
			newCursor(t, g, starts...)
		}
	}
}

// freeChoice returns a random net that makes a graph: a transition takes from
// one place that others take from too, or from places of its own.
func freeChoice(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "free"}
	places := 2 + r.IntN(8)
	for p := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", p), Initial: r.Uint32N(3) / 2})
	}
	n.Places[0].Initial = 1
	shared := 1 + r.IntN(places-1)
	arc := func(from, to string) {
		n.Arcs = append(n.Arcs, petri.Arc{Source: from, Target: to, Weight: 1})
	}
	for own := shared; own < places || r.IntN(3) > 0; {
		tr := fmt.Sprint("t", len(n.Transitions))
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
		if own < places && r.IntN(2) == 0 {
			for k := 1 + r.IntN(3); k > 0 && own < places; k-- {
				arc(n.Places[own].ID, tr)
				own++
			}
		} else {
			arc(n.Places[r.IntN(shared)].ID, tr)
		}
		for _, p := range r.Perm(places)[:r.IntN(min(places, 3))] {
			arc(tr, n.Places[p].ID)
		}
	}
	n.Places = slices.DeleteFunc(n.Places, func(p petri.Place) bool {
		return !slices.ContainsFunc(n.Arcs, func(a petri.Arc) bool { return a.Source == p.ID || a.Target == p.ID })
	})
	return n
}

// tokens returns the marking of a cursor: its threads, and the tokens that have
// arrived.
func tokens(c *Cursor, n *petri.Net) map[string]uint32 {
	m := map[string]uint32{}
	add := func(edge, k int) {
		for part := range strings.SplitSeq(c.graph.Edges[edge].ID, ">") {
			if slices.ContainsFunc(n.Places, func(p petri.Place) bool { return p.ID == part }) && k > 0 {
				m[part] += uint32(k)
			}
		}
	}
	for _, th := range c.ring {
		add(th.edge, 1)
	}
	for e, k := range c.arrived {
		add(e, k)
	}
	return m
}

// A trace is a run of the net: if a node fires, its transition is enabled and fires.
// No other step changes the marking, and at the end of the trace no transition is
// enabled.
func TestATraceIsARunOfTheNet(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	fired, ended := 0, 0
	for range 2000 {
		n := freeChoice(r)
		compiled := tables(t, n)
		g, starts, err := FromTables(compiled)
		if err != nil {
			t.Fatal(err)
		}
		if len(starts) == 0 {
			continue
		}
		c, s := newCursor(t, g, starts...), compiled.NewState()
		for range 60 {
			before := slices.Clone(c.arrived)
			e, err := c.Step(func(_ int, out []int) int { return out[r.IntN(len(out))] }, Stamp{})
			if errors.Is(err, ErrDone) {
				ended++
				if !s.Dead() {
					t.Fatalf("the trace ended at %v, where something is enabled", s.Marking())
				}
				break
			}
			if node := g.Edges[e.Edge].To; node != None && !g.Nodes[node].Choice && c.arrived[e.Edge] == before[e.Edge] {
				fired++
				if err := s.Fire(node); err != nil {
					t.Fatal(err)
				}
			}
			want := map[string]uint32{}
			for p, m := range s.Marking() {
				if m > 0 {
					want[n.Places[p].ID] = m
				}
			}
			if d := cmp.Diff(want, tokens(c, n)); d != "" {
				t.Fatalf("after step %d by edge %q:\n%s", e.Step, g.Edges[e.Edge].ID, d)
			}
		}
	}
	if fired < 5000 || ended < 300 {
		t.Errorf("%d firings, %d ends: too few to tell", fired, ended)
	}
}
