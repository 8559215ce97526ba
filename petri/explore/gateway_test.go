// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// graph makes a net from edges "id from>to": each edge is a place, each node
// that an edge leads to and one leads from a transition. An edge into no such
// node is where tokens end, and one from none holds the first token.
func graph(edges ...string) *petri.Net {
	n := &petri.Net{ID: "graph"}
	in, out := map[string][]string{}, map[string][]string{}
	var nodes []string
	for _, e := range edges {
		id, ends, _ := strings.Cut(e, " ")
		from, to, _ := strings.Cut(ends, ">")
		if in[to] == nil {
			nodes = append(nodes, to)
		}
		in[to], out[from] = append(in[to], id), append(out[from], id)
		n.Places = append(n.Places, petri.Place{ID: id})
	}
	n.Places[0].Initial = 1
	for _, node := range nodes {
		if out[node] == nil {
			continue
		}
		n.Transitions = append(n.Transitions, petri.Transition{ID: node})
		for _, e := range in[node] {
			n.Arcs = append(n.Arcs, petri.Arc{Source: e, Target: node, Weight: 1})
		}
		for _, e := range out[node] {
			n.Arcs = append(n.Arcs, petri.Arc{Source: node, Target: e, Weight: 1})
		}
	}
	return n
}

// As a P/T net graph X has 30 reachable markings, is 1-safe, and ends only in k:
// that is its proper end, and no way to it is shown as one to a deadlock.
func TestGraphX(t *testing.T) {
	n := graph("in start>a", "1 a>b", "2 b>c", "3 b>d", "4 c>e", "5 c>f", "6 d>g", "7 e>h", "8 h>j", "9 f>i", "10 i>j", "11 f>g", "12 g>j", "13 j>k", "out k>end")
	got := Visit(petritest.Compile(t, n), 1000)
	ones := slices.Repeat([]uint32{1}, 15)
	if d := cmp.Diff(Result{Markings: 30, Complete: true, Ends: 1, Bounds: ones}, got); d != "" {
		t.Error(d)
	}
}

// Where there are both, the nearer end does not hide the deadlock behind it.
func TestThePathLeadsPastAProperEndToADeadlock(t *testing.T) {
	n := graph("in start>choose", "done choose>end", "1 long>wait", "half wait>both", "other nothing>both", "out both>finish")
	n.Transitions = append(n.Transitions, petri.Transition{ID: "long"})
	n.Arcs = append(n.Arcs, petri.Arc{Source: "in", Target: "long", Weight: 1}, petri.Arc{Source: "long", Target: "1", Weight: 1})
	got := Visit(petritest.Compile(t, n), 100)
	var path []string
	for _, tr := range got.Path {
		path = append(path, n.Transitions[tr].ID)
	}
	if d := cmp.Diff([]string{"long", "wait"}, path); d != "" || got.Deadlocks != 1 || got.Ends != 1 {
		t.Errorf("%d deadlocks, %d ends, path (-want +got):\n%s", got.Deadlocks, got.Ends, d)
	}
}

// split returns a net in which s is split to branches b0, b1 and so on, which
// end there: guarded, without a guard, and a default.
func split(guarded, always, defaults int) *petri.Net {
	n := &petri.Net{ID: "split", Places: []petri.Place{{ID: "s", Initial: 1}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{Source: "s", Target: "t", Weight: 1}}}
	for i := range guarded + always + defaults {
		a := petri.Arc{Source: "t", Target: fmt.Sprint("b", i), Kind: petri.Branch, Weight: 1}
		if i < guarded {
			a.Guard = "ok"
		}
		a.Default = i >= guarded+always
		n.Places, n.Arcs = append(n.Places, petri.Place{ID: a.Target}), append(n.Arcs, a)
	}
	return n
}

func TestInclusiveSplitIsFollowedWithEverySetThatDataCouldChoose(t *testing.T) {
	for _, c := range []struct {
		rule                      string
		guarded, always, defaults int
		ends                      int // markings after the split
		cut                       bool
	}{
		{"every set of guarded branches but the empty one", 3, 0, 0, 7, false},
		{"without a guard exactly all", 0, 3, 0, 1, false},
		{"the default alone, besides", 3, 0, 1, 8, false},
		{"a default with nothing beside it", 0, 0, 1, 1, false},
		{"what has no guard is always there", 2, 1, 0, 4, false},
		{"a default beside what has no guard is never taken", 2, 1, 1, 4, false},
		{"ten guards", MaxGuarded, 0, 1, 1024, false},
		{"eleven guards: each alone, all, and the default", MaxGuarded + 1, 0, 1, 13, true},
		{"sixty-four guards: each alone, and all", petri.MaxOptional, 0, 0, 65, true},
		{"sixty-three guards beside what has none: none, each alone, and all", petri.MaxOptional - 1, 1, 0, 65, true},
	} {
		got := Visit(petritest.Compile(t, split(c.guarded, c.always, c.defaults)), 2000)
		if got.Markings != 1+c.ends || got.Ends != c.ends || got.Complete == c.cut || (len(got.Cut) == 1) != c.cut {
			t.Errorf("%s: %d markings, %d ends, complete %v, cut %v", c.rule, got.Markings, got.Ends, got.Complete, got.Cut)
		}
	}
}

