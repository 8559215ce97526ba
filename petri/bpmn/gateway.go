// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"github.com/pnagent/pnagent/petri"
)

// exclusive builds a choice of one flow. A merge has a transition for each incoming
// flow, a split one for each outgoing flow.
func (b *builder) exclusive(l *level, n *node) string {
	if !n.splits() {
		return b.merge(l, n)
	}
	from := b.input(l, n)
	var conds []string
	for _, f := range n.out {
		if f.cond != "" {
			conds = append(conds, f.cond)
		}
	}
	before := 0 // of conds: those of the flows before
	for _, f := range n.out {
		if b.left < 0 {
			return ""
		}
		t := b.over(l, n, f)
		switch {
		case f == n.fallback:
			t.Guard = all(conds, "")
		case f.cond != "":
			t.Guard, t.Alternative = all(conds[:before], f.cond), n.fallback == nil
			before++
		}
		b.spend(t.Guard)
		b.take(from, t.ID, f.pos)
		b.put(t.ID, b.flowPlace(l, f), f.pos)
	}
	if len(conds) == 0 {
		return "no conditions: its flows are chosen in turn"
	}
	return ""
}

// splits reports whether an exclusive gateway chooses one of its flows.
func (n *node) splits() bool { return len(n.out) > 1 || len(n.out) == 1 && n.out[0].cond != "" }

// merge builds a gateway that passes on every token.
func (b *builder) merge(l *level, n *node) string {
	if len(n.in) < 2 {
		b.pass(l, n, petri.Trigger{})
		return ""
	}
	for _, f := range n.in {
		t := b.over(l, n, f).ID
		b.take(b.flowPlace(l, f), t, f.pos)
		b.output(l, n, t)
	}
	return ""
}

// parallel builds one transition that takes a token of every incoming flow and
// puts one on every outgoing flow.
func (b *builder) parallel(l *level, n *node) string {
	from := make([]string, 0, len(n.in)+1)
	for _, f := range n.in {
		from = append(from, b.flowPlace(l, f))
	}
	if len(from) == 0 {
		from = append(from, b.input(l, n))
	}
	t := b.transition(l, n, petri.Trigger{}).ID
	for _, place := range from {
		b.take(place, t, n.pos)
	}
	b.output(l, n, t)
	return ""
}

// inclusive builds one transition that is an inclusive join of several incoming
// flows and an inclusive split to several outgoing ones.
func (b *builder) inclusive(l *level, n *node) string {
	from := ""
	if len(n.in) < 2 {
		from = b.input(l, n)
	}
	t := b.transition(l, n, petri.Trigger{}).ID
	if from != "" {
		b.take(from, t, n.pos)
	} else {
		for _, f := range n.in {
			b.test(petri.Join, b.flowPlace(l, f), t, f.pos)
		}
	}
	if !n.conditional() {
		b.output(l, n, t)
		if len(n.out) > 1 {
			return "no conditions: all of its flows are taken"
		}
		return ""
	}
	b.branches(l, n, t)
	return ""
}

// eventGateway builds the place at which the events after it wait. Their own nodes
// build the transitions; the first one takes the token.
func (b *builder) eventGateway(l *level, n *node) string {
	if n.instantiates() {
		return "each of its events begins an instance"
	}
	if len(n.in) != 1 {
		b.input(l, n)
	}
	return "its events wait at place " + b.flowPlace(l, n.out[0]) + ", the first takes the token"
}

// complexJoin builds a gateway that fires at k of n tokens. It then waits for those of the others that can
// still arrive, before it starts again (BPMN 2.0, 13.4.5). Each incoming flow counts once a round.
func (b *builder) complexJoin(l *level, n *node) string {
	count, resetting := b.state(l, n, "count"), b.state(l, n, "resetting")
	got := make([]string, 0, len(n.in))
	for _, f := range n.in {
		place := b.workPlace(l, l.id(n.id)+"/got "+f.id, n.label()+" (got "+f.title()+")", b.at(l, n.id), f.pos)
		got = append(got, place)
		t := b.over(l, n, f)
		t.Priority = 1
		b.take(b.flowPlace(l, f), t.ID, f.pos)
		b.test(petri.Inhibitor, place, t.ID, f.pos)
		b.put(t.ID, place, f.pos)
		b.put(t.ID, count, f.pos)
	}
	fires := b.transition(l, n, petri.Trigger{}).ID
	b.arc(petri.Arc{Source: count, Target: fires, Weight: n.needed, Aside: petri.AsideOwn, Pos: n.pos}) // the gateway's own paths do not pass it
	b.test(petri.Reset, count, fires, n.pos)
	// Tokens of the next round wait before the gateway. Otherwise an inclusive join
	// after it would wait for them.
	b.test(petri.Inhibitor, resetting, fires, n.pos)
	b.put(fires, resetting, n.pos)
	if n.conditional() {
		b.branches(l, n, fires)
	} else {
		b.output(l, n, fires)
	}
	again := b.step(l, n, "reset", resetting).ID
	b.test(petri.Reset, count, again, n.pos)
	for _, place := range got {
		b.test(petri.Join, place, again, n.pos)
	}
	return "fires at " + itoa(int(n.needed)) + " of " + itoa(len(n.in))
}
