// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/binary"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

const (
	mostMarkings  = 2_000     // that a search for a way visits
	mostSearched  = 2_000_000 // that all searches of a log visit together
	atEnd         = -1        // the target of the way to a marking with tokens in final places only
	mostKnownWays = 100_000
)

// replay plays cases of a log in a net, to count how often each transition fires. Before an event,
// it fires as few transitions that are no activities as possible, such as those of gateways.
type replay struct {
	tables   *petri.Tables
	of       map[string]int // transition of an activity
	silent   []int          // transitions that are no activity
	fired    []int
	state    *petri.State
	ways     map[wayKey][]int
	searched int
}

// wayKey is what a way depends on.
type wayKey struct {
	marking string
	target  int
}

func newReplay(t *petri.Tables, of map[string]int) *replay {
	r := &replay{tables: t, of: of, fired: make([]int, t.Transitions()), state: t.NewState(), ways: map[wayKey][]int{}}
	visible := make([]bool, t.Transitions())
	for _, tr := range of {
		visible[tr] = true
	}
	for tr := range visible {
		if !visible[tr] && !t.Source(tr) {
			r.silent = append(r.silent, tr)
		}
	}
	return r
}

// replay plays a case, and returns how many of its events fit. One that does not is left out.
func (r *replay) replay(events []logged) (fit int) {
	marking := slices.Clone(r.tables.Initial)
	for k := range events {
		e := &events[k]
		t, known := r.of[e.activity]
		if e.begins && known {
			fit++ // its completion fires
			continue
		}
		if !known {
			continue
		}
		way, ok := r.way(marking, t)
		if !ok {
			continue
		}
		fit++
		marking = r.follow(marking, append(slices.Clip(way), t))
	}
	if way, ok := r.way(marking, atEnd); ok {
		r.follow(marking, way)
	}
	return fit
}

// set brings the state to a marking.
func (r *replay) set(marking []uint32) {
	for p, n := range marking {
		r.state.Set(p, n)
	}
}

// follow fires transitions, counts them, and returns the marking after that.
func (r *replay) follow(marking []uint32, way []int) []uint32 {
	r.set(marking)
	for _, t := range way {
		if r.state.Fire(t) != nil {
			break // it overflows
		}
		r.fired[t]++
	}
	return slices.Clone(r.state.Marking())
}

// way returns the shortest sequence of silent transitions after which a target is enabled.
func (r *replay) way(marking []uint32, target int) (way []int, ok bool) {
	key := wayKey{keyOf(marking), target}
	way, known := r.ways[key]
	if known {
		return way, way != nil
	}
	way = r.search(marking, target)
	if len(r.ways) < mostKnownWays {
		r.ways[key] = way
	}
	return way, way != nil
}

// node is a marking of a search, and how it was reached.
type node struct {
	marking []uint32
	from    int
	by      int
}

// search returns a way, which may be empty, or nil if there is none within the bounds.
func (r *replay) search(marking []uint32, target int) []int {
	seen := map[string]bool{keyOf(marking): true}
	for nodes, k := []node{{marking: marking}}, 0; k < len(nodes) && k < mostMarkings && r.searched < mostSearched; k++ {
		r.searched++
		r.set(nodes[k].marking)
		if r.reached(target) {
			return back(nodes, k)
		}
		for _, t := range r.silent {
			if !r.state.Enabled(t) || r.state.Fire(t) != nil {
				continue
			}
			next := slices.Clone(r.state.Marking())
			r.set(nodes[k].marking)
			if id := keyOf(next); !seen[id] {
				seen[id] = true
				nodes = append(nodes, node{next, k, t})
			}
		}
	}
	return nil
}

// reached reports whether the state is the end of a way to a target.
func (r *replay) reached(target int) bool {
	if target != atEnd {
		return r.state.Enabled(target)
	}
	for p, n := range r.state.Marking() {
		if n > 0 && !r.tables.Final(p) {
			return false
		}
	}
	return true
}

// back returns the transitions on the way to a node.
func back(nodes []node, k int) []int {
	way := []int{}
	for ; k > 0; k = nodes[k].from {
		way = append(way, nodes[k].by)
	}
	slices.Reverse(way)
	return way
}

func keyOf(marking []uint32) string {
	key := make([]byte, 0, len(marking))
	for _, n := range marking {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return string(key)
}
