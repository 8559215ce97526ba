// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// ErrLog is wrapped by the errors of Replay and LoadState about data that does
// not fit the shard that reads it.
var ErrLog = shard.ErrLog

// The operations of a log, by the lowest bit of their first number. Only older
// logs have opInject: the reader derives the identities of its tokens.
const (
	opFire = iota
	opInject
)

// opFire with a transition number beyond the last transition is one of these
// operations.
const (
	opInjectAs = iota // tokens were injected
	opRest            // the state in which the instance is at rest has changed
	opRan             // a run ended after a time; its firing follows as an operation of its own
	opFailed          // this one to opLate count an event of a transition
	opRetried
	opCancelled
	opTimedOut
	opLate
	opStart // a run starts; the next one: a run is over
	opEnd
	opOpen   // a run of a scope opens
	opDue    // when a transition is due, by its Until
	opLoop   // a loop begins in the run of a scope
	opOver   // a run of a loop ends; its firing follows
	opOwn    // variables that a run of a scope owns, or the instance, have changed
	opAfresh // the instance forgets its variables, because it begins again
	opBeyond
)

// revived replaces the flags in opRest for an instance that becomes active
// again.
const revived = atRest + 1

// noteBeyond begins an operation beyond the transitions.
func (s *Shard) noteBeyond(i int, what uint64) {
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(s.Number(i))<<1+opFire)
	s.done.Log = binary.AppendUvarint(s.done.Log, 2*uint64(len(s.rules))+what)
}

func (s *Shard) noteRest(i int, flags uint8) {
	if s.logging {
		s.noteBeyond(i, opRest)
		s.done.Log = append(s.done.Log, flags)
	}
}

// count counts an event of a transition that moves no token.
func (s *Shard) count(what uint64, i, t int) {
	s.tally(what, t)
	if s.logging {
		s.noteBeyond(i, what)
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(t))
	}
}

func (s *Shard) tally(what uint64, t int) {
	switch what {
	case opFailed:
		s.Rec.Failed(t)
	case opRetried:
		s.Rec.Retried(t)
	case opCancelled:
		s.Rec.Cancelled(t)
	case opTimedOut:
		s.Rec.TimedOut(t)
	case opLate:
		s.Rec.Late(t)
	}
}

// ran counts a run that fired.
func (s *Shard) ran(i, t int, started, now int64) {
	s.Rec.Ran(t, i, started, now)
	if s.logging {
		s.noteBeyond(i, opRan)
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(t))
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(max(now-started, 0)))
	}
}

// How the data of a token are written: none; the bytes that follow; or the data
// of one of the lots that were taken, numbered from refLot.
const (
	refNone = iota
	refBytes
	refLot
)

// noteOpen records that a run of a scope opens: its number, the scope, and the
// number of the run of the scope around.
func (s *Shard) noteOpen(i int, f *frame) {
	s.noteBeyond(i, opOpen)
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(f.number))
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(f.scope))
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(f.up.id()))
}

// appendFrame appends the number of a run of a scope, if the net has scopes.
func (s *Shard) appendFrame(dst []byte, number uint32) []byte {
	if s.frames == nil {
		return dst
	}
	return binary.AppendUvarint(dst, uint64(number))
}

// noteInject records an injection: the place and, if the net has scopes, the
// run of its scope; the first identity, the number of tokens, their data.
func (s *Shard) noteInject(i int, h *held) {
	s.noteBeyond(i, opInjectAs)
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(h.place))
	s.done.Log = s.appendFrame(s.done.Log, h.frame)
	s.done.Log = binary.AppendUvarint(s.done.Log, h.id)
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(h.n))
	s.done.Log = appendData(s.done.Log, h.data)
}

