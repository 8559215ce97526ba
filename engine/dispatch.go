// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/pnagent/pnagent/pool"
	"github.com/pnagent/pnagent/stats"
)

// Dispatch says which ready instance a worker plays next, over all nets.
type Dispatch struct {
	Policy pool.Policy
	Quotes pool.Quotes // of pool.PolicyQuoted
}

// discipline returns the order in the queues of one worker. A worker of the
// dedicated dispatcher knows one priority.
func (d *Dispatch) discipline() (pool.Discipline, error) {
	switch d.Policy {
	case pool.PolicyStrict:
		return pool.Strict(), nil
	case pool.PolicyQuoted:
		return pool.Quoted(d.Quotes)
	}
	return pool.FIFO(), nil
}

// turns are the turns of a worker's priorities over its nets.
type turns struct {
	turn     *pool.Turn
	switches [][pool.Priorities]uint64 // by net: turns that ended with one of its events
}

// playTurns plays what is ready, event by event, and reports whether more may
// be.
func (w *worker) playTurns(budget int, now int64) (fired int, more bool) {
	for _, s := range w.shards {
		s.Expire(now)
	}
	for range batch {
		if fired >= budget {
			return fired, true
		}
		p, ok := w.turns.turn.Next(w.present())
		if !ok {
			return fired, false
		}
		k := w.readiest(p)
		fired += w.shards[k].StepOne(p, budget-fired, now)
		w.stage.gather(k)
		if w.turns.turn.Served(p) {
			w.turns.switches[k][p]++
		}
	}
	return fired, true
}

// present returns the priorities of which something is ready.
func (w *worker) present() (set uint8) {
	for _, s := range w.shards {
		set |= s.Present()
	}
	return set
}

// readiest returns the net that has been ready for longest with a priority.
func (w *worker) readiest(p pool.Priority) int {
	if len(w.shards) == 1 {
		return 0
	}
	best, first := -1, int64(0)
	for k, s := range w.shards {
		if since, ok := s.ReadySince(p); ok && (best < 0 || since < first) {
			best, first = k, since
		}
	}
	return best
}

// look adds the rows of a net.
func (w *worker) look(net int, now int64, name func(int) string, rows *stats.Rows) {
	w.shards[net].Look(now, name, rows)
	w.addQueues(net, rows)
}
