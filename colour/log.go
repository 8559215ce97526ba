// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri"
)

// ErrLog is wrapped by the errors of Replay and LoadState: what was written
// down does not fit the shard that reads it.
var ErrLog = errors.New("what was logged does not fit the net")

// The operations of a log, by the lowest bit of what it begins with. opInject is
// in older ones, which leave it to the reader which identities there come next.
const (
	opFire = iota
	opInject
)

// Beyond the transitions, opFire has other operations.
const (
	opInjectAs = iota // tokens came from outside
	opRest            // what the instance is at rest as has changed
	opRan             // a run ended, after a time; its firing stands for itself
	opFailed          // the rest is counted of a transition
	opRetried
	opCancelled
	opTimedOut
	opLate
	opStart // a run starts, and is over
	opEnd
	opBeyond
)

// revived is what opRest says where the flags of an instance at rest would stand
// of one that takes part again.
const revived = atRest + 1

// noteBeyond begins an operation beyond the transitions.
func (s *Shard) noteBeyond(i int, what uint64) {
	s.log = binary.AppendUvarint(s.log, uint64(s.Number(i))<<1+opFire)
	s.log = binary.AppendUvarint(s.log, 2*uint64(len(s.rules))+what)
}

func (s *Shard) noteRest(i int, flags uint8) {
	if s.logging {
		s.noteBeyond(i, opRest)
		s.log = append(s.log, flags)
	}
}

// count counts something of a transition by which no token moves.
func (s *Shard) count(what uint64, i, t int) {
	s.tally(what, t)
	if s.logging {
		s.noteBeyond(i, what)
		s.log = binary.AppendUvarint(s.log, uint64(t))
	}
}

func (s *Shard) tally(what uint64, t int) {
	switch what {
	case opFailed:
		s.rec.Failed(t)
	case opRetried:
		s.rec.Retried(t)
	case opCancelled:
		s.rec.Cancelled(t)
	case opTimedOut:
		s.rec.TimedOut(t)
	case opLate:
		s.rec.Late(t)
	}
}

// ran counts a run that fired.
func (s *Shard) ran(i, t int, started, now int64) {
	s.rec.Ran(t, i, started, now)
	if s.logging {
		s.noteBeyond(i, opRan)
		s.log = binary.AppendUvarint(s.log, uint64(t))
		s.log = binary.AppendUvarint(s.log, uint64(max(now-started, 0)))
	}
}

// How the data of a token are written: none; bytes that follow; or those of one
// of the lots that were taken, counted from refLot.
const (
	refNone = iota
	refBytes
	refLot
)

// noteInject writes an injection down: the place, the first identity, the
// tokens, their data.
func (s *Shard) noteInject(i int, h *held) {
	s.noteBeyond(i, opInjectAs)
	s.log = binary.AppendUvarint(s.log, uint64(h.place))
	s.log = binary.AppendUvarint(s.log, h.id)
	s.log = binary.AppendUvarint(s.log, uint64(h.n))
	s.log = appendData(s.log, h.data)
}

// noteFire writes a firing down: the instance's number and the kind; the
// transition and whether it was chosen before a rival; the lots that it took,
// each with its place, first identity and tokens; the lots that it puts, each
// with its place, first identity, tokens and their data. What
// a reset arc destroys is not in it: all that the place holds.
func (s *Shard) noteFire(i, t int, contested bool) {
	s.log = binary.AppendUvarint(s.log, uint64(s.Number(i))<<1+opFire)
	head := uint64(t) << 1
	if contested {
		head++
	}
	s.log = binary.AppendUvarint(s.log, head)
	s.log = binary.AppendUvarint(s.log, uint64(len(s.took)))
	for k := range s.took {
		h := &s.took[k]
		s.log = binary.AppendUvarint(s.log, uint64(h.place))
		s.log = binary.AppendUvarint(s.log, h.id)
		s.log = binary.AppendUvarint(s.log, uint64(h.n))
	}
	s.log = binary.AppendUvarint(s.log, uint64(len(s.out)))
	for k := range s.out {
		h := &s.out[k]
		s.log = binary.AppendUvarint(s.log, uint64(h.place))
		s.log = binary.AppendUvarint(s.log, h.id)
		s.log = binary.AppendUvarint(s.log, uint64(h.n))
		from := slices.IndexFunc(s.took, func(t held) bool { return h.data != nil && sameData(t.data, h.data) })
		if from < 0 {
			s.log = appendData(s.log, h.data)
		} else {
			s.log = binary.AppendUvarint(s.log, uint64(from)+refLot)
		}
	}
}

