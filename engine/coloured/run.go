// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// runID returns the name of a run: a unique number and the transition. So the
// transition of a run is known even after it is over.
func runID(sequence uint64, t int) RunID { return RunID(sequence<<16 | uint64(t)) }

// run is a run of an action that is not over.
type run struct {
	i          int // the instance
	transition int32
	frame      uint32
	since      int64
	taken      []Placed
	seen       []byte   // the variables that its action saw when it started, as JSON; nil for none
	read       []Placed // the tokens that it tests, as they were when it started
	data       []byte   // the data passed to Fire
	contested  bool     // it was preferred to a rival
	attempt    int32
	era        uint64
}

// runs are the runs of actions.
type runs struct {
	active  map[RunID]int32 // their notes
	last    uint64
	step    uint64         // the difference between the numbers of consecutive runs
	era     uint64         // of those that start
	unended map[RunID]*run // that a log or a state has started and not ended; their tokens are in their places
}

// start takes the tokens of a transition and hands out its action.
func (x *change) start(c candidate, contested bool, data []byte) {
	t, f := int(c.t), x.s.frame(x.in, c.frame)
	r := &x.s.rules[t]
	taken, read := r.split(x.tokensOf(c))
	x.fly(taken)
	x.s.runs.last += x.s.runs.step
	id := runID(x.s.runs.last, t)
	p := &run{x.i, c.t, f.number, x.now, taken, x.s.seenBy(f, r), read, data, contested, x.attempt(f, t, firstID(taken)), x.s.runs.era}
	x.s.log.start(id, p, false)
	x.depart(id, p)
	x.pass(f, t, contested)
	x.changed()
}

// fly takes tokens out of their places for a run.
func (x *change) fly(taken []Placed) {
	x.took = x.took[:0]
	x.takePicked(taken)
	for k := range taken {
		x.s.pileOf(x.in, &taken[k]).flying++
		x.touched = append(x.touched, taken[k].at())
	}
}

// pileOf returns the pile that holds a token, or has it in flight.
func (s *scopes) pileOf(in *instance, p *Placed) *pile {
	return s.frame(in, p.Scope).piles.pile(p.Place)
}

// depart hands out a run whose tokens are in flight.
func (x *change) depart(name RunID, p *run) {
	s := x.s
	start := Start{Run: name, Era: p.era, Instance: s.Number(x.i), Transition: p.transition, Attempt: int(p.attempt),
		Taken: s.seen(x.in, p.taken), Read: s.seen(x.in, p.read), Data: p.data, Started: p.since}
	id := s.notes.add(&x.in.runs, note{kind: noteRun, instance: x.in.index, frame: p.frame, transition: uint16(p.transition), since: p.since, token: uint64(name), run: p})
	if limit := s.rules[p.transition].Timeout; limit > 0 {
		start.Deadline = p.since + limit
		s.notes.plan(id, start.Deadline)
	}
	s.runs.active[name] = id
	x.in.running++
	s.done.Starts = append(s.done.Starts, start)
	x.in.move()
}

// inFlight yields the tokens of an instance that are in flight, with the notes of their runs.
func (s *Shard) inFlight(in *instance) iter.Seq2[int32, held] {
	return func(yield func(int32, held) bool) {
		for id := in.runs; id != none; id = s.notes.all[id].next {
			for _, t := range s.notes.all[id].run.taken {
				if !yield(id, t.held()) {
					return
				}
			}
		}
	}
}

// holding yields all tokens of an instance: those in their places with none, and then those in
// flight with the notes of their runs.
func (s *Shard) holding(in *instance) iter.Seq2[int32, held] {
	return func(yield func(int32, held) bool) {
		for f, p := range s.filled(in) {
			for _, l := range p.left() {
				if !yield(none, held{l, spot{p.place, f.number}}) {
					return
				}
			}
		}
		s.inFlight(in)(yield)
	}
}

// attempt returns the number of the attempt with some first token, and counts a retry.
func (x *change) attempt(f *frame, t int, token uint64) int32 {
	id := x.s.notes.trouble(f, t, token)
	if id == none || x.s.notes.all[id].failures == 0 {
		return 1
	}
	x.s.count(opRetried, x.i, t)
	return x.s.notes.all[id].failures + 1
}

// Done reports the outcome of a run. The error is [ErrLate] if the run was over already: the shard counts that
// and changes nothing else. The error wraps [ErrOutcome], [ErrTooLarge] or petri.ErrOverflow for an invalid
// outcome: then the run has failed. The shard keeps the data of o, which must not be changed.
func (s *Shard) Done(run RunID, o Outcome, now int64) error {
	id, ok := s.runs.active[run]
	if !ok {
		if t, n := int(run&MaxNodes), uint64(run>>16); t < len(s.rules) && n > 0 && n <= s.runs.last {
			s.count(opLate, 0, t) // its instance is no longer known
		}
		return fmt.Errorf("run %d: %w", run, ErrLate)
	}
	i, t := int(s.notes.all[id].instance), int(s.notes.all[id].transition)
	x := s.at(i, now)
	unevaluated, err := x.end(id, o)
	if err != nil {
		o = Outcome{Kind: Failed, Err: err.Error()}
		err = fmt.Errorf("instance %d, transition %q: %w", s.Number(i), s.Tables.Net.Transitions[t].ID, err)
	}
	if o.Kind != Fired {
		x.unfinished(id, o, unevaluated && s.rules[t].Retry == Retry{})
	}
	s.wake(i, now)
	return err
}

