// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"
	"strings"
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
	// An activity with a scope has one token there for each time that it is active, whatever
	// it has inside; the tokens of other places record what is armed, counted or returned.
	Tokens []string

	// Fires are the transitions of which each firing is one time that the element occurred or
	// ended: one of a loop is one of its runs. The others are steps on the way.
	Fires []string
}

// parts returns the parts of a net that is complete, in the order of its levels.
func (b *builder) parts() []Part {
	x := &parts{owners: map[string]owner{}, flows: map[string]*flow{}}
	x.process = x.add(b.root, b.root.scope.id, nil, nil)
	for _, l := range b.root.within() {
		calls := l.calls()
		for _, n := range l.scope.nodes {
			if _, read := l.scope.doc.ids[n.id]; read { // not one that choice adds
				x.add(l, n.id, n, calls)
			}
		}
		for _, f := range l.scope.flows {
			if _, read := l.scope.doc.ids[f.id]; read {
				x.flows[l.id(f.id)] = f
				x.add(l, f.id, nil, calls)
			}
		}
	}
	for i := range b.net.Places {
		x.place(b.net.Places[i].ID)
	}
	for i := range b.net.Transitions {
		x.transition(b.net.Transitions[i].ID)
	}
	return slices.DeleteFunc(x.list, func(p Part) bool { return len(p.Places)+len(p.Transitions)+len(p.Tokens) == 0 })
}

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
	list    []Part
	owners  map[string]owner
	flows   map[string]*flow
	process owner
}

// owner is an element at a level. The node is nil for a sequence flow and the process.
type owner struct {
	part  int
	level *level
	node  *node
}

func (x *parts) add(l *level, id string, n *node, calls []string) owner {
	o := owner{len(x.list), l, n}
	x.owners[l.id(id)] = o
	x.list = append(x.list, Part{Element: id, Calls: calls})
	return o
}

// owner returns the element of which a place or a transition has the id, or one that
// begins with it and "/", and the rest of that id. What no element has is the process'.
func (x *parts) owner(id string) (owner, string) {
	for end := len(id); end > 0; end = strings.LastIndexByte(id[:end], '/') {
		if o, ok := x.owners[id[:end]]; ok {
			return o, strings.TrimPrefix(id[end:], "/")
		}
	}
	return x.process, id
}

func (x *parts) place(id string) {
	o, word := x.owner(id)
	p := &x.list[o.part]
	p.Places = append(p.Places, id)
	if f := x.flows[id]; f != nil && word == "" {
		if f.dst.kind == "eventBasedGateway" || !strings.HasSuffix(f.dst.kind, "Gateway") {
			p = &x.list[x.owners[o.level.id(f.dst.id)].part]
		}
		p.Tokens = append(p.Tokens, id)
	} else if o.node.holds(word) {
		p.Tokens = append(p.Tokens, id)
	}
}

// holds reports whether the tokens of the place id/word are at the node.
func (n *node) holds(word string) bool {
	switch word {
	case "start", "in", "out", "active", "thrown", "compensating", "undone":
		return n != nil
	case "end": // an activity without a flow out of it is over
		return n == nil || !n.isActivity()
	case "count": // of those that have arrived; in a loop, that of its runs
		return n != nil && n.kind == "complexGateway"
	}
	return false
}

func (x *parts) transition(id string) {
	o, word := x.owner(id)
	p := &x.list[o.part]
	p.Transitions = append(p.Transitions, id)
	if o.node != nil && o.node.fires(word, x.flows[o.level.id(strings.TrimPrefix(word, "flow "))]) {
		p.Fires = append(p.Fires, id)
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
