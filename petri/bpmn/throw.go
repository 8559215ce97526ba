// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// start builds a start event.
func (b *builder) start(l *level, n *node) string {
	switch {
	case l.node != nil && l.node.byEvent:
		return b.eventStart(l, n)
	case n.event.kind == "none":
		b.pass(l, n, petri.Trigger{})
		return ""
	}
	return b.source(l, n, n.trigger())
}

// source builds an event that begins an instance.
func (b *builder) source(l *level, n *node, trigger petri.Trigger) string {
	if l.parent != nil {
		return "left out: a call begins at a none start event"
	}
	if n.event != nil && n.timed() {
		trigger.Begins, trigger.Times = true, n.event.times
	}
	t := b.transition(l, n, trigger).ID
	b.output(l, n, t)
	if b.alive == "" {
		return ""
	}
	b.test(petri.Inhibitor, b.alive, t, n.pos)
	b.after(func() {
		for _, place := range l.await {
			b.putFirst(t, place, n.pos)
		}
	})
	return ""
}

// eventStart builds the start of an event sub-process, which waits while the level
// around it is active. One that interrupts empties that level.
func (b *builder) eventStart(l *level, n *node) string {
	outer := l.parent
	b.scope(outer, l.node)
	if n.isCompensation() { // it waits for a throwing event
		b.keep(outer, outer.run, armedPlace(l, n), n, "armed")
		outer.await = append(outer.await, armedPlace(l, n))
		return ""
	}
	place := b.place(outer.run, armedPlace(l, n), n.label()+" (armed)", b.at(l, n.id), n.pos)
	outer.armed = append(outer.armed, place)
	b.rounds[place] = n.rounds()
	outer.await = append(outer.await, place)
	t := b.transition(l, n, n.trigger())
	t.Preempts = n.interrupts
	id := t.ID
	b.output(l, n, id)
	if n.condition() != "" {
		b.occurred(n, id, watchedPlace(l, n))
		watched := b.watch(&catcher{x: n, at: l, of: outer}, outer.run)
		outer.armed, outer.await = append(outer.armed, watched), append(outer.await, watched)
	}
	if !n.interrupts {
		b.awaitIn(place, n, id)
		return ""
	}
	b.take(place, id, n.pos)
	b.interruptLevel(outer, id, n.pos)
	return ""
}

// interruptLevel makes a transition empty a level, which continues with one of its event sub-processes.
func (b *builder) interruptLevel(l *level, transition string, pos petri.Pos) {
	b.after(func() {
		for _, in := range l.within() {
			for _, place := range slices.Concat(in.work, in.armed) {
				b.test(petri.Reset, place, transition, pos)
			}
		}
	})
}

// whenDone makes a transition wait until a level has no working tokens, and then empty its armed places.
func (b *builder) whenDone(l *level, transition string, pos petri.Pos) {
	for _, in := range l.within() {
		for _, place := range in.work {
			b.test(petri.Inhibitor, place, transition, pos)
		}
		for _, place := range in.armed {
			b.test(petri.Reset, place, transition, pos)
		}
		if l == b.root {
			for _, place := range in.done {
				b.test(petri.Reset, place, transition, pos)
			}
		}
	}
}

// lifetime builds the end of a process that has event sub-processes, or compensation: when no other tokens are
// left, the process stops waiting for their events, and forgets what it could compensate.
func (b *builder) lifetime() string {
	s, pos := b.root.scope, b.root.scope.el.pos
	label := (&node{id: s.id, name: s.name}).label()
	b.place(b.root.run, b.alive, label+" (active)", nil, pos)
	b.root.await = append(b.root.await, b.alive)
	end := b.place("", s.id+"/end", label+" (end)", nil, pos)
	b.left--
	done := s.id + "/done"
	b.net.Transitions = append(b.net.Transitions, petri.Transition{ID: done, Name: label + " (done)", Pos: pos})
	b.take(b.alive, done, pos)
	b.put(done, end, pos)
	b.after(func() { b.whenDone(b.root, done, pos) })
	has := "compensation"
	if len(b.root.events) > 0 {
		has = "event sub-processes"
	}
	return "has " + has + ": it ends when no other tokens are left in it"
}

