// SPDX-License-Identifier: Apache-2.0

package colour

import "github.com/pnagent/pnagent/stats"

// Resume goes on, after LoadState and Replay, as the shard whose state and log
// this one took over. It has counted what that shard did, if what its state does
// not hold was given to Recount, and counts on. Runs that had been started and are not over
// are handed out again by Starts, under the same name, if their action is
// idempotent; the others are put back, which counts as cancelled. An instance that had failed counts as
// failed until something comes for it from outside, though what it failed with
// is tried anew. now is when it goes on.
func (s *Shard) Resume(now int64) {
	s.rec.ForgetSlowest()
	s.resumeRuns(now)
	s.wakeAll(now)
}

func (s *Shard) wakeAll(now int64) {
	for i := range s.instances {
		if s.pool.Waiting(s.channels[i]) == 0 {
			s.wake(i, now)
		}
	}
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

// Recount takes over, after LoadState, what Counted had told with that state.
// Where the instances of one shard are now held by several, one of them is given
// its rows, and the others rows of zeros. The error says that the rows are not
// of this net.
func (s *Shard) Recount(from *stats.Rows) error { return s.rec.Set(from) }
