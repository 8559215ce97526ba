// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// A completed run of an activity with a compensation handler leaves a token in id/done, with the data of that
// time. A completed sub-process with such activities leaves one in id/completed, and so does an activity that
// runs several times. A throwing event puts a token in id/compensating. While it is there, the tokens of the
// activities that it compensates begin their handlers, and then it waits for these.

func (n *node) isHandler() bool { return n.el.attr("isForCompensation") == "true" }

func (n *node) isCompensation() bool { return n.event != nil && n.event.kind == "compensate" }

// compensates reports whether a node is an event sub-process for compensation.
func (n *node) compensates() bool {
	return n.byEvent && slices.ContainsFunc(n.inner.nodes, func(k *node) bool { return k.kind == "startEvent" && k.isCompensation() })
}

// connectHandlers finds the handlers of the compensation boundary events of a scope.
func (d *document) connectHandlers(s *scope) {
	for _, n := range s.nodes {
		if n.kind != "boundaryEvent" || !n.isCompensation() || n.host == nil {
			continue
		}
		for _, id := range d.associated[n.id] {
			if h := d.inside(s, id).node; h != nil && h.isHandler() {
				n.handler, h.handles = h, n.host
				d.followed[[2]string{n.id, id}] = true
			}
		}
		switch {
		case n.handler == nil:
			d.refuseNode(n, "no association of "+n.kindWords(), "one with an activity that is for compensation, of the same process or sub-process")
		case n.host.undo != nil:
			d.refuseNode(n, "a second "+n.kindWords(), "one on "+n.host.title())
		}
		n.host.undo = n
	}
}

// checkCompensation refuses what cannot be built of a compensation event or a cancel event.
func (d *document) checkCompensation(n, owner *node) {
	switch {
	case n.kind == "boundaryEvent" && n.isCompensation() && len(n.out) > 0:
		d.refuseNode(n, "a sequence flow out of "+n.kindWords(), "an association")
	case n.event.kind == "cancel" && n.kind == "boundaryEvent" && n.host != nil && n.host.kind != "transaction":
		d.refuseNode(n, n.kindWords()+" on "+n.host.kindWords(), "it on a transaction")
	case n.event.kind == "cancel" && n.kind == "boundaryEvent" && n.host != nil && n.host.cancelled() != n:
		d.refuseNode(n, "a second "+n.kindWords(), "one on "+n.host.title())
	case n.event.kind == "cancel" && n.kind == "endEvent" && (owner == nil || owner.kind != "transaction" || owner.cancelled() == nil):
		d.refuseNode(n, n.kindWords(), "it in a transaction with a cancel boundary event")
	}
}

// cancelled returns the cancel boundary event on a node, or nil.
func (n *node) cancelled() *node {
	for _, x := range n.attached {
		if x.event.kind == "cancel" {
			return x
		}
	}
	return nil
}

// place ids of compensation.
func donePlace(l *level, n *node) string      { return l.id(n.id) + "/done" }
func completedPlace(l *level, n *node) string { return l.id(n.id) + "/completed" }

// keep adds a place that keeps its tokens when its level completes.
func (b *builder) keep(l *level, scope, id string, n *node, word string) {
	l.done = append(l.done, id)
	b.place(scope, id, n.label()+" ("+word+")", b.at(l, n.id), n.pos)
}

// completed makes the transition that ends a run of an activity leave the tokens for its compensation.
func (b *builder) completed(l *level, n *node, transition string) {
	b.ended(l, n, transition)
	if n.undo != nil {
		b.keep(l, l.runOf(n), donePlace(l, n), n, "done")
		b.put(transition, donePlace(l, n), n.pos)
	}
	if n.kept(l.kids[n]) && n.completes() {
		b.keep(l, l.id(n.id), completedPlace(l, n), n, "completed")
		b.put(transition, completedPlace(l, n), n.pos)
	}
}

// completes reports whether what is done in an activity counts only once the whole has completed: a
// sub-process, or all runs of an activity that runs several times.
func (n *node) completes() bool { return n.loop != nil || n.undo == nil }

// kept reports whether the completed runs of an activity remain for compensation.
func (n *node) kept(kid *level) bool {
	return n.undo != nil || kid != nil && n.calls == nil && kid.isReversible()
}

func (l *level) isReversible() bool { return l.undo != nil || len(l.reversible) > 0 }

// noteReversible notes how a node matters for the compensation of its level.
func (l *level) noteReversible(n *node) {
	switch kid := l.kids[n]; {
	case n.byEvent && kid != nil && n.compensates():
		l.undo = kid
	case !n.byEvent && n.kept(kid):
		l.reversible = append(l.reversible, n)
	}
}

// reversible is what a throwing event compensates: an activity with a handler, or a
// sub-process with an event sub-process for it.
type reversible struct {
	x     *node    // the catching event: on the activity, or the start of the event sub-process
	at    *level   // the level of x
	rank  int      // in the order of the sequence flows
	reads []string // marked if the sub-processes around it have completed
}

// compensable returns what compensating a level compensates.
func (l *level) compensable(reads []string) (out []reversible) {
	for _, n := range l.reversible {
		out = append(out, l.compensableAt(n, reads)...)
	}
	return out
}

