// SPDX-License-Identifier: Apache-2.0

package game

import (
	"github.com/pnagent/pnagent/pool"
	"github.com/pnagent/pnagent/stats"
)

// Resume goes on, after LoadState and Replay, as the shard whose state and log
// this one took over. It has counted what that shard did, if what its state does
// not hold was given to Recount, and counts on. Delays that were running go on:
// one that is over by now, when the shard goes on, fires at the next Step. How
// long a random delay lasts is drawn again.
func (s *Shard) Resume(now int64) {
	if s.dispatch == nil {
		s.ready, s.fetched = newRing(len(s.cells)), 0
	} else {
		s.dispatch.queue, s.dispatch.fetched = pool.NewQueue(s.dispatch.discipline), [pool.Priorities]int{}
	}
	for i := range s.cells {
		c := &s.cells[i]
		c.flags &^= queued
		if c.n == isWide {
			s.narrow(c)
		}
		if s.loaded && c.flags&everMoved == 0 && s.quiet(c) {
			s.settleUnmoved(i, c, now)
		}
		if c.flags&atRest == 0 && !s.blank(c) {
			s.enqueue(i, now)
		}
	}
	s.rec.ForgetSlowest()
}

// settleUnmoved has an instance be at rest that a state left out because it
// never moved. It has been so since it was created; only if it was not yet
// counted as finished is that news.
func (s *Shard) settleUnmoved(i int, c *cell, now int64) {
	s.rest(i, c, now)
	if c.flags&finished != 0 && s.logging {
		s.noteRest(i)
	}
}

// blank reports whether an instance is empty and nothing can happen in it.
func (s *Shard) blank(c *cell) bool {
	return c.n == 0 && c.flags&moved == 0 && len(s.untriggered) == 0 && len(s.unwaiting) == 0
}

// Counted adds to rows of the net what is cumulative, and only that: what Recount
// needs of a shard whose AppendState is kept. Arrivals are those of the tokens
// that left.
func (s *Shard) Counted(into *stats.Rows) {
	s.addCounts(into)
	into.Columns |= stats.Cumulative &^ stats.ColInstances
	if s.part == nil {
		into.Columns |= stats.ColInstances
	}
}

// Recount takes over, after LoadState, what Counted had told with that state. Where the instances of one shard are now held by several,
// one of them is given its rows, and the others rows of zeros. The error says
// that the rows are not of this net.
func (s *Shard) Recount(from *stats.Rows) error { return s.rec.Set(from) }
