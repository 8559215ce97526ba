// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// unended is a run whose start a log records, and whose end it does not. The
// run's tokens are in their places.
type unended struct {
	i, t  int
	frame uint32
	since int64
	load
}

// NameRuns sets the era of the runs that start from now on, and their numbers:
// first, first+step and so on. A number and an era together are unique among
// all shards that ever followed each other's log, under two conditions: no two
// of the shards that write into one log at the same time use the same number,
// and first is greater than the LastRun of all of them.
func (s *Shard) NameRuns(era, first, step uint64) {
	s.era, s.lastRun, s.runStep = era, first-step, step
}

// LastRun returns the highest number of a run that the shard has started or
// read; 0 before the first.
func (s *Shard) LastRun() uint64 { return s.lastRun }

// noteStart records the start of a run: the instance's number and the kind; the
// run's number and era; the run of a scope in which it acts, if the net has
// scopes; the transition, the attempt and whether it was
// preferred to a rival; the data passed to Fire; the tokens that it took and
// those that it tests, each with its place and identity.
func (s *Shard) noteStart(i int, f *frame, t int, run RunID, l *load) {
	if !s.logging || !s.recordRuns {
		return
	}
	s.noteBeyond(i, opStart)
	s.done.Log = s.appendRun(s.done.Log, f.id(), t, run, l)
	for _, tokens := range [][]Placed{l.taken, l.read} {
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(len(tokens)))
		for k := range tokens {
			s.done.Log = binary.AppendUvarint(s.done.Log, uint64(tokens[k].Place))
			s.done.Log = binary.AppendUvarint(s.done.Log, tokens[k].Token.ID)
		}
	}
}

func (s *Shard) appendRun(dst []byte, frame uint32, t int, run RunID, l *load) []byte {
	dst = binary.AppendUvarint(dst, uint64(run>>16))
	dst = binary.AppendUvarint(dst, l.era)
	dst = s.appendFrame(dst, frame)
	dst = binary.AppendUvarint(dst, uint64(t))
	head := uint64(l.attempt) << 1
	if l.contested {
		head++
	}
	dst = binary.AppendUvarint(dst, head)
	return appendData(dst, l.data)
}

// noteEnd records that a run is over. If it has fired, its firing follows.
func (s *Shard) noteEnd(i int, run RunID) {
	if s.logging && s.recordRuns {
		s.noteBeyond(i, opEnd)
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(run>>16))
		s.done.Log = binary.AppendUvarint(s.done.Log, uint64(run&MaxNodes))
	}
}

// readRun reads what appendRun wrote; in is nil for an instance of another
// shard.
func (s *Shard) readRun(r *reader, in *instance) (run RunID, p unended) {
	sequence := r.Next(math.MaxUint64 >> 16)
	p.era = r.Next(math.MaxUint64)
	f := s.readFrame(r, in)
	p.frame = f.id()
	p.t = r.Index(len(s.rules))
	head := r.Next(math.MaxInt32<<1 + 1)
	p.attempt, p.contested = int(head>>1), head&1 != 0
	p.data = r.data(nil)
	if r.Err == nil && in != nil && f.scopeID() != s.Tables.ActsIn(p.t) {
		r.Fail("transition %q acts in run %d of another scope", s.Tables.Net.Transitions[p.t].ID, p.frame)
	}
	if r.Err == nil && (sequence == 0 || !s.rules[p.t].Action || s.Elsewhere(p.t)) {
		r.Fail("run %d of transition %q, which has no runs", sequence, s.Tables.Net.Transitions[p.t].ID)
	}
	return runID(sequence, p.t), p
}

func (s *Shard) replayStart(r *reader, i int, mine bool, now int64) {
	var in *instance
	if mine {
		in = &s.instances[i]
	}
	run, p := s.readRun(r, in)
	p.i, p.since = i, now
	for _, tokens := range []*[]Placed{&p.taken, &p.read} {
		for range r.Next(MaxTaken) {
			place, id := int32(r.Index(s.Tables.Places())), r.Next(maxID)
			if r.Err != nil {
				return
			}
			if mine {
				*tokens = append(*tokens, s.placed(r, i, p.frame, place, id))
			}
		}
	}
	if r.Err == nil && mine {
		s.await(r, run, p)
	}
}

// placed returns a token by its identity; it must be in the place that a
// transition in a frame sees.
func (s *Shard) placed(r *reader, i int, frame uint32, place int32, id uint64) Placed {
	in := &s.instances[i]
	f := s.frame(in, frame)
	if p := s.pile(in, f, place); p != nil {
		for _, l := range p.left() {
			if id >= l.id && id-l.id < uint64(l.n) {
				tok := l.token()
				tok.ID = id
				return Placed{Place: place, Scope: s.around(f, place).id(), Token: tok}
			}
		}
	}
	r.Fail("a run has token %d of place %q, which does not hold it", id, s.Tables.Net.Places[place].ID)
	return Placed{}
}

// await records a run as not over.
func (s *Shard) await(r *reader, run RunID, p unended) {
	if _, twice := s.unended[run]; twice {
		r.Fail("run %d starts twice", run>>16)
		return
	}
	if s.unended == nil {
		s.unended = map[RunID]unended{}
	}
	s.unended[run] = p
	s.lastRun = max(s.lastRun, uint64(run>>16))
}

