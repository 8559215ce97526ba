// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Covering is what the coverability tree of a net shows (R. M. Karp, R. E. Miller, Parallel Program
// Schemata, JCSS 3, 1969): which places have any number of tokens in some marking that can
// be reached, and which transitions fire in one.
type Covering struct {
	Nodes     int
	Unbounded []bool // by place
	Fires     []bool // by transition
	// Exact reports that the other places are bounded, and that the other transitions never fire.
	// It is false if the tree was not finished. It is also false if more tokens can disable a transition
	// or be taken away by a reset arc, as of inhibitor arcs, inclusive joins and urgent
	// transitions: then there may be more.
	Exact bool
	Pump  *Pump // nil if there is none
}

// omega is any number of tokens.
const omega = math.MaxUint32

// cover makes a coverability tree breadth first.
type cover struct {
	tables  *petri.Tables
	choices []choices
	first   Precedence
	begins  []uint32
	runs    Runs
	options Options
	plain   bool // it is a tree of markings: no place gets any number of tokens
	inner   bool // its root is not the initial marking

	nodes  []coverNode
	labels []uint32 // by node and place
	known  map[string]int32
	used   int64  // memory, in bytes
	key    []byte // of the label that is looked up
	next   []uint32
	result Covering
}

// coverNode is a node of a coverability tree.
type coverNode struct {
	parent int32
	by     firing // that leads to it
	sum    uint64 // of the tokens of places that have not any number
	omegas int32  // how many places have any number
}

// firing is a transition and the branches of an inclusive split.
type firing struct {
	transition int32
	set        uint64
}

// Cover makes the coverability tree of a net, as far as the options allow. It ignores Reduce,
// Each and Graph.
func Cover(t *petri.Tables, o Options) Covering {
	c := newCover(t, o)
	if c == nil {
		return Covering{Unbounded: make([]bool, t.Places()), Fires: make([]bool, t.Transitions())}
	}
	c.add(c.tables.Initial, -1, firing{})
	for at := 0; at < len(c.nodes); at++ {
		if o.Continue != nil && !o.Continue(at, len(c.nodes)) || !c.expand(int32(at)) {
			c.result.Exact = false
			break
		}
	}
	c.result.Nodes = len(c.nodes)
	if c.result.Pump != nil {
		c.shorten()
	}
	return c.result
}

// newCover returns an empty tree, or nil if a number of tokens of the net is omega.
func newCover(t *petri.Tables, o Options) *cover {
	if slices.Contains(t.Initial, omega) {
		return nil
	}
	c := &cover{tables: t, choices: splits(t), first: NewPrecedence(t), begins: beginning(t), runs: NewRuns(t), options: o,
		known: map[string]int32{}, next: make([]uint32, t.Places())}
	c.result = Covering{Unbounded: make([]bool, t.Places()), Fires: make([]bool, t.Transitions()), Exact: monotone(t)}
	return c
}

// monotone reports whether whatever can fire in a marking can also fire in one with more
// tokens, and then leaves more.
func monotone(t *petri.Tables) bool {
	if len(NewPrecedence(t).certain) > 0 {
		return false
	}
	for tr := range t.Transitions() {
		inhibited := slices.ContainsFunc(t.Conds(tr), func(c petri.Cond) bool { return c.Hi > 0 })
		if inhibited || t.Join(tr) != nil || slices.ContainsFunc(t.Effects(tr), func(e petri.Effect) bool { return e.Reset }) {
			return false
		}
	}
	return true
}

// label returns the label of a node.
func (c *cover) label(node int32) []uint32 {
	w := c.tables.Places()
	return c.labels[int(node)*w : (int(node)+1)*w]
}

// expand adds the nodes after all firings from a node, and reports whether there was room.
func (c *cover) expand(at int32) bool {
	only := c.first.Only(c.label(at))
	for tr := range c.tables.Transitions() {
		begins := c.begins != nil && c.tables.Source(tr)
		if begins && (at > 0 || c.inner) || !c.first.Fires(tr, c.label(at), only) {
			continue
		}
		c.result.Fires[tr] = true
		for _, set := range c.sets(tr) {
			from := c.label(at)
			if begins {
				from = c.begins
			}
			if c.runs.several(tr, from) || !c.fire(tr, set, from) {
				c.result.Exact = false
				continue
			}
			by := firing{int32(tr), set}
			if !c.plain {
				c.accelerate(at, by)
			}
			if !c.add(c.next, at, by) {
				return false
			}
		}
	}
	return true
}

// sets returns the sets of branches with which a transition is followed.
func (c *cover) sets(tr int) []uint64 {
	if c.choices == nil || len(c.choices[tr].sets) == 0 {
		return []uint64{0}
	}
	if c.choices[tr].cut {
		c.result.Exact = false
	}
	return c.choices[tr].sets
}