func appendData(dst, data []byte) []byte {
	if data == nil {
		return append(dst, refNone)
	}
	dst = binary.AppendUvarint(append(dst, refBytes), uint64(len(data)))
	return append(dst, data...)
}

// TakeLog returns what happened since the last call, in order, if Config.Log is
// set: what was fired and injected, what instances came to rest as, and what else
// is counted. Take it before time goes on: Replay does all of a log at one time.
// The bytes are good until the next call that plays. Tokens in flight are where
// they came from: they are taken when a run has fired. That it started and is
// over is told if Config.Runs is set.
func (s *Shard) TakeLog() []byte {
	log := s.log
	s.log = s.log[:0]
	return log
}

// reader takes numbers and data off bytes. After the first error it gives
// zeros.
type reader struct {
	left []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %w", ErrLog, fmt.Errorf(format, args...))
	}
}

// next returns the next number, at most limit.
func (r *reader) next(limit uint64) uint64 {
	v, n := binary.Uvarint(r.left)
	switch {
	case r.err != nil:
		return 0
	case n <= 0:
		r.fail("it ends inside a number")
		return 0
	case v > limit:
		r.fail("%d where at most %d can be", v, limit)
		return 0
	}
	r.left = r.left[n:]
	return v
}

// index returns the next number below n.
func (r *reader) index(n int) int {
	if n == 0 {
		r.fail("an index where there is nothing")
		return 0
	}
	return int(r.next(uint64(n) - 1))
}

// data returns the next data: bytes of their own, or those of a lot.
func (r *reader) data(lots []held) []byte {
	ref := r.next(uint64(len(lots)) + refLot - 1)
	switch {
	case r.err != nil || ref == refNone:
		return nil
	case ref >= refLot:
		return lots[ref-refLot].data
	}
	n := r.next(MaxData)
	if n > uint64(len(r.left)) {
		r.fail("it ends inside data")
	}
	if r.err != nil {
		return nil
	}
	out := append(make([]byte, 0, n), r.left[:n]...)
	r.left = r.left[n:]
	return out
}

