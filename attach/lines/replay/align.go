// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"container/heap"
	"slices"
)

// Ahead is how many of the events that follow are used to choose between several
// explanations of one.
const Ahead = 4

// EndsNext follows the last event of an instance in the labels of FireLabel.
const EndsNext int32 = -1

// alignment searches for the cheapest explanation of an event and of those that
// follow: silent firings before each of them, and one transition for each. It is
// Dijkstra's algorithm over markings. A cost is a number of missing and remaining
// tokens, and then a number of silent firings. Of equal explanations it returns the
// one that it found first, so that the same events always have the same explanation.
type alignment struct {
	r        *Replay
	levels   [][]int32 // the candidates of each event
	ends     bool      // the instance ends behind them
	most     int       // nodes
	nodes    []alignNode
	markings []uint32
	open     alignQueue
	closed   map[string]bool
}

type alignNode struct {
	from           int32 // the node before; none for the first
	level          int32 // number of explained events; beyond the last one after the end
	step           step
	missing, quiet uint64 // cost so far
}

// align returns the transition of the first event in the best explanation, and the
// silent steps before it. It returns false if it needs more than the configured
// number of markings.
func (r *Replay) align(candidates, next []int32) (transition int, way []step, ok bool) {
	a := alignment{r: r, levels: [][]int32{candidates}, most: min(r.cfg.Search, maxSearched/max(r.tables.Places(), 1)), closed: map[string]bool{}}
	for _, label := range next {
		if a.ends = label == EndsNext; a.ends {
			break
		}
		a.levels = append(a.levels, r.candidates(label))
	}
	goal := a.search()
	if goal == none {
		return 0, nil, false
	}
	for k := goal; a.nodes[k].from != none; k = a.nodes[k].from {
		if a.nodes[a.nodes[k].from].level == 0 {
			way = append(way, a.nodes[k].step)
		}
	}
	slices.Reverse(way)
	last := len(way) - 1
	return int(way[last].transition), way[:last], true
}

// search returns the node of the best explanation; none beyond the bound.
func (a *alignment) search() int32 {
	a.add(alignNode{from: none}, a.r.marking)
	var key []byte
	for a.open.Len() > 0 {
		k := heap.Pop(&a.open).(queued).node
		n := a.nodes[k]
		if a.done(n.level) {
			return k
		}
		key = append(key[:0], byte(n.level))
		if key = appendKey(key, a.marking(k)); a.closed[string(key)] {
			continue
		}
		a.closed[string(key)] = true
		if len(a.nodes) >= a.most {
			return none
		}
		a.expand(k)
	}
	return none
}

// done reports whether all events are explained, and the end if there is one.
func (a *alignment) done(level int32) bool {
	if a.ends {
		return int(level) > len(a.levels)
	}
	return int(level) == len(a.levels)
}

func (a *alignment) marking(k int32) []uint32 {
	places := a.r.tables.Places()
	return a.markings[int(k)*places : (int(k)+1)*places]
}

// add adds a node with a copy of a marking, and queues it.
func (a *alignment) add(n alignNode, marking []uint32) {
	k := int32(len(a.nodes))
	a.nodes, a.markings = append(a.nodes, n), append(a.markings, marking...)
	heap.Push(&a.open, queued{n.missing, n.quiet, k})
}

// expand adds what can happen next: a silent transition that may help the next
// event, that event, or the end.
func (a *alignment) expand(k int32) {
	n := a.nodes[k]
	if int(n.level) == len(a.levels) {
		a.quietly(k, a.r.quiet.steps)
		a.end(k)
		return
	}
	for _, t := range a.levels[n.level] {
		if !a.r.tables.EnabledIn(a.marking(k), int(t)) {
			a.quietly(k, a.r.helping(int(t)))
		}
		a.event(k, step{t, a.r.branches(int(t))})
	}
}

// quietly adds the firing of each silent step that is enabled.
func (a *alignment) quietly(k int32, steps []step) {
	n := a.nodes[k]
	for _, s := range steps {
		if !a.r.tables.EnabledIn(a.marking(k), int(s.transition)) {
			continue
		}
		next := slices.Clone(a.marking(k))
		if a.r.apply(next, s) {
			a.add(alignNode{k, n.level, s, n.missing, n.quiet + 1}, next)
		}
	}
}

// event adds the firing of a transition with an event, repaired if need be.
func (a *alignment) event(k int32, s step) {
	n := a.nodes[k]
	next := slices.Clone(a.marking(k))
	missing := a.r.lacks(next, int(s.transition))
	if a.r.apply(next, s) {
		a.add(alignNode{k, n.level + 1, s, n.missing + missing, n.quiet}, next)
	}
}

// end adds the end of the instance.
func (a *alignment) end(k int32) {
	n := a.nodes[k]
	var runs []run
	for p, tokens := range a.marking(k) {
		if tokens > 0 {
			runs = append(runs, run{place: int32(p), n: tokens})
		}
	}
	e := a.r.ending(runs)
	a.add(alignNode{k, n.level + 1, step{}, n.missing + e.missing + e.remaining, n.quiet}, a.marking(k))
}

// lacks adds to a marking what a transition lacks there, and returns the number of
// these tokens: at least 1 if the transition is not enabled.
func (r *Replay) lacks(marking []uint32, transition int) (missing uint64) {
	if r.tables.EnabledIn(marking, transition) {
		return 0
	}
	for _, c := range r.tables.Conds(transition) {
		if m := marking[c.Place]; m < c.Lo {
			missing += uint64(c.Lo - m)
			marking[c.Place] = c.Lo
		}
	}
	return max(missing, 1)
}

// queued is a node that waits for its turn.
type queued struct {
	missing, quiet uint64
	node           int32
}

// alignQueue is a heap, the cheapest first and of equal ones the oldest.
type alignQueue []queued

func (q alignQueue) Len() int { return len(q) }

func (q alignQueue) Less(i, j int) bool {
	if q[i].missing != q[j].missing {
		return q[i].missing < q[j].missing
	}
	if q[i].quiet != q[j].quiet {
		return q[i].quiet < q[j].quiet
	}
	return q[i].node < q[j].node
}

func (q alignQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *alignQueue) Push(x any) { *q = append(*q, x.(queued)) }

// Pop implements heap.Interface.
func (q *alignQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
