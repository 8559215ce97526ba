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
	opRest = iota // the instance came to rest: its clocks start, or it has ended
	opFail        // a transition could not fire, and the instance has failed
	opRun         // firings of one instance, one after the other: 1 + the transition of each, then 0
	opBeyond
)

// log writes down what happens.
type log struct {
	on      bool // see Config.Log
	text    []byte
	rules   int
	members *shard.Members

	// The last operation, if another firing of its instance continues it.
	running  int // the instance of a run that has no end yet; -1 if there is none
	single   int // the instance, if it is one firing; -1 if it is not
	singleAt int // then the offset of its transition
}

// newLog returns a log of a net with a number of transitions.
func newLog(rules int, members *shard.Members) log {
	return log{on: true, rules: rules, members: members, running: -1, single: -1}
}

// take returns what was written since the last call.
func (l *log) take() (text []byte) {
	l.endRun()
	text, l.text = l.text, l.text[:0]
	return text
}

// fire and inject write an operation: the instance's number and the
// kind in one varint, then the transition, or the place and the number of
// tokens. Further firings of the same instance make a run, in which each takes
// only its transition.
func (l *log) fire(i, t int) {
	if l.running == i && t < 0x7f {
		l.text = append(l.text, byte(t+1))
	} else {
		l.other(i, t)
	}
}

// other writes a firing that does not continue a run with one byte.
func (l *log) other(i, t int) {
	switch {
	case l.running == i:
	case l.single == i:
		l.beginRun()
	default:
		l.begin(i, opFire)
		l.single, l.singleAt = i, len(l.text)
		l.put(t)
		return
	}
	l.put(t + 1)
}

// beginRun makes the last operation, which is one firing, a run.
func (l *log) beginRun() {
	t, _ := binary.Uvarint(l.text[l.singleAt:])
	l.text = l.text[:l.singleAt]
	l.put(l.rules + opRun)
	l.put(int(t) + 1)
	l.running, l.single = l.single, -1
}

// endRun ends the last operation, if it is a run.
func (l *log) endRun() {
	if l.running >= 0 {
		l.text = append(l.text, 0)
	}
	l.running, l.single = -1, -1
}

// begin begins an operation.
func (l *log) begin(i, kind int) {
	l.endRun()
	l.put(l.members.Number(i)<<1 + kind)
}

func (l *log) put(n int) { l.text = binary.AppendUvarint(l.text, uint64(n)) }

func (l *log) inject(i, place int, n uint32) {
	if l.on {
		l.begin(i, opInject)
		l.put(place)
		l.put(int(n))
	}
}

func (l *log) rest(i int) {
	if l.on {
		l.begin(i, opFire)
		l.put(l.rules + opRest)
	}
}

func (l *log) fail(i, t int) {
	if l.on {
		l.begin(i, opFire)
		l.put(l.rules + opFail)
		l.put(t)
	}
}

// Replay applies and counts the Log of a Ready, as of now, the time at which it
// happened. The shard must have been created for the same time and must not
// have played yet. Replay skips the instances that the shard does not hold, so
// one set of shards can read the log of another. It does not repeat what
// firings put into other parts: those tokens crossed when they were played. The
// error wraps [ErrLog].
func (s *Shard) Replay(text []byte, now int64) error {
	defer func(on, noting bool) { s.log.on, s.noting = on, noting }(s.log.on, s.noting)
	s.log.on, s.noting = false, false
	for r := (&shard.Reader{Left: text}); len(r.Left) > 0; {
		s.replayOne(r, now)
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
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

// touch prepares an instance for an operation of a replay. One that a state
// left out because it never moved has been at rest since it was created: its
// clocks run since then.
func (s *Shard) touch(i int) {
	if c := &s.cells[i]; s.Timed && s.loaded && c.flags&everMoved == 0 && s.quiet(c) {
		s.startClocks(i, c, s.created)
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
	s.Revive(&c.flags)
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
	switch {
	case !s.quiet(c):
		r.Fail("instance %d comes to rest while an immediate transition is enabled; expected none to be, as by the bindings under which it was written", s.Number(i))
	case c.flags&atRest != 0:
		r.Fail("instance %d comes to rest, and was at rest before; expected it to have moved", s.Number(i))
	default:
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
	s.Revive(&c.flags)
}