// fire makes next the label after a firing, and reports whether every number fits.
func (c *cover) fire(tr int, set uint64, from []uint32) bool {
	copy(c.next, from)
	for _, e := range c.tables.Effects(tr) {
		left := uint64(c.next[e.Place])
		switch {
		case e.Reset:
			left = 0
		case left == omega:
			continue
		case e.Join && left < uint64(e.Take):
			left = 0
		default:
			left -= uint64(e.Take)
		}
		if left+uint64(e.Put) >= omega {
			return false
		}
		c.next[e.Place] = uint32(left + uint64(e.Put))
	}
	for i, b := range c.tables.Branches(tr) {
		switch n := c.next[b.Place]; {
		case set>>i&1 == 0 || n == omega:
		case uint64(n)+uint64(b.Put) >= omega:
			return false
		default:
			c.next[b.Place] = n + b.Put
		}
	}
	return true
}

// accelerate gives places of next any number of tokens: those in which it has more than a node
// on the way to it that it covers, if the firings between can be repeated.
func (c *cover) accelerate(at int32, by firing) {
	sum, omegas := measure(c.next)
	bounded := omegas == 0
	for node := at; node >= 0; node = c.nodes[node].parent {
		n := &c.nodes[node]
		if n.omegas > omegas || n.omegas == omegas && n.sum >= sum || !covers(c.next, c.label(node)) {
			continue
		}
		grows := difference(c.next, c.label(node))
		if len(grows) == 0 || !c.repeatable(node, at, by, grows) {
			continue
		}
		if bounded && c.result.Pump == nil {
			c.result.Pump = c.pump(node, at, by, grows)
		}
		for _, g := range grows {
			c.next[g.place] = omega
			c.result.Unbounded[g.place] = true
		}
		sum, omegas = measure(c.next)
	}
}

// measure returns the sum of the tokens of a label, and how many places have any number.
func measure(label []uint32) (sum uint64, omegas int32) {
	for _, n := range label {
		if n == omega {
			omegas++
		} else {
			sum += uint64(n)
		}
	}
	return sum, omegas
}

// covers reports whether a label has at least the tokens of another one in every place.
func covers(more, less []uint32) bool {
	for p, n := range less {
		if more[p] < n {
			return false
		}
	}
	return true
}

// growth is how many more tokens a place has.
type growth struct {
	place int32
	by    uint32
}

// difference returns where a label has more tokens than one that it covers.
func difference(more, less []uint32) (grows []growth) {
	for p, n := range less {
		if more[p] > n && more[p] != omega {
			grows = append(grows, growth{int32(p), more[p] - n})
		}
	}
	return grows
}

// repeatable reports whether the firings from a node to another one and the one after it can be
// repeated when some places have more tokens.
func (c *cover) repeatable(from, to int32, last firing, grows []growth) bool {
	for ; ; to, last = c.nodes[to].parent, c.nodes[to].by {
		if !c.indifferent(int(last.transition), grows) {
			return false
		}
		if to == from {
			return true
		}
	}
}

// indifferent reports whether a transition that fires does the same when some places have more
// tokens.
func (c *cover) indifferent(tr int, grows []growth) bool {
	t := c.tables
	if c.begins != nil && t.Source(tr) {
		return false
	}
	for _, g := range grows {
		hinders := func(cond petri.Cond) bool { return cond.Place == g.place && cond.Hi > 0 }
		empties := func(e petri.Effect) bool { return e.Place == g.place && e.Reset }
		if slices.ContainsFunc(t.Conds(tr), hinders) || slices.ContainsFunc(t.Effects(tr), empties) {
			return false
		}
		if j := t.Join(tr); j != nil && (j.Reach[g.place] != 0 || slices.Contains(j.Places, g.place)) {
			return false
		}
		if c.runs.minds(tr, g.place) || !t.Urgent(tr) && c.first.rises(g.place) {
			return false
		}
	}
	return true
}

// add adds a node unless its label is known, and reports whether there was room.
func (c *cover) add(label []uint32, parent int32, by firing) bool {
	c.key = c.key[:0]
	for _, n := range label {
		c.key = append(c.key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	if _, is := c.known[string(c.key)]; is {
		return true
	}
	const perNode = 128 // of the node, its entry in the map and their growth, in bytes
	c.used += int64(2*4*len(label)) + perNode
	if len(c.nodes) >= max(c.options.Markings, 1) || c.options.Memory > 0 && c.used > c.options.Memory {
		return false
	}
	c.known[string(c.key)] = int32(len(c.nodes))
	n := coverNode{parent: parent, by: by}
	n.sum, n.omegas = measure(label)
	c.nodes, c.labels = append(c.nodes, n), append(c.labels, label...)
	return true
}