// throw builds an end event, or an intermediate one that throws.
func (b *builder) throw(l *level, n *node) string {
	switch n.event.kind {
	case "terminate":
		return b.terminate(l, n)
	case "error":
		return b.throwError(l, n)
	case "escalation":
		return b.throwEscalation(l, n)
	case "compensate":
		return b.throwCompensation(l, n)
	case "cancel":
		b.throwInto(b.taking(l, n), b.cancelled(l), n.pos)
		return ""
	case "link":
		b.put(b.taking(l, n), l.id(n.link.id)+"/in", n.pos)
		return "leads to " + n.link.title()
	}
	b.pass(l, n, n.work())
	return ""
}

// taking builds the transition of a node that waits for nothing but its token.
func (b *builder) taking(l *level, n *node) string {
	from := b.input(l, n)
	t := b.transition(l, n, petri.Trigger{}).ID
	b.take(from, t, n.pos)
	return t
}

// terminate builds an event that ends its level: it empties all places in it and interrupts running actions.
func (b *builder) terminate(l *level, n *node) string {
	id := b.taking(l, n)
	b.net.Transitions[len(b.net.Transitions)-1].Preempts = true
	b.clear(l, id, n.pos)
	if l == b.root || l.results != "" {
		b.output(l, n, id)
	}
	return ""
}

// catcher is an event that catches an error or an escalation: a boundary event, or
// the start of an event sub-process.
type catcher struct {
	x  *node  // the event
	at *level // the level of the activity, or of the event sub-process
	of *level // the level that is emptied if x interrupts; nil on an activity without content
}

// catcher returns the nearest event around a level that catches an event thrown
// there. One of the same name takes precedence over one that catches every name.
func (b *builder) catcher(l *level, ev *event) *catcher {
	for from := (*level)(nil); l != nil; from, l = l, l.parent {
		if c := match(l.byStart(), ev, from); c != nil {
			return c
		}
		if c := match(l.byBoundary(), ev, nil); c != nil {
			return c
		}
	}
	return nil
}

// eventCode is the key by which an event is caught.
type eventCode struct{ kind, name string }

// byStart returns the starts of a level's event sub-processes by their codes.
func (l *level) byStart() map[eventCode][]*catcher {
	if l.starts == nil {
		l.starts = map[eventCode][]*catcher{}
		for _, kid := range l.events {
			note(l.starts, &catcher{x: kid.scope.start(), at: kid, of: l})
		}
	}
	return l.starts
}

// byBoundary returns the boundary events on the node whose content a level is, by their codes.
func (l *level) byBoundary() map[eventCode][]*catcher {
	if l.edge == nil {
		l.edge = map[eventCode][]*catcher{}
		if l.node != nil {
			for _, x := range l.node.attached {
				note(l.edge, &catcher{x: x, at: l.parent, of: l})
			}
		}
	}
	return l.edge
}

// note adds an event by its code.
func note(by map[eventCode][]*catcher, c *catcher) {
	key := eventCode{c.x.event.kind, c.x.event.name}
	by[key] = append(by[key], c)
}

// match returns the first event that catches an event, other than the start of the event
// sub-process that throws it.
func match(by map[eventCode][]*catcher, ev *event, thrower *level) *catcher {
	for _, code := range []string{ev.name, ""} {
		for _, c := range by[eventCode{ev.kind, code}] {
			if c.at != thrower || thrower == nil {
				return c
			}
		}
	}
	return nil
}

// start returns the one start event of an event sub-process.
func (s *scope) start() *node {
	return s.nodes[slices.IndexFunc(s.nodes, func(n *node) bool { return n.kind == "startEvent" })]
}

