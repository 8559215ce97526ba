// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// slowQuiet plays silent transitions by their definition.
type slowQuiet struct {
	net    *petri.Net
	silent []bool
	sink   string // the place in which a workflow net ends with one token; "" for another net
}

// findSink sets the sink of a net with one initial token and one final place.
func (q *slowQuiet) findSink() {
	initial, finals := 0, 0
	for _, p := range q.net.Places {
		initial += int(p.Initial)
		if petritest.NewReference(q.net).Final(p.ID) {
			finals++
			q.sink = p.ID
		}
	}
	if initial != 1 || finals != 1 {
		q.sink = ""
	}
}

// final reports whether there is one token, in the sink.
func (q *slowQuiet) final(ref *petritest.Reference) bool {
	all := uint64(0)
	for _, n := range ref.Marking {
		all += n
	}
	return q.sink != "" && all == 1 && ref.Marking[q.sink] == 1
}

// toEnd returns after how many silent firings the final marking is reached or, if it
// cannot be, an end, as fewest; and the marking there.
func (q *slowQuiet) toEnd(marking map[string]uint64) (steps int, there map[string]uint64) {
	reach := func(wanted func(*petritest.Reference) bool) int {
		return q.fewest(marking, func(ref *petritest.Reference) bool {
			there = maps.Clone(ref.Marking)
			return wanted(ref)
		})
	}
	if q.sink != "" {
		if steps = reach(q.final); steps != -1 {
			return steps, there
		}
	}
	return reach(q.atEnd), there
}

// remaining returns how many tokens remain in an instance that ends in a marking.
func (q *slowQuiet) remaining(marking map[string]uint64) (n uint64) {
	for place, tokens := range marking {
		switch {
		case place == q.sink:
			n += max(tokens, 1) - 1
		case q.sink != "" || !petritest.NewReference(q.net).Final(place):
			n += tokens
		}
	}
	return n
}

// choices returns the sets of branches that a transition may take: all branches
// without a guard, any of those with one, and the default if there is no other.
func (q *slowQuiet) choices(transition string) (out []map[int]bool) {
	var guarded []int
	always, otherwise := map[int]bool{}, map[int]bool{}
	for i, a := range q.net.Arcs {
		switch {
		case a.Kind != petri.Branch || a.Source != transition:
		case a.Default:
			otherwise[i] = true
		case a.Guard == "":
			always[i] = true
		default:
			guarded = append(guarded, i)
		}
	}
	for set := range 1 << len(guarded) {
		taken := maps.Clone(always)
		for k, arc := range guarded {
			if set>>k&1 != 0 {
				taken[arc] = true
			}
		}
		switch {
		case len(taken) > 0:
			out = append(out, taken)
		case len(otherwise) > 0 || len(guarded) == 0:
			out = append(out, otherwise)
		}
	}
	return out
}

// taken returns the branches of an event: all, or the default alone.
func (q *slowQuiet) taken(transition string) map[int]bool {
	var most map[int]bool
	for _, c := range q.choices(transition) {
		if len(c) >= len(most) {
			most = c
		}
	}
	return most
}

const unknown = -2

// fewest returns the number of silent firings after which a wanted marking is
// reached, at least one; -1 if it is never reached, unknown if the search is
// too large.
func (q *slowQuiet) fewest(marking map[string]uint64, wanted func(*petritest.Reference) bool) int {
	seen := map[string]bool{fmt.Sprint(marking): true}
	now := []map[string]uint64{marking}
	for steps := 1; len(now) > 0; steps++ {
		var next []map[string]uint64
		for _, m := range now {
			for t, tr := range q.net.Transitions {
				if !q.silent[t] || petritest.NewReference(q.net).Source(tr.ID) {
					continue
				}
				for _, taken := range q.choices(tr.ID) {
					ref := petritest.NewReference(q.net)
					ref.Marking = maps.Clone(m)
					if !ref.FireBranches(tr.ID, func(arc int) bool { return taken[arc] }) || seen[fmt.Sprint(ref.Marking)] {
						continue
					}
					if wanted(ref) {
						return steps
					}
					seen[fmt.Sprint(ref.Marking)] = true
					next = append(next, ref.Marking)
				}
			}
		}
		now = next
		if len(seen) > 200 {
			return unknown
		}
	}
	return -1
}

// needs reports whether a transition needs a token in a place.
func (q *slowQuiet) needs(transition, place string) bool {
	return newSlow(q.net, nil).needs(transition, place)
}

// atEnd reports whether nothing can fire for the tokens of a marking, and all
// are in final places.
func (q *slowQuiet) atEnd(ref *petritest.Reference) bool { return (&slow{Reference: ref}).atEnd() }

// meetsEvent reports whether there is a path from a place to a transition
// with events, through places that are not final.
func (q *slowQuiet) meetsEvent(place string, passed map[string]bool) bool {
	if passed[place] || petritest.NewReference(q.net).Final(place) {
		return false
	}
	passed[place] = true
	for t, tr := range q.net.Transitions {
		if !q.needs(tr.ID, place) {
			continue
		}
		if !q.silent[t] {
			return true
		}
		for _, a := range q.net.Arcs {
			if a.Source == tr.ID && q.meetsEvent(a.Target, passed) {
				return true
			}
		}
	}
	return false
}

