// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// runID returns the name of a run: a unique number and the transition. So the
// transition of a run is known even after it is over.
func runID(sequence uint64, t int) RunID { return RunID(sequence<<16 | uint64(t)) }

// start takes the tokens of a transition and hands out its action.
func (s *Shard) start(i int, in *instance, c candidate, contested bool, data []byte, now int64) {
	t, f := int(c.t), s.frame(in, c.frame)
	r := &s.rules[t]
	taken, read := r.split(s.tokensOf(c))
	s.took = s.took[:0]
	s.takePicked(in, taken)
	for k := range taken {
		s.pileOf(in, &taken[k]).flying++
		s.touched = append(s.touched, taken[k].at())
	}
	attempt := s.attempt(i, in, f, t, firstID(taken))
	l := load{taken: taken, seen: s.seenBy(in, f, r), read: read, data: data, contested: contested, attempt: attempt, era: s.era}
	s.lastRun += s.runStep
	run := runID(s.lastRun, t)
	deadline := s.depart(run, i, in, f, t, l, now)
	s.noteStart(i, f, t, run, &l)
	s.done.Starts = append(s.done.Starts, Start{Run: run, Era: s.era, Instance: s.Number(i), Transition: c.t, Attempt: attempt,
		Taken: s.seen(in, taken), Read: s.seen(in, read), Data: data, Started: now, Deadline: deadline})
	in.move()
	s.pass(i, in, f, t, now)
	s.changed(in)
}

// pileOf returns the pile of the place of a token, which holds it or has it in
// flight.
func (s *Shard) pileOf(in *instance, p *Placed) *pile {
	return s.frame(in, p.Scope).in(in).pile(p.Place)
}

// depart creates a run that started at since.
func (s *Shard) depart(run RunID, i int, in *instance, f *frame, t int, l load, since int64) (deadline int64) {
	n := note{kind: noteRun, instance: int32(i), frame: f.id(), transition: uint16(t), since: since, token: uint64(run)}
	if k := len(s.unloaded); k > 0 {
		n.ref, s.unloaded = s.unloaded[k-1], s.unloaded[:k-1]
		s.loads[n.ref] = l
	} else {
		n.ref = int32(len(s.loads))
		s.loads = append(s.loads, l)
	}
	id := s.notes.add(&in.runs, n)
	if limit := s.rules[t].Timeout; limit > 0 {
		deadline = since + limit
		s.notes.plan(id, deadline)
	}
	s.runs[run] = id
	in.running++
	return deadline
}

// load returns the load of the run of a note.
func (s *Shard) load(id int32) *load { return &s.loads[s.notes.all[id].ref] }

// attempt returns the number of the attempt with some first token, and counts a
// retry.
func (s *Shard) attempt(i int, in *instance, f *frame, t int, token uint64) int {
	id := s.trouble(in, f, t, token)
	if id == none || s.notes.all[id].failures == 0 {
		return 1
	}
	s.count(opRetried, i, t)
	return int(s.notes.all[id].failures) + 1
}

// Done reports the outcome of a run. The error is [ErrLate] if the run was over
// already: the shard counts that and changes nothing else. The error wraps
// [ErrOutcome], [ErrTooLarge] or petri.ErrOverflow for an invalid outcome: then
// the run has failed. The shard keeps the data of o, which must not be changed.
func (s *Shard) Done(run RunID, o Outcome, now int64) error {
	id, ok := s.runs[run]
	if !ok {
		if t, n := int(run&MaxNodes), uint64(run>>16); t < len(s.rules) && n > 0 && n <= s.lastRun {
			s.count(opLate, 0, t) // its instance is no longer known
		}
		return fmt.Errorf("run %d: %w", run, ErrLate)
	}
	i, t := int(s.notes.all[id].instance), int(s.notes.all[id].transition)
	in := &s.instances[i]
	err, final := s.end(i, in, id, o, now), false
	if err != nil {
		o = Outcome{Kind: Failed, Err: err.Error()}
		final = errors.As(err, new(evaluation)) && s.rules[t].Retry == Retry{}
		err = fmt.Errorf("instance %d, transition %q: %w", s.Number(i), s.Tables.Net.Transitions[t].ID, err)
	}
	if o.Kind != Fired {
		s.unfinished(i, in, id, o, final, now)
	}
	s.wake(i, now)
	return err
}

