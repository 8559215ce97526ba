// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// flow makes a net from a drawing: one line a transition, "in in > name > out
// out". "in~" is a join arc, "out?" a branch with a guard, "out!" one without,
// "out*" the default. Places hold a token where marked says so.
func flow(t *testing.T, drawing, marked string) *petri.Net {
	t.Helper()
	n := &petri.Net{ID: "flow"}
	places, tokens := map[string]bool{}, map[string]uint32{}
	for id := range strings.FieldsSeq(marked) {
		tokens[id]++
	}
	place := func(id string) string {
		if !places[id] {
			places[id] = true
			n.Places = append(n.Places, petri.Place{ID: id, Initial: tokens[id]})
		}
		return id
	}
	for line := range strings.Lines(drawing) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		part := strings.Split(line, ">")
		tr := strings.TrimSpace(part[1])
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
		for _, in := range strings.Fields(part[0]) {
			a := petri.Arc{ID: in + ">" + tr, Target: tr, Weight: 1}
			if in, is := strings.CutSuffix(in, "~"); is {
				a.Kind, a.Source = petri.Join, place(in)
			} else {
				a.Source = place(in)
			}
			n.Arcs = append(n.Arcs, a)
		}
		for _, out := range strings.Fields(part[2]) {
			a := petri.Arc{ID: tr + ">" + out, Source: tr, Weight: 1}
			a.Target = place(strings.TrimRight(out, "?!*"))
			if a.Target != out {
				a.Kind, a.Default = petri.Branch, strings.HasSuffix(out, "*")
			}
			if strings.HasSuffix(out, "?") {
				a.Guard = "ok"
			}
			n.Arcs = append(n.Arcs, a)
		}
	}
	return n
}

// The rule of BPMN 2.0 for the inclusive join (13.4.3, table 13.3).
func TestInclusiveJoinIsEnabled(t *testing.T) {
	const (
		diamond = `
			s       > split > a? b?
			a       > A     > x
			b       > B     > y
			x~ y~   > join  > end`
		loop = `
			s       > split > a? b?
			a       > A     > x
			b       > B     > y
			x~ y~   > join  > after
			after   > again > s
			after   > leave > end`
		circle = `
			a~ v~   > join  > c
			c       > one   > u out1
			b~ u~   > other > d
			d       > two   > v out2`
		detour = `
			f       > toX   > x
			f       > toY   > y
			g       > onlyY > y
			x~ y~   > join  > end`
		beside = `
			x       > away  > y
			x~ y~   > join  > end`
	)
	for _, c := range []struct {
		rule, drawing, marked string
		awaits                string // the empty places that it waits for; "" is enabled
	}{
		{"no token, not enabled: it waits for any", diamond, "", "x y"},
		{"a token before the split can reach both empty edges", diamond, "s", "x y"},
		{"one edge full and nothing under way: enabled", diamond, "x", ""},
		{"both edges full: enabled", diamond, "x y", ""},
		{"a token under way to the empty edge is waited for", diamond, "x b", "y"},
		{"a token behind the join is not waited for", diamond, "x end", ""},
		{"several tokens on the full edge do not stand for the other", diamond, "x x x b", "y"},
		{"a token that can reach the empty edge and the full one is not waited for", diamond, "x s", ""},
		{"a token that can reach only the empty edge is waited for", detour, "x g", "y"},
		{"a token that can reach either edge is not waited for", detour, "x f", ""},
		{"one of two tokens is waited for, though the other is not", detour, "x f g", "y"},
		{"in a loop the way through the join itself does not count", loop, "x after", ""},
		{"in a loop the way round to before the split does not count through the join", loop, "y after", ""},
		{"in a loop a token on the way to the empty edge is waited for", loop, "y a", "x"},
		{"a token on the full edge, with a way to the empty one, is not waited for", beside, "x", ""},
		{"a token on the full edge that cannot go back is not waited for", beside, "y", ""},
		{"two joins on each other's way: each waits for the other", circle, "a b", "v"},
		{"on that circle, one alone does not wait", circle, "a", ""},
		{"on that circle, both are content when the other has passed", circle, "a v d", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := flow(t, c.drawing, c.marked)
			tables := petritest.Compile(t, n)
			join, _ := tables.TransitionIndex("join")
			s := tables.NewState()
			var got []string
			for _, p := range tables.Join(join).Awaits(marked(s)) {
				got = append(got, n.Places[p].ID)
			}
			if got := strings.Join(got, " "); got != c.awaits || s.Enabled(join) != (c.awaits == "") {
				t.Errorf("enabled %v, waits for %q, want %q", s.Enabled(join), got, c.awaits)
			}
			if got := strings.Join(petritest.NewReference(n).Awaits("join"), " "); got != c.awaits {
				t.Errorf("the reference waits for %q, want %q", got, c.awaits)
			}
		})
	}
}