// quiet reports whether no event can follow, and a silent transition can fire.
func (q *slowQuiet) quiet(ref *petritest.Reference) bool {
	some := false
	for t, tr := range q.net.Transitions {
		some = some || q.silent[t] && !ref.Source(tr.ID)
	}
	for _, p := range q.net.Places {
		if ref.Marking[p.ID] > 0 && q.meetsEvent(p.ID, map[string]bool{}) {
			return false
		}
	}
	return some
}

func (q *slowQuiet) tooMany() bool {
	for _, tr := range q.net.Transitions {
		if len(q.choices(tr.ID)) > 1<<maxSubsets {
			return true
		}
	}
	return false
}

// markingOf returns the marking of the instance, or the initial one.
func markingOf(r *Replay, name string) *petritest.Reference {
	ref := petritest.NewReference(r.tables.Net)
	if held, open := heldBy(r)[name]; open {
		for _, p := range r.tables.Net.Places {
			ref.Marking[p.ID] = uint64(len(held[p.ID]))
		}
	}
	return ref
}

// For an event, the fewest silent transitions fire that it needs, or none if
// they do not help. If no event can follow, those fire that lead to the end.
func TestSilentTransitionsFireAsTheReferenceFindsThem(t *testing.T) {
	var helped, unhelped, ended, closed, remained, workflows int
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		q := &slowQuiet{net: petritest.RandomGateways(rnd)}
		tables, err := petri.Compile(q.net)
		if err != nil {
			t.Fatal(err)
		}
		for range q.net.Transitions {
			q.silent = append(q.silent, rnd.IntN(3) > 0)
		}
		if q.tooMany() {
			continue
		}
		if seed%2 == 0 {
			q.findSink()
		}
		if q.sink != "" {
			workflows++
		}
		r := New(Config{Tables: tables, Silent: q.silent, Limit: 10, Search: 5000, EndsByEvent: seed%3 == 0, AnyEnd: seed%2 != 0})
		for k := range 6 {
			tr := rnd.IntN(tables.Transitions())
			id, ref, silent := q.net.Transitions[tr].ID, markingOf(r, "a"), r.Counts.Silent
			enabled, steps := ref.Enabled(id), 0
			if !enabled {
				steps = q.fewest(ref.Marking, func(next *petritest.Reference) bool { return next.Enabled(id) })
			}
			fit := r.Fire([]byte("a"), tr, int64(1000+k))
			_, open := r.byName["a"]
			fired := int(r.Counts.Silent - silent)
			switch {
			case steps == unknown:
			case fit != (steps >= 0):
				t.Fatalf("seed %d: net %+v, silent %v, marking %v: fit of %s is %v, the reference needs %d steps", seed, q.net, q.silent, ref.Marking, id, fit, steps)
			case open && fit && fired != steps:
				t.Fatalf("seed %d: net %+v, silent %v, marking %v: %s needed %d silent firings, want %d", seed, q.net, q.silent, ref.Marking, id, fired, steps)
			case steps > 0:
				helped++
			case steps < 0:
				unhelped++
			}
			if enabled && seed%3 != 0 {
				taken := q.taken(id)
				ref.FireBranches(id, func(arc int) bool { return taken[arc] })
				over, more := q.atEnd(ref), 0
				if !over && q.quiet(ref) {
					more, _ = q.toEnd(ref.Marking)
					over = more > 0
				}
				if more != unknown && (over == open || over && fired != more) {
					t.Fatalf("seed %d: net %+v, silent %v, marking %v: over is %v after %d silent firings, want %v after %d", seed, q.net, q.silent, ref.Marking, !open, fired, over, more)
				}
				if over && more > 0 {
					ended++
				}
			}
		}
		if _, open := r.byName["a"]; !open {
			continue
		}
		ref, counts := markingOf(r, "a"), r.Counts
		steps, there := 0, ref.Marking
		if !q.atEnd(ref) && !q.final(ref) {
			steps, there = q.toEnd(ref.Marking)
		}
		if steps == unknown {
			continue
		}
		if steps < 0 {
			there = ref.Marking
		}
		want := q.remaining(there)
		r.End([]byte("a"), 2000)
		if fired, left := int(r.Counts.Silent-counts.Silent), r.Counts.Remaining-counts.Remaining; fired != max(steps, 0) || left != want {
			t.Fatalf("seed %d: net %+v, silent %v, marking %v: at End %d fired and %d remained; want %d and %d", seed, q.net, q.silent, ref.Marking, fired, left, steps, want)
		}
		if steps > 0 {
			closed++
		} else if steps < 0 {
			remained++
		}
	}
	if helped < 10 || unhelped < 10 || ended < 2 || closed < 2 || remained < 2 || workflows < 8 {
		t.Errorf("only %d events were helped and %d not; %d instances were led to their end, %d by their last event, %d not; %d workflow nets", helped, unhelped, ended, closed, remained, workflows)
	}
}

