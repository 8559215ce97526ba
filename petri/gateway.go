// SPDX-License-Identifier: Apache-2.0

package petri

// JoinTest says when an inclusive join is enabled, as BPMN 2.0 has it (13.4.3,
// table 13.3): one of its places holds a token, and every other token that can
// still reach one of its empty places, on a way that does not pass the join,
// can also reach one that is not empty.
//
// A token can go from the inputs of a transition to its outputs, whether or not
// that transition can ever be enabled: what is asked is where the net leads,
// not what will happen.
type JoinTest struct {
	Places []int32 // of its join arcs; bit i of a mask is Places[i]
	// Reach is, by place of the net, the set of Places that a token there can
	// reach. A place of the join reaches itself.
	Reach []uint64
}

// Ready reports whether the join is enabled, as far as its join arcs go, when
// the marked places, each once and in any order, are those that marked gives.
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

// own returns the bit of a place of the join, or 0.
func (j *JoinTest) own(place int32) uint64 {
	for i, p := range j.Places {
		if p == place {
			return 1 << i
		}
	}
	return 0
}

// waitsFor returns the empty places of the join that a token in a place can
// still fill, if the join has to wait for it.
func (j *JoinTest) waitsFor(full uint64, place int32) uint64 {
	if r := j.Reach[place]; r&full == 0 {
		return r
	}
	return 0
}

// Awaits returns the places of the join that are empty and that it waits for,
// given the marked places: all of them if none holds a token.
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

// Branches returns what an inclusive split may put, in the order of the net's
// arcs; none for another transition.
func (t *Tables) Branches(transition int) []BranchArc { return t.branches.of(transition) }

// Plain reports whether tokens alone decide what is enabled and what a firing
// does, place by place: the net has no guards, no inclusive gateways and no
// transitions that preempt.
func (t *Tables) Plain() bool {
	for i := range t.Net.Transitions {
		if tr := &t.Net.Transitions[i]; tr.Guard != "" || tr.Preempts {
			return false
		}
	}
	return t.joins == nil && len(t.branches.all) == 0
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

// compileJoins makes the tests of the transitions that have join arcs.
func (t *Tables) compileJoins(places [][]int32) {
	watch := make([][]int32, len(t.Net.Places))
	for tr, ps := range places {
		if len(ps) == 0 {
			continue
		}
		if t.joins == nil {
			t.joins = make([]*JoinTest, len(places))
		}
		j := &JoinTest{Places: ps, Reach: t.reach(tr, ps)}
		t.joins[tr] = j
		for p, r := range j.Reach {
			if r != 0 {
				watch[p] = append(watch[p], int32(tr))
			}
		}
	}
	t.joinWatch = flatten(watch)
}

// reach returns, by place, which of some places a token can get to without
// passing a transition: the smallest sets that grow backwards along the arcs.
func (t *Tables) reach(without int, places []int32) []uint64 {
	reach := make([]uint64, len(t.Net.Places))
	for i, p := range places {
		reach[p] |= 1 << i
	}
	inputs, outputs := t.inputs(), t.outputs()
	for changed := true; changed; {
		changed = false
		for tr := len(inputs) - 1; tr >= 0; tr-- { // files go from start to end, reach grows backwards
			if tr == without {
				continue
			}
			var beyond uint64
			for _, p := range outputs[tr] {
				beyond |= reach[p]
			}
			for _, p := range inputs[tr] {
				changed = changed || reach[p]|beyond != reach[p]
				reach[p] |= beyond
			}
		}
	}
	return reach
}

// inputs returns, by transition, the places whose tokens it takes or reads.
func (t *Tables) inputs() [][]int32 {
	by := make([][]int32, len(t.Net.Transitions))
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		if p, ok := t.placeID[a.Source]; ok && a.Kind != Inhibitor && a.Kind != Reset {
			tr := t.transitionID[a.Target]
			by[tr] = append(by[tr], p)
		}
	}
	return by
}

// outputs returns, by transition, the places that it puts tokens into.
func (t *Tables) outputs() [][]int32 {
	by := make([][]int32, len(t.Net.Transitions))
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		if p, ok := t.placeID[a.Target]; ok {
			tr := t.transitionID[a.Source]
			by[tr] = append(by[tr], p)
		}
	}
	return by
}
