// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"fmt"
	"math"
	"slices"
)

// JoinTest decides whether an inclusive join is enabled by BPMN 2.0 (13.4.3, table
// 13.3): one of its places has a token, and every other token that can still reach
// one of its empty places, on a path that does not pass the join, can also reach one
// that is not empty.
//
// Paths lead from the inputs of a transition to its outputs, also if that transition
// can never be enabled: the rule is about the structure of the net. Inputs are
// normal, read and join arcs, outputs normal and branch arcs; an arc that is aside (see
// Arc.Aside) is neither. By this rule, two joins on each other's paths can wait for each
// other forever.
type JoinTest struct {
	Places []int32 // of its join arcs; bit i of a mask is Places[i]
	// Reach is, by place of the net, the set of Places that a token there can reach. A
	// place of the join reaches itself.
	Reach []uint64
}

// Ready reports whether the join arcs enable the join. marked yields the marked places,
// each once and in any order.
func (j *JoinTest) Ready(marked func(yield func(place int32) bool)) bool {
	var full uint64
	for p := range marked {
		full |= j.own(p)
	}
	if full == 0 {
		return false
	}
	for p := range marked {
		if j.waitsFor(full, p) != 0 {
			return false
		}
	}
	return true
}

// Marked yields the places of a marking that have a token.
func Marked(marking []uint32) func(yield func(place int32) bool) {
	return func(yield func(place int32) bool) {
		for p, m := range marking {
			if m > 0 && !yield(int32(p)) {
				return
			}
		}
	}
}

// EnabledIn reports whether a transition is enabled in a marking, whatever its guard.
func (t *Tables) EnabledIn(marking []uint32, transition int) bool {
	for _, c := range t.Conds(transition) {
		if !c.Holds(marking[c.Place]) {
			return false
		}
	}
	j := t.Join(transition)
	return j == nil || j.Ready(Marked(marking))
}

// own returns the bit of a place of the join, or 0.
func (j *JoinTest) own(place int32) uint64 {
	for i, p := range j.Places {
		if p == place {
			return 1 << i
		}
	}
	return 0
}

// waitsFor returns the empty places of the join that a token in a place can still
// reach, if the join has to wait for that token.
func (j *JoinTest) waitsFor(full uint64, place int32) uint64 {
	if r := j.Reach[place]; r&full == 0 {
		return r
	}
	return 0
}

// Awaits returns the empty places of the join for which it waits, given the marked
// places. These are all of its places if none has a token.
func (j *JoinTest) Awaits(marked func(yield func(place int32) bool)) []int32 {
	var full, waits uint64
	for p := range marked {
		full |= j.own(p)
	}
	for p := range marked {
		waits |= j.waitsFor(full, p)
	}
	var out []int32
	for i, p := range j.Places {
		if full == 0 || waits>>i&1 != 0 {
			out = append(out, p)
		}
	}
	return out
}

// BranchArc is one output of an inclusive split.
type BranchArc struct {
	Place   int32
	Put     uint32
	Arc     int32 // index in the net, for its guard
	Default bool
}

// Join returns the test of an inclusive join; nil for another transition.
func (t *Tables) Join(transition int) *JoinTest {
	if t.joins == nil {
		return nil
	}
	return t.joins[transition]
}

// Joins returns the inclusive joins that a change of a place can enable or
// disable.
func (t *Tables) Joins(place int) []int32 {
	if t.joins == nil {
		return nil
	}
	return t.joinWatch.of(place)
}

// Branches returns the branches of an inclusive split in the order of the net's arcs;
// none for another transition.
func (t *Tables) Branches(transition int) []BranchArc { return t.branches.of(transition) }

// BranchMasks returns which branches of an inclusive split are taken: always has the
// branches without a guard, guarded those whose guards decide, and otherwise the
// default, which is taken if no other one is. Bits are in the order of Branches. A
// default beside a branch of always is in none of them; a default that is the only
// branch is in always.
func (t *Tables) BranchMasks(transition int) (always, guarded, otherwise uint64) {
	for i, b := range t.Branches(transition) {
		switch {
		case b.Default:
			otherwise |= 1 << i
		case t.Net.Arcs[b.Arc].Guard == "":
			always |= 1 << i
		default:
			guarded |= 1 << i
		}
	}
	switch {
	case always != 0:
		otherwise = 0
	case guarded == 0:
		always, otherwise = otherwise, 0
	}
	return always, guarded, otherwise
}

// Plain reports whether the counts of the neighbouring places decide what is enabled and
// what a firing does: the net has no guards, no inclusive gateways, no transitions that
// preempt, none that throw or catch events, and no scopes.
func (t *Tables) Plain() bool {
	for i := range t.Net.Transitions {
		if tr := &t.Net.Transitions[i]; tr.Guard != "" || tr.Preempts || tr.Eventful() {
			return false
		}
	}
	return t.joins == nil && len(t.branches.all) == 0 && t.tree == nil
}

