// SPDX-License-Identifier: Apache-2.0

package bpmn

import "github.com/pnagent/pnagent/petri"

// adHoc is how an ad hoc sub-process begins what is inside, and how it ends.
type adHoc struct {
	chosen  string // an expression of a list of ids that begin; "" if each may begin once
	until   string // the completion condition; "" if there is none
	cancels bool   // the completion condition ends what is active
}

// readAdHoc reads an ad hoc sub-process.
func (d *document) readAdHoc(n *node) {
	a := &adHoc{cancels: n.el.attr("cancelRemainingInstances") != "false"}
	n.adHoc = a
	if c := n.el.kid("completionCondition"); c != nil {
		a.until = d.expression(c)
	}
	works := false
	for _, x := range n.el.extensions() {
		if x.name == "adHoc" {
			a.chosen = d.expression(&elem{text: x.attr("activeElementsCollection"), pos: x.pos})
			if x.attr("outputCollection") != "" {
				d.Warnings.Add(x.pos, n.title()+" collects results, which is not followed")
			}
		}
		works = works || x.name == "taskDefinition"
	}
	switch {
	case n.el.attr("ordering") == "Sequential":
		d.refuseNode(n, "sequential "+n.kindWords(), "one whose activities can run in parallel")
	case n.loop != nil:
		d.refuseNode(n, n.kindWords()+" that runs several times", "one that runs once")
	case works:
		d.refuseNode(n, n.kindWords()+" whose activities are begun by a job", "an activeElementsCollection, or none")
	}
	for _, k := range n.inner.nodes {
		if k.kind == "startEvent" || k.kind == "endEvent" {
			d.refuse(k.pos, k.title()+" in "+n.title()+"; expected none")
		}
	}
}

// offers builds how a node inside begins, whose token is in a place: if it is chosen, or
// with an event of its name.
func (b *builder) offers(l *level, n *node, place string) {
	if l.node.adHoc.chosen != "" {
		b.arc(petri.Arc{Source: l.parent.id(l.node.id) + "/choose", Target: place, Kind: petri.Branch, Weight: 1, Pos: n.pos,
			Guard: with("chosen", l.node.adHoc.chosen) + "= list contains(chosen, " + jsonText(n.id) + ")"})
		return
	}
	offered := b.place(l.run, l.id(n.id)+"/offered", n.label()+" (offered)", b.at(l, n.id), n.pos)
	l.armed, l.await = append(l.armed, offered), append(l.await, offered)
	t := b.step(l, n, "begins")
	t.Trigger = petri.Trigger{Kind: petri.TriggerEvent, Name: n.label()}
	id := t.ID
	b.divert(offered, id, n.pos)
	b.put(id, place, n.pos)
}

// adHocEnds builds how an ad hoc sub-process chooses what begins, and asks its completion
// condition whenever something inside has ended.
func (b *builder) adHocEnds(l, kid *level, n *node, begin, end, data string) {
	a, id := n.adHoc, l.id(n.id)
	if a.chosen != "" {
		choosing := b.workPlace(kid, id+"/choosing", n.label()+" (choosing)", b.at(l, n.id), n.pos)
		b.inscribe(begin, choosing, data, n.pos)
		known := "null"
		for _, k := range n.inner.nodes {
			if k.begins() {
				known += ", " + jsonText(k.id)
			}
		}
		t := b.step(l, n, "choose")
		t.Guard = with("chosen", a.chosen) + "= every c in chosen satisfies list contains([" + known + "], c)"
		t.Alternative = true // an unknown id is an incident
		b.spend(t.Guard)
		b.take(choosing, id+"/choose", n.pos)
		b.arc(petri.Arc{Source: id + "/choose", Target: kid.results, Kind: petri.Branch, Default: true, Weight: 1, Pos: n.pos})
	}
	if a.until == "" {
		return
	}
	check := b.workPlace(kid, id+"/check", n.label()+" (check)", b.at(l, n.id), n.pos)
	met := b.loopPlace(l, n, kid.run, id+"/met", n.label()+" (met)")
	b.put(id+"/gather", check, n.pos)
	for _, word := range []string{"enough", "continues"} {
		guard := a.until
		if word == "continues" {
			guard = all([]string{a.until}, "")
		}
		t := b.step(l, n, word)
		t.Guard, t.Priority = guard, 2
		t.Preempts = word == "enough" && a.cancels
		b.spend(guard)
		b.take(check, id+"/"+word, n.pos)
		b.test(petri.Read, kid.vars, id+"/"+word, n.pos)
	}
	b.put(id+"/enough", met, n.pos)
	if a.cancels {
		b.interruptLevel(kid, id+"/enough", n.pos)
	}
	b.take(met, end, n.pos)
	b.test(petri.Reset, met, end, n.pos)
}
