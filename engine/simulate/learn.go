// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/engine/plain"
)

const (
	mostDurations = 100_000 // that a Sample keeps
	mostNames     = 10      // in a note
	never         = 1e-6    // the weight of a transition that a log has never
)

// Learn fills in what the model does not have from a log: the time between two arrivals, the
// delays of the transitions that are activities of the log, and the weights of choices. An activity
// is the transition with its name as the id, or else as the name. What transitions have that are
// Given stays, and so do Arrivals and weights.
//
// A duration is the time from the start of an activity to its completion. If a log has no starts
// of an activity, it is the time since the previous event of its case, with what it waited, and
// transitions with a pool do not get it. The weight of a transition is how often it fires when the
// net replays the log.
func (m *Model) Learn(l *Log) {
	of := m.activities(l)
	m.learnArrivals(l)
	whole, since := l.durations()
	var waits []string
	for activity, t := range of {
		tr := &m.Transitions[t]
		sample := whole[activity]
		if tr.Given {
			continue
		}
		if len(sample) == 0 && tr.Pool == NoPool {
			sample = since[activity]
			waits = append(waits, activity)
		}
		if len(sample) == 0 {
			continue
		}
		tr.Delay, tr.Binding.Due, tr.Binding.Until = thinned(sample), nil, nil
		tr.Binding.Mode = plain.Mode{Kind: plain.Delayed}
	}
	note := func(names []string, text string) {
		if len(names) > 0 {
			m.Notes = append(m.Notes, fmt.Sprintf("%s: "+text, l.File, named(names)))
		}
	}
	fit := m.learnWeights(l, of)
	m.Notes = append(m.Notes, fmt.Sprintf("learned from %s: %d cases, %d events, of which %d fit the net", l.File, len(l.cases), l.events, fit))
	var unknown []string
	for activity := range since {
		if _, known := of[activity]; !known {
			unknown = append(unknown, activity)
		}
	}
	note(unknown, "the net has no transition for %q")
	note(waits, "there is no start of %q, so the durations include waits")
}

// named sorts names, and cuts the list.
func named(names []string) []string {
	slices.Sort(names)
	if more := len(names) - mostNames; more > 0 {
		return append(slices.Clip(names[:mostNames]), fmt.Sprintf("and %d more", more))
	}
	return names
}

// activities returns the transition of each activity of a log that the net has.
func (m *Model) activities(l *Log) map[string]int {
	of, names := map[string]int{}, map[string][]int{}
	for t := range m.Tables.Net.Transitions {
		if name := m.Tables.Net.Transitions[t].Name; name != "" {
			names[name] = append(names[name], t)
		}
	}
	for _, events := range l.cases {
		for k := range events {
			name := events[k].activity
			if _, known := of[name]; known {
				continue
			}
			t, known := m.Tables.TransitionIndex(name)
			if same := names[name]; !known && len(same) == 1 {
				t, known = same[0], true
			}
			if known {
				of[name] = t
			}
		}
	}
	return of
}

// learnArrivals sets the times between the first events of cases.
func (m *Model) learnArrivals(l *Log) {
	if m.Arrivals != nil || len(m.initial()) == 0 || len(l.cases) < 2 {
		return
	}
	first := make([]int64, len(l.cases))
	for k, events := range l.cases {
		first[k] = events[0].at
	}
	slices.Sort(first)
	if first[0] == first[len(first)-1] {
		return
	}
	between := make([]int64, len(first)-1)
	for k := range between {
		between[k] = first[k+1] - first[k]
	}
	m.Arrivals = thinned(between)
}

// durations returns, by activity, the times from a start to the next completion that is not
// another start's, and the times since the previous event. Each activity has an entry in since.
func (l *Log) durations() (whole, since map[string][]int64) {
	whole, since = map[string][]int64{}, map[string][]int64{}
	for _, events := range l.cases {
		started := map[string][]int64{}
		for k, e := range events {
			open := started[e.activity]
			switch {
			case e.begins:
				started[e.activity] = append(open, e.at)
			case len(open) > 0:
				whole[e.activity] = append(whole[e.activity], e.at-open[0])
				started[e.activity] = open[1:]
			}
			before := since[e.activity]
			if k > 0 {
				before = append(before, e.at-events[k-1].at)
			}
			since[e.activity] = before
		}
	}
	return whole, since
}

// thinned returns a sample of at most mostDurations durations, evenly from the sorted ones.
func thinned(all []int64) Sample {
	all = slices.Sorted(slices.Values(all))
	if len(all) <= mostDurations {
		return all
	}
	out := make(Sample, mostDurations)
	for k := range out {
		out[k] = all[k*len(all)/mostDurations]
	}
	return out
}

// learnWeights replays the log, and gives transitions that take from the same place a weight: how
// often each fired. It returns how many events fit the net.
func (m *Model) learnWeights(l *Log, of map[string]int) (fit int) {
	r := newReplay(m.Tables, of)
	for _, events := range l.cases {
		fit += r.replay(events)
	}
	rivals := make([][]int, m.Tables.Places())
	for t := range m.Transitions {
		for _, c := range m.Tables.Conds(t) {
			if c.Lo > 0 {
				rivals[c.Place] = append(rivals[c.Place], t)
			}
		}
	}
	learned := map[int]float64{}
	for _, all := range rivals {
		sum, given := 0, false
		for _, t := range all {
			sum += r.fired[t]
			given = given || m.Transitions[t].Weight > 0
		}
		if len(all) < 2 || sum == 0 || given {
			continue
		}
		for _, t := range all {
			learned[t] = max(float64(r.fired[t]), never)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(learned)) {
		m.Transitions[t].Weight = learned[t]
	}
	return fit
}
