// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
)

// MaxEach is the maximum number of elements for which one firing puts tokens,
// see petri.Arc.Each.
const MaxEach = 10_000

// Inscription returns the data of the tokens that an arc puts, as JSON; for an
// arc with petri.Arc.Each, a list of them, or a whole number n for 1 to n. It
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
	case r.in != nil:
		err = x.gets(f, r, tokens, o)
	case r.ends != nil && f.up.loop != nil:
		o.turn, err = x.planEnd(f, r, taken, read, o)
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

// inscribe returns the data of the tokens that inscribed arcs put, by arc and
// token: of normal arcs, and of the branches in mask. It returns an error if a
// function panics or its result does not fit.
func (x *change) inscribe(r *rule, mask uint64, tokens []Placed) ([][][]byte, error) {
	if r.inscribed == nil {
		return nil, nil
	}
	values, left := make([][][]byte, len(*r.inscribed)), MaxEach
	for k, a := range *r.inscribed {
		if a.Branch >= 0 && mask>>a.Branch&1 == 0 {
			continue
		}
		var err error
		if values[k], err = evaluate(r.Data[k], a.Each, tokens, x.now); err != nil {
			return nil, fmt.Errorf("the data of the arc to place %q: %w", x.s.Tables.Net.Arcs[a.Arc].Target, err)
		}
		if a.Each {
			left -= len(values[k])
		}
	}
	if left < 0 {
		return nil, fmt.Errorf("%d elements; expected at most %d", MaxEach-left, MaxEach)
	}
	return values, nil
}

// evaluate calls an inscription, which may panic.
func evaluate(what Inscription, each bool, tokens []Placed, now int64) (values [][]byte, err error) {
	defer func() {
		if why := recover(); why != nil {
			values, err = nil, fmt.Errorf("%v", why)
		}
	}()
	value := what(tokens, now)
	if len(value) > MaxData {
		return nil, fmt.Errorf("%w, not %d", ErrTooLarge, len(value))
	}
	if !each {
		return [][]byte{value}, nil
	}
	return elements(value)
}

// elements returns the elements of a list in JSON, or the numbers from 1 to a
// whole number.
func elements(value []byte) ([][]byte, error) {
	if n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63); err == nil {
		if n > MaxEach {
			return nil, fmt.Errorf("%d elements; expected at most %d", n, MaxEach)
		}
		out := make([][]byte, n)
		for k := range out {
			out[k] = strconv.AppendInt(nil, int64(k)+1, 10)
		}
		return out, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil || list == nil {
		return nil, fmt.Errorf("found %.40s; expected a list or a whole number", value)
	}
	if len(list) > MaxEach {
		return nil, fmt.Errorf("%d elements; expected at most %d", len(list), MaxEach)
	}
	out := make([][]byte, len(list))
	for k := range out {
		out[k] = list[k]
	}
	return out, nil
}

// inscribed appends to out the tokens that inscribed arcs put.
func (x *change) inscribed(f *frame, r *rule, o *outcome) {
	for k, a := range *r.inscribed {
		if o.turn.skips(x.s, a.Place) {
			continue
		}
		for _, v := range o.values[k] {
			to := spot{a.Place, x.aim(f, a.Place, a.Each)}
			x.out = append(x.out, held{lot{data: x.keep(to, v), n: a.Put}, to})
		}
	}
}