func (s *Shard) replayEnd(r *reader, mine bool) {
	sequence, t := r.Next(math.MaxUint64>>16), r.Index(len(s.rules))
	if r.Err != nil || !mine {
		return
	}
	run := runID(sequence, t)
	if _, ok := s.unended[run]; !ok {
		r.Fail("run %d ends without a start", sequence)
		return
	}
	delete(s.unended, run)
}

// resumeRuns continues the runs that the previous shard had started. Those
// whose action is idempotent are handed out once more; the tokens of the others
// are put back.
func (s *Shard) resumeRuns(now int64) {
	all := s.unended
	s.unended = nil
	for _, run := range slices.Sorted(maps.Keys(all)) {
		p := all[run]
		if !s.rules[p.t].Idempotent || !s.fly(&p) {
			s.count(opCancelled, p.i, p.t)
			s.noteEnd(p.i, run)
			continue
		}
		in := &s.instances[p.i]
		f := s.frame(in, p.frame)
		p.seen = s.seenBy(in, f, &s.rules[p.t])
		deadline := s.depart(run, p.i, in, f, p.t, p.load, p.since)
		s.done.Starts = append(s.done.Starts, Start{Run: run, Era: p.era, Instance: s.Number(p.i), Transition: int32(p.t), Attempt: p.attempt,
			Taken: s.seen(in, p.taken), Read: s.seen(in, p.read), Data: p.data, Started: p.since, Deadline: deadline})
		in.move()
		s.pass(p.i, in, f, p.t, now)
		s.changed(in)
	}
}

// fly takes the tokens of a run, and reports whether they were all there.
func (s *Shard) fly(p *unended) bool {
	in := &s.instances[p.i]
	for k := range p.taken {
		if pile := s.pileOf(in, &p.taken[k]); pile == nil || pile.from(p.taken[k].Token.ID) == 0 {
			return false
		}
	}
	for k := range p.taken {
		t := &p.taken[k]
		pile := s.pileOf(in, t)
		s.took, _ = pile.remove(t.Token.ID, 1, t.Scope, s.took[:0]) // it is there
		pile.flying++
		s.touched = append(s.touched, t.at())
	}
	return true
}

// appendRuns appends the runs that are not over, each as an entry of its
// instance: the content of noteStart, when the run started, and the tokens that
// it tests in whole, because they may be gone from their places.
func (s *Shard) appendRuns(dst []byte) []byte {
	if !s.recordRuns {
		return dst
	}
	for _, run := range slices.Sorted(maps.Keys(s.runs)) {
		n := &s.notes.all[s.runs[run]]
		dst = s.appendOneRun(dst, run, &unended{int(n.instance), int(n.transition), n.frame, n.since, s.loads[n.ref]})
	}
	for _, run := range slices.Sorted(maps.Keys(s.unended)) {
		p := s.unended[run]
		dst = s.appendOneRun(dst, run, &p)
	}
	return dst
}

func (s *Shard) appendOneRun(dst []byte, run RunID, p *unended) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.Number(p.i))+1)
	dst = binary.AppendUvarint(dst, stateRun*s.Turns())
	dst = s.appendRun(dst, p.frame, p.t, run, &p.load)
	dst = binary.AppendUvarint(dst, uint64(p.since))
	dst = binary.AppendUvarint(dst, uint64(len(p.taken)))
	for k := range p.taken {
		dst = binary.AppendUvarint(dst, uint64(p.taken[k].Place))
		dst = binary.AppendUvarint(dst, p.taken[k].Token.ID)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.read)))
	for k := range p.read {
		t := &p.read[k]
		dst = binary.AppendUvarint(dst, uint64(t.Place))
		dst = s.appendFrame(dst, t.Scope)
		dst = binary.AppendUvarint(dst, t.Token.ID)
		dst = binary.AppendUvarint(dst, uint64(t.Token.Injected))
		dst = appendData(dst, t.Token.Data)
	}
	return dst
}

// loadRun reads the rest of a run; i is -1 for an instance that the shard does
// not hold.
func (s *Shard) loadRun(r *reader, i int) {
	var in *instance
	if i >= 0 {
		in = &s.instances[i]
	}
	run, p := s.readRun(r, in)
	p.i, p.since = i, int64(r.Next(maxTime))
	for range r.Next(MaxTaken) {
		place, id := int32(r.Index(s.Tables.Places())), r.Next(maxID)
		if r.Err != nil {
			return
		}
		if i >= 0 {
			p.taken = append(p.taken, s.placed(r, i, p.frame, place, id))
		}
	}
	for range r.Next(MaxTaken) {
		at := s.readSpot(r, in)
		t := Placed{Place: at.place, Scope: at.frame}
		t.Token = Token{ID: r.Next(maxID), Injected: int64(r.Next(maxTime)), Data: r.data(nil)}
		if r.Err != nil {
			return
		}
		p.read = append(p.read, t)
	}
	if r.Err == nil && i >= 0 {
		s.await(r, run, p)
	}
}
