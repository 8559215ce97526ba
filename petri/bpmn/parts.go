// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// Part is the part of a net that one element of the process became. Each place of the
// net is in Places of one Part, and each transition in Transitions of one. An element
// without a place, a transition and tokens has no Part.
type Part struct {
	Element string   // its id; that of the process for what belongs to the process as a whole
	Calls   []string // the call activities around it, outermost first, if it is of a called process

	Places      []string // of a sequence flow: the place at which tokens arrive that pass it
	Transitions []string

	// Tokens are the places whose tokens are at the element: those that it takes or holds.
	// Each place is in Tokens of at most one Part. The place of a sequence flow is in
	// those of the node at its end; before a gateway that joins or chooses, in those of the flow.
	// An activity with content has one token there for each time that it is active, whatever
	// it has inside: petri.RoleState. An activity that runs several times without content has
	// one for each run. The tokens of other places record what is armed, counted or returned.
	Tokens []string

	// Fires are the transitions of which each firing is one time that the element occurred or
	// ended: one of a loop is one of its runs. The others, of petri.RoleState, are steps on the way.
	Fires []string
}

// parts returns the parts of a net that is complete, in the order of its levels. It sets the
// roles of the places and transitions, what their elements are called, and those at which tokens are shown.
func (b *builder) parts() []Part {
	levels := b.root.within()
	nodes, flows := count(levels)
	elements := 1 + nodes + flows
	x := &parts{
		list: make([]Part, 0, elements), owners: make([]owner, 0, elements), index: make(map[string]int, elements),
		places: make([]owned, len(b.net.Places)), transitions: make([]owned, len(b.net.Transitions)),
	}
	x.add(owner{level: b.root}, b.root.scope.id, nil)
	for _, l := range levels {
		if l.scope.call != nil { // none of it is in the file
			continue
		}
		calls := l.calls()
		for _, n := range l.scope.nodes {
			x.add(owner{level: l, node: n}, n.id, calls)
		}
		for _, f := range l.scope.flows {
			x.add(owner{level: l, flow: f}, f.id, calls)
		}
	}
	for i := range b.net.Places {
		x.place(&b.net.Places[i], &x.places[i])
	}
	for i := range b.net.Transitions {
		x.transition(&b.net.Transitions[i], &x.transitions[i])
	}
	x.call(b.net)
	if x.list[0].isEmpty() { // as nearly always, and none of the others
		x.list = x.list[1:]
	}
	return slices.DeleteFunc(x.list, Part.isEmpty)
}

func (p Part) isEmpty() bool { return len(p.Places)+len(p.Transitions)+len(p.Tokens) == 0 }

// calls returns the ids of the call activities around a level.
func (l *level) calls() (out []string) {
	for ; l.node != nil; l = l.parent {
		if l.node.calls != nil {
			out = append(out, l.node.el.attr("id"))
		}
	}
	slices.Reverse(out)
	return out
}

// parts are the parts of a net by the ids of the elements.
type parts struct {
	list   []Part         // the first is the process'
	owners []owner        // of list
	index  map[string]int // in list
	ids    []string       // not yet given out

	places, transitions []owned // those of the net
}

// owned is a place or a transition with the id of an element, or that and "/" and a word.
type owned struct {
	of    int // the index of the element
	word  string
	shown int // of a place: the index of the element at which its tokens are; that of the process for none
}

// owner is an element at a level: a node, a sequence flow or, without both, the process.
type owner struct {
	level *level
	node  *node
	flow  *flow
	last  int // how far tokens that are shown at it get: see reached
}

func (x *parts) add(o owner, id string, calls []string) {
	x.index[o.level.id(id)] = len(x.list)
	x.owners = append(x.owners, o)
	x.list = append(x.list, Part{Element: id, Calls: calls})
}

// append appends an id to a list, which nearly always stays the only one.
func (x *parts) append(to *[]string, id string) {
	if *to == nil {
		*to = give(&x.ids, 1)[:0]
	}
	*to = append(*to, id)
}

// owner returns the element of which a place or a transition has the id, or one that
// begins with it and "/". What no element has is the process'.
func (x *parts) owner(id string) owned {
	for end := len(id); end > 0; end = strings.LastIndexByte(id[:end], '/') {
		if part, known := x.index[id[:end]]; known {
			return owned{of: part, word: strings.TrimPrefix(id[end:], "/")}
		}
	}
	return owned{word: id}
}

