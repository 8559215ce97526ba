// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/petri"
)

// Bind returns a net with these bindings. What they do not name is as in the
// net itself (see Declared): a binding of a time or an action replaces the
// net's trigger, and one of a guard the net's guard. with is the connections of
// actions. Bind reports all faults, those of the bindings at their position
// there, others at theirs in the net, but none that ReadBindings has reported. b may be nil.
func (b *Bindings) Bind(t *petri.Tables, with action.Peers) (NetConfig, error) {
	var n netBindings
	if b != nil {
		n = b.nets[t.Net.ID]
	}
	transitions, err := declared(t, func(i int) bool { return !n.transitions[t.Net.Transitions[i].ID].guard.IsEmpty() }, n.coerced)
	faults := []error{err}
	if err == nil { // otherwise guards are missing for a reason that is already reported
		faults[0] = checkTransitions(t, transitions, n.transitions)
	}
	binder := binder{tables: t, with: with, compiler: guard.NewCompiler(placeIDs(t))}
	binder.compiler.Coerced, binder.compiler.Decisions = n.coerced, t.Net.Decisions
	for id, bound := range n.transitions {
		if i, ok := t.TransitionIndex(id); ok {
			binder.bind(&transitions[i], i, &bound)
		} else {
			binder.faults = append(binder.faults, bound.key.Fault("net %q has no transition %q; expected the id of one of its %d transitions", t.Net.ID, id, t.Transitions()))
		}
	}
	slices.SortFunc(binder.faults, byPosition)
	if err := errors.Join(append(faults, binder.faults...)...); err != nil {
		return NetConfig{}, err
	}
	return NetConfig{Tables: t, Transitions: transitions, Priority: n.priorities.function(), Bound: n.bound}, nil
}

// byPosition orders faults as they are in their file.
func byPosition(a, b error) int {
	var f, g *petri.Fault
	if !errors.As(a, &f) || !errors.As(b, &g) {
		return 0
	}
	return cmp.Or(cmp.Compare(f.Pos.Line, g.Pos.Line), cmp.Compare(f.Pos.Column, g.Pos.Column), cmp.Compare(f.Msg, g.Msg))
}

// binder applies bindings to the transitions of a net.
type binder struct {
	tables   *petri.Tables
	with     action.Peers
	compiler *guard.Compiler
	faults   []error
}

func (d *binder) bind(tr *Transition, i int, b *binding) {
	if b.mode != nil || b.action != nil {
		tr.Due, tr.Until = b.due, nil
	}
	tr.Mode = b.modeOr(tr.Mode)
	tr.Timeout, tr.Retry, tr.Idempotent = b.timeout, b.retry, b.again
	found := len(d.faults)
	if text, ok := b.guard.Scalar(); ok {
		var err error
		if tr.Guard, err = d.compiler.Guard(text); err != nil {
			d.faults = append(d.faults, b.guard.Fault("the guard: %v; expected an expression such as amount < 100", err))
		}
	}
	if b.broken {
		return
	}
	if b.action != nil {
		var err error
		if tr.Action, err = b.action.Func(d.with); err != nil {
			d.faults = append(d.faults, b.acts.Fault("%v", err))
		}
	}
	if len(d.faults) > found {
		return // what is missing now is already reported
	}
	for _, msg := range tr.faults(d.tables, i) {
		d.faults = append(d.faults, b.key.Fault("transition %q: %s", b.key.Name, msg))
	}
}