// end completes a run that fired. First it checks whether the firing is
// possible.
func (s *Shard) end(i int, in *instance, id int32, o Outcome, now int64) error {
	if o.Kind > Awaits {
		return fmt.Errorf("%w: kind %d", ErrOutcome, o.Kind)
	}
	if o.Kind != Fired {
		return nil
	}
	l, t, started := *s.load(id), int(s.notes.all[id].transition), s.notes.all[id].since
	r := &s.rules[t]
	res := &outcome{puts: o.Puts, data: o.Data, contested: l.contested}
	if o.Data == nil {
		res.data = l.data
	}
	if err := s.check(r, l.taken, &o); err != nil {
		return err
	}
	f := s.frame(in, s.notes.all[id].frame)
	s.rebased(in, f, r, &l, res)
	if o.Puts == nil {
		var a answer
		switch res.mask, a = s.branch(in, r, l.taken, res.data, now); {
		case a.panicked != nil:
			return fmt.Errorf("%w: the guard of a branch panicked: %w", ErrOutcome, evaluation{a.panicked})
		case !a.OK:
			return fmt.Errorf("%w: %w", ErrOutcome, evaluation{errNoBranch})
		}
		if err := s.valued(in, f, r, res, l.taken, l.read, now); err != nil {
			return fmt.Errorf("%w: %w", ErrOutcome, evaluation{err})
		}
	}
	if err := s.unnamed(in, r, l.taken, res.data, now); err != nil {
		return fmt.Errorf("%w: %w", ErrOutcome, evaluation{err})
	}
	if place, fits := s.room(in, f, r, res, true, l.taken); !fits {
		return fmt.Errorf("place %q: %w", s.Tables.Net.Places[place].ID, petri.ErrOverflow)
	}
	if !s.fitsAll(in, f, r, res) {
		return fmt.Errorf("%w, and so do the variables of a run", ErrTooLarge)
	}
	s.took = s.took[:0]
	for k := range l.taken {
		p := &l.taken[k]
		s.pileOf(in, p).flying--
		s.took = append(s.took, held{lot{p.Token.ID, p.Token.Injected, p.Token.Data, 1}, p.at()})
	}
	s.drop(in, id)
	s.finish(i, in, f, t, res, now)
	s.ran(i, t, started, now)
	return nil
}

// check returns an error if the outcome of an action is invalid.
func (s *Shard) check(r *rule, taken []Placed, o *Outcome) error {
	if len(o.Data) > MaxData {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(o.Data))
	}
	if len(o.Puts) > MaxTaken {
		return fmt.Errorf("%w: it puts %d tokens; expected at most %d", ErrOutcome, len(o.Puts), MaxTaken)
	}
	moved := make([]uint64, 0, len(o.Puts))
	for k := range o.Puts {
		p := &o.Puts[k]
		switch {
		case p.Place < 0 || int(p.Place) >= s.Tables.Places():
			return fmt.Errorf("%w: it puts a token into place %d, which does not exist", ErrOutcome, p.Place)
		case !r.puts(p.Place):
			return fmt.Errorf("%w: it puts a token into place %q, to which it has no arc", ErrOutcome, s.Tables.Net.Places[p.Place].ID)
		case len(p.Data) > MaxData:
			return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(p.Data))
		case p.Moved == 0:
			continue
		case !slices.ContainsFunc(taken, func(t Placed) bool { return t.Token.ID == p.Moved }):
			return fmt.Errorf("%w: it moves token %d, which it did not take", ErrOutcome, p.Moved)
		case slices.Contains(moved, p.Moved):
			return fmt.Errorf("%w: it moves token %d twice", ErrOutcome, p.Moved)
		}
		moved = append(moved, p.Moved)
	}
	return nil
}

// drop ends a run; the caller handles its tokens.
func (s *Shard) drop(in *instance, id int32) {
	n := &s.notes.all[id]
	s.noteEnd(int(n.instance), RunID(n.token))
	delete(s.runs, RunID(n.token))
	s.loads[n.ref] = load{}
	s.unloaded = append(s.unloaded, n.ref)
	s.notes.remove(&in.runs, id)
	in.running--
}

// putBack ends a run and puts its tokens back with their age.
func (s *Shard) putBack(in *instance, id int32) {
	taken := s.load(id).taken
	s.drop(in, id)
	for k := range taken {
		t := &taken[k]
		p := s.pileOf(in, t)
		p.flying--
		p.add(lot{t.Token.ID, t.Token.Injected, t.Token.Data, 1})
		s.touched = append(s.touched, t.at())
	}
	in.move()
}

