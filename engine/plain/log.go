// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/binary"
	"math"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// The operations of a log, by the lowest bit of their first number.
const (
	opFire = iota
	opInject
)

// opFire with a transition number beyond the last transition is one of these
// operations. They move no token.
const (
	opRest  = iota // the instance came to rest: its clocks start, or it has ended
	opFail         // a transition could not fire, and the instance has failed
	opExact        // this log records when instances came to rest; with older logs Replay derives it
	opRun          // firings of one instance, one after the other: 1 + the transition of each, then 0
	opBeyond
)

// startLog begins a log: it records the kind of log.
func (s *Shard) startLog() {
	s.log = binary.AppendUvarint([]byte{opFire}, uint64(len(s.rules))+opExact)
	s.began, s.running, s.single = len(s.log), -1, -1
}

// noteFire and noteInject record an operation: the instance's number and the
// kind in one varint, then the transition, or the place and the number of
// tokens. Further firings of the same instance make a run, in which each takes
// only its transition.
func (s *Shard) noteFire(i, t int) {
	if s.running == i && t < 0x7f {
		s.log = append(s.log, byte(t+1))
	} else {
		s.noteOther(i, t)
	}
}

// noteOther records a firing that does not continue a run with one byte.
func (s *Shard) noteOther(i, t int) {
	switch {
	case s.running == i:
	case s.single == i:
		s.beginRun()
	default:
		s.note(i, opFire)
		s.single, s.singleAt = i, len(s.log)
		s.log = binary.AppendUvarint(s.log, uint64(t))
		return
	}
	s.log = binary.AppendUvarint(s.log, uint64(t)+1)
}

// beginRun makes the last operation, which is one firing, a run.
func (s *Shard) beginRun() {
	t, _ := binary.Uvarint(s.log[s.singleAt:])
	s.log = binary.AppendUvarint(s.log[:s.singleAt], uint64(len(s.rules))+opRun)
	s.log = binary.AppendUvarint(s.log, t+1)
	s.running, s.single = s.single, -1
}

// endRun ends the last operation, if it is a run.
func (s *Shard) endRun() {
	if s.running >= 0 {
		s.log = append(s.log, 0)
	}
	s.running, s.single = -1, -1
}

// note begins an operation.
func (s *Shard) note(i, kind int) {
	s.endRun()
	s.log = binary.AppendUvarint(s.log, uint64(s.Number(i))<<1+uint64(kind))
}

func (s *Shard) noteInject(i, place int, n uint32) {
	s.note(i, opInject)
	s.log = binary.AppendUvarint(s.log, uint64(place))
	s.log = binary.AppendUvarint(s.log, uint64(n))
}

// noteBeyond records an operation that moves no token.
func (s *Shard) noteBeyond(i, op int) {
	s.note(i, opFire)
	s.log = binary.AppendUvarint(s.log, uint64(len(s.rules)+op))
}

func (s *Shard) noteRest(i int) { s.noteBeyond(i, opRest) }

func (s *Shard) noteFail(i, t int) {
	s.noteBeyond(i, opFail)
	s.log = binary.AppendUvarint(s.log, uint64(t))
}

// Replay applies and counts the Log of a Ready, as of now, the time at which it
// happened. The shard must have been created for the same time and must not
// have played yet. Replay skips the instances that the shard does not hold, so
// one set of shards can read the log of another. It does not repeat what
// firings put into other parts: those tokens crossed when they were played. The
// error wraps [ErrLog].
func (s *Shard) Replay(log []byte, now int64) error {
	defer func(logging, noting bool) { s.logging, s.noting = logging, noting }(s.logging, s.noting)
	s.logging, s.noting, s.exact = false, false, false
	s.touched = s.touched[:0]
	for r := (&shard.Reader{Left: log}); len(r.Left) > 0; {
		if s.replayOne(r, now); r.Err != nil {
			return r.Err
		}
	}
	for _, i := range s.touched {
		s.resume(int(i), now)
	}
	return nil
}

// ReplayOlder is Replay for a log of an older version, which recorded again at
// each start that instances are at rest. Those records change nothing.
func (s *Shard) ReplayOlder(log []byte, now int64) error {
	s.repeats = true
	defer func() { s.repeats = false }()
	return s.Replay(log, now)
}

