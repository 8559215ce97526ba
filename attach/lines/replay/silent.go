// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// step is a firing; for an inclusive split, with the branches that it takes.
type step struct {
	transition int32
	branches   uint64
}

// quiet describes a net's silent transitions.
type quiet struct {
	steps []step   // all ways in which they can fire
	only  []bool   // by place: final, or needed only by silent transitions that lead to such places
	need  [][]step // by transition: steps that may help to enable it; nil until computed
}

// maxSubsets bounds the branches of a silent split all of whose subsets are
// tried. With more branches, only single branches and all of them together are
// tried.
const maxSubsets = 5

func newQuiet(t *petri.Tables, silent, end []bool) quiet {
	q := quiet{need: make([][]step, t.Transitions())}
	for tr, is := range silent {
		if !is || t.Source(tr) {
			continue
		}
		for _, branches := range choices(t, tr) {
			q.steps = append(q.steps, step{int32(tr), branches})
		}
	}
	if len(q.steps) > 0 {
		q.only = onlyQuiet(t, silent, end)
	}
	return q
}

// choices returns the sets of branches that a transition may take.
func choices(t *petri.Tables, transition int) []uint64 {
	always, guarded, otherwise := t.BranchMasks(transition)
	var out []uint64
	if n := bits.OnesCount64(guarded); n > maxSubsets {
		for rest := guarded; rest != 0; rest &= rest - 1 {
			out = append(out, always|rest&-rest)
		}
		out = append(out, always|guarded)
	} else {
		for sub := guarded; sub != 0; sub = (sub - 1) & guarded {
			out = append(out, always|sub)
		}
	}
	if always != 0 || guarded|otherwise == 0 {
		out = append(out, always)
	}
	if otherwise != 0 {
		out = append(out, otherwise)
	}
	return out
}

// onlyQuiet returns the largest set of places from which a token reaches a
// final place by silent transitions alone. Whether an event can read it there
// is checked at the end, see Replay.finished.
func onlyQuiet(t *petri.Tables, silent, end []bool) []bool {
	only := make([]bool, t.Places())
	for p := range only {
		only[p] = true
	}
	for changed := true; changed; {
		changed = false
		for tr := range t.Transitions() {
			if silent[tr] && leadsWithin(t, tr, only) {
				continue
			}
			for _, p := range inputs(t, tr) {
				if only[p] && !end[p] {
					only[p], changed = false, true
				}
			}
		}
	}
	return only
}

func leadsWithin(t *petri.Tables, transition int, places []bool) bool {
	for _, e := range t.Effects(transition) {
		if e.Put > 0 && !places[e.Place] {
			return false
		}
	}
	return !slices.ContainsFunc(t.Branches(transition), func(b petri.BranchArc) bool { return !places[b.Place] })
}

// inputs returns the places that a transition needs or takes from.
func inputs(t *petri.Tables, transition int) []int32 {
	var out []int32
	for _, c := range t.Conds(transition) {
		if c.Lo > 0 {
			out = append(out, c.Place)
		}
	}
	if j := t.Join(transition); j != nil {
		out = append(out, j.Places...)
	}
	return out
}

// onlyQuiet reports whether no event can follow: silent transitions alone can
// continue with every token.
func (r *Replay) onlyQuiet(in *instance) bool {
	return len(r.quiet.steps) > 0 && !slices.ContainsFunc(in.runs, func(x run) bool { return !r.quiet.only[x.place] })
}

// wayToEnable returns the fewest silent transitions from a marking on that enable
// another one; nil if there are none.
func (r *Replay) wayToEnable(from []uint32, transition int) []step {
	return r.way(from, r.helping(transition), func(marking []uint32) bool { return r.tables.EnabledIn(marking, transition) })
}

// helping returns the silent steps that may help to enable a transition.
func (r *Replay) helping(transition int) []step {
	if len(r.quiet.steps) > 0 && r.quiet.need[transition] == nil {
		r.quiet.need[transition] = r.helpers(transition)
	}
	return r.quiet.need[transition]
}

// quietlyToEnd fires the fewest silent transitions after which the instance has a
// final marking or, if there are none, after which it is at its end.
func (r *Replay) quietlyToEnd(in *instance, at int64) bool {
	way := r.wayToEnd(r.marking)
	r.walkAlong(in, way, at)
	return way != nil
}

// wayToEnd returns the fewest silent transitions from a marking to a final marking
// or, if there is none to reach, to the end; nil if there are none.
func (r *Replay) wayToEnd(from []uint32) (way []step) {
	if r.finals != nil {
		way = r.way(from, r.quiet.steps, r.final)
	}
	if way == nil {
		way = r.way(from, r.quiet.steps, r.allFinished)
	}
	return way
}