// No path leads along an arc that is aside; of a join's own arcs, no path of that join.
func TestArcsAsideAreOnNoPath(t *testing.T) {
	const drawing = `
		g       > event > y
		b       > back  > n
		n       > again > y
		x~ y~   > join  > end
		y~ z~   > other > end2`
	for _, c := range []struct {
		rule, from, to string
		aside          petri.Aside
		marked         string
		awaits         string // the empty places for which the join waits
	}{
		{"a path leads to the empty place", "", "", petri.AsideNone, "x g", "y"},
		{"along an input", "g", "event", petri.AsideAll, "x g", ""},
		{"along an output", "event", "y", petri.AsideAll, "x g", ""},
		{"other paths remain", "g", "event", petri.AsideAll, "x g b", "y"},
		{"an arc of a place that the join empties", "n", "again", petri.AsideOwn, "x b", ""},
		{"an arc of a place that it does not empty", "g", "event", petri.AsideOwn, "x g", "y"},
	} {
		n := flow(t, drawing, c.marked)
		n.Arcs = append(n.Arcs, petri.Arc{Source: "n", Target: "join", Kind: petri.Reset})
		for k := range n.Arcs {
			if a := &n.Arcs[k]; a.Source == c.from && a.Target == c.to {
				a.Aside = c.aside
			}
		}
		tables := petritest.Compile(t, n)
		join, _ := tables.TransitionIndex("join")
		got := ""
		for _, p := range tables.Join(join).Awaits(marked(tables.NewState())) {
			got += n.Places[p].ID
		}
		if want := strings.Join(petritest.NewReference(n).Awaits("join"), " "); got != c.awaits || want != c.awaits {
			t.Errorf("%s: waits for %q, the reference for %q, want %q", c.rule, got, want, c.awaits)
		}
	}
}

// By the standard's rule, two joins in a cycle wait for each other: the instance is
// deadlocked.
func TestTwoJoinsOnACycleAreDeadlocked(t *testing.T) {
	s := petritest.Compile(t, flow(t, `
		a~ v~ > join  > c
		c     > one   > u out1
		b~ u~ > other > d
		d     > two   > v out2`, "a b")).NewState()
	if !s.Dead() {
		t.Error("something is enabled")
	}
}

func marked(s *petri.State) func(func(int32) bool) {
	return func(yield func(int32) bool) {
		for p, m := range s.Marking() {
			if m > 0 && !yield(int32(p)) {
				return
			}
		}
	}
}

