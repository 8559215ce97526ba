// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"fmt"
	"iter"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
)

// Step plays what is due at now and what is enabled. It makes at most budget firings and starts of actions,
// and those of urgent transitions that follow at once, and returns their number. Fewer than budget means that
// there is nothing to do until NextDue or until the next call that changes tokens, or that an event was
// thrown: see Ready.
func (s *Shard) Step(budget int, now int64) int {
	played := 0
	for played < budget && len(s.done.Thrown) == 0 {
		s.expire(now)
		played += s.Urge(now)
		i, ok := s.pool.Start(s.batch, now)
		if !ok {
			break
		}
		played += s.visit(i, min(budget-played, s.quota), now)
		s.pool.End(i, now)
		played += s.Urge(now)
	}
	return played
}

// Present returns the priorities that have ready instances: bit p is set for priority p.
func (s *Shard) Present() uint8 { return s.pool.Present() }

// ReadySince returns since when the first ready instance of a priority has been ready, if there is one.
func (s *Shard) ReadySince(p ready.Priority) (since int64, ok bool) { return s.pool.SinceOf(p) }

// Expire applies everything that is due at now. Step calls it; an owner of
// several shards calls it before it compares their ready instances.
func (s *Shard) Expire(now int64) {
	s.expire(now)
	s.Urge(now)
}

// StepOne plays one event: the first ready instance of a priority. It makes at most budget firings and starts
// of actions, and returns their number. It is for an owner of several shards that decides the turn itself, and
// does not use the shard's own discipline. See [ready.Turn].
func (s *Shard) StepOne(p ready.Priority, budget int, now int64) int {
	if budget < 1 {
		return 0
	}
	i, ok := s.pool.StartOf(p, now)
	if !ok {
		return 0
	}
	played := s.visit(i, min(budget, s.quota), now)
	s.pool.End(i, now)
	return played
}

// NextDue returns the next due time: of a delay, a retry, a guard that asks to
// be called again, or the deadline of a run.
func (s *Shard) NextDue() (int64, bool) {
	return s.notes.due.Next()
}

// DueWithin returns what NextDue does, and the latest time of a Step at which nothing is later
// than it may be: 1 % of the time for which it waits, at most 5 ms.
func (s *Shard) DueWithin() (first, latest int64, ok bool) { return s.notes.due.Within(s.late) }

// late returns how much later than due a note may be taken up.
func (s *Shard) late(id int32) int64 {
	n := &s.notes.all[id]
	if r := &s.rules[n.transition]; n.kind == noteClock && r.Due == nil && r.Until == nil {
		return r.Mode.Delay.Late()
	}
	return shard.Late(n.due - n.since)
}

// expire applies everything that is due at now.
func (s *Shard) expire(now int64) {
	for s.notes.due.Due(now) {
		id := s.notes.due.Take()
		n := &s.notes.all[id]
		i := int(n.instance)
		switch n.kind {
		case noteRun:
			s.timeOut(id, now)
		case noteNo:
			s.notes.dropNote(&s.instances[i], id)
		case noteWait:
			n.kind = noteFailed
			s.notes.setRipe(id, s.rules[n.transition].held)
			s.unsettle(&s.instances[i], s.frame(&s.instances[i], n.frame))
		default:
			s.notes.setRipe(id, true)
		}
		s.wake(i, now)
	}
}

// wake adds a piece of work, so that the instance is played.
func (s *Shard) wake(i int, now int64) {
	s.Stir(i)
	s.pool.Deliver(i, now)
}

// visit plays an instance, at most quota firings and starts.
func (s *Shard) visit(i, quota int, now int64) int {
	x, n := s.at(i, now), 0
	for n < quota && len(s.done.Thrown) == 0 {
		c, contested, ok := x.choose(&s.Immediate)
		if !ok {
			if c, ok = x.ripe(); !ok {
				x.settle()
				return n
			}
		}
		if x.perform(c, contested) {
			n++
		}
	}
	s.wake(i, now)
	return n
}

