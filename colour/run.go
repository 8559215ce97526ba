// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// runID makes the name of a run: a number that never comes again, and the
// transition, which is known as long as somebody has the name.
func runID(sequence uint64, t int) RunID { return RunID(sequence<<16 | uint64(t)) }

// start takes the tokens of a transition and hands its action out.
func (s *Shard) start(i int, in *instance, c candidate, contested bool, data []byte, now int64) {
	t := int(c.t)
	r := &s.rules[t]
	taken, read := r.split(s.picked[c.from:c.to])
	s.took = s.took[:0]
	s.takePicked(in, taken)
	for k := range taken {
		in.pile(taken[k].Place).flying++
		s.touched = append(s.touched, taken[k].Place)
	}
	attempt := s.attempt(in, t, firstID(taken))
	s.lastRun++
	n := note{kind: noteRun, instance: int32(i), transition: uint16(t), contested: contested, since: now,
		id: runID(s.lastRun, t), taken: taken, data: data}
	id := s.notes.add(&in.runs, n)
	if r.Timeout > 0 {
		s.notes.plan(id, now+r.Timeout)
	}
	s.runs[n.id] = id
	in.running++
	s.starts = append(s.starts, Start{Run: n.id, Instance: s.Number(i), Transition: c.t, Attempt: attempt,
		Taken: taken, Read: read, Data: data, Started: now, Deadline: s.notes.all[id].due})
	in.move()
	s.pass(i, in, t, now)
	s.changed(in)
}

// attempt returns the how many-th try with some first token begins, and counts
// a retry.
func (s *Shard) attempt(in *instance, t int, token uint64) int {
	id := s.trouble(in, t, token)
	if id == none || s.notes.all[id].failures == 0 {
		return 1
	}
	s.rec.Retried(t)
	return int(s.notes.all[id].failures) + 1
}

// Done says how a run ended. The error is [ErrLate] if it was over already:
// then that is counted, and nothing else happens. It wraps [ErrOutcome],
// [ErrTooLarge] or petri.ErrOverflow if the outcome cannot be: then the run has
// failed. data of o are kept, and must not be changed.
func (s *Shard) Done(run RunID, o Outcome, now int64) error {
	id, ok := s.runs[run]
	if !ok {
		if t := int(run & MaxNodes); t < len(s.rules) && uint64(run>>16) <= s.lastRun {
			s.rec.Late(t)
		}
		return fmt.Errorf("run %d: %w", run, ErrLate)
	}
	n := s.notes.all[id]
	i, t := int(n.instance), int(n.transition)
	in := &s.instances[i]
	err := s.end(i, in, &n, o, now)
	if err != nil {
		err = fmt.Errorf("instance %d, transition %q: %w", s.Number(i), s.tables.Net.Transitions[t].ID, err)
		o = Outcome{Kind: Failed}
	}
	if o.Kind != Fired {
		s.unfinished(i, in, id, o, now)
	}
	s.wake(i, now)
	return err
}

// end completes a run that fired. Before that it looks whether it can.
func (s *Shard) end(i int, in *instance, n *note, o Outcome, now int64) error {
	if o.Kind > Awaits {
		return fmt.Errorf("%w: kind %d", ErrOutcome, o.Kind)
	}
	if o.Kind != Fired {
		return nil
	}
	t := int(n.transition)
	r := &s.rules[t]
	res := outcome{puts: o.Puts, data: o.Data, contested: n.contested}
	if o.Data == nil {
		res.data = n.data
	}
	if err := s.check(r, n.taken, &o); err != nil {
		return err
	}
	if o.Puts == nil {
		var a answer
		if res.mask, a = s.branch(r, n.taken, res.data, now); a.panicked || !a.OK {
			return fmt.Errorf("%w: none of its branches can be taken", ErrOutcome)
		}
	}
	if place, fits := s.room(in, r, res, true, n.taken); !fits {
		return fmt.Errorf("place %q: %w", s.tables.Net.Places[place].ID, petri.ErrOverflow)
	}
	s.took = s.took[:0]
	for k := range n.taken {
		p := &n.taken[k]
		in.pile(p.Place).flying--
		s.took = append(s.took, held{lot{p.Token.ID, p.Token.Injected, p.Token.Data, 1}, p.Place})
	}
	s.drop(in, n.id)
	s.finish(i, in, t, res, now)
	s.rec.Ran(t, n.since, now)
	return nil
}