// Replay does again what TakeLog returned, at the time it was done, and counts
// it, without asking guards or actions, on a shard that was made for the same
// time and has not played yet. Numbers of instances that the shard does not hold
// are passed over, so that the log of one set of shards can be read by another.
// What firings put into other parts is not in it: it crossed when it was played.
// Call [Shard.Resume] when all is replayed.
func (s *Shard) Replay(log []byte, now int64) error {
	logging := s.logging
	s.logging = false
	defer func() { s.logging = logging }()
	for r := (&reader{left: log}); len(r.left) > 0; {
		head := r.next(math.MaxUint64)
		i, err := s.Index(int(min(head>>1, math.MaxInt64)))
		mine := err == nil
		if head&1 == opFire {
			s.replayOne(r, i, mine, now)
		} else {
			s.replayInject(r, i, mine, false, now)
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// replayOne does an operation again that begins as a firing does.
func (s *Shard) replayOne(r *reader, i int, mine bool, now int64) {
	n := 2 * uint64(len(s.rules))
	head := r.next(n + opBeyond - 1)
	if r.err == nil && head < n {
		s.replayFire(r, i, int(head), mine, now)
		return
	}
	switch what := head - n; what {
	case opInjectAs:
		s.replayInject(r, i, mine, true, now)
	case opRest:
		s.replayRest(r, i, mine)
	case opRan:
		t, took := r.index(len(s.rules)), int64(r.next(maxTime))
		if r.err == nil && mine {
			s.rec.Ran(t, i, now-took, now)
		}
	case opStart:
		s.replayStart(r, i, mine, now)
	case opEnd:
		s.replayEnd(r, mine)
	default:
		if t := r.index(len(s.rules)); r.err == nil && mine {
			s.tally(what, t)
		}
	}
}

// replayRest has an instance be at rest, or no longer.
func (s *Shard) replayRest(r *reader, i int, mine bool) {
	flags := uint8(r.next(uint64(revived)))
	switch {
	case r.err != nil:
	case flags&(flags-1) != 0:
		r.fail("at rest as %b", flags)
	case !mine:
	case flags == revived:
		s.unrest(&s.instances[i])
	default:
		s.rest(&s.instances[i], flags)
	}
}

func (s *Shard) replayInject(r *reader, i int, mine, named bool, now int64) {
	h := held{place: int32(r.index(s.tables.Places()))}
	if named {
		if h.id = r.next(maxID); h.id == 0 {
			r.fail("a token without an identity")
		}
	}
	h.n = uint32(r.next(math.MaxUint32))
	h.data = r.data(nil)
	place, n := h.place, h.n
	if r.err != nil || !mine {
		return
	}
	if s.outside(place) {
		r.fail("place %q: %w", s.tables.Net.Places[place].ID, game.ErrElsewhere)
		return
	}
	in := &s.instances[i]
	if _, total := in.count(place); n == 0 || total+n < n {
		r.fail("instance %d: %d tokens more in place %q", s.Number(i), n, s.tables.Net.Places[place].ID)
		return
	}
	s.inject(i, in, h, now)
}

// maxID bounds the identities of tokens that are read, far from overflow.
const maxID = 1 << 62

func (s *Shard) replayFire(r *reader, i, head int, mine bool, now int64) {
	if r.err == nil && mine && s.elsewhere(head>>1) {
		r.fail("transition %q: %w", s.tables.Net.Transitions[head>>1].ID, game.ErrElsewhere)
	}
	var in *instance
	if mine {
		in = &s.instances[i]
	}
	s.took, s.out = s.took[:0], s.out[:0]
	var lots []held // as they were written down
	for range r.next(uint64(len(r.left))) {
		lots = append(lots, s.replayTake(r, in))
		if r.err != nil {
			return
		}
	}
	for range r.next(uint64(len(r.left))) {
		h := held{place: int32(r.index(s.tables.Places()))}
		h.id, h.n = r.next(maxID), uint32(r.next(math.MaxUint32))
		h.data = r.data(lots)
		if r.err != nil {
			return
		}
		s.out = append(s.out, h)
	}
	if r.err == nil && mine {
		s.refire(r, i, in, head>>1, head&1 != 0, now)
	}
}

// replayTake takes a lot out of its place. Of an instance that is not ours it
// is only read. What was one lot may be several here.
func (s *Shard) replayTake(r *reader, in *instance) held {
	h := held{place: int32(r.index(s.tables.Places()))}
	h.id, h.n = r.next(maxID), uint32(r.next(math.MaxUint32))
	if r.err != nil || in == nil {
		return h
	}
	from := len(s.took)
	for id, left := h.id, h.n; left > 0; {
		p := in.pile(h.place)
		var n uint32
		if p != nil {
			n = p.from(id)
		}
		if n == 0 {
			r.fail("token %d is taken from place %q, where it is not", id, s.tables.Net.Places[h.place].ID)
			return h
		}
		n = min(n, left)
		s.took, _ = p.remove(id, n, s.took)
		id, left = id+uint64(n), left-n
	}
	if from < len(s.took) {
		h.data = s.took[from].data
	}
	return h
}

// refire completes a firing whose tokens were taken.
func (s *Shard) refire(r *reader, i int, in *instance, t int, contested bool, now int64) {
	rule := &s.rules[t]
	if !s.fair(in, rule) {
		r.fail("instance %d: a firing of transition %q that cannot have been", s.Number(i), s.tables.Net.Transitions[t].ID)
		return
	}
	for k := range s.out {
		in.lastID = max(in.lastID, s.out[k].id+uint64(s.out[k].n)-1)
	}
	if contested {
		s.tables.NoteChosen(t, s.order(i))
	}
	s.pass(i, in, t, now)
	s.finish(i, in, t, outcome{replayed: true}, now)
}

// fair reports whether a transition can have taken and put what is in took and
// out: as many as its arcs take, of each place, and into its outputs only.
func (s *Shard) fair(in *instance, r *rule) bool {
	for k := range s.took {
		if !r.takes(s.took[k].place) {
			return false
		}
	}
	for _, v := range r.sights {
		n := uint64(0)
		for k := range s.took {
			if s.took[k].place == v.place {
				n += uint64(s.took[k].n)
			}
		}
		if v.join && n+1 == uint64(v.take) {
			continue // nothing stood where the join arc comes from
		}
		if n != uint64(v.take) {
			return false
		}
	}
	for k := range s.out {
		h := &s.out[k]
		_, total := in.count(h.place)
		if slices.ContainsFunc(r.effects, func(e petri.Effect) bool { return e.Place == h.place && e.Reset }) {
			total = 0
		}
		sum := uint64(total)
		for j := range s.out[:k+1] {
			if s.out[j].place == h.place {
				sum += uint64(s.out[j].n)
			}
		}
		if h.n == 0 || h.id == 0 || s.outside(h.place) || !r.puts(h.place) || sum > math.MaxUint32 {
			return false
		}
	}
	return true
}