func (t *Tables) compileBranches() {
	by := make([][]BranchArc, len(t.Net.Transitions))
	for i := range t.Net.Arcs {
		if a := &t.Net.Arcs[i]; a.Kind == Branch {
			tr := t.transitionID[a.Source]
			by[tr] = append(by[tr], BranchArc{Place: t.placeID[a.Target], Put: a.Weight, Arc: int32(i), Default: a.Default})
		}
	}
	t.branches = flatten(by)
}

// maxReach bounds the inclusive joins of a net times its nodes and arcs, and so the time
// and memory of compileJoins.
const maxReach = 1 << 22

// compileJoins compiles the tests of the transitions with join arcs.
func (t *Tables) compileJoins(places [][]int32) error {
	joins := 0
	for _, ps := range places {
		joins += min(len(ps), 1)
	}
	if joins == 0 {
		return nil
	}
	if size := len(t.Net.Places) + len(t.Net.Transitions) + len(t.Net.Arcs); joins > maxReach/size {
		return &Fault{File: t.Net.File, Pos: t.Net.Pos, Msg: fmt.Sprintf(
			"net %q has %d inclusive joins and %d nodes and arcs; expected the product to be %d or less", t.Net.ID, joins, size, maxReach)}
	}
	t.joins = make([]*JoinTest, len(places))
	watch := make([][]int32, len(t.Net.Places))
	shared := t.ways(nil)
	for tr, ps := range places {
		if len(ps) == 0 {
			continue
		}
		w := shared
		if own := t.ownOf(tr); own != nil {
			w = t.ways(own)
		}
		j := &JoinTest{Places: ps, Reach: w.reach(tr, ps, func(p int32) bool { return t.Encloses(t.ActsIn(tr), t.ScopeOf(p)) })}
		t.joins[tr] = j
		for p, r := range j.Reach {
			if r != 0 {
				watch[p] = append(watch[p], int32(tr))
			}
		}
	}
	t.joinWatch = flatten(watch)
	return nil
}

// ways is the reversed graph of the paths of tokens to an inclusive join.
type ways struct {
	into lists[int32] // by place: the transitions that put tokens there
	from lists[int32] // by transition: the places whose tokens it takes or reads
}

// ownOf returns the places from which a join has a reset arc and arcs that are aside lead; nil
// for none.
func (t *Tables) ownOf(join int) (own map[string]bool) {
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		if a.Aside == AsideOwn && slices.ContainsFunc(t.Effects(join), func(e Effect) bool { return e.Reset && t.Net.Places[e.Place].ID == a.place(t) }) {
			if own == nil {
				own = map[string]bool{}
			}
			own[a.place(t)] = true
		}
	}
	return own
}

// place returns the place of an arc.
func (a *Arc) place(t *Tables) string {
	if _, input := t.placeID[a.Source]; input {
		return a.Source
	}
	return a.Target
}

// ways returns the graph for a join without the arcs that are aside, given its own places.
func (t *Tables) ways(own map[string]bool) ways {
	into, from := make([][]int32, len(t.Net.Places)), make([][]int32, len(t.Net.Transitions))
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		if a.Aside == AsideAll || a.Aside == AsideOwn && own[a.place(t)] {
			continue
		}
		if p, ok := t.placeID[a.Target]; ok {
			into[p] = append(into[p], t.transitionID[a.Source])
		} else if a.Kind != Inhibitor && a.Kind != Reset {
			tr := t.transitionID[a.Target]
			from[tr] = append(from[tr], t.placeID[a.Source])
		}
	}
	return ways{flatten(into), flatten(from)}
}

// reach returns, by place, which of some places a token can reach without passing a
// transition, and on places for which within is true only. The sets grow backwards along the arcs; an arc is visited again only if
// its set has grown.
func (w *ways) reach(without int, places []int32, within func(place int32) bool) []uint64 {
	reach, beyond := make([]uint64, len(w.into.start)-1), make([]uint64, len(w.from.start)-1)
	for i, p := range places {
		reach[p] |= 1 << i
	}
	beyond[without] = math.MaxUint64 // no path passes it
	for grown := slices.Clone(places); len(grown) > 0; {
		p := grown[len(grown)-1]
		grown = grown[:len(grown)-1]
		for _, tr := range w.into.of(int(p)) {
			if beyond[tr]|reach[p] == beyond[tr] {
				continue
			}
			beyond[tr] |= reach[p]
			for _, q := range w.from.of(int(tr)) {
				if reach[q]|beyond[tr] != reach[q] && within(q) {
					reach[q] |= beyond[tr]
					grown = append(grown, q)
				}
			}
		}
	}
	return reach
}
