// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Inscription returns the data of the tokens that an arc puts, as JSON. It
// gets the tokens that a guard gets; those that were taken have the data that an
// action or a call returned for the new tokens, if any. The rules for a Guard
// hold for it, too. A panic is an incident of the transition, see Binding.Retry.
type Inscription func(tokens []Placed, now int64) []byte

// checkInscriptions returns an error if the inscriptions do not fit the net.
func (c *Config) checkInscriptions(tr int) error {
	b, arcs := &c.Bindings[tr], c.Tables.Inscribed(tr)
	if b.Data != nil && len(b.Data) != len(arcs) {
		return fmt.Errorf("functions for the data of %d arcs; expected %d", len(b.Data), len(arcs))
	}
	for k := range arcs {
		if a := &c.Tables.Net.Arcs[arcs[k].Arc]; b.Data == nil || b.Data[k] == nil {
			return fmt.Errorf("no function is bound to the data %q of the arc to place %q", a.Data, a.Target)
		}
	}
	return nil
}

// uninscribed returns the effects of a transition and its branches without what
// inscribed arcs put.
func uninscribed(t *petri.Tables, tr int) ([]petri.Effect, []petri.BranchArc) {
	effects, branches := slices.Clone(t.Effects(tr)), slices.Clone(t.Branches(tr))
	for _, a := range t.Inscribed(tr) {
		if a.Branch >= 0 {
			branches[a.Branch].Put = 0
			continue
		}
		k := slices.IndexFunc(effects, func(e petri.Effect) bool { return e.Place == a.Place })
		effects[k].Put -= a.Put
	}
	return effects, branches
}

// valued evaluates what a firing in a frame puts, and what it does to runs of scopes. It returns an
// error if a function panics or its result does not fit.
func (x *change) valued(f *frame, r *rule, o *outcome, taken, read []Placed) (err error) {
	if !r.values {
		return nil
	}
	var tokens []Placed
	if r.inscribed != nil || r.begins != nil || r.in != nil {
		tokens = x.inscribable(f, taken, read, o.data)
	}
	if o.values, err = x.inscribe(r, o.mask, tokens); err != nil {
		return err
	}
	if err = x.give(f, r, taken, o); err != nil {
		return err
	}
	switch {
	case r.begins != nil:
		o.turn, err = x.planBegin(f, r, tokens, o)
	case r.in != nil: // what the run gets that it begins
		seen := x.s.fields(x.s.renewedIn(x.in, f, o.data))
		o.given, err = x.s.assign(r.in, []object{seen}, tokens, nil, x.now)
	case r.ends != nil && f.up.loop != nil:
		o.turn, err = x.planEnd(f, taken, read, o)
	}
	return err
}

// inscribable returns the tokens that an inscription sees. Those that are taken have the data
// that an action or a call returned, if any.
func (x *change) inscribable(f *frame, taken, read []Placed, data []byte) []Placed {
	tokens := slices.Concat(x.s.with(x.in, taken, data), x.s.seen(x.in, read))
	slices.SortStableFunc(tokens, func(a, b Placed) int { return cmp.Compare(a.Place, b.Place) })
	return also(tokens, x.s.lead(f))
}

// inscribe returns the data of the tokens that the inscribed arcs of a firing put, by arc: of
// normal arcs, and of the branches in mask. It returns an error if a function panics or its
// result does not fit.
func (x *change) inscribe(r *rule, mask uint64, tokens []Placed) (values []inscribed, _ error) {
	if r.inscribed == nil {
		return nil, nil
	}
	for k := range *r.inscribed {
		a := &(*r.inscribed)[k]
		if a.Branch >= 0 && mask>>a.Branch&1 == 0 {
			continue
		}
		data, err := evaluate(r.Data[k], tokens, x.now)
		if err != nil {
			return nil, fmt.Errorf("the data of the arc to place %q: %w", x.s.Tables.Net.Arcs[a.Arc].Target, err)
		}
		values = append(values, inscribed{a, data})
	}
	return values, nil
}

// inscribed is an arc that puts tokens, and their data.
type inscribed struct {
	*petri.InscribedArc
	data []byte
}

// evaluate calls an inscription, which may panic.
func evaluate(what Inscription, tokens []Placed, now int64) (value []byte, err error) {
	defer caught(&err)
	if value = what(tokens, now); len(value) > MaxData {
		return nil, fmt.Errorf("%w, not %d", ErrTooLarge, len(value))
	}
	return value, nil
}

// inscribed appends to out the tokens that inscribed arcs put.
func (x *change) inscribed(f *frame, o *outcome) {
	for _, v := range o.values {
		if !o.turn.skips(x.s, v.Place) {
			to := spot{v.Place, x.aim(f, v.Place)}
			x.out = append(x.out, held{lot{data: x.keep(to, v.data), n: v.Put}, to})
		}
	}
}