// end completes a run that fired. First it checks whether the firing is
// possible, and all that it needs can be evaluated.
func (x *change) end(id int32, o Outcome) (unevaluated bool, err error) {
	if o.Kind > Awaits {
		return false, fmt.Errorf("%w: kind %d", ErrOutcome, o.Kind)
	}
	if o.Kind != Fired {
		return false, nil
	}
	l := x.s.notes.all[id].run
	t := int(l.transition)
	r := &x.s.rules[t]
	res := &outcome{puts: o.Puts, data: o.Data, contested: l.contested}
	if o.Data == nil {
		res.data = l.data
	}
	if err := x.s.check(r, l.taken, &o); err != nil {
		return false, err
	}
	f := x.s.frame(x.in, l.frame)
	x.s.rebased(f, r, l, res)
	x.renew()
	x.hold(l.taken)
	if no := x.plan(f, t, res, l.taken, l.read, true); no != nil && no.full {
		return false, no.at(x.s.Tables.Net)
	} else if no != nil {
		return true, fmt.Errorf("%w: %w", ErrOutcome, no.err)
	}
	for k := range l.taken {
		x.s.pileOf(x.in, &l.taken[k]).flying--
	}
	x.s.drop(x.in, id, true)
	x.finish(f, t, res)
	x.s.Rec.Ran(t, x.i, l.since, x.now)
	return false, nil
}

// check returns an error if the outcome of an action is invalid.
func (s *Shard) check(r *rule, taken []Placed, o *Outcome) error {
	if len(o.Data) > MaxData {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(o.Data))
	}
	if len(o.Puts) > MaxTaken {
		return fmt.Errorf("%w: it puts %d tokens; expected at most %d", ErrOutcome, len(o.Puts), MaxTaken)
	}
	for k := range o.Puts {
		p := &o.Puts[k]
		switch {
		case p.Place < 0 || int(p.Place) >= s.Tables.Places():
			return fmt.Errorf("%w: it puts a token into place %d, which does not exist", ErrOutcome, p.Place)
		case !slices.Contains(r.outputs, p.Place):
			return fmt.Errorf("%w: it puts a token into place %q, to which it has no arc", ErrOutcome, s.Tables.Net.Places[p.Place].ID)
		case len(p.Data) > MaxData:
			return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(p.Data))
		case p.Moved == 0:
			continue
		case !slices.ContainsFunc(taken, func(t Placed) bool { return t.Token.ID == p.Moved }):
			return fmt.Errorf("%w: it moves token %d, which it did not take", ErrOutcome, p.Moved)
		case slices.ContainsFunc(o.Puts[:k], func(q Put) bool { return q.Moved == p.Moved }):
			return fmt.Errorf("%w: it moves token %d twice", ErrOutcome, p.Moved)
		}
	}
	return nil
}

// drop ends a run, which has fired or not; the caller handles its tokens.
func (s *Shard) drop(in *instance, id int32, fired bool) {
	n := &s.notes.all[id]
	s.log.end(int(n.instance), RunID(n.token), fired)
	delete(s.runs.active, RunID(n.token))
	s.notes.remove(&in.runs, id)
	in.running--
}

// putBack ends a run and puts its tokens back with their age.
func (x *change) putBack(id int32) {
	taken := x.s.notes.all[id].run.taken
	x.s.drop(x.in, id, false)
	for k := range taken {
		t := &taken[k]
		p := x.s.pileOf(x.in, t)
		p.flying--
		p.add(t.held().lot)
		x.touched = append(x.touched, t.at())
	}
	x.in.move()
}

// unfinished ends a run that did not fire, and makes its transition wait as the
// outcome says; if final is set, for a call.
func (x *change) unfinished(id int32, o Outcome, final bool) {
	p := x.s.notes.all[id].run
	t, token, f := int(p.transition), firstID(p.taken), x.s.frame(x.in, p.frame)
	x.putBack(id)
	x.changed()
	switch o.Kind {
	case Failed:
		why := cmp.Or(o.Public, o.Err)
		if final {
			x.incident(f, t, token, stats.NoPlace, why)
			break
		}
		x.s.count(opFailed, x.i, t)
		x.setBack(f, t, token, o.After, why)
	case Delayed:
		k := x.troubled(f, t, token)
		x.s.notes.all[k].kind, x.s.notes.all[k].since = noteWait, x.now
		x.s.notes.plan(k, x.now+min(max(o.After, 0), maxWait))
	default:
		x.s.notes.all[x.troubled(f, t, token)].kind = noteAwaits
	}
}

