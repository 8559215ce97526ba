// SPDX-License-Identifier: Apache-2.0

package coloured

// Resume continues, after LoadState and Replay, as the shard whose state and
// log this one took over, counters included, if Recount was given what the
// state does not hold. Runs that are not over are handed out again by Starts,
// under the same name, if their action is idempotent; others are put back,
// which counts as cancelled. An instance that had failed counts as failed until
// an event arrives for it, though what it failed with is tried again. now is
// the time of the take-over.
func (s *Shard) Resume(now int64) {
	s.Rec.ForgetSlowest()
	s.resumeRuns(now)
	s.wakeAll(now)
}

func (s *Shard) wakeAll(now int64) {
	for i := range s.instances {
		if s.pool.Waiting(i) == 0 {
			s.wake(i, now)
		}
	}
}
