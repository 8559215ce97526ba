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
	Undecided    Verdict = "undecided"
	Yes          Verdict = "yes"
	No           Verdict = "no"
	Inapplicable Verdict = "inapplicable" // the net has no end, see EndsOf
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
	Fires     Verdict // every transition can fire
	Dead      []int   // the transitions that cannot, if that was decided
	Live      Verdict // of a net without an end: from every marking, every transition can fire again
	Last      []int   // the transitions that can fire, and from some marking never again, as far as that was decided
	Lost      int     // the first marking from which one of these never fires
	Bounded   Verdict // no place grows without bound
	Unbounded []int   // places that do
	Others    bool    // there may be more of these
	Pump      *explore.Pump
	Ignored   []string // see Ignored
}

// Sound returns whether all of it holds that soundness is about.
func (s *Soundness) Sound() Verdict {
	all := []Verdict{s.Completes, s.Proper, s.Fires, s.Bounded}
	switch {
	case s.Completes == Inapplicable:
		return Inapplicable
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
	s := Soundness{Completes: Undecided, Stuck: -1, Proper: Undecided, Over: -1, Fires: Undecided, Live: Inapplicable, Lost: -1, Bounded: Undecided, Ignored: Ignored(t)}
	ends, over, number := EndsOf(t), -1, 0
	if ends.kind == none {
		s.Completes, s.Proper, s.Live = Inapplicable, Inapplicable, Undecided
	}
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
	if ends.kind != none {
		s.Over = over
		if over >= 0 || r.Complete {
			s.Proper = verdict(true, over < 0)
		}
		s.completes(&ends, r.Graph)
	}
	if r.Complete || !slices.Contains(r.Fires, false) {
		s.fire(r.Fires)
	}
	switch {
	case r.Complete:
		s.Bounded = Yes
	case r.Stopped != explore.Interrupted:
		s.cover(explore.Cover(t, o))
	}
	if ends.kind == none {
		s.live(t, r.Graph)
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
	s.Fires = verdict(true, len(s.Dead) == 0)
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