// noteFire records a firing: the instance's number and the kind; the transition
// and whether it was preferred to a rival; the lots that it took, each with its
// place, first identity and number of tokens; the lots that it puts, each with
// its place, first identity, number of tokens and their data. The tokens that a
// reset arc destroys are not recorded: they are all that the place holds. If the
// net has scopes, the run in which the transition acts follows the transition,
// and the run into which a lot is put its place.
func (s *Shard) noteFire(i int, f *frame, t int, contested bool) {
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(s.Number(i))<<1+opFire)
	head := uint64(t) << 1
	if contested {
		head++
	}
	s.done.Log = binary.AppendUvarint(s.done.Log, head)
	s.done.Log = s.appendFrame(s.done.Log, f.id())
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(len(s.took)))
	for k := range s.took {
		h := &s.took[k]
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(h.place))
		s.done.Log = binary.AppendUvarint(s.done.Log, h.id)
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(h.n))
	}
	s.done.Log = binary.AppendUvarint(s.done.Log, uint64(len(s.out)))
	for k := range s.out {
		h := &s.out[k]
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(h.place))
		s.done.Log = s.appendFrame(s.done.Log, h.frame)
		s.done.Log = binary.AppendUvarint(s.done.Log, h.id)
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(h.n))
		from := slices.IndexFunc(s.took, func(t held) bool { return h.data != nil && sameData(t.data, h.data) })
		if from < 0 {
			s.done.Log = appendData(s.done.Log, h.data)
		} else {
			s.done.Log = binary.AppendUvarint(s.done.Log, uint64(from)+refLot)
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

// reader reads numbers and data from bytes.
type reader struct{ shard.Reader }

func newReader(src []byte) *reader { return &reader{shard.Reader{Left: src}} }

// data returns the next data: its own bytes, or those of a lot.
func (r *reader) data(lots []held) []byte {
	ref := r.Next(uint64(len(lots)) + refLot - 1)
	switch {
	case r.Err != nil || ref == refNone:
		return nil
	case ref >= refLot:
		return lots[ref-refLot].data
	}
	return append([]byte{}, r.Bytes(r.Next(MaxData))...)
}

// Replay applies and counts the Log of a Ready, as of now, the time at which
// it happened. It asks no guards and performs no actions. The shard must have
// been created for the same time and must not have played yet. Replay skips the
// instances that the shard does not hold, so one set of shards can read the log
// of another. It does not repeat what firings put into other parts: those
// tokens crossed when they were played. Call [Shard.Resume] when everything is
// replayed.
func (s *Shard) Replay(log []byte, now int64) error {
	logging := s.logging
	s.logging = false
	defer func() { s.logging = logging }()
	for r := newReader(log); len(r.Left) > 0; {
		head := r.Next(math.MaxUint64)
		i, err := s.Index(int(min(head>>1, math.MaxInt64)))
		mine := err == nil
		if head&1 == opFire {
			s.replayOne(r, i, mine, now)
		} else {
			s.replayInject(r, i, mine, false, now)
		}
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// replayOne applies an operation whose first number is that of a firing.
func (s *Shard) replayOne(r *reader, i int, mine bool, now int64) {
	n := 2 * uint64(len(s.rules))
	head := r.Next(n + opBeyond - 1)
	if r.Err == nil && head < n {
		s.replayFire(r, i, int(head), mine, now)
		return
	}
	switch what := head - n; what {
	case opInjectAs:
		s.replayInject(r, i, mine, true, now)
	case opRest:
		s.replayRest(r, i, mine)
	case opRan:
		t, took := r.Index(len(s.rules)), int64(r.Next(maxTime))
		if r.Err == nil && mine {
			s.Rec.Ran(t, i, now-took, now)
		}
	case opStart:
		s.replayStart(r, i, mine, now)
	case opEnd:
		s.replayEnd(r, mine)
	case opOpen:
		s.replayOpen(r, i, mine)
	case opLoop, opOver, opOwn:
		s.replayLoop(r, i, mine, what)
	case opAfresh:
		if mine && s.shared {
			s.variables[i] = nil
		}
	case opDue:
		if !mine {
			i = -1
		}
		s.readDue(r, i)
	default:
		if t := r.Index(len(s.rules)); r.Err == nil && mine {
			s.tally(what, t)
		}
	}
}

// replayRest puts an instance at rest or makes it active again.
func (s *Shard) replayRest(r *reader, i int, mine bool) {
	flags := uint8(r.Next(uint64(revived)))
	switch {
	case r.Err != nil:
	case flags&(flags-1) != 0:
		r.Fail("at rest as %b", flags)
	case !mine:
	case flags == revived:
		s.unrest(&s.instances[i])
	default:
		s.rest(&s.instances[i], flags)
	}
}

// replayOpen opens a run of a scope.
func (s *Shard) replayOpen(r *reader, i int, mine bool) {
	number, scope, up := uint32(r.Next(maxFrames)), int32(r.Index(s.Tables.Scopes())), uint32(r.Next(maxFrames))
	if r.Err != nil || !mine {
		return
	}
	in := &s.instances[i]
	f := s.frame(in, up)
	if scope == 0 || f.id() != up || f.scopeID() != s.Tables.ScopeParent(scope) || s.frames == nil || number <= s.frames[i].last {
		r.Fail("instance %d: run %d of scope %d opens in run %d", s.Number(i), number, scope, up)
		return
	}
	s.frames[i].last = number - 1
	s.openFrame(i, in, f, scope)
}

// readFrame reads what appendFrame wrote. For an instance of another shard it
// only reads the bytes.
func (s *Shard) readFrame(r *reader, in *instance) (f *frame) {
	if s.frames == nil {
		return nil
	}
	number := uint32(r.Next(math.MaxUint32))
	if in == nil || r.Err != nil {
		return nil
	}
	if f = s.frame(in, number); f.id() != number {
		r.Fail("run %d of a scope, which is not open", number)
	}
	return f
}

// readSpot reads a place and a frame of its scope.
func (s *Shard) readSpot(r *reader, in *instance) spot {
	at := spot{place: int32(r.Index(s.Tables.Places()))}
	f := s.readFrame(r, in)
	if at.frame = f.id(); r.Err == nil && in != nil && f.scopeID() != s.Tables.ScopeOf(at.place) {
		r.Fail("place %q in run %d of another scope", s.Tables.Net.Places[at.place].ID, at.frame)
	}
	return at
}

func (s *Shard) replayInject(r *reader, i int, mine, named bool, now int64) {
	var in *instance
	if mine {
		in = &s.instances[i]
	}
	h := held{spot: s.readSpot(r, in)}
	if named {
		if h.id = r.Next(maxID); h.id == 0 {
			r.Fail("a token without an identity")
		}
	}
	h.n = uint32(r.Next(math.MaxUint32))
	h.data = r.data(nil)
	place, n := h.place, h.n
	if r.Err != nil || !mine {
		return
	}
	if s.Outside(int(place)) {
		r.Fail("place %q: %w", s.Tables.Net.Places[place].ID, plain.ErrElsewhere)
		return
	}
	if _, total := s.frame(in, h.frame).in(in).count(place); n == 0 || total+n < n {
		r.Fail("instance %d: %d tokens more in place %q", s.Number(i), n, s.Tables.Net.Places[place].ID)
		return
	}
	s.inject(i, in, h, now)
}

// maxID bounds the identities of tokens that are read, so that they cannot
// overflow.
const maxID = 1 << 62

func (s *Shard) replayFire(r *reader, i, head int, mine bool, now int64) {
	if r.Err == nil && mine && s.Elsewhere(head>>1) {
		r.Fail("transition %q: %w", s.Tables.Net.Transitions[head>>1].ID, plain.ErrElsewhere)
	}
	var in *instance
	if mine {
		in = &s.instances[i]
	}
	f := s.readFrame(r, in)
	if r.Err == nil && mine && f.scopeID() != s.Tables.ActsIn(head>>1) {
		r.Fail("transition %q acts in run %d of another scope", s.Tables.Net.Transitions[head>>1].ID, f.id())
	}
	s.took, s.out = s.took[:0], s.out[:0]
	var lots []held // in the form in which they were recorded
	for range r.Next(uint64(len(r.Left))) {
		lots = append(lots, s.replayTake(r, in, f))
		if r.Err != nil {
			return
		}
	}
	for range r.Next(uint64(len(r.Left))) {
		h := held{spot: s.readSpot(r, in)}
		h.id, h.n = r.Next(maxID), uint32(r.Next(math.MaxUint32))
		h.data = r.data(lots)
		if r.Err != nil {
			return
		}
		s.out = append(s.out, h)
	}
	if r.Err == nil && mine {
		s.refire(r, i, in, f, head>>1, head&1 != 0, now)
	}
}

// replayTake takes a lot out of its place, for a transition that acts in f. For an instance of another shard it
// only reads the bytes. One recorded lot may be several lots here.
func (s *Shard) replayTake(r *reader, in *instance, f *frame) held {
	h := held{spot: spot{place: int32(r.Index(s.Tables.Places()))}}
	h.frame = s.around(f, h.place).id()
	h.id, h.n = r.Next(maxID), uint32(r.Next(math.MaxUint32))
	if r.Err != nil || in == nil {
		return h
	}
	from := len(s.took)
	for id, left := h.id, h.n; left > 0; {
		p := s.pile(in, f, h.place)
		var n uint32
		if p != nil {
			n = p.from(id)
		}
		if n == 0 {
			r.Fail("token %d is taken from place %q, which does not hold it", id, s.Tables.Net.Places[h.place].ID)
			return h
		}
		n = min(n, left)
		s.took, _ = p.remove(id, n, h.frame, s.took)
		id, left = id+uint64(n), left-n
	}
	if from < len(s.took) {
		h.data = s.took[from].data
	}
	return h
}

// refire completes a firing whose tokens were taken.
func (s *Shard) refire(r *reader, i int, in *instance, f *frame, t int, contested bool, now int64) {
	rule := &s.rules[t]
	if (s.turn != nil) != (rule.ends != nil && f.up.loop != nil) {
		r.Fail("instance %d: transition %q ends a run of a loop, and the log does not say how", s.Number(i), s.Tables.Net.Transitions[t].ID)
		return
	}
	if !s.fair(in, f, rule) {
		r.Fail("instance %d: a firing of transition %q that cannot have been", s.Number(i), s.Tables.Net.Transitions[t].ID)
		return
	}
	s.writes, s.fresh = s.writes[:0], s.fresh[:0]
	for k := range s.out {
		h := &s.out[k]
		in.lastID = max(in.lastID, h.id+uint64(h.n)-1)
		h.data = s.keep(in, h.spot, h.data) // earlier versions wrote variables with the tokens
	}
	if contested {
		s.Tables.NoteChosen(t, s.Order(i))
	}
	s.pass(i, in, f, t, now)
	s.finish(i, in, f, t, &outcome{turn: s.turn, replayed: true}, now)
	s.turn = nil
}

// fair reports whether a transition can have taken the tokens in took and put
// those in out: as many of each place as its arcs take, and only into its
// outputs.
func (s *Shard) fair(in *instance, f *frame, r *rule) bool {
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
			continue // a join arc takes nothing from an empty place
		}
		if n != uint64(v.take) {
			return false
		}
	}
	for k := range s.out {
		h := &s.out[k]
		_, total := s.frame(in, h.frame).in(in).count(h.place)
		if slices.ContainsFunc(r.effects, func(e petri.Effect) bool { return e.Place == h.place && e.Reset }) {
			total = 0
		}
		sum := uint64(total)
		for j := range s.out[:k+1] {
			if s.out[j].spot == h.spot {
				sum += uint64(s.out[j].n)
			}
		}
		if h.n == 0 || h.id == 0 || s.Outside(int(h.place)) || !r.puts(h.place) && !r.turns(h.place) || !s.sees(in, r.from(f), h.spot) || sum > math.MaxUint32 {
			return false
		}
	}
	return true
}