// throwError builds an error end event. The file determines which event catches it.
func (b *builder) throwError(l *level, n *node) string {
	c := b.catcher(l, n.event)
	if c == nil {
		b.Warnings.Add(b.here(n.pos), n.title()+" is not caught by any event around it: it ends the instance, as a terminate end event does")
		b.uncaught(l, n)
		return "not caught: ends the instance"
	}
	b.throwTo(c, l, n, petri.Trigger{})
	return "caught by " + c.x.title()
}

// uncaught builds an error that ends the instance.
func (b *builder) uncaught(l *level, n *node) {
	if l == b.root {
		b.terminate(l, n)
		return
	}
	place := b.workPlace(b.root, thrownPlace(l, n), n.label()+" (thrown)", b.at(l, n.id), n.pos)
	b.put(b.taking(l, n), place, n.pos)
	ends := b.step(l, n, "ends", place)
	ends.Preempts, ends.Priority = true, petri.Urgent
	b.clear(b.root, ends.ID, n.pos)
	b.put(ends.ID, b.end(l, n), n.pos)
}

// throwTo builds a throwing event that puts a token where a catching event waits for it,
// and returns its transition.
func (b *builder) throwTo(c *catcher, l *level, n *node, work petri.Trigger) string {
	from := b.input(l, n)
	t := b.transition(l, n, work).ID
	b.begin(from, n, t)
	end := c.at
	if c.x.host == nil {
		end = c.of
	}
	for k := l; k != end; k = k.parent {
		if work.Kind != petri.TriggerNone && k.node.returns() { // the work is not done again if that cannot be evaluated
			over := b.state(l, n, "ran")
			b.put(t, over, n.pos)
			t = b.step(l, n, "returns", over).ID
			break
		}
	}
	for ; l != end; l = l.parent {
		b.leaves(l, t)
	}
	b.throwInto(t, b.caught(c), n.pos)
	return t
}

// thrownPlace is the place from which an event takes what was thrown to it.
func thrownPlace(l *level, x *node) string { return l.id(x.id) + "/thrown" }

// caught returns the place from which an event takes what is thrown to it. With the first
// use it builds the place, and the transition that catches.
func (b *builder) caught(c *catcher) string {
	id := thrownPlace(c.at, c.x)
	if b.made[id] {
		return id
	}
	b.made[id] = true
	switch host := c.x.host; {
	case host != nil && host.loop != nil: // it ends all runs
		b.loopPlace(c.at, host, c.at.id(host.id), id, c.x.label()+" (thrown)")
	case c.of == nil:
		b.stateIn(c.at.id(host.id), c.at, c.x, "thrown")
	default:
		b.workPlace(c.of, id, c.x.label()+" (thrown)", b.at(c.at, c.x.id), c.x.pos)
	}
	if c.x.host != nil {
		b.carriesAround(id)
	}
	t := b.step(c.at, c.x, "caught", id)
	t.Preempts, t.Priority = c.x.interrupts, petri.Urgent
	catch := t.ID
	switch {
	case !c.x.interrupts:
	case c.x.host != nil:
		b.interrupt(c.at, c.x.host, catch, c.x.pos)
	default:
		b.interruptLevel(c.of, catch, c.x.pos)
	}
	b.output(c.at, c.x, catch)
	return id
}

// throwEscalation builds an escalation. Its own flow continues unless the catching event interrupts.
func (b *builder) throwEscalation(l *level, n *node) string {
	c := b.catcher(l, n.event)
	switch {
	case c == nil:
		b.pass(l, n, n.work())
		return "not caught in this process"
	case c.x.interrupts:
		b.throwTo(c, l, n, n.work())
		return "caught by " + c.x.title() + ", which interrupts"
	}
	b.output(l, n, b.throwTo(c, l, n, n.work()))
	return "caught by " + c.x.kindOf("non-interrupting "+c.x.kindWords())
}
