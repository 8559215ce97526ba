// SPDX-License-Identifier: Apache-2.0

package coloured

import (
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
	s.runs.era, s.runs.last, s.runs.step = era, first-step, step
}

// LastRun returns the highest number of a run that the shard has started or
// read; 0 before the first.
func (s *Shard) LastRun() uint64 { return s.runs.last }

// start writes that a run starts: the content of run, the tokens that it took and
// those that it tests.
func (l *log) start(i int, f *frame, t int, run RunID, d *load) {
	if l.on && l.runs {
		l.begin(i, opStart)
		l.run(f.id(), t, run, d)
		l.tokens(d.taken)
		l.tokens(d.read)
	}
}

// run writes a run: its number and era; the run of a scope in which it acts, if
// the net has scopes; the transition, the attempt and whether it was preferred
// to a rival; the data passed to Fire.
func (w *writer) run(frame uint32, t int, run RunID, d *load) {
	w.put(uint64(run>>16), d.era)
	w.frame(frame)
	w.put(uint64(t), flagged(uint64(d.attempt), d.contested))
	w.data(d.data)
}

// end writes that a run is over. If it has fired, its firing follows.
func (l *log) end(i int, run RunID) {
	if l.runs {
		l.note(i, opEnd, uint64(run>>16), uint64(run&MaxNodes))
	}
}

// run reads what writer.run wrote.
func (r *reader) run() (run RunID, p unended) {
	s, sequence := r.s, r.Next(math.MaxUint64>>16)
	p.era = r.Next(math.MaxUint64)
	f := r.frame()
	p.frame = f.id()
	p.t = r.Index(len(s.rules))
	head := r.Next(math.MaxInt32<<1 + 1)
	p.attempt, p.contested = int(head>>1), head&1 != 0
	p.data = r.data(nil)
	if r.Err == nil && r.in != nil && f.scopeID() != s.Tables.ActsIn(p.t) {
		r.Fail("transition %q acts in run %d of another scope", s.Tables.Net.Transitions[p.t].ID, p.frame)
	}
	if r.Err == nil && (sequence == 0 || !s.rules[p.t].Action || s.Elsewhere(p.t)) {
		r.Fail("run %d of transition %q, which has no runs", sequence, s.Tables.Net.Transitions[p.t].ID)
	}
	return runID(sequence, p.t), p
}

// runStarts reads what log.start wrote.
func (r *reader) runStarts() {
	run, p := r.run()
	p.since = r.now
	p.taken = r.tokens(p.frame)
	p.read = r.tokens(p.frame)
	r.await(run, p)
}

// tokens reads what writer.tokens wrote of the tokens that a transition in a frame sees.
func (r *reader) tokens(frame uint32) (all []Placed) {
	for range r.Next(MaxTaken) {
		if placed, ok := r.placed(frame); ok {
			all = append(all, placed)
		}
		if r.Err != nil {
			return nil
		}
	}
	return all
}

// placed reads a place and an identity, and returns that token; it must be in the place that a
// transition in a frame sees. ok is false for a token of another shard.
func (r *reader) placed(frame uint32) (_ Placed, ok bool) {
	s, place, id := r.s, int32(r.Index(r.s.Tables.Places())), r.Next(maxID)
	if r.Err != nil || r.in == nil {
		return Placed{}, false
	}
	f := s.frame(r.in, frame)
	if p := s.pile(r.in, f, place); p != nil {
		if k := p.lotOf(id); k >= 0 {
			tok := p.left()[k].token()
			tok.ID = id
			return Placed{Place: place, Scope: s.around(f, place).id(), Token: tok}, true
		}
	}
	r.Fail("a run has token %d of place %q, which does not hold it", id, s.Tables.Net.Places[place].ID)
	return Placed{}, false
}

// await records a run as not over.
func (r *reader) await(run RunID, p unended) {
	if r.Err != nil || r.in == nil {
		return
	}
	s := r.s
	p.i = int(r.in.index)
	if _, twice := s.runs.unended[run]; twice {
		r.Fail("run %d starts twice", run>>16)
		return
	}
	if s.runs.unended == nil {
		s.runs.unended = map[RunID]unended{}
	}
	s.runs.unended[run] = p
	s.runs.last = max(s.runs.last, uint64(run>>16))
}

