// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// isRepeated reports whether an activity runs several times.
func (n *node) isRepeated() bool {
	return n.el.kid("multiInstanceLoopCharacteristics") != nil || n.el.kid("standardLoopCharacteristics") != nil
}

// readLoop reads how often an activity runs.
func (d *document) readLoop(n *node) {
	if e := n.el.kid("standardLoopCharacteristics"); e != nil {
		most := e.attr("loopMaximum")
		v, err := strconv.ParseUint(cmp.Or(most, "0"), 10, 31)
		n.loop = &petri.Loop{Before: e.attr("testBefore") == "true", Most: uint32(v), While: d.expressionIn(n, e, "loopCondition")}
		switch {
		case err != nil:
			d.refuseNode(n, "loopMaximum "+xmlscan.Quote(most)+" of "+n.kindWords(), "a whole number")
		case most != "" && v == 0: // it does not begin a run, as a number of 0 instances
			n.loop = &petri.Loop{Number: petri.Expression{Text: "0", Of: "loopMaximum of " + n.title(), Pos: e.pos}}
		case n.loop.While.Text == "" && most == "":
			d.Warnings.Add(e.pos, n.title()+" has no loop condition: it runs once")
		}
	}
	if e := n.el.kid("multiInstanceLoopCharacteristics"); e != nil {
		d.readInstances(n, e)
	}
}

// expressionIn reads the expression that a child of an element of a node has.
func (d *document) expressionIn(n *node, e *elem, child string) petri.Expression {
	c := e.kid(child)
	if c == nil {
		return petri.Expression{}
	}
	return petri.Expression{Text: d.expression(c), Of: child + " of " + n.title(), Pos: c.pos}
}

// readInstances reads the loop of a multi-instance activity.
func (d *document) readInstances(n *node, e *elem) {
	m := &petri.Loop{Parallel: e.attr("isSequential") != "true", Number: d.expressionIn(n, e, "loopCardinality"), Until: d.expressionIn(n, e, "completionCondition")}
	n.loop = m
	if list := d.collection(n, e.extension("collection")); list != "" {
		m.List = petri.Expression{Text: list, Of: "collection of " + n.title(), Pos: e.pos}
	}
	m.Element = e.extension("elementVariable")
	if ref := e.kid("loopDataInputRef"); ref != nil && m.List.Text == "" {
		m.List = petri.Expression{Text: d.collection(n, n.associated("dataInput", local(ref.text))), Of: "loopDataInputRef of " + n.title(), Pos: ref.pos}
	}
	if item := e.kid("inputDataItem"); item != nil && m.Element == "" {
		m.Element = nameOf(item)
	}
	if ref, item := e.kid("loopDataOutputRef"), e.kid("outputDataItem"); ref != nil && item != nil {
		m.Into = n.associated("dataOutput", local(ref.text))
		m.Result = petri.Expression{Text: "=`" + nameOf(item) + "`", Of: "outputDataItem of " + n.title(), Pos: item.pos}
	}
	for _, x := range e.extensions() {
		if x.name == "loopCharacteristics" { // Zeebe
			of := func(attr string) petri.Expression {
				if x.attr(attr) == "" {
					return petri.Expression{}
				}
				return petri.Expression{Text: d.expression(&elem{text: x.attr(attr), pos: x.pos}), Of: attr + " of " + n.title(), Pos: x.pos}
			}
			if m.Into = x.attr("outputCollection"); m.Into != "" {
				m.Result = of("outputElement")
			}
			m.First, m.List, m.Element = 1, of("inputCollection"), x.attr("inputElement")
		}
	}
	switch behavior := e.attr("behavior"); {
	case !m.Multi(): // checkExecutable refuses it in an executable process
		n.loop = nil
		d.Warnings.Add(e.pos, "multi-instance "+n.title()+" has no number of instances: it runs once")
	case m.Number.Text != "" && m.List.Text != "":
		d.refuseNode(n, "multi-instance "+n.kindWords()+" with loopCardinality and a collection", "one of them")
	case strings.ContainsAny(m.Into, notInNames):
		d.refuseNode(n, "multi-instance "+n.kindWords()+" that collects results in "+xmlscan.Quote(m.Into), "the name of a variable")
	case behavior != "" && behavior != "All":
		d.refuseNode(n, "multi-instance "+n.kindWords()+" that throws events for its instances", "the behavior All")
	}
}

