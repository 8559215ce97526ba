// SPDX-License-Identifier: Apache-2.0

package sound

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
)

// Verdict is whether something holds.
type Verdict string

// The verdicts.
const (
	Undecided Verdict = "undecided"
	Yes       Verdict = "yes"
	No        Verdict = "no"
)

// verdict returns Yes or No if it was decided.
func verdict(decided, holds bool) Verdict {
	switch {
	case !decided:
		return Undecided
	case holds:
		return Yes
	}
	return No
}

// Soundness is what was found of a net. Each number of a marking is one of the graph, or -1.
type Soundness struct {
	Completes Verdict // option to complete: from every marking that can be reached, an end can be
	Stuck     int     // the first marking from which no end can be reached; 0 if no instance can end
	Proper    Verdict // proper completion: no marking has an end and tokens besides
	Over      int     // the first marking that does
	Twice     []int   // final places that have several tokens in it, in a process
	Live      Verdict // every transition can fire
	Dead      []int   // the transitions that cannot, if that was decided
	Bounded   Verdict // no place grows without bound
	Unbounded []int   // places that do
	Others    bool    // there may be more of these
	Pump      *explore.Pump
	Ignored   []string // see Ignored
}

// Sound returns whether all of it holds.
func (s *Soundness) Sound() Verdict {
	all := []Verdict{s.Completes, s.Proper, s.Live, s.Bounded}
	switch {
	case slices.Contains(all, No):
		return No
	case slices.Contains(all, Undecided):
		return Undecided
	}
	return Yes
}

// Judge visits the markings of a net, as the options say, and judges it. It sets Graph and ignores
// Each and Reduce.
func Judge(t *petri.Tables, o explore.Options) (Soundness, explore.Result) {
	s := Soundness{Completes: Undecided, Stuck: -1, Proper: Undecided, Over: -1, Live: Undecided, Bounded: Undecided, Ignored: Ignored(t)}
	ends, over, number := EndsOf(t), -1, 0
	o.Reduce, o.Graph = false, true
	o.Each = func(m []uint32, dead bool) bool {
		if over < 0 && ends.leaves(m, dead) {
			over, s.Twice = number, ends.twice(m)
		}
		number++
		return true
	}
	r := explore.Explore(t, o)
	if r.Together != nil { // the markings are not those of the net
		s.Twice = nil
		return s, r
	}
	if s.Over = over; over >= 0 || r.Complete {
		s.Proper = verdict(true, over < 0)
	}
	s.completes(&ends, r.Graph)
	if r.Complete || !slices.Contains(r.Fires, false) {
		s.fire(r.Fires)
	}
	switch {
	case r.Complete:
		s.Bounded = Yes
	case r.Stopped != explore.Interrupted:
		s.cover(explore.Cover(t, o))
	}
	return s, r
}

// fire sets what is known of transitions, if these are all that can fire.
func (s *Soundness) fire(fires []bool) {
	for tr, can := range fires {
		if !can {
			s.Dead = append(s.Dead, tr)
		}
	}
	s.Live = verdict(true, len(s.Dead) == 0)
}

// cover sets what a coverability tree shows.
func (s *Soundness) cover(c explore.Covering) {
	for p, grows := range c.Unbounded {
		if grows {
			s.Unbounded = append(s.Unbounded, p)
		}
	}
	s.Pump, s.Others = c.Pump, !c.Exact
	s.Bounded = verdict(c.Exact || c.Pump != nil, c.Pump == nil)
	if c.Exact {
		s.fire(c.Fires)
	}
}

// completes sets whether an end can be reached from every marking. From a marking that was not left,
// it may.
func (s *Soundness) completes(ends *Ends, g *explore.Graph) {
	if g == nil {
		return
	}
	may, ok := before(g, func(number int) bool { return number >= g.Left() || ends.end(g.Marking(number), dead(g, number)) })
	if !ok {
		return
	}
	if s.Stuck = slices.Index(may, false); s.Stuck >= 0 || g.Left() == g.Len() {
		s.Completes = verdict(true, s.Stuck < 0)
	}
}

// dead reports whether no firing leads from a marking that was left.
func dead(g *explore.Graph, number int) bool {
	is := true
	g.Each(number, func(int) { is = false })
	return is
}

// before returns, by marking, whether one of some markings can be reached from it. ok is false
// if there is no memory for that.
func before(g *explore.Graph, goal func(number int) bool) (reach []bool, ok bool) {
	const perMarking, perEdge = 16, 4 // bytes
	if int64(g.Len())*perMarking+int64(g.Edges())*perEdge > g.Room() || g.Edges() > math.MaxInt32 {
		return nil, false
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
	reach = make([]bool, g.Len())
	var grown []int32
	for i := range reach {
		if reach[i] = goal(i); reach[i] {
			grown = append(grown, int32(i))
		}
	}
	for len(grown) > 0 {
		to := grown[len(grown)-1]
		grown = grown[:len(grown)-1]
		for _, from := range before[start[to]:start[to+1]] {
			if !reach[from] {
				reach[from] = true
				grown = append(grown, from)
			}
		}
	}
	return reach, true
}

// What Ignored names.
const (
	Guards     = "guards"
	Priorities = "priorities"
	Times      = "times"
	Lists      = "lists"
	Preemption = "preemption"
)

// Ignored returns what of a net is ignored: guards and conditions; priorities below
// petri.Urgent, if transitions have different ones; times of timers; how many elements lists
// have, and how often activities run; preemption.
func Ignored(t *petri.Tables) (names []string) {
	has := map[string]bool{}
	low, high := int32(math.MaxInt32), int32(math.MinInt32)
	for tr := range t.Net.Transitions {
		n := &t.Net.Transitions[tr]
		has[Guards] = has[Guards] || n.Guard != ""
		timed := n.Trigger.Kind == petri.TriggerDelay || n.Trigger.Kind == petri.TriggerTime || n.Trigger.Kind == petri.TriggerTimer
		has[Times] = has[Times] || timed
		has[Preemption] = has[Preemption] || n.Preempts
		if !t.Urgent(tr) {
			low, high = min(low, t.Priority(tr)), max(high, t.Priority(tr))
		}
	}
	has[Priorities] = low < high
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		has[Guards] = has[Guards] || a.Guard != ""
		has[Lists] = has[Lists] || a.Each
	}
	for i := range t.Net.Scopes {
		has[Lists] = has[Lists] || t.Net.Scopes[i].Loop != nil
	}
	for _, name := range []string{Guards, Priorities, Times, Lists, Preemption} {
		if has[name] {
			names = append(names, name)
		}
	}
	return names
}
