// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// Transition specifies how one transition of a net fires. The zero Transition
// fires at once when it is enabled.
type Transition struct {
	Mode plain.Mode
	// Due returns when a transition that is plain.Delayed and enabled since a
	// time is due, instead of Mode.Delay; both in microseconds since the Unix
	// epoch.
	Due func(since int64) int64
	// Until returns when a transition that is plain.Delayed is due, from the tokens that it
	// takes or tests, instead of Mode.Delay. It depends on nothing else. It is called when the
	// transition becomes enabled, and when it would take or test other tokens; not when
	// their data change. An error is an incident.
	Until func(tokens []coloured.Placed, since int64) (due int64, err error)
	// Begins returns when a transition that is plain.Manual begins the next instance, see
	// petri.Trigger.Begins: in a net that began at a time, after the last time, which is 0 before
	// the first one; all in microseconds since the Unix epoch. nil begins none by itself.
	Begins   func(created, last int64) (due int64, err error)
	Guard    coloured.Guard       // nil always holds
	Branches []coloured.Guard     // in the order of petri.Tables.Branches; nil, or one that is, always holds
	Scope    *coloured.ScopeFuncs // the functions of a petri.Scope that it begins; nil if it begins none
	// EventName is the name of the event that it throws or catches; nil for that of the net.
	EventName Key
	Key       Key         // of the message that it throws or catches; nil for none
	Action    action.Func // what firing it performs; nil for nothing
	// Idempotent declares that the action does nothing more when it is
	// performed again with the same key. The next owner of a part performs it
	// again for a run that has started and is not over. Without it the tokens
	// of such a run are put back, and the run that then starts has a new key.
	Idempotent bool
	Timeout    time.Duration // of the action; 0 for none
	Retry      Retry         // after a failure of the action; if set, also of what is evaluated before it fires, which is an incident otherwise
}

// Retry specifies the waits before retries: First after the first failure, then
// Factor times as long each time, but at most Max.
type Retry struct {
	First, Max time.Duration // 0 for a second, and for a minute or First if that is longer
	Factor     float64       // 1 or more; 0 for 2
	Attempts   int           // attempts before it is an incident; 0 for no limit
}

// Declared returns how the transitions of a net fire by the net's own guards
// and triggers: an event is plain.Manual, a delay and a time are plain.Delayed,
// and work without a binding fires at once. An invalid expression of a guard, a
// timer, of the name of an event or of work, of the key of a message or of what a
// run gets or gives is a fault at its transition, arc or element.
func Declared(t *petri.Tables) ([]Transition, error) {
	return declared(t, func(int) bool { return false }, false)
}

// declared is Declared without the guards of transitions that have another. coerced is guard.Compiler's.
func declared(t *petri.Tables, other func(transition int) bool, coerced bool) ([]Transition, error) {
	d := declarer{tables: t, compiler: guard.NewCompiler(placeIDs(t)), out: make([]Transition, t.Transitions())}
	d.compiler.Coerced, d.compiler.Decisions = coerced, t.Net.Decisions
	for i := range d.out {
		tr := &t.Net.Transitions[i]
		d.out[i].trigger(tr.Trigger)
		if !other(i) {
			d.out[i].Guard = d.guard(tr.Guard, tr.Pos, fmt.Sprintf("transition %q", tr.ID))
		}
		d.branches(i)
		d.out[i].EventName = d.eventName(i)
		d.out[i].Key = d.key(tr)
		d.timer(i)
		d.scope(i)
		if check := d.work(tr); check != nil && !other(i) {
			d.out[i].Guard = both(check, d.out[i].Guard)
		}
	}
	return d.out, d.done()
}

func placeIDs(t *petri.Tables) []string {
	return ids(t.Net.Places, func(p *petri.Place) string { return p.ID })
}

// trigger applies the trigger that a net declares.
func (tr *Transition) trigger(on petri.Trigger) {
	if on.Begins {
		tr.begins(on)
		return
	}
	switch on.Kind {
	case petri.TriggerEvent:
		tr.Mode.Kind = plain.Manual
	case petri.TriggerDelay:
		tr.Mode = plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: float64(on.Micros)}}
	case petri.TriggerTimer:
		tr.Mode.Kind = plain.Delayed
	case petri.TriggerTime:
		tr.Mode.Kind = plain.Delayed
		tr.Due = func(since int64) int64 { return max(since, on.Micros) }
	}
}

// declarer compiles the guards of a net.
type declarer struct {
	tables   *petri.Tables
	compiler *guard.Compiler
	out      []Transition
	faults   []error

	invalid []invalid // expressions that must hold
	others  []invalid // and that must not
	works   []string  // invalid names of work
}