// nameOf returns the name of a data item, or its id if it has none.
func nameOf(e *elem) string { return cmp.Or(e.attr("name"), e.attr("id")) }

// associated returns the variable at the other end of the association of a data input or output
// of a node, whose id is given: what an editor writes that declares the data of each task. Without
// an association it is the name of the input or output; otherwise the id is that of the variable.
func (n *node) associated(what, id string) string {
	from, to := "sourceRef", "targetRef"
	if what == "dataOutput" {
		from, to = to, from
	}
	for _, e := range n.el.kids {
		if e.is(what+"Association") && e.kid(to) != nil && local(e.kid(to).text) == id && e.kid(from) != nil {
			return local(e.kid(from).text)
		}
	}
	if io := n.el.kid("ioSpecification"); io != nil {
		for _, e := range io.kids {
			if e.is(what) && e.attr("id") == id {
				return nameOf(e)
			}
		}
	}
	return id
}

// runNames returns the variables that each run of an activity has for itself.
func (n *node) runNames() []string {
	if n.loop == nil {
		return nil
	}
	names := []string{petri.LoopCounter}
	for _, name := range []string{n.loop.Element, n.resultItem()} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// variableOf returns the variable at which a path in FEEL begins, such as "a" of "= a.b"; "" for other expressions.
func variableOf(expression string) string {
	path, isFEEL := strings.CutPrefix(expression, "=")
	if !isFEEL {
		return ""
	}
	path = strings.TrimSpace(path)
	var name string
	var closed bool
	if quoted, ok := strings.CutPrefix(path, "`"); ok {
		name, path, closed = strings.Cut(quoted, "`")
	} else {
		before, _, _ := strings.Cut(path, ".")
		name, path = strings.TrimSpace(before), path[len(before):]
		closed = isWord(name)
	}
	words := strings.Split(path, ".")
	if !closed || strings.TrimSpace(words[0]) != "" {
		return ""
	}
	for _, word := range words[1:] {
		if !isWord(strings.TrimSpace(word)) {
			return ""
		}
	}
	return name
}

// isWord reports whether a text is a name in FEEL of letters, digits and underscores.
func isWord(text string) bool {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsNumber(r)) {
			return false
		}
	}
	return text != ""
}

// resultItem returns the variable in which a run of a loop has its result, or "": what Zeebe's outputElement
// or BPMN's outputDataItem names. Each run has its own, so that a run without a result has not that of another.
func (n *node) resultItem() string {
	if n.loop == nil {
		return ""
	}
	switch name := variableOf(n.loop.Result.Text); name {
	case n.loop.Element, petri.LoopCounter, "true", "false", "null":
		return ""
	default:
		return name
	}
}

// collection returns an expression for a collection: an expression of UEL, or the name of a variable.
func (d *document) collection(n *node, s string) string {
	switch {
	case s == "" || isUEL(s):
		return s
	case strings.Contains(s, "${") || strings.Contains(s, "#{"):
		d.refuseNode(n, "the collection "+xmlscan.Quote(s)+" of multi-instance "+n.kindWords(), "an expression that ends with }, or the name of a variable")
	}
	return `$env[` + strconv.Quote(s) + `]`
}

// eachSuffix is what the id of the petri.Scope of one run has after that of all runs.
const eachSuffix = "/each"

// loopPlace adds a place that is emptied when an activity is interrupted.
func (b *builder) loopPlace(l *level, n *node, scope, id, name string) string {
	l.work = append(l.work, id)
	add(&l.loops, n, id)
	return b.place(scope, id, name, b.at(l, n.id), n.pos)
}

