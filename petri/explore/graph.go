// SPDX-License-Identifier: Apache-2.0

package explore

import "math"

// Graph is the markings of a visit and the firings between them. Markings are numbered breadth
// first from 0, the initial marking.
type Graph struct {
	space *space
	edges rows  // the numbers of the markings after each firing, by the marking before it
	upTo  rows  // by marking: how many edges are up to its last one
	spare int64 // memory that is left for markings, in bytes
	ended bool  // a firing was not followed
}

// newGraph returns an empty graph that takes memory while more than half of it is left.
func newGraph(s *space, memory int64) *Graph {
	return &Graph{space: s, edges: rows{width: 1}, upTo: rows{width: 1}, spare: memory / 2}
}

// add adds a firing from the marking that is left.
func (g *Graph) add(s *space, to uint32) {
	if g == nil || g.ended {
		return
	}
	if s.store.budget.left < g.spare || g.edges.len == math.MaxUint32 || !g.edges.add([]uint32{to}, s.store.budget) {
		g.drop(s)
	}
}

// close ends the firings from the marking that is left.
func (g *Graph) close(s *space) {
	if g == nil || g.ended {
		return
	}
	if s.stopped != AllVisited {
		g.ended = true
		return
	}
	if !g.upTo.add([]uint32{uint32(g.edges.len)}, s.store.budget) {
		g.drop(s)
	}
}

// drop leaves the memory of the graph to the markings.
func (g *Graph) drop(s *space) {
	s.store.budget.left += g.edges.bytes() + g.upTo.bytes()
	s.graph = nil
}

// Len returns the number of markings.
func (g *Graph) Len() int { return g.space.from.len }

// Left returns the number of markings, from 0 on, from which all firings were followed. From
// the others some were not.
func (g *Graph) Left() int { return g.upTo.len }

// Edges returns the number of firings.
func (g *Graph) Edges() int { return g.edges.len }

// Room returns how much of Options.Memory is left, in bytes.
func (g *Graph) Room() int64 { return g.space.store.budget.left }

// Marking returns a marking. It is valid until the next call.
func (g *Graph) Marking(number int) []uint32 { return g.space.store.get(uint32(number)) }

// Each calls do with the number of the marking after each firing from a marking below Left.
// Different firings can lead to one marking.
func (g *Graph) Each(number int, do func(to int)) {
	from := uint32(0)
	if number > 0 {
		from = g.upTo.at(uint32(number - 1))[0]
	}
	for e := from; e < g.upTo.at(uint32(number))[0]; e++ {
		do(int(g.edges.at(e)[0]))
	}
}

// Path returns a shortest sequence of transitions to a marking, with branches as in
// Result.Branches.
func (g *Graph) Path(number int) (path []int, branches [][]int32) {
	return g.space.path(uint32(number))
}

// Fires calls do with each transition from one number up to before another one that can fire in a marking.
func (g *Graph) Fires(number, low, high int, do func(tr int)) {
	s := g.space
	s.at, s.marking = uint32(number), g.Marking(number)
	only := s.first.Only(s.marking)
	for tr := low; tr < high; tr++ {
		if s.first.Fires(tr, s.marking, only) && s.allows(tr) {
			do(tr)
		}
	}
}