// troubled returns the note about a failure of a transition, and creates it if it is missing.
func (x *change) troubled(f *frame, t int, token uint64) int32 {
	id := x.s.notes.trouble(f, t, token)
	if id == none {
		id = x.s.notes.addNote(x.in, f, note{kind: noteFailed, transition: uint16(t), token: token})
	}
	x.s.notes.due.Drop(id)
	x.s.notes.setRipe(id, false)
	n := &x.s.notes.all[id]
	n.again, n.ref, n.why = false, stats.NoPlace, ""
	if clock := x.s.notes.clock(f, t); clock != none {
		x.s.notes.all[clock].stale = true
	}
	return id
}

// setBack makes a transition that failed wait for its retry: for the time after
// if that is not 0, else as its binding says. why is the reason, for people.
func (x *change) setBack(f *frame, t int, token uint64, after int64, why string) {
	id := x.troubled(f, t, token)
	n, retry := &x.s.notes.all[id], &x.s.rules[t].Retry
	n.why = stats.Clip(why, stats.MaxWhat)
	n.failures++
	if retry.Attempts > 0 && int(n.failures) >= retry.Attempts {
		n.kind = noteIncident
		return
	}
	if after <= 0 {
		after = retry.after(n.failures)
	}
	n.kind, n.since = noteWait, x.now
	x.s.notes.plan(id, x.now+min(after, maxWait))
}

// incident makes a transition wait for a call of Fire: it failed with a token, or because a place is full.
func (x *change) incident(f *frame, t int, token uint64, place int32, why string) *note {
	x.s.count(opFailed, x.i, t)
	n := &x.s.notes.all[x.troubled(f, t, token)]
	n.kind, n.ref, n.why = noteIncident, place, stats.Clip(why, stats.MaxWhat)
	return n
}

// Cancel cancels a run: its tokens are back in their places with their age, and may be taken again at once.
// The error is [ErrLate] if the run is over already.
func (s *Shard) Cancel(run RunID, now int64) error {
	id, ok := s.runs.active[run]
	if !ok {
		return fmt.Errorf("run %d: %w", run, ErrLate)
	}
	i := int(s.notes.all[id].instance)
	x := s.at(i, now)
	x.stop(id, opCancelled)
	x.changed()
	s.wake(i, now)
	return nil
}

// stop ends a run whose action is still performed, and counts what ended it.
func (x *change) stop(id int32, why int) {
	n := &x.s.notes.all[id]
	x.s.count(why, x.i, int(n.transition))
	x.s.done.Stops = append(x.s.done.Stops, RunID(n.token))
	x.putBack(id)
}

// timeOut ends a run that has reached its deadline, as if it had failed.
func (s *Shard) timeOut(id int32, now int64) {
	n := &s.notes.all[id]
	t, token := int(n.transition), firstID(n.run.taken)
	x := s.at(n.run.i, now)
	f := s.frame(x.in, n.frame)
	x.stop(id, opTimedOut)
	x.changed()
	x.setBack(f, t, token, 0, fmt.Sprintf("no answer within %s", time.Duration(s.rules[t].Timeout)*time.Microsecond))
}

// cancelHolder cancels the run that has a token in flight; there must be one.
func (x *change) cancelHolder(holds func(held) bool) {
	for id, h := range x.s.inFlight(x.in) {
		if holds(h) {
			x.stop(id, opCancelled)
			return
		}
	}
}

// NameRuns sets the era of the runs that start from now on, and their numbers: first, first+step and so on. A
// number and an era together are unique among all shards that ever followed each other's log, under two
// conditions: no two of the shards that write into one log at the same time use the same number, and first is
// greater than the LastRun of all of them.
func (s *Shard) NameRuns(era, first, step uint64) {
	s.runs.era, s.runs.last, s.runs.step = era, first-step, step
}

// LastRun returns the highest number of a run that the shard has started or read; 0 before the first.
func (s *Shard) LastRun() uint64 { return s.runs.last }

// Resume continues after LoadState and Replay as the shard whose state and log were read, at the time of the
// take-over. Ready hands out the runs that are not over again, under the same names, if their action is
// idempotent. The tokens of other runs are put back, which counts as cancelled. An instance that had failed
// counts as failed until an event arrives for it, although its failed transitions are tried again.
func (s *Shard) Resume(now int64) {
	s.Rec.ForgetSlowest()
	all := s.runs.unended
	s.runs.unended = map[RunID]*run{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		x := s.at(p.i, now)
		gone := func(t Placed) bool {
			pile := s.pileOf(x.in, &t)
			return pile == nil || pile.lotOf(t.Token.ID) < 0
		}
		if !s.rules[p.transition].Idempotent || slices.ContainsFunc(p.taken, gone) {
			s.count(opCancelled, p.i, int(p.transition))
			s.log.end(p.i, name, false)
			continue
		}
		x.fly(p.taken)
		f := s.frame(x.in, p.frame)
		p.seen = s.seenBy(f, &s.rules[p.transition])
		x.depart(name, p)
		x.pass(f, int(p.transition), false)
		x.changed()
	}
	for i := range s.instances {
		if s.pool.Waiting(i) == 0 {
			s.wake(i, now)
		}
	}
}