// compensableAt returns what compensating an activity compensates.
func (l *level) compensableAt(n *node, reads []string) []reversible {
	kid := l.kids[n]
	if n.completes() {
		reads = append(slices.Clone(reads), completedPlace(l, n))
	}
	switch {
	case n.undo != nil && n.undo.handler != nil:
		return []reversible{{n.undo, l, l.rank[n], reads}}
	case kid == nil || n.byEvent || n.calls != nil:
		return nil
	}
	if e := kid.undo; e != nil {
		return []reversible{{e.scope.start(), e, l.rank[n], reads}}
	}
	return kid.compensable(reads)
}

// reversibles returns what a throwing event of a level compensates, and the level that
// encloses all of it. An event sub-process can compensate what is around it.
func (b *builder) reversibles(l *level, n *node) (all []reversible, of *level) {
	of, ref := l, n.event.name
	if l.node != nil && l.node.byEvent {
		of = l.parent
	}
	for _, at := range slices.Compact([]*level{l, of}) {
		if ref == "" {
			all = append(all, at.compensable(nil)...)
			continue
		}
		if i := slices.IndexFunc(at.scope.nodes, func(k *node) bool { return k.el.attr("id") == ref && k.isActivity() }); i >= 0 {
			return at.compensableAt(at.scope.nodes[i], nil), of
		}
	}
	return all, of
}

// order numbers the nodes of a level and of those inside it in the order of the sequence
// flows, as far as they have one.
func (b *builder) order(l *level) {
	seen := map[*node]bool{}
	var last []*node // in reverse
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for i := range n.out {
			visit(n.out[len(n.out)-1-i].dst)
		}
		for _, x := range n.attached {
			visit(x)
		}
		visit(n.link)
		last = append(last, n)
	}
	for i := range l.scope.nodes {
		if n := l.scope.nodes[len(l.scope.nodes)-1-i]; len(n.in) == 0 && n.host == nil {
			visit(n)
		}
	}
	for _, n := range l.scope.nodes {
		visit(n)
	}
	l.rank = make(map[*node]int, len(last))
	for _, n := range slices.Backward(last) {
		b.ranks++
		l.rank[n] = b.ranks
		if kid := l.kids[n]; kid != nil {
			b.order(kid)
		}
	}
}

// throwCompensation builds an event that compensates.
func (b *builder) throwCompensation(l *level, n *node) string {
	all, of := b.reversibles(l, n)
	t := b.taking(l, n)
	compensating := b.workPlace(of, l.id(n.id)+"/compensating", n.label()+" (compensating)", b.at(l, n.id), n.pos)
	b.put(t, compensating, n.pos)
	last := b.compensated(l, n, "compensated", compensating, all)
	if n.waits && of != l { // what is compensated is in the run around that of the event
		waiting := b.state(l, n, "waiting")
		b.put(t, waiting, n.pos)
		b.take(waiting, last, n.pos)
	}
	if n.waits {
		t = last
	}
	b.output(l, n, t)
	if len(all) == 0 {
		return "compensates nothing"
	}
	return ""
}

// cancelled returns the place from which the cancel boundary event on a transaction takes what is thrown to
// it. With the first use it builds the event: it ends all runs of the transaction, and compensates them
// together, before it continues.
func (b *builder) cancelled(l *level) string {
	x, at := l.node.cancelled(), l.parent
	thrown, whole := thrownPlace(at, x), at.id(l.node.id)
	if b.made[thrown] {
		return thrown
	}
	b.made[thrown] = true
	b.stateIn(whole, l, x, "thrown")
	compensating := b.stateIn(whole, l, x, "compensating")
	t := b.step(at, x, "cancels", thrown)
	t.Preempts, t.Priority = true, petri.Urgent
	b.interruptLevel(l, t.ID, x.pos)
	b.put(t.ID, compensating, x.pos)
	caught := b.compensated(at, x, "caught", compensating, l.compensable(nil))
	b.interrupt(at, l.node, caught, x.pos)
	b.output(at, x, caught)
	return thrown
}

// compensated builds the begins of handlers while a place is marked, and the transition id/word that takes
// its token once no handler runs.
func (b *builder) compensated(l *level, n *node, word, compensating string, all []reversible) string {
	for _, r := range all {
		b.compensate(r, n, compensating)
	}
	last := b.step(l, n, word, compensating).ID
	b.after(func() { b.whenUndone(all, last, n) })
	return last
}

// compensate builds the begin of a handler. Those of later activities begin first.
func (b *builder) compensate(r reversible, n *node, compensating string) {
	t := b.extra(r.at, r.x, "/"+n.id, r.x.label()+" ("+n.label()+")")
	t.Priority = r.rank
	id := t.ID
	b.test(petri.Read, compensating, id, n.pos)
	for _, place := range r.reads {
		b.test(petri.Read, place, id, n.pos)
	}
	if r.x.handler != nil {
		b.take(donePlace(r.at, r.x.host), id, n.pos)
		b.put(id, r.at.id(r.x.handler.id)+"/in", n.pos)
		return
	}
	b.take(armedPlace(r.at, r.x), id, n.pos)
	b.output(r.at, r.x, id)
}

// whenUndone makes a transition wait until no handler runs.
func (b *builder) whenUndone(all []reversible, transition string, n *node) {
	for _, r := range all {
		inside := r.at
		if h := r.x.handler; h != nil {
			for _, place := range r.at.own[h] {
				b.test(petri.Inhibitor, place, transition, n.pos)
			}
			inside = r.at.kids[h]
		}
		if inside == nil {
			continue
		}
		for _, in := range inside.within() {
			for _, place := range in.work {
				b.test(petri.Inhibitor, place, transition, n.pos)
			}
		}
	}
}
