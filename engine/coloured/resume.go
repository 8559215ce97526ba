// SPDX-License-Identifier: Apache-2.0

package coloured

// Resume continues after LoadState and Replay as the shard whose state and log
// were read. Counters continue, too, if Recount was given those that the state
// does not hold. Ready hands out the runs that are not over again, under the
// same names, if their action is idempotent. The tokens of other runs are put
// back, which counts as cancelled. An instance that had failed counts as failed
// until an event arrives for it, although its failed transitions are tried
// again. now is the time of the take-over.
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
