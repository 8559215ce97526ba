// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"maps"
	"slices"
)

// NameRuns sets the era of the runs that start from now on, and their numbers:
// first, first+step and so on. A number and an era together are unique among
// all shards that ever followed each other's log, under two conditions: no two
// of the shards that write into one log at the same time use the same number,
// and first is greater than the LastRun of all of them.
func (s *Shard) NameRuns(era, first, step uint64) {
	s.runs.era, s.runs.last, s.runs.step = era, first-step, step
}

// LastRun returns the highest number of a run that the shard has started or
// read; 0 before the first.
func (s *Shard) LastRun() uint64 { return s.runs.last }

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
	for i := range s.instances {
		if s.pool.Waiting(i) == 0 {
			s.wake(i, now)
		}
	}
}

// resumeRuns continues the runs that the previous shard had started. Those
// whose action is idempotent are handed out once more; the tokens of the others
// are put back.
func (s *Shard) resumeRuns(now int64) {
	all := s.runs.unended
	s.runs.unended = map[RunID]*run{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		x := s.at(p.i, now)
		gone := func(t Placed) bool {
			pile := s.pileOf(x.in, &t)
			return pile == nil || pile.lotOf(t.Token.ID) < 0
		}
		if !s.rules[p.transition].Idempotent || slices.ContainsFunc(p.taken, gone) {
			s.count(opCancelled, p.i, int(p.transition))
			s.log.end(p.i, name, false)
			continue
		}
		x.fly(p.taken)
		f := s.frame(x.in, p.frame)
		p.seen = s.seenBy(x.in, f, &s.rules[p.transition])
		x.depart(name, p)
		x.pass(f, int(p.transition), false)
		x.changed()
	}
}
