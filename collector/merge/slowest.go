// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	minute = int64(time.Minute / time.Microsecond)
	// slowestFor is for how many minutes the slowest are kept, the current one
	// included. With at least two, a reader that polls once a minute sees each
	// instance unless a slower one follows.
	slowestFor = 3
)

// slowest holds the slowest instance of each row of a net in the last minutes, by
// the collector's clock. It is kept for the net and not for its sources, so it
// stays when a source leaves.
type slowest struct {
	now     int64 // the current minute, counted since the Unix epoch
	minutes [slowestFor][]stats.Slowest
}

// turn drops the minutes that are over, and marks the rows that lost an instance.
// If the clock was set back it drops all minutes.
func (w *slowest) turn(now int64, changed *stats.Marks) {
	m := now / minute
	over := min(m-w.now, slowestFor)
	if m < w.now {
		over = slowestFor
	}
	for k := range over {
		slot := &w.minutes[(m+slowestFor-k)%slowestFor]
		for i := range *slot {
			if (*slot)[i].At != 0 {
				changed.Add(int32(i))
			}
		}
		clear(*slot)
		*slot = (*slot)[:0]
	}
	w.now = m
}

// add adds an instance to the minute in which it ended, so a repeated one expires
// no later. It reports whether that changed anything.
func (w *slowest) add(row int32, s stats.Slowest) bool {
	m := min(s.At/minute, w.now)
	if m <= w.now-slowestFor {
		return false
	}
	slot := &w.minutes[m%slowestFor]
	for int(row) >= len(*slot) {
		*slot = append(*slot, stats.Slowest{})
	}
	was := (*slot)[row]
	(*slot)[row].Merge(s)
	return (*slot)[row] != was
}

// of returns the slowest instance of a row.
func (w *slowest) of(row int32) (s stats.Slowest) {
	for _, slot := range w.minutes {
		if int(row) < len(slot) {
			s.Merge(slot[row])
		}
	}
	return s
}

// turnSlowest drops the minutes that are over in both tables of the net.
func (n *net) turnSlowest(now int64) {
	if now/minute == n.slowPlaces.now {
		return
	}
	n.slowPlaces.turn(now, &n.live.Places)
	n.slowTransitions.turn(now, &n.live.Transitions)
	n.changed = n.changed || len(n.live.Places.List)+len(n.live.Transitions.List) > 0
}

// takeSlowest adds the slowest instances that a message names.
func (n *net) takeSlowest(s *source, msg *telemetry.Snapshot, t *taking, received int64) {
	if received/minute > n.slowPlaces.now {
		n.turnSlowest(received)
	}
	moved := func(one stats.Slowest) stats.Slowest {
		one.At = max(min(min(one.At, t.latest())+s.clock.shift, received), 1)
		return one
	}
	for i := range msg.Rows.Places {
		if one := msg.Rows.Places[i].Slowest; one.At != 0 && n.slowPlaces.add(t.placeAt(i), moved(one)) {
			n.live.Places.Add(t.placeAt(i))
		}
	}
	for i := range msg.Rows.Transitions {
		if one := msg.Rows.Transitions[i].Slowest; one.At != 0 && n.slowTransitions.add(t.transitionAt(i), moved(one)) {
			n.live.Transitions.Add(t.transitionAt(i))
		}
	}
}
