// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Fault is one mistake in a net's description, with its position in the source.
type Fault struct {
	File string
	Pos  Pos
	Msg  string // what was found; what was expected
}

// Error returns "file:line:column: message" without unknown parts.
func (f *Fault) Error() string {
	switch {
	case f.File != "" && f.Pos.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Pos.Line, f.Pos.Column, f.Msg)
	case f.File != "":
		return f.File + ": " + f.Msg
	case f.Pos.Line > 0:
		return fmt.Sprintf("%d:%d: %s", f.Pos.Line, f.Pos.Column, f.Msg)
	}
	return f.Msg
}

// MaxFaults bounds the faults that Validate reports for one net.
const MaxFaults = 100

// Validate checks that ids are present and unique over places and transitions, that
// every arc connects an existing place and transition in a direction that its kind
// allows, and that weights are 1 or more. It also checks that the arcs of inclusive
// gateways are consistent: a place is joined once, guards are on branches that are
// not the default, and there is at most one default, and that events are complete: see
// Event. The scopes must be a tree, and the inputs of a transition in scopes that enclose
// each other: see Scope. It returns nil, or the joined faults (each a *Fault) in source
// order.
func (n *Net) Validate() error {
	c := checker{net: n, kind: make(map[string]node, len(n.Places)+len(n.Transitions))}
	for i := range n.Places {
		c.node(n.Places[i].ID, n.Places[i].Pos, node{place: true, pos: n.Places[i].Pos})
	}
	for i := range n.Transitions {
		c.node(n.Transitions[i].ID, n.Transitions[i].Pos, node{pos: n.Transitions[i].Pos})
		c.events(&n.Transitions[i])
	}
	for i := range n.Arcs {
		c.arc(&n.Arcs[i])
	}
	if t, ok := c.tree(); ok {
		place, acts := c.chains(t)
		c.runs(t, place, acts)
	}
	return c.faults()
}

type node struct {
	place bool
	pos   Pos
}

func (n node) String() string {
	if n.place {
		return "place"
	}
	return "transition"
}

type checker struct {
	net   *Net
	kind  map[string]node
	found []*Fault

	optionals map[optionalArcs]int
	joined    map[[2]string]bool // place and transition
}