// runEnds reads what log.end wrote.
func (r *reader) runEnds() {
	sequence, t := r.Next(math.MaxUint64>>16), r.Index(len(r.s.rules))
	if r.Err != nil || r.in == nil {
		return
	}
	run := runID(sequence, t)
	if _, ok := r.s.runs.unended[run]; !ok {
		r.Fail("run %d ends without a start", sequence)
		return
	}
	delete(r.s.runs.unended, run)
}

// Resume continues after LoadState and Replay as the shard whose state and log
// were read. Counters continue, too, if Recount was given those that the state
// does not hold. Ready hands out the runs that are not over again, under the
// same names, if their action is idempotent. The tokens of other runs are put
// back, which counts as cancelled. An instance that had failed counts as failed
// until an event arrives for it, although its failed transitions are tried
// again. now is the time of the take-over.
func (s *Shard) Resume(now int64) {
	s.Rec.ForgetSlowest()
	s.resumeRuns(now)
	for i := range s.instances {
		if s.pool.Waiting(i) == 0 {
			s.wake(i, now)
		}
	}
}

// resumeRuns continues the runs that the previous shard had started. Those
// whose action is idempotent are handed out once more; the tokens of the others
// are put back.
func (s *Shard) resumeRuns(now int64) {
	all := s.runs.unended
	s.runs.unended = nil
	for _, run := range slices.Sorted(maps.Keys(all)) {
		p := all[run]
		x := s.at(p.i, now)
		if !s.rules[p.t].Idempotent || !x.fly(&p) {
			s.count(opCancelled, p.i, p.t)
			s.log.end(p.i, run)
			continue
		}
		f := s.frame(x.in, p.frame)
		p.seen = s.seenBy(x.in, f, &s.rules[p.t])
		x.depart(run, f, p.t, p.load, p.since)
	}
}

// fly takes the tokens of a run, and reports whether they were all there.
func (x *change) fly(p *unended) bool {
	for k := range p.taken {
		if pile := x.s.pileOf(x.in, &p.taken[k]); pile == nil || pile.from(p.taken[k].Token.ID) == 0 {
			return false
		}
	}
	for k := range p.taken {
		t := &p.taken[k]
		pile := x.s.pileOf(x.in, t)
		x.took, _ = pile.remove(t.Token.ID, 1, t.Scope, x.took[:0]) // it is there
		pile.flying++
		x.touched = append(x.touched, t.at())
	}
	return true
}

// runs writes the runs that are not over, each as an entry of its
// instance: the content of run, when the run started, the tokens that it took,
// and those that it tests in whole, because they may be gone from their places.
func (w *state) runs() {
	s := w.s
	if !s.log.runs {
		return
	}
	for _, run := range slices.Sorted(maps.Keys(s.runs.active)) {
		n := &s.notes.all[s.runs.active[run]]
		w.unended(run, &unended{int(n.instance), int(n.transition), n.frame, n.since, s.runs.loads[n.ref]})
	}
	for _, run := range slices.Sorted(maps.Keys(s.runs.unended)) {
		p := s.runs.unended[run]
		w.unended(run, &p)
	}
}

func (w *state) unended(run RunID, p *unended) {
	w.entry(&w.s.instances[p.i], stateRun)
	w.run(p.frame, p.t, run, &p.load)
	w.put(uint64(p.since))
	w.tokens(p.taken)
	w.put(uint64(len(p.read)))
	for k := range p.read {
		t := &p.read[k]
		w.put(uint64(t.Place))
		w.frame(t.Scope)
		w.put(t.Token.ID, uint64(t.Token.Injected))
		w.data(t.Token.Data)
	}
}

// loadRun reads what state.unended wrote.
func (r *reader) loadRun() {
	run, p := r.run()
	p.since = int64(r.Next(maxTime))
	p.taken = r.tokens(p.frame)
	for range r.Next(MaxTaken) {
		at := r.spot()
		t := Placed{Place: at.place, Scope: at.frame}
		t.Token = Token{ID: r.Next(maxID), Injected: int64(r.Next(maxTime)), Data: r.data(nil)}
		if r.Err != nil {
			return
		}
		p.read = append(p.read, t)
	}
	r.await(run, p)
}
