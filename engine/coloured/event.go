// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// throw records a firing whose tokens are in took.
func (x *change) throw(t int, data []byte) {
	var taken []Placed
	for k := range x.took {
		taken = x.took[k].single(taken, MaxTaken-len(taken))
	}
	x.s.done.Thrown = append(x.s.done.Thrown, Thrown{x.i, int32(t), x.s.with(x.in, taken, data), x.in.lastID})
}

// unnamed returns why a transition cannot throw its event; nil if it can, or throws none. The
// tokens that it takes carry the data that an action or a call returned, if any.
func (x *change) unnamed(r *rule, taken []Placed, data []byte) error {
	if r.Event == nil || !r.throws {
		return nil
	}
	return r.Event(x.s.with(x.in, taken, data), x.now)
}

// maxWaiting is the number of combinations of tokens of one frame that are
// searched for those that wait for an event.
const maxWaiting = 1 << 16

// Catch is an event for a transition that catches it.
type Catch struct {
	Accept Guard  // decides about the tokens in addition to the transition's guard; nil accepts all
	Last   uint64 // tokens with higher identities did not wait for the event: see LastToken and Thrown
	Data   []byte // as of Fire
	// All fires the transition once for each token that waits; otherwise it fires once. A token that stays,
	// because the transition only tests it or puts it back, waits once.
	All bool
}

// LastToken returns the identity of the last token of an instance; 0 if there was none.
func (s *Shard) LastToken(i int) uint64 { return s.instances[i].lastID }

// Catch fires a transition of an instance for an event, as Fire does, if it is enabled with tokens that wait
// for the event. It returns how often it did. It accepts an event even if much work waits, because events are
// not repeated. The error is one of Fire, but not petri.ErrNotEnabled.
func (s *Shard) Catch(i, t int, c Catch, now int64) (fired int, err error) {
	r := &s.rules[t]
	around := s.frames != nil && s.Tables.TakesInScope(t) // tokens around its scope wait for any number of its runs
	caught := map[uint64]bool{}
	var accepted []Placed // with which the transition fires, if its own guard accepts them too
	waits := func(tokens []Placed, now int64) Verdict {
		for k := range tokens {
			if around && s.Tables.ScopeOf(tokens[k].Place) != s.Tables.ActsIn(t) {
				continue
			}
			if id := tokens[k].Token.ID; id > c.Last || caught[id] && !r.onlyTests(tokens[k].Place) {
				return Verdict{}
			}
		}
		accepted = tokens
		if c.Accept != nil {
			return c.Accept(tokens, now)
		}
		return Verdict{OK: true}
	}
	enabled := func(yield func(*frame) bool) {
		for f := range s.actors(&s.instances[i], t) {
			if s.holds(&s.instances[i], f, t) && !yield(f) {
				return
			}
		}
	}
	for {
		err := s.fireWith(i, t, c.Data, enabled, waits, now)
		if errors.Is(err, petri.ErrNotEnabled) {
			break
		}
		if err != nil {
			return fired, err
		}
		fired++
		if !c.All || len(r.sights) == 0 {
			break
		}
		for k := range accepted {
			caught[accepted[k].Token.ID] = true
		}
	}
	return fired, nil
}

// onlyTests reports whether the transition takes tokens, but none of a place.
func (r *rule) onlyTests(place int32) bool {
	return !r.takes(place) && slices.ContainsFunc(r.sights, func(v sight) bool { return v.take > 0 })
}

// Idle reports whether an instance can begin with an event: it has not begun, and does
// not begin by itself, or nothing is left of it but tokens in final places.
func (s *Shard) Idle(i int) bool {
	in := &s.instances[i]
	return in.runs == none && (s.atEnd(in) || !in.has(everMoved) && s.pool.Waiting(i) == 0)
}