// Properties of the net alone: how its transitions can branch, and in which
// places no event can follow.
func TestSilentTransitions(t *testing.T) {
	quiet, defaults := 0, 0
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		q := &slowQuiet{net: petritest.RandomGateways(rnd)}
		tables, err := petri.Compile(q.net)
		if err != nil {
			t.Fatal(err)
		}
		some := false
		for tr := range q.net.Transitions {
			q.silent = append(q.silent, rnd.IntN(3) > 0)
			some = some || q.silent[tr] && !tables.Source(tr)
		}
		r := New(Config{Tables: tables, Silent: q.silent, Limit: 1})
		for p, place := range q.net.Places {
			if want := !q.meetsEvent(place.ID, map[string]bool{}); some && r.quiet.only[p] != want {
				t.Fatalf("seed %d: net %+v, silent %v: no event can follow in %s: %v, want %v", seed, q.net, q.silent, place.ID, r.quiet.only[p], want)
			} else if some && want {
				quiet++
			}
		}
		for tr, transition := range q.net.Transitions {
			want := map[uint64]bool{}
			for _, taken := range q.choices(transition.ID) {
				var mask uint64
				for k, b := range tables.Branches(tr) {
					if taken[int(b.Arc)] {
						mask |= 1 << k
					}
					if taken[int(b.Arc)] && b.Default {
						defaults++
					}
				}
				want[mask] = true
			}
			got := map[uint64]bool{}
			for _, mask := range choices(tables, tr) {
				if got[mask] {
					t.Fatalf("seed %d: %s has %b twice", seed, transition.ID, mask)
				}
				got[mask] = true
			}
			if len(want) <= 1<<maxSubsets && !maps.Equal(got, want) {
				t.Fatalf("seed %d: net %+v: %s can branch as %v, want %v", seed, q.net, transition.ID, got, want)
			}
		}
	}
	if quiet < 100 || defaults < 100 {
		t.Errorf("only %d places are quiet, %d branches are defaults", quiet, defaults)
	}
}

// For a split with many branches, only single branches and all together are
// tried.
func TestOfManyBranchesEachIsTriedAndAll(t *testing.T) {
	n := &petri.Net{ID: "many", Places: []petri.Place{{ID: "in"}}, Transitions: []petri.Transition{{ID: "split"}},
		Arcs: []petri.Arc{{ID: "a", Source: "in", Target: "split", Weight: 1}}}
	for k := range maxSubsets + 2 {
		id := fmt.Sprint(k)
		n.Places = append(n.Places, petri.Place{ID: id})
		a := petri.Arc{ID: "to " + id, Source: "split", Target: id, Weight: 1, Kind: petri.Branch, Guard: "true"}
		if k == 0 {
			a.Default, a.Guard = true, ""
		}
		n.Arcs = append(n.Arcs, a)
	}
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	got := choices(tables, 0)
	slices.Sort(got)
	if want := []uint64{1, 2, 4, 8, 16, 32, 64, 126}; !slices.Equal(got, want) {
		t.Errorf("%b, want %b", got, want)
	}
}

// An inclusive join that fires without a token lacks one. With a token in any
// of its places it lacks none, even if it should have waited for more.
func TestAJoinThatFiresLacksOneTokenAtMost(t *testing.T) {
	n := &petri.Net{ID: "join", Places: []petri.Place{{ID: "l"}, {ID: "r"}, {ID: "before r"}, {ID: "end"}}, Transitions: []petri.Transition{{ID: "join"}, {ID: "go"}},
		Arcs: []petri.Arc{{ID: "1", Source: "l", Target: "join", Weight: 1, Kind: petri.Join}, {ID: "2", Source: "r", Target: "join", Weight: 1, Kind: petri.Join},
			{ID: "3", Source: "join", Target: "end", Weight: 1}, {ID: "4", Source: "before r", Target: "go", Weight: 1}, {ID: "5", Source: "go", Target: "r", Weight: 1}}}
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule                                       string
		put                                        []int
		unfit, missing, consumed, left, leftBefore uint64
	}{
		{"none", nil, 1, 1, 1, 0, 0},
		{"the first", []int{0}, 0, 0, 1, 0, 0},
		{"the second", []int{1}, 0, 0, 1, 0, 0},
		{"both", []int{0, 1}, 0, 0, 2, 0, 0},
		{"one, while another is on its way", []int{0, 2}, 1, 0, 1, 0, 1},
	} {
		r := New(Config{Tables: tables, Limit: 1, EndsByEvent: true})
		for _, p := range c.put {
			r.Put([]byte("a"), p, 1, 100)
		}
		r.Fire([]byte("a"), 0, 200)
		held := heldBy(r)["a"]
		if r.Counts.Unfit != c.unfit || r.Counts.Missing != c.missing || r.Counts.Consumed != c.consumed ||
			len(held["l"])+len(held["r"]) != int(c.left) || len(held["before r"]) != int(c.leftBefore) || len(held["end"]) != 1 {
			t.Errorf("%s: %+v, holds %v", c.rule, r.Counts, held)
		}
	}
}
