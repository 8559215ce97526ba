// SPDX-License-Identifier: Apache-2.0

package pool

// Stats is what was counted, at one moment. It holds times, not ages: an age is
// made by whoever reads it. Counters only grow.
type Stats struct {
	Policy     Policy
	Priorities [Priorities]PriorityStats
}

// PriorityStats is the row of one priority.
type PriorityStats struct {
	Length        int    // ready and not yet served
	OldestSince   int64  // since when the first in the list is ready; 0 if there is none
	UnservedSince int64  // since when it waits in vain: last served, or no longer empty if that is later; 0 if empty
	Served        uint64 // events served
	QuoteSwitches uint64 // turns that ended because the quote was used up
}

// QueueAge returns for how long the oldest has been ready, in microseconds; 0
// if there is none.
func (s PriorityStats) QueueAge(now int64) int64 { return s.age(s.OldestSince, now) }

// StarvationAge returns for how long a priority with something ready has not
// been served, in microseconds; 0 if nothing is ready.
func (s PriorityStats) StarvationAge(now int64) int64 { return s.age(s.UnservedSince, now) }

func (s PriorityStats) age(since, now int64) int64 {
	if s.Length == 0 {
		return 0
	}
	return max(now-since, 0)
}

// Add returns the rows of two disjoint sets of lists as one, such as those of
// the shards of an engine. The policy is that of s.
func (s Stats) Add(o Stats) Stats {
	for p := range s.Priorities {
		s.Priorities[p] = s.Priorities[p].add(o.Priorities[p])
	}
	return s
}

func (s PriorityStats) add(o PriorityStats) PriorityStats {
	sum := PriorityStats{
		Length:        s.Length + o.Length,
		OldestSince:   s.OldestSince,
		UnservedSince: s.UnservedSince,
		Served:        s.Served + o.Served,
		QuoteSwitches: s.QuoteSwitches + o.QuoteSwitches,
	}
	if s.Length == 0 || o.Length > 0 && o.OldestSince < s.OldestSince {
		sum.OldestSince = o.OldestSince
	}
	if s.Length == 0 || o.Length > 0 && o.UnservedSince < s.UnservedSince {
		sum.UnservedSince = o.UnservedSince
	}
	return sum
}

// WorkStats is what was counted of a Pool, at one moment.
type WorkStats struct {
	Ready      Stats  // its ready channels; Served counts pieces of work
	Dormant    int    // channels
	InProgress int    // channels
	Waiting    int    // pieces of work that nobody has started
	Discarded  uint64 // pieces of work that waited in a channel when it was unregistered
}

// Stats returns what was counted. It costs the same however large the pool is.
func (p *Pool[W]) Stats() WorkStats {
	s := WorkStats{
		Ready:      Stats{Policy: p.turns.policy},
		Dormant:    p.states[Dormant],
		InProgress: p.states[InProgress],
		Waiting:    p.works.used,
		Discarded:  p.discarded,
	}
	for i := range p.ready {
		l, row := &p.ready[i], &s.Ready.Priorities[i]
		*row = PriorityStats{Length: l.size, Served: l.pieces, QuoteSwitches: p.turns.switches[i]}
		if l.size > 0 {
			row.OldestSince = p.slots[l.first].since
			row.UnservedSince = max(l.begun, l.served)
		}
	}
	return s
}