func (d *declarer) guard(text string, pos petri.Pos, of string) coloured.Guard {
	if text == "" {
		return nil
	}
	g, err := d.compiler.Guard(text)
	if err != nil {
		d.report(text, pos, of, err)
	}
	return g
}

// invalid is an invalid expression.
type invalid struct {
	expression string
	fault      error
}

// report reports the invalid expressions of a guard. Those that must not hold are usually
// guards of other alternatives, and are reported there.
func (d *declarer) report(text string, pos petri.Pos, of string, err error) {
	fault := func(expression string) (found []invalid) {
		if _, err := d.compiler.Guard(expression); err != nil && expression != "" {
			found = append(found, invalid{expression, &petri.Fault{File: d.tables.Net.File, Pos: pos, Msg: fmt.Sprintf("the guard of %s: %v", of, err)}})
		}
		return found
	}
	before, also := guard.Expressions(text)
	found := len(d.invalid) + len(d.others)
	if guard.Bare(also) == also {
		d.invalid = append(d.invalid, fault(also)...)
	} else {
		before = append(before, guard.Line{Text: also})
	}
	for _, l := range before {
		d.others = append(d.others, fault(guard.Bare(l.Text))...)
	}
	if len(d.invalid)+len(d.others) == found { // the guard as a whole
		d.faults = append(d.faults, &petri.Fault{File: d.tables.Net.File, Pos: pos, Msg: fmt.Sprintf("the guard of %s: %v", of, err)})
	}
}

// done returns all faults, those of equal expressions that must not hold, define a variable or choose by a text
// once, and only at the work if its name is one: so has each guard of a call that chooses.
func (d *declarer) done() error {
	seen := map[string]bool{}
	for _, name := range d.works {
		seen[name] = true
	}
	for _, i := range d.invalid {
		d.faults = append(d.faults, i.fault)
		seen[i.expression] = true
	}
	for _, o := range d.others {
		if !seen[o.expression] {
			d.faults = append(d.faults, o.fault)
		}
		seen[o.expression] = true
	}
	return errors.Join(d.faults...)
}

// key compiles the key of the message that a transition throws or catches.
func (d *declarer) key(tr *petri.Transition) Key {
	text := cmp.Or(tr.Throws.Key, tr.Trigger.Event.Key)
	if text == "" {
		return nil
	}
	key, err := d.compiler.Value(text)
	if err != nil {
		d.faults = append(d.faults, &petri.Fault{File: d.tables.Net.File, Pos: tr.Pos, Msg: fmt.Sprintf("the key of transition %q: %v", tr.ID, err)})
	}
	return key
}

// eventName compiles the name of the event that a transition throws or catches, if it is an
// expression.
func (d *declarer) eventName(transition int) Key {
	tr := &d.tables.Net.Transitions[transition]
	on := tr.Throws
	if on.Kind == petri.EventNone {
		on = tr.Trigger.Event
	}
	if !on.Computed() {
		return nil
	}
	value, err := d.compiler.Text(on.Name)
	name := Key(value)
	if err == nil && on == tr.Trigger.Event && begins(d.tables, transition) {
		_, err = name.name(nil, 0) // there are no tokens, so the name is always this one
	}
	if err != nil {
		d.faults = append(d.faults, &petri.Fault{File: d.tables.Net.File, Pos: tr.Pos, Msg: fmt.Sprintf("the event's name of transition %q: %v", tr.ID, err)})
	}
	return name
}

// work compiles the name of work that is an expression of FEEL. The net's binding says what the
// work is, so its value is not used, but work without a name does not begin: the guard that work
// returns fails then.
func (d *declarer) work(tr *petri.Transition) coloured.Guard {
	name := tr.Trigger.Name
	if tr.Trigger.Kind != petri.TriggerWork || !strings.HasPrefix(name, "=") || name == tr.Throws.Name {
		return nil // it is none, or that of the event, which is reported
	}
	value, err := d.compiler.Value(name)
	if err != nil {
		d.works = append(d.works, name)
		d.faults = append(d.faults, &petri.Fault{File: d.tables.Net.File, Pos: tr.Pos, Msg: fmt.Sprintf("the work of transition %q: %v", tr.ID, err)})
		return nil
	}
	return func(tokens []coloured.Placed, now int64) coloured.Verdict {
		text, found := "", value(tokens, now)
		if json.Unmarshal(found, &text) != nil || text == "" {
			panic(&guard.Error{Msg: fmt.Sprintf("the name of its work: found %.40s; expected a text", found)})
		}
		return coloured.Verdict{OK: true}
	}
}

// both returns a guard that holds if two do; the second may be nil.
func both(first, second coloured.Guard) coloured.Guard {
	if second == nil {
		return first
	}
	return func(tokens []coloured.Placed, now int64) coloured.Verdict {
		if v := first(tokens, now); !v.OK {
			return v
		}
		return second(tokens, now)
	}
}

