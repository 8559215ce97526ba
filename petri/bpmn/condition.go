// SPDX-License-Identifier: Apache-2.0

package bpmn

import "github.com/pnagent/pnagent/petri"

// once begins the guard of a conditional event, which does not hold while a variable does not exist.
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

// watch makes a conditional event occur by itself, once in each run of a petri.Scope: as soon as its condition
// holds with the variables that are seen there.
func (b *builder) watch(c *catcher, scope string) (watched string) {
	watched = b.place(scope, watchedPlace(c.at, c.x), c.x.label()+" (watched)", b.at(c.at, c.x.id), c.x.pos)
	thrown := b.caught(c)
	t := b.step(c.at, c.x, "holds", watched)
	t.Guard, t.Priority = c.x.condition(), petri.Urgent
	b.throwInto(t.ID, thrown, c.x.pos)
	return watched
}

// occurred makes the transition by which a conditional event that does not interrupt occurs
// by name count as the one time that it would occur by itself.
func (b *builder) occurred(n *node, transition, watched string) {
	if !n.interrupts {
		b.test(petri.Reset, watched, transition, n.pos)
	}
}
