// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// KindWords returns what people call an element of BPMN, given its name in XML and, of an event, the
// kind of its definition: "timer boundary event".
func KindWords(element, event string) string {
	kind := words(element)
	if event != "" && event != "none" {
		kind = event + " " + kind
	}
	return strings.Replace(kind, "event based", "event-based", 1)
}

// called is KindWords of a node.
func (n *node) called() string {
	if n.kind == "eventBasedGateway" {
		return KindWords(n.kind, "")
	}
	return strings.TrimPrefix(n.kindWords(), "none ")
}

// call gives the places and transitions of a net what their elements are called. Of the places whose
// tokens are at a node, those that the tokens reach last have the node's name. A flow before them
// is called a flow; another place, or a step, has a name that says what it is for.
func (x *parts) call(net *petri.Net) {
	for i := range net.Places {
		p, at := &net.Places[i], &x.places[i]
		p.Called = x.owners[at.of].called(p.Name)
		if n := x.owners[at.shown].node; n != nil && reached(at.word) == x.owners[at.shown].last {
			p.Called = petri.Called{Kind: n.called(), Name: n.label()}
		}
	}
	for i := range net.Transitions {
		t, at := &net.Transitions[i], &x.transitions[i]
		o := &x.owners[at.of]
		t.Called = o.called(cmp.Or(t.Name, t.ID))
		if n := o.node; n != nil && t.Role == petri.RoleWork {
			t.Called.Name = n.passed(x.flow(o.level, at.word))
		}
	}
}

// passed returns the name of a node, with what is at the other end of one of its flows, if that is not nil.
func (n *node) passed(f *flow) string {
	switch {
	case f == nil:
		return n.label()
	case f.src == n:
		return n.label() + " → " + cmp.Or(f.name, f.dst.label())
	}
	return cmp.Or(f.name, f.src.label()) + " → " + n.label()
}

// reached returns how far a token in the place id/word is on its way to the node at which it is shown.
func reached(word string) int {
	switch word {
	case "": // of the flow
		return 0
	case "in":
		return 1
	}
	return 2
}

// called returns the kind of an element with a name.
func (o *owner) called(name string) petri.Called {
	switch {
	case o.node != nil:
		return petri.Called{Kind: o.node.called(), Name: name}
	case o.flow != nil:
		return petri.Called{Kind: "sequence flow", Name: name}
	}
	return petri.Called{Kind: "process", Name: name}
}
