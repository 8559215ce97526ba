// SPDX-License-Identifier: Apache-2.0

package merge

import "github.com/pnagent/pnagent/stats"

// Totals are the sums over the rows of a net.
type Totals struct {
	Tokens      uint64   // in all places of work
	Firings     uint64   // of all transitions
	OldestSince int64    // injection of the oldest token in places of work that are not final; 0 if there is none
	OldestPlace int      // the place that holds it
	Blocked     []uint64 // by transition: instances blocked by the condition that blocks most of them
}

// totals returns the Totals of Rows and Final.
func (n *NetView) totals() Totals {
	t := Totals{Blocked: make([]uint64, len(n.Rows.Transitions))}
	for i := range n.Rows.Places {
		p := &n.Rows.Places[i]
		if !n.Work(i) {
			continue
		}
		t.Tokens = stats.Sum(t.Tokens, p.Tokens)
		if p.Oldest != 0 && !n.IsFinal(i) && (t.OldestSince == 0 || p.Oldest < t.OldestSince) {
			t.OldestSince, t.OldestPlace = p.Oldest, i
		}
	}
	for i := range n.Rows.Transitions {
		t.Firings += n.Rows.Transitions[i].Firings
	}
	// An instance blocked by two conditions is counted at each, so a sum could count it twice.
	for _, b := range n.Rows.Blocks {
		t.Blocked[b.Transition] = max(t.Blocked[b.Transition], b.Instances)
	}
	return t
}

// Sum fills in what a Merger derives, for a net that is made by hand, and returns
// the net. Existing rates stay.
func (n *NetView) Sum() *NetView {
	places, transitions := len(n.Rows.Places), len(n.Rows.Transitions)
	if n.Rates == nil || len(n.Rates.Arrivals) != places || len(n.Rates.Transitions) != transitions {
		n.Rates = unknownRates(places, transitions)
	}
	n.Totals = n.totals()
	return n
}

// States counts sources by state.
type States [Refused + 1]int

// StatesOf returns the number of sources in each state.
func StatesOf(sources []Source) (s States) {
	for i := range sources {
		s[sources[i].State]++
	}
	return s
}

// Sum calls NetView.Sum for each net, and fills in States, Traffic.Bad and what Present and All
// return.
func (v *View) Sum() *View {
	for _, n := range v.Nets {
		n.Sum()
	}
	v.States, v.Traffic.Bad = StatesOf(v.Sources), 0
	for _, n := range v.Traffic.Rejected {
		v.Traffic.Bad += n
	}
	v.setPresent(false, func(string) *ages { return &ages{} })
	return v
}
