// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// fits returns an error unless the message has the rows of its definition. A
// source that has no column of a table may omit the whole table.
func fits(msg *telemetry.Snapshot, c *columns) error {
	r, places, transitions := &msg.Rows, len(c.places), len(c.transitions)
	if msg.Full && (wrongSize(len(r.Places), places) || wrongSize(len(r.Transitions), transitions)) {
		return Rejection(WrongSize, "%d places and %d transitions; expected %d and %d, as in the definition",
			len(r.Places), len(r.Transitions), places, transitions)
	}
	if !msg.Full && (beyond(msg.PlaceIndex, places) || beyond(msg.TransitionIndex, transitions)) {
		return Rejection(WrongSize, "an index beyond the %d places and %d transitions of the definition", places, transitions)
	}
	outside := func(transition, place int32) bool {
		return int(transition) >= transitions || int(place) >= places
	}
	if slices.ContainsFunc(r.Blocks, func(b stats.Block) bool { return outside(b.Transition, b.Place) }) {
		return Rejection(WrongSize, "a block outside the %d places and %d transitions of the definition", places, transitions)
	}
	if !fitsRemnants(msg.Remnants, places, transitions) {
		return Rejection(WrongSize, "a remnant outside the %d places and %d transitions of the definition", places, transitions)
	}
	waitsOutside := func(t *stats.Token) bool {
		return slices.ContainsFunc(t.Waits, func(w stats.Wait) bool { return outside(w.Transition, w.Place) })
	}
	for i := range r.Places {
		p := &r.Places[i]
		if slices.ContainsFunc(p.Stuck, func(t stats.Token) bool { return waitsOutside(&t) }) ||
			slices.ContainsFunc(p.Groups, func(g stats.Group) bool { return waitsOutside(&g.Oldest) }) {
			return Rejection(WrongSize, "a stuck token waits outside the %d places and %d transitions of the definition", places, transitions)
		}
	}
	return nil
}

func wrongSize(rows, defined int) bool { return rows != 0 && rows != defined }

// beyond reports whether rising indices exceed a table of n rows.
func beyond(index []uint32, n int) bool {
	return len(index) > 0 && int64(index[len(index)-1]) >= int64(n)
}

// fell returns an error if a counter of the message is lower than in the last
// message of the same process.
func (t *taking) fell() error {
	given := t.msg.Rows.Columns
	t.pack()
	for i := range t.places {
		d := &t.places[i]
		if what := placeFell(&d.old, &t.msg.Rows.Places[d.i], given); what != "" {
			return Rejection(CounterFell, "%s of place %d", what, t.placeAt(d.i))
		}
	}
	for i := range t.transitions {
		d := &t.transitions[i]
		if what := transitionFell(&d.old, &t.msg.Rows.Transitions[d.i], given); what != "" {
			return Rejection(CounterFell, "%s of transition %d", what, t.transitionAt(d.i))
		}
	}
	if what := counterFell(stats.NetTable, &t.rows.Rest().Net, &t.msg.Rows.Net, given); what != "" {
		return Rejection(CounterFell, "instances %s", what)
	}
	return t.queueFell()
}

func (t *taking) queueFell() error {
	for i := range t.msg.Rows.Queues {
		next := &t.msg.Rows.Queues[i]
		old := queueOf(t.rows.Rest().Queues, next.Priority)
		if old == nil {
			continue
		}
		if what := counterFell(stats.QueueTable, old, next, stats.ColQueues); what != "" {
			return Rejection(CounterFell, "%s of priority %d", what, next.Priority)
		}
	}
	return nil
}

// counterFell returns the name of a counter that is lower in next than in old; "" if none is.
func counterFell[R any](t *stats.Table[R], old, next *R, given stats.Columns) (counter string) {
	t.Fell(old, next, given, func(name string, _, _ uint64) bool {
		counter = name
		return false
	})
	return counter
}

func placeFell(old, next *stats.Place, given stats.Columns) string {
	what := counterFell(stats.PlaceTable, old, next, given)
	if what == "" && given.Has(stats.ColDwell) && histogramFell(&old.Dwell, &next.Dwell) {
		return "dwell"
	}
	return what
}

func transitionFell(old, next *stats.Transition, given stats.Columns) string {
	what := counterFell(stats.TransitionTable, old, next, given)
	if what == "" && given.Has(stats.ColDuration) && histogramFell(&old.Duration, &next.Duration) {
		return "duration"
	}
	return what
}

// histogramFell reports whether a bucket lost something. A histogram may become
// coarser, in which case only its count is compared, but never finer. Its sum is
// not compared: microseconds of many long durations wrap around.
func histogramFell(old, next *stats.Histogram) bool {
	switch {
	case next.Zero < old.Zero:
		return true
	case len(old.Buckets) == 0:
		return false
	case next.Schema != old.Schema:
		return next.Schema > old.Schema || next.Count() < old.Count()
	}
	i := 0
	for _, b := range old.Buckets {
		for i < len(next.Buckets) && next.Buckets[i].Index < b.Index {
			i++
		}
		if i == len(next.Buckets) || next.Buckets[i].Index != b.Index || next.Buckets[i].N < b.N {
			return true
		}
		i++
	}
	return false
}
