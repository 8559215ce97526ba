// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"
	"sync/atomic"
	"time"
)

// restIntervals is how many intervals pass between two Views while nothing is received and
// nothing changes. With the default interval that is less than the age from which faces
// call a View old.
const restIntervals = 4

// rest is the state of a Collector between two Views that need not be made each interval.
type rest struct {
	on     atomic.Bool   // the next View is not due at the next interval
	stir   chan struct{} // has an element after a message has arrived meanwhile, or a View is needed earlier
	needed atomic.Int64  // see Need; 0 for never
}

// Need makes the Collector make a View at the first whole interval at a time or after it, in
// microseconds since the Unix epoch, although nothing may be received until then. It replaces
// the time of the previous call; 0 is none. Any goroutine may call it.
func (c *Collector) Need(at int64) {
	if c.rest.needed.Swap(at) != at && c.rest.on.Load() {
		c.stir()
	}
}

// stir makes Run look again when the next View is due.
func (c *Collector) stir() {
	select {
	case c.rest.stir <- struct{}{}:
	default: // Run will look
	}
}

// arrived ends the rest: something has been received, so a View is due at the next interval.
// The caller holds mu, as look does, so nothing is left out of a View that begins a rest.
func (c *Collector) arrived() {
	if c.rest.on.CompareAndSwap(true, false) {
		c.stir()
	}
}

// untilNext returns the time to the next View.
func (c *Collector) untilNext(now time.Time) time.Duration {
	if !c.rest.on.Load() {
		return c.untilView(now)
	}
	at := now.Add((restIntervals - 1) * c.cfg.Interval)
	for _, due := range []int64{c.rest.needed.Load(), c.forgetsAt(now.UnixMicro())} {
		if t := time.UnixMicro(due); due != 0 && t.Before(at) {
			at = t
		}
	}
	at = at.Add(-1) // a View at that very time is at it
	if at.Before(now) {
		at = now
	}
	return at.Sub(now) + c.untilView(at)
}

// forgetsAt returns when the next silent source is forgotten; 0 for none.
func (c *Collector) forgetsAt(now int64) (at int64) {
	sources := c.view.Load().Sources
	for i := range sources {
		s := &sources[i]
		if t := s.LastMessage + c.merger.forgetAfter; s.State == Stale && t > now && (at == 0 || t < at) {
			at = t
		}
	}
	return at
}

// rests reports whether a View may stand for some intervals: it is as the one before but for
// rates over minutes, no source is one whose silence would be noticed, and nothing has been
// asked for. before is
// the revision of the Merger before that View. The caller holds mu.
func (c *Collector) rests(view *View, before uint64, asked bool) bool {
	last := c.view.Load()
	switch {
	case last == nil || c.merger.revision != before || view.Interrupted || last.Interrupted:
		return false
	case asked || len(c.waiting) > 0 || len(c.fetching) > 0 || c.pace.step > 0:
		return false
	case view.MessageRate != last.MessageRate || view.MessageRate > 0 || !SameReport(last, view):
		return false
	}
	for _, n := range view.Nets {
		if n.Rates.now() {
			return false
		}
	}
	for i := range view.Sources {
		if s := view.Sources[i].State; s != Stale && s != Gone {
			return false
		}
	}
	return true
}

// now reports whether one of the rates of the last seconds is not 0.
func (r *Rates) now() bool {
	some := func(rate float64) bool { return rate > 0 }
	return r.Firings.Now > 0 || r.Finished > 0 || slices.ContainsFunc(r.Arrivals, some) || slices.ContainsFunc(r.Departures, some)
}
