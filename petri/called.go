// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"cmp"
	"strconv"
	"strings"
)

// Called is what an element of a Model is called in the notation of its author. For a net that was
// drawn as one it is zero.
type Called struct {
	Kind string // such as "user task"
	Name string // such as "Approve the request"; the id of an element without a name
}

// String returns the words for a sentence: user task "Approve the request".
func (c Called) String() string { return c.Kind + " " + strconv.Quote(c.Name) }

// Words returns what the place is called for people: as the element that its author drew, or else
// as the place with its id.
func (p *Place) Words() Called { return p.Called.or("place", p.ID) }

// Words returns the same for the transition.
func (t *Transition) Words() Called { return t.Called.or("transition", t.ID) }

func (c Called) or(kind, id string) Called {
	if c.Kind == "" {
		return Called{kind, id}
	}
	return c
}

// Label returns the words of a place of a Model, and otherwise its name or else its id.
func (p *Place) Label() string { return p.Called.label(p.Name, p.ID) }

// Label returns the same for the transition.
func (t *Transition) Label() string { return t.Called.label(t.Name, t.ID) }

func (c Called) label(name, id string) string {
	if c.Kind == "" {
		return cmp.Or(name, id)
	}
	return c.String()
}

// Awaits returns what a transition that is called so waits for if it is enabled and fires only
// from outside: "waits for a message".
func (c Called) Awaits() string {
	kind := c.Kind
	switch {
	case kind == "":
		return "waits to be fired from outside"
	case kind == "user task":
		return "waits for a person to complete it"
	case kind == "manual task":
		return "waits for a person to report that it is done"
	case strings.HasPrefix(kind, "message ") || kind == "receive task":
		return "waits for a message"
	case strings.HasPrefix(kind, "signal "):
		return "waits for a signal"
	case strings.HasPrefix(kind, "conditional "):
		return "waits for its condition to come true"
	}
	return "waits to be completed from outside"
}

// Words returns what the net is called for people, with its id: as a process if it is one of BPMN.
func (n *Net) Words() Called {
	if n.Model != nil && n.Model.Kind == ModelBPMN {
		return Called{"process", n.ID}
	}
	return Called{"net", n.ID}
}
