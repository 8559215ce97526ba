// SPDX-License-Identifier: Apache-2.0

package game

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrLog is wrapped by the errors of Replay and LoadState: what was written
// down does not fit the shard that reads it.
var ErrLog = errors.New("what was logged does not fit the net")

// The operations of a log, by the lowest bit of what it begins with.
const (
	opFire = iota
	opInject
)

// Beyond the transitions, opFire has other operations, which move no token.
const (
	opRest  = iota // the instance came to rest: clocks start, or it has ended
	opFail         // a transition could not fire, and the instance has failed
	opExact        // this log says when instances came to rest; older ones leave that to be found out
	opBeyond
)

// startLog begins a log, which says what kind it is.
func (s *Shard) startLog() {
	s.log = binary.AppendUvarint([]byte{opFire}, uint64(len(s.rules))+opExact)
	s.began = len(s.log)
}

// noteFire and noteInject write an operation down: the instance's number and the
// kind in one varint, then the transition, or the place and the tokens.
func (s *Shard) noteFire(i, t int) {
	s.log = binary.AppendUvarint(binary.AppendUvarint(s.log, uint64(s.Number(i))<<1+opFire), uint64(t))
}

func (s *Shard) noteInject(i, place int, n uint32) {
	s.log = binary.AppendUvarint(s.log, uint64(s.Number(i))<<1+opInject)
	s.log = binary.AppendUvarint(s.log, uint64(place))
	s.log = binary.AppendUvarint(s.log, uint64(n))
}

func (s *Shard) noteRest(i int) { s.noteFire(i, len(s.rules)+opRest) }

func (s *Shard) noteFail(i, t int) {
	s.noteFire(i, len(s.rules)+opFail)
	s.log = binary.AppendUvarint(s.log, uint64(t))
}

// TakeLog returns what happened since the last call, in order, if Config.Log is
// set: what was fired and injected, and where instances came to rest, by which
// what is counted can be counted again. Take it before time goes on: Replay
// does all of a log at one time. The bytes are good until the next Step, Inject
// or Fire.
func (s *Shard) TakeLog() []byte {
	log := s.log
	if len(log) == s.began {
		return nil
	}
	s.log = log[:s.began]
	return log
}

// reader takes varints off bytes.
type reader struct{ left []byte }

// next returns the next number, at most limit.
func (r *reader) next(limit uint64) (uint64, error) {
	v, n := binary.Uvarint(r.left)
	if n <= 0 {
		return 0, fmt.Errorf("%w: it ends inside a number", ErrLog)
	}
	if v > limit {
		return 0, fmt.Errorf("%w: %d where at most %d can be", ErrLog, v, limit)
	}
	r.left = r.left[n:]
	return v, nil
}

// index returns the next number, below n.
func (r *reader) index(n int) (int, error) {
	if n == 0 {
		return 0, fmt.Errorf("%w: an index where there is nothing", ErrLog)
	}
	v, err := r.next(uint64(n) - 1)
	return int(v), err
}

// Replay does again what TakeLog returned, at the time it was done, and counts
// it, on a shard that was made for the same time and has not played yet. Numbers
// of instances that the shard does not hold are passed over, so that the log of
// one set of shards can be read by another. What firings put into other parts is
// gone: it crossed when it was played.
func (s *Shard) Replay(log []byte, now int64) error {
	defer func(logging, noting bool) { s.logging, s.noting = logging, noting }(s.logging, s.noting)
	s.logging, s.noting, s.exact = false, false, false
	s.touched = s.touched[:0]
	for r := (&reader{log}); len(r.left) > 0; {
		if err := s.replayOne(r, now); err != nil {
			return err
		}
	}
	for _, i := range s.touched {
		s.resume(int(i), now)
	}
	return nil
}

// ReplayOlder is Replay of a log by an engine of an older version, which wrote
// down at each start again what instances were at rest as. That changes nothing.
func (s *Shard) ReplayOlder(log []byte, now int64) error {
	s.repeats = true
	defer func() { s.repeats = false }()
	return s.Replay(log, now)
}

