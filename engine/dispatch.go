// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/stats"
)

// Dispatch specifies which ready instance a worker plays next, over all nets.
type Dispatch struct {
	Policy ready.Policy
	Quotes ready.Quotes // of ready.PolicyQuoted
}

// discipline returns the order in the queues of one worker. A worker of the
// dedicated dispatcher has one priority.
func (d *Dispatch) discipline() (ready.Discipline, error) {
	switch d.Policy {
	case ready.PolicyStrict:
		return ready.Strict(), nil
	case ready.PolicyQuoted:
		return ready.Quoted(d.Quotes)
	}
	return ready.FIFO(), nil
}

// turns are the turns of a worker's priorities over its nets.
type turns struct {
	turn     *ready.Turn
	switches [][ready.Priorities]uint64 // by net: turns that ended with one of its events
}

// playTurns plays what is ready, event by event, and reports whether there may
// be more.
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
		w.follow(now)
		w.take(k, now) // so that actions of several nets start in this order
		if w.turns.turn.Served(p) {
			w.turns.switches[k][p]++
		}
	}
	return fired, true
}

// present returns the priorities with ready instances.
func (w *worker) present() (set uint8) {
	for _, s := range w.shards {
		set |= s.Present()
	}
	return set
}

// readiest returns the net that has been ready for longest with a priority.
func (w *worker) readiest(p ready.Priority) int {
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
	for k := range w.starters {
		if s := &w.starters[k]; s.of == net {
			s.show(w.stage.log, now, rows)
		}
	}
}