// replayOne applies one operation.
func (s *Shard) replayOne(r *shard.Reader, now int64) {
	head := r.Next(math.MaxUint64)
	i, err := s.Index(int(head >> 1))
	mine := err == nil
	if head&1 == opInject {
		s.replayInject(r, i, mine, now)
		return
	}
	n := uint64(len(s.rules))
	switch t := r.Next(n + opBeyond - 1); {
	case r.Err != nil:
	case t == n+opExact:
		s.exact = true
	case t == n+opFail:
		s.replayFail(r, i, mine)
	case t == n+opRun:
		s.replayRun(r, i, mine, now)
	case !mine:
	case t == n+opRest:
		s.replayRest(r, i, now)
	default:
		s.replayFire(r, i, int(t), now)
	}
}

// touch prepares an instance for an operation of a replay. If the log does not
// record when instances came to rest, touch remembers that this one may have.
func (s *Shard) touch(i int) {
	if !s.Timed || s.exact && !s.loaded {
		return
	}
	if n := len(s.touched); n > 0 && s.touched[n-1] == int32(i) {
		return
	}
	s.begin(i)
	if !s.exact {
		s.touched = append(s.touched, int32(i))
	}
}

// resume starts the clocks of an instance that was settled at that time, if no
// immediate transition is enabled.
func (s *Shard) resume(i int, at int64) {
	if c := &s.cells[i]; s.Timed && s.quiet(c) {
		s.startClocks(i, c, at)
	}
}

// begin starts the clocks of an instance that is in its initial state.
func (s *Shard) begin(i int) {
	if s.cells[i].flags&everMoved == 0 {
		s.resume(i, s.created)
	}
}

func (s *Shard) replayFire(r *shard.Reader, i, t int, now int64) {
	if !s.canReplay(r, i, t) {
		return
	}
	c := &s.cells[i]
	if err := s.fire(i, c, t, now); err != nil {
		r.Fail("instance %d: %w", s.Number(i), err)
		return
	}
	if s.Timed {
		s.clocks.removeOf(i, t)
	}
	s.stir(c)
}

// replayRun applies the firings of a run.
func (s *Shard) replayRun(r *shard.Reader, i int, mine bool, now int64) {
	for {
		next := int(r.Next(uint64(len(s.rules))))
		if next == 0 {
			return
		}
		if mine {
			s.replayFire(r, i, next-1, now)
		}
	}
}

// canReplay prepares an instance for a firing. It returns false if the firing
// is impossible.
func (s *Shard) canReplay(r *shard.Reader, i, t int) bool {
	if s.Elsewhere(t) {
		r.Fail("transition %q: %w", s.Tables.Net.Transitions[t].ID, ErrElsewhere)
		return false
	}
	s.touch(i)
	if c := &s.cells[i]; !s.enabled(c, t) {
		r.Fail("instance %d: %w", s.Number(i), s.refuse(c, t))
		return false
	}
	return true
}

func (s *Shard) replayFail(r *shard.Reader, i int, mine bool) {
	t := r.Index(len(s.rules))
	if r.Err != nil || !mine || !s.canReplay(r, i, t) {
		return
	}
	s.fail(&s.cells[i], t)
	if s.Timed {
		s.clocks.removeOf(i, t)
	}
}

// replayRest puts an instance at rest.
func (s *Shard) replayRest(r *shard.Reader, i int, now int64) {
	c := &s.cells[i]
	switch again := c.flags&atRest != 0; {
	case !s.quiet(c):
		r.Fail("instance %d comes to rest while an immediate transition is enabled; expected none to be, as by the bindings under which it was written", s.Number(i))
	case again && !s.repeats:
		r.Fail("instance %d comes to rest, and was at rest before; expected it to have moved", s.Number(i))
	case !again:
		s.rest(i, c, now)
	}
}

func (s *Shard) replayInject(r *shard.Reader, i int, mine bool, now int64) {
	place := r.Index(s.Tables.Places())
	n := uint32(r.Next(math.MaxUint32))
	if r.Err != nil || !mine {
		return
	}
	if s.Outside(place) {
		r.Fail("place %q: %w", s.Tables.Net.Places[place].ID, ErrElsewhere)
		return
	}
	s.touch(i)
	c := &s.cells[i]
	if err := s.put(c, place, n, now); err != nil {
		r.Fail("instance %d: %w", s.Number(i), err)
		return
	}
	c.flags |= moved | everMoved
	if s.Timed {
		s.stopClocks(i, c)
	}
	s.stir(c)
}