// flow returns the sequence flow of a level that the word of a transition names; nil if it names none.
func (x *parts) flow(l *level, word string) *flow {
	if word == "" {
		return nil
	}
	if part, known := x.index[l.id(strings.TrimPrefix(word, "flow "))]; known {
		return x.owners[part].flow
	}
	return nil
}

func (x *parts) place(pl *petri.Place, at *owned) {
	id := pl.ID
	*at = x.owner(id)
	p, o := &x.list[at.of], &x.owners[at.of]
	x.append(&p.Places, id)
	if f := o.flow; f != nil && at.word == "" {
		at.shown = at.of
		if f.dst.kind == "eventBasedGateway" || !strings.HasSuffix(f.dst.kind, "Gateway") {
			pl.Element = o.level.id(f.dst.id)
			at.shown = x.index[pl.Element]
		}
		x.show(id, at)
		return
	}
	role, shown := o.role(at.word)
	pl.Role = role
	if shown {
		at.shown = at.of
		x.show(id, at)
		if role != petri.RoleWork {
			pl.Element = o.level.id(p.Element)
		}
	}
}

// show notes that the tokens of a place are at an element.
func (x *parts) show(id string, at *owned) {
	x.append(&x.list[at.shown].Tokens, id)
	o := &x.owners[at.shown]
	o.last = max(o.last, reached(at.word))
}

// role returns the role of the place id/word of an element, and whether its tokens are at the element. A token
// of an instance that waits is in a place of work: where it waits, and not in what is active around that.
func (o *owner) role(word string) (role petri.Role, shown bool) {
	n := o.node
	if n == nil { // the end of the whole process, beside those that are drawn
		return petri.RoleState, word == "end"
	}
	content, runs := o.level.kids[n] != nil, n.holds()
	switch word {
	case "start", "in", "out":
		return petri.RoleWork, true
	case "thrown", "compensating": // on its way, or around the handlers
		return petri.RoleState, true
	case "active":
		if content && !n.offers() || runs {
			return petri.RoleState, content && !n.offers()
		}
		return petri.RoleWork, true
	case "run", "ran":
		if !content || runs && n.offers() {
			return petri.RoleWork, true
		}
	case "end": // an activity without a flow out of it is over
		if !n.isActivity() {
			return petri.RoleWork, true
		}
	case "count": // of those that have arrived
		return petri.RoleWork, true
	}
	return aside(word), false
}

// offers reports whether a node is an ad hoc sub-process, which waits until what is inside is begun by name.
func (n *node) offers() bool { return n.adHoc != nil && n.adHoc.chosen == "" }

// aside returns the role of a place that has no tokens of the element.
func aside(word string) petri.Role {
	if strings.HasPrefix(word, callPrefix) && strings.HasSuffix(word, calledSuffix) {
		return petri.RoleWork // a call of a process by an expression, which another program does
	}
	switch word[strings.LastIndexByte(word, '/')+1:] {
	case "choosing", "start": // what has no value, or one that names nothing inside, is an incident there
		return petri.RoleWork
	case "run", "done", "completed":
		return petri.RoleData
	}
	return petri.RoleState
}

func (x *parts) transition(t *petri.Transition, at *owned) {
	*at = x.owner(t.ID)
	word, p, o := at.word, &x.list[at.of], &x.owners[at.of]
	x.append(&p.Transitions, t.ID)
	if o.node != nil && o.node.fires(word, x.flow(o.level, word)) {
		x.append(&p.Fires, t.ID)
		return
	}
	t.Role = petri.RoleState
	if strings.HasPrefix(word, callPrefix) && t.Trigger.Kind != petri.TriggerNone {
		t.Role = petri.RoleWork
	}
}

// fires reports whether a firing of the transition id/word, which may be that of a
// sequence flow, is one time that the node occurred.
func (n *node) fires(word string, f *flow) bool {
	switch {
	case word == "", word == "caught":
		return true
	case word == "holds": // a boundary event throws to itself instead
		return n.kind == "intermediateCatchEvent"
	case f != nil && n.kind == "exclusiveGateway":
		return n.splits() == (f.src == n)
	}
	return n.isCompensation() && (n.kind == "boundaryEvent" || n.kind == "startEvent") // each begins a handler
}
