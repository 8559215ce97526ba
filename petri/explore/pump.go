// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Pump shows that places grow without bound: a way to a marking, and firings from there that can be
// repeated forever, each time with more tokens in some places and as many in the others.
type Pump struct {
	Way, Round                 []int     // transitions
	WayBranches, RoundBranches [][]int32 // as Result.Branches
	Grows                      []uint32  // by place: what each round adds
	// Shortest reports that no way with its round is shorter. It is false if that was not decided.
	Shortest bool
}

// pump returns the pump whose round begins at a node and ends with a firing from another one.
func (c *cover) pump(from, to int32, last firing, grows []growth) *Pump {
	round := append(c.firings(from, to), last)
	return newPump(c.tables, c.firings(0, from), round, grows)
}

// firings returns those from one node to another one.
func (c *cover) firings(from, to int32) (all []firing) {
	for ; to != from; to = c.nodes[to].parent {
		all = append(all, c.nodes[to].by)
	}
	slices.Reverse(all)
	return all
}

func newPump(t *petri.Tables, way, round []firing, grows []growth) *Pump {
	p := &Pump{Grows: make([]uint32, t.Places())}
	for _, g := range grows {
		p.Grows[g.place] = g.by
	}
	p.Way, p.WayBranches = spelled(t, way)
	p.Round, p.RoundBranches = spelled(t, round)
	return p
}

// spelled returns transitions and branches as Result.Path and Result.Branches have them.
func spelled(t *petri.Tables, firings []firing) (path []int, branches [][]int32) {
	split := false
	for _, f := range firings {
		var places []int32
		for i, b := range t.Branches(int(f.transition)) {
			if f.set>>i&1 != 0 {
				places = append(places, b.Place)
			}
		}
		path, branches = append(path, int(f.transition)), append(branches, places)
		split = split || len(t.Branches(int(f.transition))) > 0
	}
	if !split {
		branches = nil
	}
	return path, branches
}

// maxPumpNodes bounds the markings that shorten visits, over all its trees.
const maxPumpNodes = 200_000

// shorten looks for a shorter pump than that of the tree, whose ways do not lead through every
// pair of markings. It looks from every marking that is near enough for the firings that lead to more
// tokens.
func (c *cover) shorten() {
	best, left := c.result.Pump, maxPumpNodes
	length := func() int { return len(best.Way) + len(best.Round) }
	near := c.markings(false)
	near.grow(c.tables.Initial, length()-1, &left, func(a int32, way int) bool {
		if way+1 >= length() {
			return false // and so are the markings behind it
		}
		from, start := c.markings(true), slices.Clone(near.label(a))
		from.grow(start, length()-way-1, &left, func(b int32, _ int) bool {
			if b == 0 || !covers(from.label(b), start) {
				return true
			}
			grows, last := difference(from.label(b), start), from.nodes[b]
			if !from.repeatable(0, last.parent, last.by, grows) {
				return true
			}
			best = newPump(c.tables, near.firings(0, a), from.firings(0, b), grows)
			return false
		})
		return true
	})
	best.Shortest = left > 0 && monotone(c.tables)
	c.result.Pump = best
}

// markings returns an empty tree of markings of the same net.
func (c *cover) markings(inner bool) *cover {
	return &cover{tables: c.tables, choices: c.choices, first: c.first, begins: c.begins, runs: c.runs, options: Options{Markings: maxPumpNodes}, plain: true, inner: inner,
		known: map[string]int32{}, next: make([]uint32, len(c.next)), result: Covering{Fires: make([]bool, len(c.result.Fires))}}
}

// grow adds the markings from one on, breadth first, up to a depth, and calls see with each and its
// depth until it returns false. It takes each node from left, and stops when there are none.
func (c *cover) grow(from []uint32, most int, left *int, see func(node int32, depth int) bool) {
	c.add(from, -1, firing{})
	depths := []int{0}
	for at := 0; at < len(c.nodes) && *left > 0 && see(int32(at), depths[at]); at++ {
		if depths[at] < most && !c.expand(int32(at)) {
			*left = 0
		}
		*left -= len(c.nodes) - len(depths) + 1
		for len(depths) < len(c.nodes) {
			depths = append(depths, depths[at]+1)
		}
	}
}
