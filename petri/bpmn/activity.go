// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// node builds a node of a level. It returns a note for the node's Element, beyond its places and transitions.
func (b *builder) node(l *level, n *node) string {
	if b.left < 0 {
		return ""
	}
	if n.isSource() {
		return b.source(l, n, l.scope.doc.waitsFor(n))
	}
	switch n.kind {
	case "startEvent":
		return b.start(l, n)
	case "intermediateCatchEvent":
		if n.trigger().Kind == petri.TriggerTimer && !n.afterEventGateway() { // the time of each token is its own
			b.enclosed(l, n, nil, n.trigger())
		} else {
			b.pass(l, n, n.trigger())
		}
		return ""
	case "endEvent", "intermediateThrowEvent":
		return b.throw(l, n)
	case "boundaryEvent":
		return b.boundary(l, n)
	case "exclusiveGateway":
		return b.exclusive(l, n)
	case "parallelGateway":
		return b.parallel(l, n)
	case "inclusiveGateway":
		return b.inclusive(l, n)
	case "complexGateway":
		return b.complexJoin(l, n)
	case "eventBasedGateway":
		return b.eventGateway(l, n)
	}
	return b.activity(l, n)
}

// isSource reports whether a node begins an instance because it, or the event gateway before it, instantiates.
func (n *node) isSource() bool {
	return n.kind == "receiveTask" && n.instantiates() || n.afterEventGateway() && n.in[0].src.instantiates()
}

// afterEventGateway reports whether an event gateway waits for the node.
func (n *node) afterEventGateway() bool {
	return len(n.in) == 1 && n.in[0].src.kind == "eventBasedGateway"
}

// waitsFor returns what a catching event or a task waits for.
func (d *document) waitsFor(n *node) petri.Trigger {
	if n.event != nil {
		return n.trigger()
	}
	return d.taskTrigger(n)
}

// pass builds a node that is one transition.
func (b *builder) pass(l *level, n *node, trigger petri.Trigger) {
	from := b.input(l, n)
	t := b.transition(l, n, trigger).ID
	b.begin(from, n, t)
	b.output(l, n, t)
	b.completed(l, n, t)
	if guard := n.condition(); guard != "" {
		holds := b.step(l, n, "holds")
		holds.Guard = guard
		t = holds.ID
		b.begin(from, n, t)
		b.output(l, n, t)
	}
	if n.handles != nil { // in the order in which the handlers begin
		b.net.Transitions[len(b.net.Transitions)-1].Priority = l.rank[n.handles]
	}
}

func (b *builder) activity(l *level, n *node) string {
	kid := l.kids[n]
	trigger := n.adHocTrigger()
	switch {
	case n.byEvent && kid == nil:
		return "left out: it is empty"
	case n.byEvent:
		return "" // its start event builds everything
	case kid == nil:
		trigger = l.scope.doc.taskTrigger(n)
	}
	inTurn := l.takesTurns() && !n.isHandler() && !n.afterEventGateway()
	if kid == nil && n.loop == nil && n.maps == nil && len(n.attached) == 0 && !inTurn {
		b.pass(l, n, trigger)
		return b.contentNote(l, n)
	}
	begin, end := b.enclosed(l, n, kid, trigger)
	if n.adHoc != nil && kid != nil {
		b.adHocEnds(l, kid, n, begin, end)
	}
	return b.contentNote(l, n)
}

// contentNote returns a note on what an activity runs.
func (b *builder) contentNote(l *level, n *node) string {
	switch {
	case l.kids[n] != nil && n.calls != nil:
		return "the called process is inside, with ids that begin with " + l.id(n.id) + ":"
	case l.kids[n] != nil:
	case n.inner != nil:
		return "without content in this file: one piece of work"
	case n.kind == "callActivity":
		return "calls " + xmlscan.Quote(calledElement(n)) + ", which is not a process of the files with flow nodes: one piece of work"
	}
	return ""
}

// enter makes a transition begin a level.
func (b *builder) enter(l *level, transition string, pos petri.Pos) {
	for _, place := range slices.Concat(l.begin, l.await) {
		b.putFirst(transition, place, pos)
	}
}

// armedPlace returns the place that is marked while a boundary event that does not interrupt can occur.
func armedPlace(l *level, n *node) string { return l.id(n.id) + "/armed" }

// arm makes a transition mark the places of the events on an activity.
func (b *builder) arm(l *level, n *node, transition string) {
	for _, x := range n.attached {
		if !x.interrupts {
			b.arc(petri.Arc{Source: transition, Target: armedPlace(l, x), Weight: x.rounds(), Pos: x.pos})
		}
		if x.condition() != "" {
			b.put(transition, watchedPlace(l, x), x.pos)
		}
	}
}

// disarm makes a transition empty the places of the events on an activity.
func (b *builder) disarm(l *level, n *node, transition string) {
	for _, x := range n.attached {
		if !x.interrupts {
			b.test(petri.Reset, armedPlace(l, x), transition, x.pos)
		}
		if x.condition() != "" {
			b.test(petri.Reset, watchedPlace(l, x), transition, x.pos)
		}
	}
}

// boundary builds a boundary event. One that interrupts takes the activity's token
// and empties what is inside. Another one leaves the activity running.
func (b *builder) boundary(l *level, n *node) string {
	switch n.event.kind {
	case "compensate":
		return "leads to " + n.handler.title()
	case "cancel":
		return "" // the cancel end event leads to it
	}
	var place string
	if !n.interrupts {
		place = b.place(l.id(n.host.id), armedPlace(l, n), n.label()+" (armed)", b.at(l, n.id), n.pos)
		l.armed = append(l.armed, place)
		b.beside(n, place)
	}
	t := b.transition(l, n, n.trigger())
	t.Preempts = n.interrupts
	id := t.ID
	b.output(l, n, id)
	if kid := l.kids[n.host]; kid != nil && n.host.loop == nil && (n.event.kind == "error" || n.event.kind == "escalation") {
		b.leaves(kid, id) // as what is thrown in the called process
	}
	if n.interrupts {
		b.interrupt(l, n.host, id, n.pos)
	} else {
		b.awaitIn(place, n, id)
	}
	if n.condition() != "" {
		b.occurred(n, id, watchedPlace(l, n))
		watched := b.watch(&catcher{x: n, at: l, of: l.kids[n.host]}, l.id(n.host.id))
		l.armed = append(l.armed, watched)
		b.beside(n, watched)
	}
	return ""
}

// beside makes the token of a place for a boundary event of a call carry the variables around
// the call: the event does not see those of the called process.
func (b *builder) beside(n *node, place string) {
	if n.host.calls != nil {
		b.carriesAround(place)
	}
}

// interrupt makes a transition end an activity.
func (b *builder) interrupt(l *level, n *node, transition string, pos petri.Pos) {
	b.divert(l.id(n.id)+"/active", transition, pos)
	b.disarm(l, n, transition)
	b.clearLoop(l, n, transition)
	if kid := l.kids[n]; kid != nil {
		b.clear(kid, transition, pos)
	}
}

// awaitIn makes the transition of an event that does not interrupt wait while a place is marked, whose token
// gives it the variables. A timer occurs as often as it says, another event any number of times.
func (b *builder) awaitIn(place string, n *node, transition string) {
	b.divert(place, transition, n.pos)
	if !n.timed() || n.event.times == 0 {
		b.put(transition, place, n.pos)
	}
}
