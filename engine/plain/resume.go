// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"github.com/pnagent/pnagent/engine/ready"
)

// Resume continues after LoadState and Replay as the shard whose state and log
// were read. Counters continue, too, if Recount was given those that the state
// does not hold. Running delays continue: one that is over by now fires at the
// next Step. A random delay is drawn again.
func (s *Shard) Resume(now int64) {
	if s.dispatch == nil {
		s.ready, s.fetched = newRing(len(s.cells)), 0
	} else {
		s.dispatch.queue, s.dispatch.fetched = ready.NewQueue(s.dispatch.discipline), [ready.Priorities]int{}
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
	s.Rec.ForgetSlowest()
}

// settleUnmoved puts an instance at rest that a state left out because it never
// moved. It has been at rest since it was created. If it counts as finished, the
// log records that.
func (s *Shard) settleUnmoved(i int, c *cell, now int64) {
	s.rest(i, c, now)
	if c.flags&finished != 0 {
		s.log.rest(i)
	}
}

// blank reports whether an instance is empty and nothing can happen in it.
func (s *Shard) blank(c *cell) bool {
	return c.n == 0 && c.flags&moved == 0 && len(s.Untriggered) == 0 && len(s.Unwaiting) == 0
}