func TestRulesOfInclusiveFirings(t *testing.T) {
	const all = math.MaxUint64
	for _, c := range []struct {
		rule, drawing, marked string
		branches              uint64
		after                 marks
	}{
		{"a join takes one token of each edge that has one", "x~ y~ z~ > t > end", "x x z", all, marks{"x": 1, "y": 0, "z": 0, "end": 1}},
		{"a join beside a normal arc takes of both", "x~ y > t > end", "x y y", all, marks{"x": 0, "y": 1, "end": 1}},
		{"a split puts to the branches that are chosen", "s > t > a? b? c?", "s", 0b101, marks{"s": 0, "a": 1, "b": 0, "c": 1}},
		{"a split puts to all branches without a choice", "s > t > a? b? c*", "s", all, marks{"s": 0, "a": 1, "b": 1, "c": 1}},
		{"a split puts to its normal arcs always", "s > t > a b? c?", "s", 0b01, marks{"s": 0, "a": 1, "b": 1, "c": 0}},
		{"a join that is a split does both", "x~ y~ > t > a? b?", "y", 0b10, marks{"x": 0, "y": 0, "a": 0, "b": 1}},
		{"a branch can lead back", "x~ y~ > t > x? b?", "x x", 0b01, marks{"x": 2, "y": 0, "b": 0}},
		{"a join and a normal arc of one place take two if there are two", "x x~ > t > end", "x x x", all, marks{"x": 1, "end": 1}},
		{"a join and a normal arc of one place take one if there is one", "x x~ > t > end", "x", all, marks{"x": 0, "end": 1}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := flow(t, c.drawing, c.marked)
			s := petritest.Compile(t, n).NewState()
			err := s.FireBranches(0, c.branches)
			got := marks{}
			for i, p := range n.Places {
				got[p.ID] = s.Tokens(i)
			}
			if d := cmp.Diff(c.after, got); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}

func TestBranchMasks(t *testing.T) {
	for _, c := range []struct {
		rule, drawing              string
		always, guarded, otherwise uint64
	}{
		{"a transition that is no split has none", "s > t > a b", 0, 0, 0},
		{"branches without guards are always taken", "s > t > a! b!", 0b11, 0, 0},
		{"guards and a default", "s > t > a? b* c?", 0, 0b101, 0b010},
		{"a default beside a branch without a guard is never taken", "s > t > a! b* c?", 0b001, 0b100, 0},
		{"a default alone is always taken", "s > t > a*", 0b1, 0, 0},
	} {
		always, guarded, otherwise := petritest.Compile(t, flow(t, c.drawing, "s")).BranchMasks(0)
		if always != c.always || guarded != c.guarded || otherwise != c.otherwise {
			t.Errorf("%s: %b %b %b, want %b %b %b", c.rule, always, guarded, otherwise, c.always, c.guarded, c.otherwise)
		}
	}
}

func TestOverflowOfBranchesIsRefusedAndChangesNothing(t *testing.T) {
	for _, c := range []struct {
		rule, drawing string
		tokens        uint32 // in the place a, before
		fits          bool
	}{
		{"a branch on a full place", "s > t > a?", math.MaxUint32, false},
		{"a branch on a place with room for one", "s > t > a?", math.MaxUint32 - 1, true},
		{"two branches into one place", "s > t > a? a?", math.MaxUint32 - 1, false},
		{"a branch and a normal arc into one place", "s > t > a a?", math.MaxUint32 - 1, false},
		{"what the firing takes makes room", "s a > t > a?", math.MaxUint32, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := flow(t, c.drawing, "s")
			for i := range n.Places {
				if n.Places[i].ID == "a" {
					n.Places[i].Initial = c.tokens
				}
			}
			s := petritest.Compile(t, n).NewState()
			before := fmt.Sprint(s.Marking())
			if err := s.Fire(0); (err == nil) != c.fits || err != nil && !errors.Is(err, petri.ErrOverflow) {
				t.Errorf("fired: %v, want it to fit: %v", err, c.fits)
			}
			if !c.fits && fmt.Sprint(s.Marking()) != before {
				t.Errorf("marking %v, before %v", s.Marking(), before)
			}
		})
	}
}

func TestStatePlaysTheGatewaysOfTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	waited, joined, split := 0, 0, 0
	for range 1500 {
		n := petritest.RandomGateways(r)
		tables := petritest.Compile(t, n)
		s, order, ref := tables.NewState(), make(petri.Order, tables.OrderLen()), petritest.NewReference(n)
		for range 25 {
			agree(t, tables, s, order, ref, r.IntN(len(n.Transitions)))
			p, tr, mask := r.IntN(len(n.Places)), r.IntN(len(n.Transitions)), r.Uint64()
			switch r.IntN(8) {
			case 0:
				m := r.Uint32N(3)
				s.Set(p, m)
				ref.Marking[n.Places[p].ID] = uint64(m)
				continue
			case 1:
				mask = math.MaxUint64
			}
			taken := map[int]bool{}
			for i, b := range tables.Branches(tr) {
				taken[int(b.Arc)] = mask>>i&1 != 0
			}
			err := s.FireBranches(tr, mask)
			if fired := ref.FireBranches(n.Transitions[tr].ID, func(a int) bool { return taken[a] }); fired != (err == nil) {
				t.Fatalf("fire %q: %v, want fired %v", n.Transitions[tr].ID, err, fired)
			}
			switch {
			case tables.Join(tr) != nil && err != nil:
				waited++
			case tables.Join(tr) != nil:
				joined++
			case len(tables.Branches(tr)) > 0 && err == nil:
				split++
			}
		}
	}
	if min(waited, joined, split) < 800 {
		t.Errorf("joins waited %d times and fired %d times, splits fired %d times: too few to tell", waited, joined, split)
	}
}