// clearLoop makes a transition empty the places of an activity inside of id/active.
func (b *builder) clearLoop(l *level, n *node, transition string) {
	b.after(func() {
		for _, place := range l.loops[n] {
			b.test(petri.Reset, place, transition, n.pos)
		}
	})
}

// holds reports whether the token in id/run shows the variables of a run of an activity: of a loop, or
// of one with variables of its own that ends with work or with an event, which brings data.
func (n *node) holds() bool {
	return n.loop != nil || n.maps != nil && (n.content() == nil || n.adHocTrigger().Kind != petri.TriggerNone)
}

// enclosed builds an activity whose runs are apart: begin opens a run and end ends it. A token in
// id/active is there for its boundary events. Of a loop, the petri.Scope of the activity as a whole has
// what these need; inside of that is the one of each run, with the content.
func (b *builder) enclosed(l *level, n *node, kid *level, trigger petri.Trigger) (begin, end string) {
	from := b.input(l, n)
	whole := b.scope(l, n)
	each := whole
	if n.loop != nil {
		each += eachSuffix
		local, apart := n.locals()
		b.net.Scopes = append(b.net.Scopes, petri.Scope{ID: each, Parent: whole, Pos: b.here(n.pos), Local: append(n.runNames(), local...), Apart: apart})
	}
	scope := len(b.net.Scopes) - 1
	active, run := "", whole+"/run"
	in, out := n.exchange()
	begin = b.step(l, n, "begin").ID
	b.begin(from, n, begin)
	if kid != nil || len(n.attached) > 0 || !n.holds() {
		active = b.stateIn(whole, l, n, "active")
		b.carriesAround(active)
		b.put(begin, active, n.pos)
		b.arm(l, n, begin)
	}
	if n.holds() {
		b.loopPlace(l, n, each, run, n.label()+" (run)")
		b.put(begin, run, n.pos)
	}
	if l.takesTurns() {
		b.after(func() { b.waitForTurn(l, begin, n.pos) })
	}
	t := b.transition(l, n, trigger)
	if kid != nil && kid.isCut() {
		t.Guard, t.Priority, t.Preempts = n.adHoc.until, 2, true
		b.spend(t.Guard)
	}
	end = t.ID
	if n.holds() {
		b.take(run, end, n.pos)
	}
	if kid == nil && (len(out) > 0 || n.loop != nil && n.loop.Until.Text+n.loop.While.Text+n.loop.Result.Text != "") { // the work is not done again if that cannot be evaluated
		over := whole + "/ran"
		b.loopPlace(l, n, each, over, n.label()+" (ran)")
		b.put(end, over, n.pos)
		end = b.step(l, n, "returns", over).ID
	}
	switch {
	case active == "":
	case n.loop == nil:
		b.take(active, end, n.pos)
	default:
		b.test(petri.Read, active, end, n.pos)
		b.test(petri.Reset, active, end, n.pos)
	}
	b.disarm(l, n, end)
	b.output(l, n, end)
	b.completed(l, n, end)
	if kid != nil {
		b.after(func() {
			b.enter(kid, begin, n.pos)
			if !kid.isCut() {
				b.whenDone(kid, end, n.pos)
			}
		})
	}
	if len(in)+len(out) > 0 || n.loop != nil {
		b.runs(&b.net.Scopes[scope], begin, end, in, out, n.loop)
	}
	return begin, end
}

// runs makes transitions begin and end the runs of a petri.Scope.
func (b *builder) runs(s *petri.Scope, begin, end string, in, out []petri.Assignment, loop *petri.Loop) {
	s.Begin, s.End, s.In, s.Out = begin, end, in, out
	for _, list := range [][]petri.Assignment{in, out} {
		for k := range list {
			b.spend(list[k].Value.Text)
			list[k].Value.Pos = b.here(list[k].Value.Pos)
		}
	}
	if loop != nil {
		m := *loop
		for _, x := range m.Expressions() {
			x.Pos = b.here(x.Pos)
		}
		s.Loop = &m
	}
}
