// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// starter begins instances of a net at the times of one of its transitions, see
// petri.Trigger.Begins. What it has done is in the counters of the transition, so that the
// journal has it: the next time is computed from when the net began, and from the last firing.
type starter struct {
	shard      *coloured.Shard
	of         int // the index of the net
	net        *petri.Net
	transition int
	times      uint64 // 0 without end
	created    int64
	next       func(created, last int64) (due int64, err error)

	known   bool // due is that after the present number of firings
	firings uint64
	due     int64
	over    bool   // it begins nothing more
	waits   bool   // no instance was free
	ended   uint64 // instances when it found none free
}

// starters returns those of the instances that one worker owns. Of several parts of a net, the
// one with the last instance has them, because the spare instances are the last ones.
func (e *Engine) starters(w *worker, created int64) (all []starter) {
	for k := range e.cfg.Nets {
		n, shard := &e.cfg.Nets[k], w.stage.nets[k].shard
		if shard == nil {
			continue
		}
		if _, err := shard.Index(e.cfg.Instances - 1); err != nil {
			continue
		}
		for t := range n.Transitions {
			if n.Transitions[t].Begins != nil && n.Transitions[t].Mode.Kind == plain.Manual { // bindings may replace the trigger
				all = append(all, starter{shard: shard, of: k, net: n.Tables.Net, transition: t, times: uint64(n.Tables.Net.Transitions[t].Trigger.Times),
					created: created, next: n.Transitions[t].Begins})
			}
		}
	}
	return all
}

// dueAt returns when it begins the next instance. It returns false if that is never, or if it
// waits until an instance is free.
func (s *starter) dueAt(log *failureLog, now int64) (int64, bool) {
	if s.over {
		return 0, false
	}
	firings, last := s.shard.Fired(s.transition)
	if !s.known || firings != s.firings {
		s.known, s.firings, s.waits = true, firings, false
		if s.times > 0 && firings >= s.times {
			s.over = true
			return 0, false
		}
		var err error
		if s.due, err = s.next(s.created, last); err != nil {
			s.fail(log, "timer has no time", err, now)
			return 0, false
		}
	}
	return s.due, !s.waits || s.ended != s.shard.Ended()
}

// show adds when it begins the next instance. That is past while no instance is free.
func (s *starter) show(log *failureLog, now int64, rows *stats.Rows) {
	due, _ := s.dueAt(log, now)
	rows.Transitions[s.transition].Merge(&stats.Transition{NextDue: due})
	rows.Columns |= stats.ColNextDue
}

func (s *starter) fail(log *failureLog, what string, err error, now int64) {
	s.over = true
	log.failed(what, s.net.ID, s.net.Transitions[s.transition].ID, "", err, now)
}

// begin begins an instance that is free, and reports whether there was one.
func (s *starter) begin(log *failureLog, now int64) bool {
	for i := range s.shard.Size() {
		if !s.shard.Idle(i) {
			continue
		}
		n, err := s.shard.Catch(i, s.transition, coloured.Catch{Last: math.MaxUint64}, now)
		if n > 0 {
			return true
		}
		if err != nil {
			s.fail(log, "timer begins no instance", err, now)
			return false
		}
	}
	s.ended = s.shard.Ended()
	if !s.waits {
		s.waits = true
		log.failed("timer waits", s.net.ID, s.net.Transitions[s.transition].ID, "",
			fmt.Errorf("%w: %d instances run; expected a spare one", ErrBusy, s.shard.Size()), now)
	}
	return false
}

// beginDue begins the instances whose timers are due, one of each timer, and reports whether there
// were any. A timer that was due several times begins one.
func (w *worker) beginDue(now int64) (some bool) {
	for k := range w.starters {
		s := &w.starters[k]
		due, waits := s.dueAt(w.stage.log, now)
		if !waits || due > now {
			continue
		}
		begun, _ := w.stepOf(now, func(int) (int, bool) {
			if s.begin(w.stage.log, now) {
				return 1, true
			}
			return 0, false
		})
		some = some || begun
	}
	return some
}

// begins returns when a transition that begins instances by a timer is due after the last time,
// in a net that began at a time; last is 0 before the first one.
func (tr *Transition) begins(on petri.Trigger) {
	tr.Mode.Kind = plain.Manual
	switch on.Kind {
	case petri.TriggerTime:
		tr.Begins = func(created, _ int64) (int64, error) { return max(created, on.Micros), nil }
	case petri.TriggerDelay:
		tr.Begins = func(created, last int64) (int64, error) {
			if last < created || on.Micros <= 0 {
				return created + on.Micros, nil
			}
			return created + ((last-created)/on.Micros+1)*on.Micros, nil
		}
	}
}

// maxPeriods bounds how many times of a timer are computed one after the other.
const maxPeriods = 10_000

// beginsUntil is begins of a timer whose time an expression gives.
func beginsUntil(until func(tokens []coloured.Placed, since int64) (int64, error)) func(created, last int64) (int64, error) {
	return func(created, last int64) (_ int64, err error) {
		defer func() {
			if r := recover(); r != nil { // as expressions report that they have no value
				err = fmt.Errorf("%v", r)
			}
		}()
		at := created
		for range maxPeriods {
			due, err := until(nil, at)
			if err != nil || due > last {
				return due, err
			}
			if due <= at {
				return 0, errors.New("the timer is due again at once; expected a later time")
			}
			at = due
		}
		return until(nil, last)
	}
}