// ripe returns the delayed transition, or the retry, whose time has come, if
// there is one; of several, the one with the earliest time.
func (x *change) ripe() (candidate, bool) {
	for !x.s.notes.quiet(x.in) {
		best := none
		if x.s.frames == nil {
			for id := range x.s.notes.of(&x.in.frame) {
				if x.s.notes.all[id].ripe && (best == none || x.s.notes.before(id, best)) {
					best = id
				}
			}
		} else if all := x.s.frames[x.i].ripe; len(all) > 0 {
			best = all[0]
		}
		if best == none {
			return candidate{}, false
		}
		n := &x.s.notes.all[best]
		x.s.notes.setRipe(best, false)
		t, f := int(n.transition), x.s.frame(x.in, n.frame)
		if n.kind == noteClock {
			x.s.notes.dropNote(x.in, best)
		}
		x.found, x.picked = x.found[:0], x.picked[:0]
		if c, ok := x.ready(f, t); ok {
			return c, true
		}
	}
	return candidate{}, false
}

// settle records what an instance waits for when no immediate transition is
// enabled: its clocks, runs, retries, calls, or nothing any more.
func (x *change) settle() {
	if x.s.Timed {
		x.startClocks()
	}
	incident, waits := x.s.pending(x.in)
	if incident {
		x.refusedAll()
	}
	if waits || x.s.OpenEnded && !incident || x.in.has(finished|failed) {
		return
	}
	was, as := x.in.flags&atRest, uint8(0)
	switch end := x.s.atEnd(x.in); {
	case incident:
		as = failed
	case x.s.vacant(x.in) && !x.in.has(moved): // it has not begun
	case end && x.s.Part != nil: // it may continue in other parts
	case end:
		as = finished
	default:
		as = deadlocked
	}
	x.s.rest(x.in, as)
	if as != was {
		x.s.log.note(x.i, op{kind: opRest, rest: as})
	}
	if as&^was&(finished|failed) != 0 {
		x.s.Rec.Ended(x.i, as == failed, x.now)
	}
	if as == finished && x.s.ended != nil {
		x.s.ended(x.i, x.now)
	}
}

// rest puts an instance at rest and counts it: as finished, deadlocked or
// failed, or, if as is 0, as none of these.
func (s *Shard) rest(in *instance, as uint8) {
	s.Calm(&in.flags)
	if as&(failed|finished) != 0 {
		in.flags |= everMoved // AppendState must write it
	}
	in.flags = in.flags&^moved | s.CountRest(as)
}

// pending describes an instance without an enabled immediate transition: incident reports whether an incident
// waits for a call, and waits whether the instance will continue by time, or by an event that it expects.
func (s *Shard) pending(in *instance) (incident, waits bool) {
	waits = in.runs != none
	if s.notes.quiet(in) {
		return false, waits || s.frames != nil && s.frames[in.index].noted > 0
	}
	for id := range s.notes.each(in) {
		switch n := &s.notes.all[id]; n.kind {
		case noteIncident:
			incident = true
		case noteNo:
			waits = waits || s.notes.due.Planned(id)
			incident = incident || s.refusedForGood(id)
		case noteFailed:
		default:
			waits = true
		}
	}
	return incident, waits
}

// refusedForGood reports whether a guard's rejection is an incident: the
// transition is an alternative, and the guard waits for no time.
func (s *Shard) refusedForGood(id int32) bool {
	n := &s.notes.all[id]
	return s.rules[n.transition].alternative && !s.notes.due.Planned(id)
}

// atEnd reports whether all tokens are in final places: see petri.Net.FinalPlaces.
func (s *scopes) atEnd(in *instance) bool {
	for _, p := range s.filled(in) {
		if !s.tables.Final(int(p.place)) {
			return false
		}
	}
	return true
}

// vacant reports whether an instance holds no token.
func (s *scopes) vacant(in *instance) bool { return len(in.piles) == 0 && len(s.opened(in)) == 0 }