// replayOne does one operation again.
func (s *Shard) replayOne(r *reader, now int64) error {
	head, err := r.next(math.MaxUint64)
	if err != nil {
		return err
	}
	i, err := s.Index(int(head >> 1))
	mine := err == nil
	if head&1 == opInject {
		return s.replayInject(r, i, mine, now)
	}
	n := uint64(len(s.rules))
	t, err := r.next(n + opBeyond - 1)
	switch {
	case err != nil:
		return err
	case t == n+opExact:
		s.exact = true
		return nil
	case t == n+opFail:
		return s.replayFail(r, i, mine)
	case !mine:
		return nil
	case t == n+opRest:
		return s.replayRest(i, now)
	}
	return s.replayFire(i, int(t), now)
}

// touch makes an instance ready for an operation of a replay. If the log does
// not say when instances came to rest, it remembers that this one may have.
func (s *Shard) touch(i int) {
	if !s.timed || s.exact && !s.loaded {
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

// resume starts the clocks of an instance in which nothing immediate is enabled:
// it was settled at that time.
func (s *Shard) resume(i int, at int64) {
	if c := &s.cells[i]; s.timed && s.quiet(c) {
		s.startClocks(i, c, at)
	}
}

// begin starts the clocks of an instance that is as it was created.
func (s *Shard) begin(i int) {
	if s.cells[i].flags&everMoved == 0 {
		s.resume(i, s.created)
	}
}

func (s *Shard) replayFire(i, t int, now int64) error {
	if err := s.canReplay(i, t); err != nil {
		return err
	}
	c := &s.cells[i]
	if err := s.fire(i, c, t, now); err != nil {
		return err
	}
	if s.timed {
		s.clocks.removeOf(i, t)
	}
	s.stir(c)
	return nil
}

// canReplay makes an instance ready for a firing, or says why there can have
// been none.
func (s *Shard) canReplay(i, t int) error {
	if s.elsewhere(t) {
		return fmt.Errorf("%w: transition %q: %w", ErrLog, s.tables.Net.Transitions[t].ID, ErrElsewhere)
	}
	s.touch(i)
	if c := &s.cells[i]; !s.enabled(c, t) {
		return fmt.Errorf("%w: instance %d: %w", ErrLog, s.Number(i), s.refuse(c, t))
	}
	return nil
}

func (s *Shard) replayFail(r *reader, i int, mine bool) error {
	t, err := r.index(len(s.rules))
	if err != nil || !mine {
		return err
	}
	if err := s.canReplay(i, t); err != nil {
		return err
	}
	s.fail(&s.cells[i], t)
	if s.timed {
		s.clocks.removeOf(i, t)
	}
	return nil
}

// replayRest has an instance come to rest.
func (s *Shard) replayRest(i int, now int64) error {
	c := &s.cells[i]
	switch again := c.flags&atRest != 0; {
	case !s.quiet(c):
		return fmt.Errorf("%w: instance %d comes to rest while an immediate transition is enabled; expected none to be, as by the bindings under which it was written", ErrLog, s.Number(i))
	case again && !s.repeats:
		return fmt.Errorf("%w: instance %d comes to rest, and was at rest before; expected it to have moved", ErrLog, s.Number(i))
	case !again:
		s.rest(i, c, now)
	}
	return nil
}

func (s *Shard) replayInject(r *reader, i int, mine bool, now int64) error {
	place, err := r.index(s.tables.Places())
	if err != nil {
		return err
	}
	n, err := r.next(math.MaxUint32)
	if err != nil || !mine {
		return err
	}
	if s.outside(place) {
		return fmt.Errorf("%w: place %q: %w", ErrLog, s.tables.Net.Places[place].ID, ErrElsewhere)
	}
	s.touch(i)
	c := &s.cells[i]
	if err := s.put(c, place, uint32(n), now); err != nil {
		return err
	}
	c.flags |= moved | everMoved
	if s.timed {
		s.stopClocks(i, c)
	}
	s.stir(c)
	return nil
}