func (c *checker) fault(pos Pos, format string, args ...any) {
	c.found = append(c.found, &Fault{File: c.net.File, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

func (c *checker) node(id string, pos Pos, n node) {
	if id == "" {
		c.fault(pos, "%s without an id; expected an id attribute", n)
		return
	}
	if first, dup := c.kind[id]; dup {
		c.fault(pos, "%s has the id %q of the %s at line %d; expected every id once", n, id, first, first.pos.Line)
		return
	}
	c.kind[id] = n
}

// events checks what a transition throws and catches.
func (c *checker) events(t *Transition) {
	c.event(t, "throws", &t.Throws)
	c.event(t, "catches", &t.Trigger.Event)
	switch caught := t.Trigger.Event.Kind; {
	case t.Trigger.Kind == TriggerTimer && t.Trigger.Name == "":
		c.fault(t.Pos, "transition %q has the trigger timer without a time; expected an expression", t.ID)
	case t.Trigger.Begins && t.Trigger.Kind != TriggerDelay && t.Trigger.Kind != TriggerTime && t.Trigger.Kind != TriggerTimer:
		c.fault(t.Pos, "transition %q begins instances and has the trigger %s; expected delay, time or timer", t.ID, t.Trigger.Kind)
	case t.Trigger.Times > 0 && !t.Trigger.Begins:
		c.fault(t.Pos, "transition %q has a number of times and begins no instances; expected both or none", t.ID)
	case caught != EventNone && t.Trigger.Kind != TriggerEvent:
		c.fault(t.Pos, "transition %q catches a %s and has the trigger %s; expected the trigger event", t.ID, caught, t.Trigger.Kind)
	case caught != EventNone && t.Throws.Kind != EventNone:
		c.fault(t.Pos, "transition %q catches a %s and throws a %s; expected one or the other", t.ID, caught, t.Throws.Kind)
	}
}

func (c *checker) event(t *Transition, does string, e *Event) {
	switch {
	case *e == Event{}:
	case e.Kind != EventMessage && e.Kind != EventSignal:
		c.fault(t.Pos, "transition %q %s an event of kind %d; expected a message or a signal", t.ID, does, e.Kind)
	case e.Computed() && len(e.Name) <= MaxEventKey:
	case e.Name == "" || len(e.Name) > MaxEventName:
		c.fault(t.Pos, "transition %q %s a %s with a name of %d bytes; expected 1 to %d", t.ID, does, e.Kind, len(e.Name), MaxEventName)
	case e.Key != "" && e.Kind == EventSignal:
		c.fault(t.Pos, "transition %q %s the signal %q with a key; expected keys of messages only", t.ID, does, e.Name)
	case len(e.Key) > MaxEventKey:
		c.fault(t.Pos, "transition %q %s the message %q with a key of %d bytes; expected at most %d", t.ID, does, e.Name, len(e.Key), MaxEventKey)
	}
}

func (c *checker) arc(a *Arc) {
	src, okS := c.kind[a.Source]
	dst, okT := c.kind[a.Target]
	switch {
	case !okS:
		c.fault(a.Pos, "arc %q starts at %q, which is no place or transition of net %q", a.ID, a.Source, c.net.ID)
	case !okT:
		c.fault(a.Pos, "arc %q ends at %q, which is no place or transition of net %q", a.ID, a.Target, c.net.ID)
	case src.place == dst.place:
		c.fault(a.Pos, "arc %q joins two %ss, %q and %q; expected a place and a transition", a.ID, src, a.Source, a.Target)
	case src.place && a.Kind == Branch:
		c.fault(a.Pos, "branch arc %q leads from place %q to transition %q; expected it to lead from a transition to a place", a.ID, a.Source, a.Target)
	case !src.place && a.Kind != Normal && a.Kind != Branch:
		c.fault(a.Pos, "%s arc %q leads from transition %q to place %q; expected it to lead from a place to a transition",
			a.Kind, a.ID, a.Source, a.Target)
	case a.Weight == 0 && a.Kind != Reset:
		c.fault(a.Pos, "arc %q has weight 0; expected 1 or more", a.ID)
	case a.Kind == Join && a.Weight != 1:
		c.fault(a.Pos, "join arc %q has weight %d; expected 1", a.ID, a.Weight)
	case a.Kind != Branch && (a.Guard != "" || a.Default):
		c.fault(a.Pos, "%s arc %q has a guard or is a default; expected that of branch arcs only", a.Kind, a.ID)
	case a.Aside > AsideOwn:
		c.fault(a.Pos, "arc %q has the kind %d of aside; expected none, all or own", a.ID, a.Aside)
	case a.Aside != AsideNone && (a.Kind == Inhibitor || a.Kind == Reset):
		c.fault(a.Pos, "%s arc %q is aside; expected that of arcs along which paths lead", a.Kind, a.ID)
	case a.Default && a.Guard != "":
		c.fault(a.Pos, "branch arc %q is a default with a guard; expected one or the other", a.ID)
	case a.Kind == Join:
		c.join(a)
	case a.Kind == Branch:
		c.branch(a)
	}
}

func (c *checker) join(a *Arc) {
	if c.joined == nil {
		c.joined = map[[2]string]bool{}
	}
	key := [2]string{a.Source, a.Target}
	if c.joined[key] {
		c.fault(a.Pos, "join arc %q is a second one from place %q to transition %q; expected one", a.ID, a.Source, a.Target)
	}
	c.joined[key] = true
	if c.count(a.Target, Join) == MaxOptional+1 {
		c.fault(a.Pos, "transition %q has more than %d join arcs", a.Target, MaxOptional)
	}
}

func (c *checker) branch(a *Arc) {
	if c.count(a.Source, Branch) == MaxOptional+1 {
		c.fault(a.Pos, "transition %q has more than %d branch arcs", a.Source, MaxOptional)
	}
	if a.Default && c.count(a.Source, defaults) == 2 {
		c.fault(a.Pos, "branch arc %q is a second default of transition %q; expected one", a.ID, a.Source)
	}
}

// count counts the arcs of a kind of a transition.
func (c *checker) count(transition string, kind ArcKind) int {
	if c.optionals == nil {
		c.optionals = map[optionalArcs]int{}
	}
	key := optionalArcs{transition, kind}
	c.optionals[key]++
	return c.optionals[key]
}

// MaxOptional is the maximum number of join arcs, and of branch arcs, of a transition.
const MaxOptional = 64

type optionalArcs struct {
	transition string
	kind       ArcKind
}

// defaults is a separate kind for counting branch arcs that are defaults.
const defaults = Branch + 1

func (c *checker) faults() error {
	if len(c.found) == 0 {
		return nil
	}
	slices.SortStableFunc(c.found, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	more := len(c.found) - MaxFaults
	errs := make([]error, 0, min(len(c.found), MaxFaults+1))
	for _, f := range c.found[:min(len(c.found), MaxFaults)] {
		errs = append(errs, f)
	}
	if more > 0 {
		errs = append(errs, &Fault{File: c.net.File, Msg: fmt.Sprintf("%d more faults not shown", more)})
	}
	return errors.Join(errs...)
}
