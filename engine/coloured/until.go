// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"fmt"

	"github.com/pnagent/pnagent/stats"
)

// TimerFault is a transition whose time could not be determined: see Binding.Until.
type TimerFault struct {
	Instance   int // its index in the shard
	Transition int32
	Err        error
}

// maxTimerFaults bounds those that the shard keeps.
const maxTimerFaults = 64

// TimerFaults returns the first faults since the last call, in order. The next call that
// plays reuses the slice.
func (s *Shard) TimerFaults() []TimerFault {
	out := s.timerFaults
	s.timerFaults = s.timerFaults[:0]
	return out
}

// planUntil plans the clock of a transition that is enabled in a frame with tokens. Without a
// time, the transition is an incident.
func (s *Shard) planUntil(i int, in *instance, f *frame, t int, clock int32, tokens []Placed) {
	n := &s.notes.all[clock]
	due, err := until(s.rules[t].Until, tokens, n.since)
	if err == nil {
		s.notes.due.Drop(clock)
		n.ripe = false
		s.notes.plan(clock, due)
		return
	}
	took, _ := s.rules[t].split(tokens)
	s.notes.remove(&in.notes, clock)
	s.incident(i, in, f, t, firstID(took), stats.NoPlace)
	if len(s.timerFaults) < maxTimerFaults {
		s.timerFaults = append(s.timerFaults, TimerFault{i, int32(t), err})
	}
}

// until calls a user's function, which may panic.
func until(of func([]Placed, int64) (int64, error), tokens []Placed, since int64) (due int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	if due, err = of(tokens, since); err == nil && due > maxTime {
		err = fmt.Errorf("a time after %d µs; expected an earlier one", int64(maxTime))
	}
	return due, err
}