// A join waits for tokens at the start of a chain of any length, in any order of the
// file.
func TestReachFollowsLongChains(t *testing.T) {
	const length = 20_000
	n := &petri.Net{ID: "chain"}
	for i := range length {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i)})
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprint("t", i)})
	}
	for i := range length - 1 {
		n.Arcs = append(n.Arcs, petri.Arc{Source: fmt.Sprint("p", i+1), Target: fmt.Sprint("t", i), Weight: 1},
			petri.Arc{Source: fmt.Sprint("t", i), Target: fmt.Sprint("p", i), Weight: 1})
	}
	n.Places = append(n.Places, petri.Place{ID: "other", Initial: 1})
	n.Transitions = append(n.Transitions, petri.Transition{ID: "join"})
	n.Arcs = append(n.Arcs, petri.Arc{Source: "p0", Target: "join", Kind: petri.Join, Weight: 1},
		petri.Arc{Source: "other", Target: "join", Kind: petri.Join, Weight: 1})
	n.Places[length-1].Initial = 1
	s := petritest.Compile(t, n).NewState()
	if s.Enabled(length) {
		t.Error("the join does not wait for the token at the far end")
	}
	s.Set(length-1, 0)
	if !s.Enabled(length) {
		t.Error("the join waits for nothing")
	}
}

func TestTooManyJoinsForTheNetAreRefused(t *testing.T) {
	n := &petri.Net{ID: "joins", Places: []petri.Place{{ID: "p"}}}
	for i := range 1500 {
		id := fmt.Sprint(i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
		n.Arcs = append(n.Arcs, petri.Arc{Source: "p", Target: id, Kind: petri.Join, Weight: 1})
	}
	var fault *petri.Fault
	if _, err := petri.Compile(n); !errors.As(err, &fault) || !strings.Contains(err.Error(), "1500 inclusive joins") {
		t.Errorf("compiled: %v", err)
	}
}

func TestPlainIsWithoutGuardsGatewaysAndPreemption(t *testing.T) {
	for drawing, want := range map[string]bool{"s > t > a b": true, "s~ > t > a": false, "s > t > a?": false} {
		if got := petritest.Compile(t, flow(t, drawing, "s")).Plain(); got != want {
			t.Errorf("%s: plain %v", drawing, got)
		}
	}
	for _, change := range []func(*petri.Transition){
		func(t *petri.Transition) { t.Guard = "ok" }, func(t *petri.Transition) { t.Preempts = true },
	} {
		n := flow(t, "s > t > a", "s")
		change(&n.Transitions[0])
		if petritest.Compile(t, n).Plain() {
			t.Errorf("%+v is plain", n.Transitions[0])
		}
	}
}

// A join and the transition that disables it are rivals: neither starves.
func TestJoinIsNotStarvedByItsRival(t *testing.T) {
	n := flow(t, `
		f       > send  > f u
		x~ y~   > join  > x
		u       > drop  >
		u never > toY   > y
		f never > toX   > x`, "f x")
	n.Transitions[2].Priority = 1
	if fired := run(t, n, 300); fired["join"] < 90 {
		t.Errorf("fired %v", fired)
	}
}

func TestKindsHaveNames(t *testing.T) {
	var arcs, triggers []string
	for k := petri.Normal; k <= petri.Branch+1; k++ {
		arcs = append(arcs, k.String())
	}
	for k := petri.TriggerNone; k <= petri.TriggerTime; k++ {
		triggers = append(triggers, k.String())
	}
	if d := cmp.Diff([]string{"normal", "inhibitor", "read", "reset", "join", "branch", "unknown"}, arcs); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"none", "event", "work", "delay", "time"}, triggers); d != "" {
		t.Error(d)
	}
}

// A held transition does not fire by itself, so it has no rivals.
func TestHeldTransitionsAreNotRivalsOfAJoin(t *testing.T) {
	tables := petritest.Compile(t, flow(t, `
		f     > send > f u
		x~ y~ > join > x
		u     > toY  > y`, "f x"))
	if tables.OrderLen() == 0 {
		t.Error("what makes the join wait is no rival")
	}
	if with := tables.WithHeld([]bool{false, true, false}); with.OrderLen() != 0 || with.Join(1) == nil {
		t.Errorf("a held join has rivals: an order of %d", with.OrderLen())
	}
}