// allFinished reports whether no transition can use a token of a marking.
func (r *Replay) allFinished(marking []uint32) bool {
	for p, m := range marking {
		if m > 0 && !r.finished(marking, int32(p)) {
			return false
		}
	}
	return true
}

// helpers returns the silent steps that can change whether a transition is
// enabled, directly or through other steps.
func (r *Replay) helpers(transition int) []step {
	wanted, unwanted := make([]bool, r.tables.Places()), make([]bool, r.tables.Places())
	in, out := make([]bool, len(r.quiet.steps)), []step{}
	want := func(tr int) {
		for _, c := range r.tables.Conds(tr) {
			wanted[c.Place] = wanted[c.Place] || c.Lo > 0
			unwanted[c.Place] = unwanted[c.Place] || c.Hi > 0
		}
		if j := r.tables.Join(tr); j != nil { // a join waits for tokens that can still arrive
			for p := range j.Reach {
				wanted[p], unwanted[p] = wanted[p] || j.Reach[p] != 0, unwanted[p] || j.Reach[p] != 0
			}
		}
	}
	want(transition)
	for grown := true; grown; {
		grown = false
		for k, s := range r.quiet.steps {
			if !in[k] && r.helps(s, wanted, unwanted) {
				in[k], grown, out = true, true, append(out, s)
				want(int(s.transition))
			}
		}
	}
	return out
}

func (r *Replay) helps(s step, wanted, unwanted []bool) bool {
	for _, e := range r.tables.Effects(int(s.transition)) {
		if e.Put > 0 && wanted[e.Place] || (e.Take > 0 || e.Reset) && unwanted[e.Place] {
			return true
		}
	}
	for k, b := range r.tables.Branches(int(s.transition)) {
		if s.branches>>k&1 != 0 && wanted[b.Place] {
			return true
		}
	}
	return false
}

// node is a marking that a search reached.
type node struct {
	from int32 // the node before; none for the first
	step step
}

// maxSearched bounds the memory of a search, in places times markings.
const maxSearched = 1 << 22

// way returns the shortest sequence of silent steps from a marking to a wanted one,
// at least one step; nil if there is none within the bound.
func (r *Replay) way(from []uint32, steps []step, wanted func(marking []uint32) bool) []step {
	if len(steps) == 0 {
		return nil
	}
	places := r.tables.Places()
	most := min(r.cfg.Search, maxSearched/max(places, 1))
	nodes, markings := []node{{from: none}}, append([]uint32(nil), from...)
	seen := map[string]bool{}
	var key []byte
	for k := 0; k < len(nodes); k++ {
		for _, s := range steps {
			here := markings[k*places : (k+1)*places]
			if !r.tables.EnabledIn(here, int(s.transition)) {
				continue
			}
			markings = append(markings, here...)
			next := markings[len(nodes)*places:]
			if !r.apply(next, s) {
				markings = markings[:len(nodes)*places]
				continue
			}
			key = appendKey(key[:0], next)
			if seen[string(key)] {
				markings = markings[:len(nodes)*places]
				continue
			}
			seen[string(key)] = true
			nodes = append(nodes, node{int32(k), s})
			if wanted(next) {
				return wayTo(nodes)
			}
			if len(nodes) >= most {
				return nil
			}
		}
	}
	return nil
}

// wayTo returns the steps that lead to the last node.
func wayTo(nodes []node) []step {
	length := 0
	for n := nodes[len(nodes)-1]; n.from != none; n = nodes[n.from] {
		length++
	}
	way := make([]step, length)
	for n := nodes[len(nodes)-1]; n.from != none; n = nodes[n.from] {
		length--
		way[length] = n.step
	}
	return way
}

// walkAlong fires silent steps.
func (r *Replay) walkAlong(in *instance, way []step, at int64) {
	for _, s := range way {
		r.fire(in, s, at)
		r.Counts.Silent++
	}
}

// apply fires an enabled step in a marking; it returns false if a place would overflow.
func (r *Replay) apply(marking []uint32, s step) bool {
	effects, split := r.tables.Effects(int(s.transition)), r.tables.Branches(int(s.transition))
	for k := range effects {
		e := &effects[k]
		if e.Reset {
			marking[e.Place] = 0
		} else {
			marking[e.Place] -= min(e.Take, marking[e.Place])
		}
		if uint64(marking[e.Place])+uint64(e.Put) > math.MaxUint32/2 {
			return false
		}
		marking[e.Place] += e.Put
	}
	for k := range split {
		if s.branches>>k&1 == 0 {
			continue
		}
		if uint64(marking[split[k].Place])+uint64(split[k].Put) > math.MaxUint32/2 {
			return false
		}
		marking[split[k].Place] += split[k].Put
	}
	return true
}

func appendKey(key []byte, marking []uint32) []byte {
	for p, m := range marking {
		if m > 0 {
			key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(p)), uint64(m))
		}
	}
	return key
}