// check finds what an action must not put.
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
		case p.Place < 0 || int(p.Place) >= s.tables.Places():
			return fmt.Errorf("%w: it puts a token into place %d, which there is not", ErrOutcome, p.Place)
		case !r.puts(p.Place):
			return fmt.Errorf("%w: it puts a token into place %q, to which it has no arc", ErrOutcome, s.tables.Net.Places[p.Place].ID)
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

// drop ends a run, whose tokens are its caller's.
func (s *Shard) drop(in *instance, run RunID) {
	id := s.runs[run]
	delete(s.runs, run)
	s.notes.remove(&in.runs, id)
	in.running--
}

// putBack ends a run and puts its tokens back, as old as they were.
func (s *Shard) putBack(in *instance, id int32) {
	n := s.notes.all[id]
	s.drop(in, n.id)
	for k := range n.taken {
		t := &n.taken[k]
		p := in.pile(t.Place)
		p.flying--
		p.add(lot{t.Token.ID, t.Token.Injected, t.Token.Data, 1})
		s.touched = append(s.touched, t.Place)
	}
	in.move()
}

// unfinished ends a run that did not fire, and has its transition wait by the
// rule of the outcome.
func (s *Shard) unfinished(i int, in *instance, id int32, o Outcome, now int64) {
	n := s.notes.all[id]
	t, token := int(n.transition), firstID(n.taken)
	s.putBack(in, id)
	s.changed(in)
	switch o.Kind {
	case Failed:
		s.rec.Failed(t)
		s.setBack(i, in, t, token, o.After, now)
	case Delayed:
		k := s.troubled(i, in, t, token)
		s.notes.all[k].kind = noteWait
		s.notes.plan(k, now+min(max(o.After, 0), maxWait))
	default:
		s.notes.all[s.troubled(i, in, t, token)].kind = noteAwaits
	}
}

// troubled returns the note of what a transition failed with, made if need be.
func (s *Shard) troubled(i int, in *instance, t int, token uint64) int32 {
	id := s.trouble(in, t, token)
	if id == none {
		id = s.notes.add(&in.notes, note{instance: int32(i), transition: uint16(t), token: token, place: stats.NoPlace})
	}
	s.notes.unplan(id)
	s.notes.all[id].ripe = false
	return id
}

// setBack has a transition that failed wait for its retry: for a time, or else
// by its binding's rule.
func (s *Shard) setBack(i int, in *instance, t int, token uint64, after, now int64) {
	id := s.troubled(i, in, t, token)
	n, retry := &s.notes.all[id], &s.rules[t].Retry
	n.failures++
	if retry.Attempts > 0 && int(n.failures) >= retry.Attempts {
		n.kind = noteIncident
		return
	}
	if after <= 0 {
		after = retry.after(n.failures)
	}
	n.kind = noteWait
	s.notes.plan(id, now+min(after, maxWait))
}

// incident has a transition wait for somebody: it failed with a token, or
// because a place is full.
func (s *Shard) incident(i int, in *instance, t int, token uint64, place int32) {
	s.rec.Failed(t)
	n := &s.notes.all[s.troubled(i, in, t, token)]
	n.kind, n.place = noteIncident, place
}

// Cancel breaks a run off: its tokens are where they came from, as old as they
// were, and may be taken again at once. The error is [ErrLate] if it is over
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
	s.rec.Cancelled(int(n.transition))
	s.stops = append(s.stops, n.id)
	s.putBack(in, id)
}

// timeOut ends a run whose time is over; then it is as if it had failed.
func (s *Shard) timeOut(id int32, now int64) {
	n := s.notes.all[id]
	i, t, token := int(n.instance), int(n.transition), firstID(n.taken)
	in := &s.instances[i]
	s.rec.TimedOut(t)
	s.stops = append(s.stops, n.id)
	s.putBack(in, id)
	s.changed(in)
	s.setBack(i, in, t, token, 0, now)
}

// cancelHolder cancels the run that has a token in flight, which there is.
func (s *Shard) cancelHolder(in *instance, holds func(Placed) bool) {
	for id := in.runs; id != none; id = s.notes.all[id].next {
		if slices.ContainsFunc(s.notes.all[id].taken, holds) {
			s.cancel(in, id)
			return
		}
	}
}