// revive makes an instance at rest active again. One that had ended starts from
// scratch and counts as created again.
func (x *change) revive() {
	if x.in.has(atRest) {
		if x.in.has(finished | failed) {
			x.s.Rec.Began(x.i, x.now)
		}
		x.s.Revive(&x.in.flags)
		x.s.log.note(x.i, op{kind: opRest, rest: revived})
	}
	x.s.wake(x.i, x.now)
}

// Inject puts n tokens into a place of an instance, and into a new run of the place's scope if it has one.
// They share data, which must not be changed afterwards. The error wraps [ErrTooLarge], ready.ErrFull,
// petri.ErrOverflow, or plain.ErrElsewhere for a place of another part.
func (s *Shard) Inject(i, place int, data []byte, n uint32, now int64) error {
	if n > 0 && !s.Outside(place) {
		if err := s.admit(i, data); err != nil {
			return err
		}
	}
	return s.Arrive(i, place, data, n, now)
}

// Arrive is Inject for tokens that have left another part for this one. It
// accepts them even if much work waits, because they cannot go back.
func (s *Shard) Arrive(i, place int, data []byte, n uint32, now int64) error {
	in := &s.instances[i]
	if s.Outside(place) {
		return fmt.Errorf("place %q: %w", s.Tables.Net.Places[place].ID, plain.ErrElsewhere)
	}
	if n == 0 {
		return nil
	}
	if !s.framesLeft(in, 1) {
		return fmt.Errorf("place %q: %w", s.Tables.Net.Places[place].ID, petri.ErrOverflow)
	}
	x := s.at(i, now)
	x.renew()
	m := x.mark()
	if no := x.inject(held{lot{data: data, n: n}, spot{int32(place), x.aim(&in.frame, int32(place))}}); no != nil {
		x.undo(m)
		return fmt.Errorf("place %q: %w", s.Tables.Net.Places[place].ID, no.err)
	}
	x.revive()
	return nil
}

// inject puts a lot unless something hinders that. It gives the lot an identity if it has none. A log
// has the lot with its data, from which a replay derives what is written.
func (x *change) inject(h held) *hindrance {
	x.took, x.out = x.took[:0], append(x.out[:0], h)
	if x.s.shared {
		x.startAfresh(false)
		x.out[0].data = x.keep(h.spot, h.data)
	}
	if no := x.fits(nil, false, false); no != nil {
		return no
	}
	x.name()
	h.id = x.out[0].id
	x.in.lastID = max(x.in.lastID, h.id+uint64(h.n)-1)
	x.s.log.note(x.i, op{kind: opInject, held: h})
	x.place()
	x.in.move()
	x.changed()
	return nil
}

// admit returns an error if an instance cannot take more work or the data is too large.
func (s *Shard) admit(i int, data []byte) error {
	if len(data) > MaxData {
		return fmt.Errorf("instance %d: %w, not %d", s.Number(i), ErrTooLarge, len(data))
	}
	if s.pool.Full(i) {
		return fmt.Errorf("instance %d: %w", s.Number(i), ready.ErrFull)
	}
	return nil
}

// Fire fires a transition of an instance, or starts its action, whatever the transition waits for: its time, a
// retry, an event, or an incident. Of several runs of its scope it fires in the oldest in which it may fire.
// It forgets earlier failures. The tokens that the firing puts carry data if that is not nil; a transition
// whose evaluation failed sees it, too, in its tokens. The error wraps [ErrTooLarge], ready.ErrFull,
// petri.ErrNotEnabled with the first condition that does not hold, petri.ErrOverflow, or plain.ErrElsewhere
// for a transition of another part; then nothing has changed.
func (s *Shard) Fire(i, t int, data []byte, now int64) error {
	return s.fireAdmitted(i, t, data, s.actors(&s.instances[i], t), now)
}

