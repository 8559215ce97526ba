// SPDX-License-Identifier: Apache-2.0

package game

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/pnagent/pnagent/stats"
)

// ErrLog is wrapped by the errors of Replay and LoadState: what was written
// down does not fit the shard that reads it.
var ErrLog = errors.New("not the log of this shard")

// The operations of a log.
const (
	opFire = iota
	opInject
)

// noteFire and noteInject write an operation down: the instance's number and
// the kind in one varint, then the transition, or the place and the tokens.
func (s *Shard) noteFire(i, t int) {
	s.log = binary.AppendUvarint(binary.AppendUvarint(s.log, uint64(s.Number(i))<<1+opFire), uint64(t))
}

func (s *Shard) noteInject(i, place int, n uint32) {
	s.log = binary.AppendUvarint(s.log, uint64(s.Number(i))<<1+opInject)
	s.log = binary.AppendUvarint(s.log, uint64(place))
	s.log = binary.AppendUvarint(s.log, uint64(n))
}

// TakeLog returns what was fired and injected since the last call, in order, if
// Config.Log is set. All of it happened at times that the caller passed in. The
// bytes are good until the next Step, Inject or Fire.
func (s *Shard) TakeLog() []byte {
	log := s.log
	s.log = s.log[:0]
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

// Replay does again what TakeLog returned, at the time it was done, on a shard
// that has not played yet. Numbers of instances that the shard does not hold are
// passed over, so that the log of one set of shards can be read by another.
func (s *Shard) Replay(log []byte, now int64) error {
	defer func(logging, noting bool) { s.logging, s.noting = logging, noting }(s.logging, s.noting)
	s.logging, s.noting = false, false
	s.touched = s.touched[:0]
	for r := (&reader{log}); len(r.left) > 0; {
		head, err := r.next(math.MaxUint64)
		if err != nil {
			return err
		}
		i, err := s.Index(int(head >> 1))
		mine := err == nil
		if mine && s.timed {
			s.touch(i)
		}
		if head&1 == opFire {
			err = s.replayFire(r, i, mine, now)
		} else {
			err = s.replayInject(r, i, mine, now)
		}
		if err != nil {
			return err
		}
	}
	for _, i := range s.touched {
		s.resume(int(i), now)
	}
	return nil
}

// touch makes an instance ready for an operation of a replay, and remembers that
// it had one.
func (s *Shard) touch(i int) {
	if n := len(s.touched); n > 0 && s.touched[n-1] == int32(i) {
		return
	}
	s.begin(i)
	s.touched = append(s.touched, int32(i))
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

func (s *Shard) replayFire(r *reader, i int, mine bool, now int64) error {
	t, err := r.next(uint64(len(s.rules)) - 1)
	if err != nil || !mine {
		return err
	}
	if s.elsewhere(int(t)) {
		return fmt.Errorf("%w: transition %q: %w", ErrLog, s.tables.Net.Transitions[t].ID, ErrElsewhere)
	}
	c := &s.cells[i]
	if !s.enabled(c, int(t)) {
		return fmt.Errorf("%w: instance %d: %w", ErrLog, s.Number(i), s.refuse(c, int(t)))
	}
	if err := s.fire(i, c, int(t), now); err != nil {
		return err
	}
	if s.timed {
		s.clocks.removeOf(i, int(t))
	}
	return nil
}

func (s *Shard) replayInject(r *reader, i int, mine bool, now int64) error {
	place, err := r.next(uint64(s.tables.Places()) - 1)
	if err != nil {
		return err
	}
	n, err := r.next(math.MaxUint32)
	if err != nil || !mine {
		return err
	}
	if s.outside(int(place)) {
		return fmt.Errorf("%w: place %q: %w", ErrLog, s.tables.Net.Places[place].ID, ErrElsewhere)
	}
	c := &s.cells[i]
	if err := s.put(c, int(place), uint32(n), now); err != nil {
		return err
	}
	c.flags |= moved | everMoved
	if s.timed {
		s.stopClocks(i, c)
	}
	return nil
}

// AppendState appends the instances that have moved since they were created:
// for each its number plus one, its turn, how many runs of tokens it has, and
// for each run the place, the injection time and the tokens; how many clocks it
// has, and for each the transition and since when it runs; then a zero.
// Instances that never moved are left out: LoadState finds them as New made
// them.
func (s *Shard) AppendState(dst []byte) []byte {
	for i := range s.cells {
		c := &s.cells[i]
		if c.flags&everMoved == 0 {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(s.Number(i))+1)
		dst = binary.AppendUvarint(dst, uint64(c.turn))
		dst = s.appendTokens(dst, c)
		dst = s.appendClocks(dst, i)
	}
	return binary.AppendUvarint(dst, 0)
}

func (s *Shard) appendTokens(dst []byte, c *cell) []byte {
	add := func(place int, time int64, n uint32) {
		dst = binary.AppendUvarint(dst, uint64(place))
		dst = binary.AppendUvarint(dst, uint64(time))
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	if c.n != isWide {
		dst = binary.AppendUvarint(dst, uint64(c.n))
		for k := range int(c.n) {
			add(int(c.places[k]), c.times[k], 1)
		}
		return dst
	}
	runs := 0
	w := s.wideOf(c)
	for p := range w.queues {
		runs += len(w.queues[p].left())
	}
	dst = binary.AppendUvarint(dst, uint64(runs))
	for p := range w.queues {
		for _, r := range w.queues[p].left() {
			add(p, r.time, r.n)
		}
	}
	return dst
}

func (s *Shard) appendClocks(dst []byte, i int) []byte {
	n := 0
	s.clocks.each(i, func(*clock) { n++ })
	dst = binary.AppendUvarint(dst, uint64(n))
	s.clocks.each(i, func(k *clock) {
		dst = binary.AppendUvarint(dst, uint64(k.transition))
		dst = binary.AppendUvarint(dst, uint64(k.since))
	})
	return dst
}

// LoadState puts instances into the state that AppendState wrote, and returns
// what follows it. Instances that the shard does not hold are passed over.
func (s *Shard) LoadState(src []byte) (rest []byte, err error) {
	r := &reader{src}
	for {
		number, err := r.next(math.MaxInt64)
		if err != nil {
			return nil, err
		}
		if number == 0 {
			return r.left, nil
		}
		i, err := s.Index(int(number - 1))
		if err := s.loadInstance(r, i, err == nil); err != nil {
			return nil, err
		}
	}
}

func (s *Shard) loadInstance(r *reader, i int, mine bool) error {
	turn, err := r.next(uint64(max(len(s.rules), 1)) - 1)
	if err != nil {
		return err
	}
	runs, err := r.next(uint64(len(r.left)))
	if err != nil {
		return err
	}
	var c *cell
	if mine {
		c = s.emptied(i)
		c.turn = uint16(turn)
	}
	for range runs {
		place, err1 := r.next(uint64(max(s.tables.Places(), 1)) - 1)
		time, err2 := r.next(math.MaxInt64)
		n, err3 := r.next(math.MaxUint32)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if !mine {
			continue
		}
		if s.outside(int(place)) {
			return fmt.Errorf("%w: place %q: %w", ErrLog, s.tables.Net.Places[place].ID, ErrElsewhere)
		}
		if err := s.put(c, int(place), uint32(n), int64(time)); err != nil {
			return fmt.Errorf("%w: instance %d: %w", ErrLog, s.Number(i), err)
		}
	}
	return s.loadClocks(r, i, mine)
}

// maxTime is the latest time since which a clock may run, so that it is due
// before time ends.
const maxTime = 1 << 62

func (s *Shard) loadClocks(r *reader, i int, mine bool) error {
	clocks, err := r.next(uint64(len(s.rules)))
	if err != nil {
		return err
	}
	for range clocks {
		t, err1 := r.next(uint64(max(len(s.rules), 1)) - 1)
		since, err2 := r.next(maxTime)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !mine {
			continue
		}
		if !s.rules[t].held || s.elsewhere(int(t)) || !s.timed || !s.enabled(&s.cells[i], int(t)) || s.clocks.of(i, int(t)) != none {
			return fmt.Errorf("%w: instance %d: a clock of transition %q, which does not wait", ErrLog, s.Number(i), s.tables.Net.Transitions[t].ID)
		}
		s.startClock(i, int(t), int64(since))
	}
	return nil
}

// emptied takes all tokens and clocks out of an instance.
func (s *Shard) emptied(i int) *cell {
	c := &s.cells[i]
	s.clocks.removeAll(i)
	if c.n == isWide {
		w := s.wideOf(c)
		for p := range w.queues {
			w.queues[p] = queue{}
		}
		w.tokens = 0
		s.narrow(c)
	}
	c.n = 0
	c.flags |= moved | everMoved
	return c
}

// Restart goes on after LoadState and Replay. It begins to count anew: what they
// did was counted by the process that did it first. Delays that were running go
// on: one that is over meanwhile fires at the next Step. How long a delay lasts
// is drawn again if it is random.
func (s *Shard) Restart() {
	for i := range s.cells {
		s.begin(i)
	}
	s.rec = stats.NewRecorder(s.tables.Places(), s.tables.Transitions())
	s.rec.Net.Created = uint64(len(s.cells))
}
