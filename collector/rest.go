// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
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
	for _, due := range []int64{c.rest.needed.Load(), c.merger.ForgetsAt(c.view.Load(), now.UnixMicro())} {
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

// rests reports whether a View may stand for some intervals: it is as the one before but for
// rates over minutes, no source is one whose silence would be noticed, and nothing has been
// asked for. before is
// the revision of the Merger before that View. The caller holds mu.
func (c *Collector) rests(view *merge.View, before uint64, asked bool) bool {
	last := c.view.Load()
	idle := !asked && len(c.waiting) == 0 && len(c.fetching) == 0 && c.pace.step == 0
	return idle && last != nil && c.merger.Revision() == before && view.AtRest(last)
}