// FireIn is Fire in the run of the transition's scope that has a number, see [Placed].
func (s *Shard) FireIn(i, t int, scope uint32, data []byte, now int64) error {
	var run []*frame
	if f := s.frame(&s.instances[i], scope); f.number == scope && f.scope == s.Tables.ActsIn(t) {
		run = []*frame{f}
	}
	return s.fireAdmitted(i, t, data, slices.Values(run), now)
}

func (s *Shard) fireAdmitted(i, t int, data []byte, frames iter.Seq[*frame], now int64) error {
	if s.Elsewhere(t) {
		return fmt.Errorf("transition %q: %w", s.Tables.Net.Transitions[t].ID, plain.ErrElsewhere)
	}
	if err := s.admit(i, data); err != nil {
		return err
	}
	return s.fireWith(i, t, data, frames, nil, now)
}

// fireWith is Fire in the first of some frames in which that is possible, with
// tokens that a second guard accepts, too; nil accepts all.
func (s *Shard) fireWith(i, t int, data []byte, frames iter.Seq[*frame], also Guard, now int64) error {
	x, err := s.at(i, now), error(nil)
	for f := range frames {
		if err != nil && !s.holds(x.in, f, t) {
			continue
		}
		first := x.fireFrame(f, t, data, also)
		if first == nil {
			return nil
		}
		if err == nil {
			err = first
		}
	}
	if err == nil {
		err = fmt.Errorf("transition %q: %w: no such run of its scope is open", s.Tables.Net.Transitions[t].ID, petri.ErrNotEnabled)
	}
	return err
}

func (x *change) fireFrame(f *frame, t int, data []byte, also Guard) error {
	if !x.s.holds(x.in, f, t) {
		return x.s.refuse(x.in, f, t)
	}
	r, id := &x.s.rules[t], x.s.Tables.Net.Transitions[t].ID
	if r.Action && x.in.running >= x.s.running {
		return fmt.Errorf("instance %d, transition %q: %w: %d runs", x.s.Number(x.i), id, ready.ErrFull, x.in.running)
	}
	x.found, x.picked = x.found[:0], x.picked[:0]
	var given []byte
	if also == nil && x.s.notes.find(f, t, func(n *note) bool { return n.again }) != none {
		given = data
	}
	c, v, err := x.pick(f, t, also, given)
	if err != nil {
		return x.s.refused(x.i, t, fmt.Errorf("its guard panicked: %w", err))
	} else if !v.OK {
		return x.s.refused(x.i, t, errGuard)
	}
	if !r.Action {
		if no := x.try(f, c, &outcome{data: data}); no != nil && no.full {
			return fmt.Errorf("transition %q: %w", id, no.at(x.s.Tables.Net))
		} else if no != nil {
			return x.s.refused(x.i, t, no.err)
		}
		x.s.notes.clear(x.in, f, t)
	} else {
		x.s.notes.clear(x.in, f, t)
		x.start(c, false, data)
	}
	x.revive()
	return nil
}

// Urge fires the urgent transitions, see petri.Urgent, that are enabled in the instances that have changed
// since the last call: until none is enabled, at most 1024 in each instance. An instance that throws an event
// continues with the call after its delivery. The owner calls Urge after each call that changes tokens, so
// that nothing else happens in an instance before. It returns the number of firings and starts of actions.
func (s *Shard) Urge(now int64) (played int) {
	left := s.Stirred[:0]
	for _, i := range s.Stirred {
		played += s.urge(int(i), now)
		if s.done.threw(int(i)) && !slices.Contains(left, i) {
			left = append(left, i)
		}
	}
	s.Stirred = left
	return played
}

func (s *Shard) urge(i int, now int64) (n int) {
	x := s.at(i, now)
	for n < shard.MaxUrgent && !s.done.threw(i) {
		c, contested, ok := x.choose(s.Urgent)
		if !ok {
			return n
		}
		if x.perform(c, contested) {
			n++
		}
	}
	return n
}