// A split with eleven guards is not followed with every set, and the net is dead
// after any set of more than one branch and fewer than all. Visit finds none of these
// deadlocks, so it must not return a complete result, also if another split is followed
// with every set.
func TestACutSplitStaysCutWhenAnotherIsFollowedWhole(t *testing.T) {
	const guarded = MaxGuarded + 1
	n := split(guarded, 0, 0)
	n.Places = append(n.Places, petri.Place{ID: "u"}, petri.Place{ID: "c0"}, petri.Place{ID: "c1"})
	to := func(transition string, arcs ...petri.Arc) {
		n.Transitions = append(n.Transitions, petri.Transition{ID: transition})
		for _, a := range arcs {
			a.Weight = 1
			n.Arcs = append(n.Arcs, a)
		}
	}
	to("all", petri.Arc{Source: "all", Target: "u"})
	for i := range guarded {
		n.Arcs = append(n.Arcs, petri.Arc{Source: fmt.Sprint("b", i), Target: "all", Weight: 1})
		one := fmt.Sprint("one", i)
		arcs := []petri.Arc{{Source: fmt.Sprint("b", i), Target: one}, {Source: one, Target: "u"}}
		for j := range guarded {
			if j != i {
				arcs = append(arcs, petri.Arc{Source: fmt.Sprint("b", j), Target: one, Kind: petri.Inhibitor})
			}
		}
		to(one, arcs...)
	}
	to("whole", petri.Arc{Source: "u", Target: "whole"}, petri.Arc{Source: "whole", Target: "c0", Kind: petri.Branch, Guard: "ok"},
		petri.Arc{Source: "whole", Target: "c1", Kind: petri.Branch, Guard: "ok"})
	to("again", petri.Arc{Source: "c0", Target: "again", Kind: petri.Join}, petri.Arc{Source: "c1", Target: "again", Kind: petri.Join},
		petri.Arc{Source: "again", Target: "u"})
	ref := petritest.NewReference(n)
	two := func(arc int) bool { return n.Arcs[arc].Target == "b0" || n.Arcs[arc].Target == "b1" }
	if !ref.FireBranches("t", two) || slices.ContainsFunc(n.Transitions, func(tr petri.Transition) bool { return ref.Enabled(tr.ID) }) || ended(ref) {
		t.Fatal("the reference sees no deadlock behind two branches")
	}
	got := Visit(petritest.Compile(t, n), 1000)
	if got.Deadlocks != 0 {
		t.Fatalf("%d deadlocks are seen: the net does not show what it should", got.Deadlocks)
	}
	if got.Complete || len(got.Cut) != 1 {
		t.Errorf("complete %v, cut %v: without a deadlock that is a proof that there is none, and there is one", got.Complete, got.Cut)
	}
}

func TestSplitThatIsNeverEnabledCutsNothing(t *testing.T) {
	n := split(MaxGuarded+1, 0, 0)
	n.Places[0].Initial = 0
	if got := Visit(petritest.Compile(t, n), 10); !got.Complete || got.Cut != nil {
		t.Errorf("%+v", got)
	}
}

func TestPathHasTheTakenBranches(t *testing.T) {
	n := split(2, 0, 0) // a parallel join behind an inclusive split: dead if only one branch is taken
	n.Places = append(n.Places, petri.Place{ID: "end"})
	n.Transitions = append(n.Transitions, petri.Transition{ID: "join"}, petri.Transition{ID: "again"})
	for _, a := range [][2]string{{"b0", "join"}, {"b1", "join"}, {"join", "end"}, {"end", "again"}, {"again", "s"}} {
		n.Arcs = append(n.Arcs, petri.Arc{Source: a[0], Target: a[1], Weight: 1})
	}
	got := Visit(petritest.Compile(t, n), 100)
	want := Result{Markings: 5, Complete: true, Deadlocks: 2, Bounds: []uint32{1, 1, 1, 1}, Path: []int{0}, Dead: []uint32{0, 1, 0, 0}, Branches: [][]int32{{1}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for i := range n.Arcs {
		if n.Arcs[i].Target == "join" {
			n.Arcs[i].Kind = petri.Join // an inclusive join behind it never is
		}
	}
	if got := Visit(petritest.Compile(t, n), 100); got.Deadlocks != 0 || !got.Complete || got.Path != nil || got.Branches != nil {
		t.Errorf("%+v", got)
	}
}

func TestOverflowOfABranchIsNotFollowed(t *testing.T) {
	n := split(1, 0, 0)
	n.Places[1].Initial = 1<<32 - 1
	if got := Visit(petritest.Compile(t, n), 10); got.Complete || got.Markings != 1 || got.Deadlocks != 0 {
		t.Errorf("%+v", got)
	}
}
