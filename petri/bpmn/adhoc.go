// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// adHoc is how an ad hoc sub-process begins what is inside, and how it ends.
type adHoc struct {
	chosen  string // an expression of a list of ids that begin; "" if each may begin, any number of times
	until   string // the completion condition; "" if there is none
	cancels bool   // the completion condition ends what is active
	inTurn  bool   // at most one activity runs at a time
	quiet   bool   // it ends once something inside has ended and nothing is active
}

// whenQuiet reports whether a completion condition is one of jBPM or Kogito that holds when nothing
// inside is active.
func whenQuiet(condition string) bool {
	switch strings.ReplaceAll(condition, " ", "") {
	case "autocomplete", `getActivityInstanceAttribute("numberOfActiveInstances")==0`:
		return true
	}
	return false
}

// readAdHoc reads an ad hoc sub-process.
func (d *document) readAdHoc(n *node) {
	a := &adHoc{cancels: n.el.attr("cancelRemainingInstances") != "false", inTurn: n.el.attr("ordering") == "Sequential"}
	n.adHoc = a
	if c := n.el.kid("completionCondition"); c != nil {
		a.until, a.quiet = d.expression(c), whenQuiet(onOneLine(c.text))
		if a.quiet {
			a.until, a.cancels = "true", false
		}
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
	if works {
		d.refuseNode(n, n.kindWords()+" whose activities are begun by a job", "an activeElementsCollection, or none")
	}
	for _, k := range n.inner.nodes {
		switch {
		case k.kind == "startEvent", k.kind == "endEvent" && k.event.kind == "terminate":
			d.refuse(k.pos, k.title()+" in "+n.title()+"; expected none")
		case k.kind == "endEvent": // other engines read it
			d.Warnings.Add(k.pos, k.title()+" in "+n.title()+": BPMN has none there; it ends what leads to it")
		}
	}
}

// offers builds how a node inside begins, whose token is in a place: if it is chosen, or
// with an event of its name.
func (b *builder) offers(l *level, n *node, place string) {
	if l.node.adHoc.chosen != "" {
		b.arc(petri.Arc{Source: l.parent.id(l.node.id) + "/choose", Target: place, Kind: petri.Branch, Weight: 1, Pos: n.pos,
			Guard: among("has", l.node.adHoc.chosen, "activeElementsCollection of "+l.node.title(), n.el.attr("id"))})
		return
	}
	run := l.parent.id(l.node.id) + "/active"
	if l.node.holds() {
		run = l.parent.id(l.node.id) + "/run"
	}
	t := b.step(l, n, "begins")
	t.Trigger = petri.Trigger{Kind: petri.TriggerEvent, Name: n.label()}
	id := t.ID
	b.arc(petri.Arc{Source: run, Target: id, Kind: petri.Read, Weight: 1, Aside: petri.AsideAll, Pos: n.pos}) // it may begin again (BPMN 2.0, 13.3.5)
	b.put(id, place, n.pos)
	if l.node.adHoc.until != "" && !l.node.adHoc.cancels && !l.node.adHoc.quiet {
		b.test(petri.Inhibitor, l.parent.id(l.node.id)+"/met", id, n.pos)
	}
	if l.takesTurns() {
		b.after(func() { b.waitForTurn(l, id, n.pos) })
	}
}

// takesTurns reports whether at most one activity of a level runs at a time.
func (l *level) takesTurns() bool { return l.node != nil && l.node.adHoc != nil && l.node.adHoc.inTurn }

// waitForTurn makes a transition wait until no activity of a level runs.
func (b *builder) waitForTurn(l *level, transition string, pos petri.Pos) {
	for _, n := range l.scope.nodes {
		if n.isActivity() && !n.isHandler() && !n.afterEventGateway() {
			for _, word := range []string{"active", "run", "ran"} {
				if k, has := b.places[l.id(n.id)+"/"+word]; has {
					b.test(petri.Inhibitor, b.net.Places[k].ID, transition, pos)
				}
			}
		}
	}
}

// ended makes the transition that ends an activity of an ad hoc sub-process ask the completion
// condition. One that leads nowhere does so as an end.
func (b *builder) ended(l *level, n *node, transition string) {
	if l.node != nil && l.node.adHoc != nil && l.node.adHoc.until != "" && n.isActivity() && !n.isHandler() && len(n.out) > 0 {
		b.put(transition, l.results, n.pos)
	}
}

// adHocTrigger returns what ends an ad hoc sub-process, beside that nothing is active in it.
func (n *node) adHocTrigger() petri.Trigger {
	if n.adHoc != nil && n.adHoc.until == "" && n.adHoc.chosen == "" {
		return petri.Trigger{Kind: petri.TriggerEvent, Name: n.label()}
	}
	return petri.Trigger{}
}

// adHocEnds builds how an ad hoc sub-process chooses what begins, and asks its completion
// condition whenever something inside has ended.
func (b *builder) adHocEnds(l, kid *level, n *node, begin, end string) {
	a, id := n.adHoc, l.id(n.id)
	if a.chosen != "" {
		choosing := b.workPlace(kid, id+"/choosing", n.label()+" (choosing)", b.at(l, n.id), n.pos)
		b.put(begin, choosing, n.pos)
		known := []string{}
		for _, k := range n.inner.nodes {
			if k.begins() {
				known = append(known, k.el.attr("id"))
			}
		}
		t := b.step(l, n, "choose", choosing)
		t.Guard = among("is", a.chosen, "activeElementsCollection of "+n.title(), known...)
		t.Alternative = true // an unknown id is an incident
		b.spend(t.Guard)
		b.arc(petri.Arc{Source: id + "/choose", Target: kid.results, Kind: petri.Branch, Default: true, Weight: 1, Pos: n.pos})
	}
	if kid.results == "" {
		return
	}
	if a.quiet || a.until == "" { // the first that ends, or an empty list, lets it end once nothing is active
		b.loopPlace(l, n, kid.run, kid.results, n.label()+" (check)")
		b.take(kid.results, end, n.pos)
		b.test(petri.Reset, kid.results, end, n.pos)
		return
	}
	b.workPlace(kid, kid.results, n.label()+" (check)", b.at(l, n.id), n.pos)
	after := func(word, guard string) string {
		t := b.step(l, n, word, kid.results)
		t.Guard, t.Priority = guard, 2
		b.spend(guard)
		return t.ID
	}
	after("continues", all([]string{a.until}, ""))
	if a.cancels {
		b.take(kid.results, end, n.pos)
		b.interruptLevel(kid, end, n.pos)
	} else {
		met := b.loopPlace(l, n, kid.run, id+"/met", n.label()+" (met)")
		b.put(after("enough", a.until), met, n.pos)
		b.take(met, end, n.pos)
		b.test(petri.Reset, met, end, n.pos)
	}
}

// isCut reports whether a level ends, with all that is active in it, once its completion condition holds.
func (l *level) isCut() bool {
	return l.node.adHoc != nil && l.node.adHoc.until != "" && l.node.adHoc.cancels
}