// unfinished ends a run that did not fire, and makes its transition wait as the
// outcome says; if final is set, for a call.
func (s *Shard) unfinished(i int, in *instance, id int32, o Outcome, final bool, now int64) {
	t, token := int(s.notes.all[id].transition), firstID(s.load(id).taken)
	f := s.frame(in, s.notes.all[id].frame)
	s.putBack(in, id)
	s.changed(in)
	switch o.Kind {
	case Failed:
		why := cmp.Or(o.Public, o.Err)
		if final {
			s.incident(i, in, f, t, token, stats.NoPlace, why)
			break
		}
		s.count(opFailed, i, t)
		s.setBack(i, in, f, t, token, o.After, why, now)
	case Delayed:
		k := s.troubled(i, in, f, t, token)
		s.notes.all[k].kind, s.notes.all[k].since = noteWait, now
		s.notes.plan(k, now+min(max(o.After, 0), maxWait))
	default:
		s.notes.all[s.troubled(i, in, f, t, token)].kind = noteAwaits
	}
}

// troubled returns the note about a failure of a transition, and creates it if
// it is missing.
func (s *Shard) troubled(i int, in *instance, f *frame, t int, token uint64) int32 {
	id := s.trouble(in, f, t, token)
	if id == none {
		id = s.addNote(in, f, note{kind: noteFailed, instance: int32(i), transition: uint16(t), token: token})
	}
	s.notes.due.Drop(id)
	s.notes.all[id].ripe, s.notes.all[id].again, s.notes.all[id].ref = false, false, stats.NoPlace
	delete(s.notes.why, id)
	if clock := s.clock(in, f, t); clock != none {
		s.notes.all[clock].stale = true
	}
	return id
}

// setBack makes a transition that failed wait for its retry: for the time after
// if that is not 0, else as its binding says. why is the reason, for people.
func (s *Shard) setBack(i int, in *instance, f *frame, t int, token uint64, after int64, why string, now int64) {
	id := s.troubled(i, in, f, t, token)
	s.notes.because(id, why)
	n, retry := &s.notes.all[id], &s.rules[t].Retry
	n.failures++
	if retry.Attempts > 0 && int(n.failures) >= retry.Attempts {
		n.kind = noteIncident
		return
	}
	if after <= 0 {
		after = retry.after(n.failures)
	}
	n.kind, n.since = noteWait, now
	s.notes.plan(id, now+min(after, maxWait))
}

// incident makes a transition wait for a call of Fire: it failed with a token,
// or because a place is full.
func (s *Shard) incident(i int, in *instance, f *frame, t int, token uint64, place int32, why string) {
	s.count(opFailed, i, t)
	id := s.troubled(i, in, f, t, token)
	s.notes.all[id].kind, s.notes.all[id].ref = noteIncident, place
	s.notes.because(id, why)
}

// overflow makes a transition an incident whose tokens do not fit: into a place, if it is one.
func (s *Shard) overflow(i int, in *instance, f *frame, t int, place int32, err error) {
	s.done.fault(i, t, "tokens do not fit", err)
	s.incident(i, in, f, t, 0, place, err.Error())
}

// Cancel cancels a run: its tokens are back in their places with their age, and
// may be taken again at once. The error is [ErrLate] if the run is over
// already.
func (s *Shard) Cancel(run RunID, now int64) error {
	id, ok := s.runs[run]
	if !ok {
		return fmt.Errorf("run %d: %w", run, ErrLate)
	}
	i := int(s.notes.all[id].instance)
	s.cancel(&s.instances[i], id)
	s.changed(&s.instances[i])
	s.wake(i, now)
	return nil
}

func (s *Shard) cancel(in *instance, id int32) {
	n := &s.notes.all[id]
	s.count(opCancelled, int(n.instance), int(n.transition))
	s.done.Stops = append(s.done.Stops, RunID(n.token))
	s.putBack(in, id)
}

// timeOut ends a run that has reached its deadline, as if it had failed.
func (s *Shard) timeOut(id int32, now int64) {
	n := &s.notes.all[id]
	i, t, token := int(n.instance), int(n.transition), firstID(s.load(id).taken)
	in := &s.instances[i]
	f := s.frame(in, n.frame)
	s.count(opTimedOut, i, t)
	s.done.Stops = append(s.done.Stops, RunID(n.token))
	s.putBack(in, id)
	s.changed(in)
	s.setBack(i, in, f, t, token, 0, fmt.Sprintf("no answer within %s", time.Duration(s.rules[t].Timeout)*time.Microsecond), now)
}

// cancelHolder cancels the run that has a token in flight; there must be one.
func (s *Shard) cancelHolder(in *instance, holds func(Placed) bool) {
	for id := in.runs; id != none; id = s.notes.all[id].next {
		if slices.ContainsFunc(s.load(id).taken, holds) {
			s.cancel(in, id)
			return
		}
	}
}
