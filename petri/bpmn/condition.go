// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// once begins the guard of a conditional event, which does not hold while a variable does
// not exist.
const once = "once: "

// condition returns the guard of a conditional event, or "" if the node has none.
func (n *node) condition() string {
	if n.event == nil || n.event.condition == "" {
		return ""
	}
	return once + n.event.condition
}

// watchedPlace returns the place that is marked until the condition of an event on an
// activity, or of an event sub-process, has held.
func watchedPlace(l *level, n *node) string { return l.id(n.id) + "/watched" }

// watch makes a conditional event occur by itself, once in each run of a petri.Scope: when it
// is armed with data for which its condition holds, or when a node inside puts a token with
// such data on its flows.
func (b *builder) watch(c *catcher, scope string) (watched string) {
	watched = b.place(scope, watchedPlace(c.at, c.x), c.x.label()+" (watched)", b.at(c.at, c.x.id), c.x.pos)
	thrown := b.caught(c)
	b.holds(c, watched, thrown, "")
	if c.of == nil {
		return watched
	}
	b.after(func() {
		own := c.at.within()
		for _, in := range c.of.within() {
			if in.prefix != c.at.prefix || c.x.host == nil && slices.Contains(own, in) {
				continue // a called process has variables of its own
			}
			for _, place := range b.flowPlaces(in) {
				b.holds(c, watched, thrown, place)
			}
		}
	})
	return watched
}

// occurred makes the transition by which a conditional event that does not interrupt occurs
// by name count as the one time that it would occur by itself.
func (b *builder) occurred(n *node, transition, watched string) {
	if !n.interrupts {
		b.test(petri.Reset, watched, transition, n.pos)
	}
}

// holds builds a transition by which a conditional event is thrown to itself. It looks at the
// token with which the event is armed, and at one in a place if that is not "".
func (b *builder) holds(c *catcher, watched, thrown, place string) {
	suffix, name := "/holds", c.x.label()+" (holds)"
	if place != "" {
		suffix, name = suffix+" "+place, c.x.label()+" (holds at "+place+")"
	}
	t := b.extra(c.at, c.x, suffix, name)
	t.Guard, t.Priority = c.x.condition(), petri.Urgent
	id := t.ID
	b.take(watched, id, c.x.pos)
	if place != "" {
		b.test(petri.Read, place, id, c.x.pos)
	}
	b.throwInto(id, thrown, c.x.pos)
}

// flowPlaces returns the places of a level into which its nodes put tokens.
func (b *builder) flowPlaces(l *level) []string {
	var out []string
	for _, f := range l.scope.flows {
		if place := l.id(f.id); f.src.kind != "eventBasedGateway" {
			out = append(out, place)
		}
	}
	for _, n := range l.scope.nodes {
		if place := l.id(n.id) + "/out"; b.made[place] {
			out = append(out, place)
		}
	}
	return out
}