func (d *declarer) branches(transition int) {
	for k, b := range d.tables.Branches(transition) {
		a := &d.tables.Net.Arcs[b.Arc]
		if g := d.guard(a.Guard, a.Pos, a.Name()); g != nil {
			if d.out[transition].Branches == nil {
				d.out[transition].Branches = make([]coloured.Guard, len(d.tables.Branches(transition)))
			}
			d.out[transition].Branches[k] = g
		}
	}
}

// scope compiles the expressions of the scope that a transition begins.
func (d *declarer) scope(transition int) {
	k := d.tables.Begins(transition)
	if k == 0 {
		return
	}
	sc := &d.tables.Net.Scopes[k-1]
	f := &coloured.ScopeFuncs{In: d.assignments(sc.In), Out: d.assignments(sc.Out)}
	if l := sc.Loop; l != nil {
		f.Amount, f.Result = d.value(&l.Number), d.value(&l.Result)
		if l.List.Text != "" {
			f.Amount = d.value(&l.List)
		}
		f.Until, f.While = d.guard(l.Until.Text, l.Until.Pos, l.Until.Of), d.guard(l.While.Text, l.While.Pos, l.While.Of)
	}
	d.out[transition].Scope = f
}

func (d *declarer) assignments(list []petri.Assignment) []coloured.Value {
	out := make([]coloured.Value, len(list))
	for k := range list {
		out[k] = d.value(&list[k].Value)
	}
	return out
}

// value compiles an expression of a scope; nil for none.
func (d *declarer) value(x *petri.Expression) coloured.Value {
	if x.Text == "" {
		return nil
	}
	value, err := d.compiler.Value(x.Text)
	if err != nil {
		d.faults = append(d.faults, &petri.Fault{File: d.tables.Net.File, Pos: x.Pos, Msg: fmt.Sprintf("the %s: %v", x.Of, err)})
	}
	return value
}

// plain reports whether package plain can play the transition, in a net whose
// tokens alone decide what happens.
func (tr *Transition) plain() bool {
	return tr.Guard == nil && tr.Branches == nil && tr.Scope == nil && tr.Action == nil && tr.Due == nil && tr.Until == nil && tr.Begins == nil
}

// binding returns the binding for package coloured.
func (tr *Transition) binding() coloured.Binding {
	return coloured.Binding{
		Mode: tr.Mode, Due: tr.Due, Until: tr.Until, Event: tr.event(), Guard: tr.Guard, Branches: tr.Branches, Scope: tr.Scope, Action: tr.Action != nil, Idempotent: tr.Idempotent, Timeout: micros(tr.Timeout),
		Retry: coloured.Retry{First: micros(tr.Retry.First), Max: micros(tr.Retry.Max), Factor: tr.Retry.Factor, Attempts: tr.Retry.Attempts},
	}
}

// micros rounds away from 0, so that a short time does not become 0.
func micros(d time.Duration) int64 {
	if d < 0 {
		return -micros(-d)
	}
	return (d + time.Microsecond - 1).Microseconds()
}

// CheckTransitions returns everything that is wrong with how the transitions of
// a net are to fire, each a *petri.Fault at the transition in the net's file,
// joined. It runs nothing.
func CheckTransitions(t *petri.Tables, transitions []Transition) error {
	if len(transitions) != t.Transitions() {
		return &petri.Fault{File: t.Net.File, Pos: t.Net.Pos, Msg: fmt.Sprintf("%d bindings for the %d transitions of net %q; expected one for each", len(transitions), t.Transitions(), t.Net.ID)}
	}
	return checkTransitions(t, transitions, nil)
}

// checkTransitions leaves out those that have a binding.
func checkTransitions(t *petri.Tables, transitions []Transition, bound map[string]binding) error {
	var faults []error
	for i := range transitions {
		tr := &t.Net.Transitions[i]
		if _, ok := bound[tr.ID]; ok {
			continue
		}
		for _, msg := range transitions[i].faults(t, i) {
			faults = append(faults, &petri.Fault{File: t.Net.File, Pos: tr.Pos, Msg: fmt.Sprintf("transition %q: %s", tr.ID, msg)})
		}
	}
	return errors.Join(faults...)
}

// faults returns what is wrong with a transition, by its index.
func (tr *Transition) faults(t *petri.Tables, i int) (found []string) {
	if tr.Begins != nil && !begins(t, i) {
		found = append(found, "a timer that begins instances, but it needs tokens; expected no such input")
	}
	if tr.Retry != (Retry{}) && tr.Action == nil && tr.Guard == nil {
		found = append(found, "a retry without an action or a guard; expected one of those")
	}
	b := tr.binding()
	return append(found, b.Faults(t, i)...)
}
