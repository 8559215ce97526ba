// SPDX-License-Identifier: Apache-2.0

package sound

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
)

// completes sets whether an end can be reached from every marking. From a marking that was not left,
// it may.
func (s *Soundness) completes(ends *Ends, g *explore.Graph) {
	may := before(g, func(number int) uint64 {
		if ends.end(g.Marking(number), dead(g, number)) {
			return 1
		}
		return 0
	})
	if may == nil {
		return
	}
	s.Stuck = slices.IndexFunc(may, func(reach uint64) bool { return reach&1 == 0 })
	if s.Stuck >= 0 || g.Left() == g.Len() {
		s.Completes = verdict(true, s.Stuck < 0)
	}
}

// dead reports whether no firing leads from a marking that was left.
func dead(g *explore.Graph, number int) bool {
	is := true
	g.Each(number, func(int) { is = false })
	return is
}

// live sets whether every transition can fire again from every marking. From a marking that was
// not left, each may.
func (s *Soundness) live(t *petri.Tables, g *explore.Graph) {
	decided := g != nil && g.Left() == g.Len()
	for low := 0; low < t.Transitions(); low += bits {
		may := before(g, func(number int) (fires uint64) {
			g.Fires(number, low, min(low+bits, t.Transitions()), func(tr int) { fires |= 1 << (tr - low) })
			return fires
		})
		decided = decided && may != nil
		for tr := low; tr < min(low+bits, t.Transitions()); tr++ {
			lost := slices.IndexFunc(may, func(reach uint64) bool { return reach>>(tr-low)&1 == 0 })
			if lost < 0 || slices.Contains(s.Dead, tr) {
				continue
			}
			s.Last = append(s.Last, tr)
			if s.Lost < 0 || lost < s.Lost {
				s.Lost = lost
			}
		}
	}
	no := len(s.Dead) > 0 || len(s.Last) > 0
	s.Live = verdict(decided || no, !no)
}

// bits is how many goals before searches at once.
const bits = 64

// before returns, by marking, which of some goals can be reached from it, as bits: goal returns
// those of a marking itself. From a marking that was not left, each may. It returns nil if
// there is no memory for that.
func before(g *explore.Graph, goal func(number int) uint64) (reach []uint64) {
	const perMarking, perEdge = 24, 4 // bytes
	if g == nil || int64(g.Len())*perMarking+int64(g.Edges())*perEdge > g.Room() || g.Edges() > math.MaxInt32 {
		return nil
	}
	start := make([]int32, g.Len()+1) // by marking: its predecessors begin there
	for from := range g.Left() {
		g.Each(from, func(to int) { start[to+1]++ })
	}
	for i := range g.Len() {
		start[i+1] += start[i]
	}
	before, at := make([]int32, g.Edges()), slices.Clone(start)
	for from := range g.Left() {
		g.Each(from, func(to int) {
			before[at[to]] = int32(from)
			at[to]++
		})
	}
	reach = make([]uint64, g.Len())
	grown, waits := at[:0], make([]bool, g.Len())
	grow := func(number int32, more uint64) {
		if reach[number]|more == reach[number] {
			return
		}
		reach[number] |= more
		if !waits[number] {
			waits[number], grown = true, append(grown, number)
		}
	}
	for i := range reach {
		if i < g.Left() {
			grow(int32(i), goal(i))
		} else {
			grow(int32(i), math.MaxUint64)
		}
	}
	for len(grown) > 0 {
		to := grown[len(grown)-1]
		grown, waits[to] = grown[:len(grown)-1], false
		for _, from := range before[start[to]:start[to+1]] {
			grow(from, reach[to])
		}
	}
	return reach
}
