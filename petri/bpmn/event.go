// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// event is what an event catches or throws.
type event struct {
	kind string // "none", "message", "timer", …; "multiple" for several
	// name is the name of the message, signal or link, the code of the error or
	// escalation, or the condition; "" if the file has none.
	name      string
	condition string        // the expression of a conditional event that is evaluated; "" for none
	timer     petri.Trigger // of a timer
	times     uint32        // of a timer: how often it occurs; 0 without end
}

// readEvent reads the event definition of an event.
func (d *document) readEvent(n *node) *event {
	ev := &event{kind: "none"}
	found := 0
	for _, k := range n.el.kids {
		if ref := k; k.is("eventDefinitionRef") {
			if k = d.defs[local(k.text)]; k == nil {
				d.refuse(ref.pos, n.kindOf(words(n.kind))+" refers to the event definition "+xmlscan.Quote(ref.text)+", which is not in the file; expected one")
				continue
			}
		}
		kind, is := strings.CutSuffix(k.name, "EventDefinition")
		switch {
		case k.space != model:
		case is:
			if found++; found > 1 {
				ev.kind = "multiple"
				return ev
			}
			ev.kind = kind
			if !isEventKind(kind) {
				ev.kind = "unknown"
			}
			d.readDefinition(n, ev, k)
		}
	}
	if found == 0 {
		d.readForeignEvent(n, ev)
	}
	return ev
}

// readForeignEvent reads the event of Flowable that a catching event has in an extension: one of its
// event registry, or a change of a variable. As for other conditions, a request lets it occur.
func (d *document) readForeignEvent(n *node, ev *event) {
	if n.kind != "startEvent" && n.kind != "boundaryEvent" && n.kind != "intermediateCatchEvent" {
		return
	}
	for _, x := range n.el.extensions() {
		name := oneLine(x.text)
		switch x.name {
		case "eventType":
		case "variableListenerEventDefinition":
			name = oneLine(x.attr("variableName"))
		default:
			continue
		}
		ev.kind, ev.name = "conditional", name
		d.Warnings.Add(x.pos, n.kindOf(words(n.kind))+": its "+xmlscan.Tag(x.name)+" is not followed; it waits for an event of that name")
		return
	}
}

func isEventKind(kind string) bool {
	return slices.Contains([]string{"message", "timer", "signal", "conditional", "error", "escalation", "link", "terminate", "compensate", "cancel"}, kind)
}

// kindOf returns the title of a node whose event is not read yet.
func (n *node) kindOf(kind string) string { return kind + " " + xmlscan.Quote(n.id) }

func (d *document) readDefinition(n *node, ev *event, e *elem) {
	switch ev.kind {
	case "message":
		ev.name = d.readMessage(n, petri.EventMessage, e.attr("messageRef"))
	case "signal":
		ev.name = d.readMessage(n, petri.EventSignal, e.attr("signalRef"))
	case "error":
		ev.name = d.code(n, e.attr("errorRef"), "errorCode")
	case "escalation":
		ev.name = d.code(n, e.attr("escalationRef"), "escalationCode")
	case "compensate":
		ev.name, n.waits = local(e.attr("activityRef")), e.attr("waitForCompletion") != "false"
	case "link":
		ev.name = cmp.Or(oneLine(e.attr("name")), n.name)
	case "conditional":
		title := n.kindOf("conditional " + words(n.kind))
		c := e.kid("condition")
		if c != nil {
			ev.condition = d.expression(c)
			ev.name = unmarked(ev.condition)
		}
		switch {
		case ev.condition == "":
			d.Warnings.Add(e.pos, title+" has no condition; it waits for an event of its name")
		case n.kind == "startEvent" && !n.inside, isForeign(ev.condition):
			d.Warnings.Add(c.pos, title+": its condition is not evaluated; it waits for an event of that name")
			ev.condition = ""
		}
	case "timer":
		ev.timer, ev.times = d.readTimer(n, e)
	}
}

// named returns the name of a root element, or its id if it has none.
func (d *document) named(ref string) string {
	ref = local(ref)
	e := d.defs[ref]
	if e == nil {
		return ref
	}
	return cmp.Or(oneLine(e.attr("name")), ref)
}

// code returns the code of an error or escalation, or "" if it has none. A reference
// to no element of the file is a code itself. An expression is refused.
func (d *document) code(n *node, ref, attr string) string {
	code := local(ref)
	if e := d.defs[code]; e != nil {
		code = oneLine(e.attr(attr))
	}
	if isExpression(code) {
		d.refuseNode(n, "the "+attr+" "+xmlscan.Quote(code)+" of "+words(n.kind), "a code that is not an expression")
	}
	return code
}

// readTimer reads a timer. It returns its trigger and how often it occurs: 0 is without end.
// A text that is neither a constant nor an expression becomes an event.
func (d *document) readTimer(n *node, e *elem) (petri.Trigger, uint32) {
	title := n.kindOf("timer " + words(n.kind))
	for _, name := range []string{"timeDuration", "timeDate", "timeCycle"} {
		k := e.kid(name)
		if k == nil || k.text == "" {
			continue
		}
		if isExpression(k.text) {
			times := uint32(1)
			if name == "timeCycle" {
				times = 0
			}
			return petri.Trigger{Kind: petri.TriggerTimer, Name: oneLine(k.text)}, times
		}
		t, times, err := parseTimer(name, k.text)
		if err != nil {
			d.Warnings.Add(k.pos, title+": "+xmlscan.Quote(k.text)+" "+err.Error()+"; it waits for an event of that name")
			t = petri.Trigger{Kind: petri.TriggerEvent}
		}
		if t.Kind != petri.TriggerTimer {
			t.Name = oneLine(k.text)
		}
		return t, times
	}
	d.Warnings.Add(e.pos, title+" has no time; it waits for an event")
	return petri.Trigger{Kind: petri.TriggerEvent, Name: n.label()}, 1
}

// trigger returns what a catching event waits for.
func (n *node) trigger() petri.Trigger {
	switch n.event.kind {
	case "timer":
		return n.event.timer
	case "none", "link":
		return petri.Trigger{}
	}
	return petri.Trigger{Kind: petri.TriggerEvent, Name: cmp.Or(n.event.name, n.label()), Event: n.message}
}

// rounds returns how many tokens arm an event: a timer takes one each time.
func (n *node) rounds() uint32 {
	if n.interrupts || !n.timed() {
		return 1
	}
	return max(n.event.times, 1)
}

// timed reports whether an event is a timer that occurs by itself.
func (n *node) timed() bool {
	k := n.event.timer.Kind
	return k == petri.TriggerDelay || k == petri.TriggerTime || k == petri.TriggerTimer
}

// work returns the work of a throwing event: none of an end without one.
func (n *node) work() petri.Trigger {
	if n.kind == "endEvent" && n.event.kind == "none" {
		return petri.Trigger{}
	}
	return petri.Trigger{Kind: petri.TriggerWork, Name: cmp.Or(n.workName(), n.event.name)}
}

// workName returns the work that a process engine binds a node to, or "".
func (n *node) workName() string {
	for _, k := range n.el.kids { // Camunda gives the work of a message to its definition
		if w := workName(k); k.is("messageEventDefinition") && w != "" {
			return w
		}
	}
	return workName(n.el)
}
