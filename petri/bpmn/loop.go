// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// loop describes how often an activity runs.
type loop struct {
	multi    bool // multi-instance; otherwise a standard loop
	parallel bool
	number   string // of multi-instance: an expression of the number of runs; "" if it has a list
	list     string // of multi-instance: an expression of a list, a run for each element
	element  string // the variable with the element of the list; "" if there is none
	until    string // of multi-instance: the completion condition; "" if there is none
	while    string // of a standard loop: its condition; "" if there is none
	most     string // of a standard loop: the maximum number of runs; "" if there is none
	before   bool   // a standard loop tests its condition before the first run
	collects string // of multi-instance: the variable with the list of results; "" if there is none
	result   string // an expression of the result of one run
	first    int    // the first value of loopCounter
}

// isRepeated reports whether an activity runs several times.
func (n *node) isRepeated() bool {
	return n.el.kid("multiInstanceLoopCharacteristics") != nil || n.el.kid("standardLoopCharacteristics") != nil
}

// readLoop reads how often an activity runs.
func (d *document) readLoop(n *node) {
	if e := n.el.kid("standardLoopCharacteristics"); e != nil {
		n.loop = &loop{most: e.attr("loopMaximum"), before: e.attr("testBefore") == "true"}
		if c := e.kid("loopCondition"); c != nil {
			n.loop.while = d.expression(c)
		}
		if _, err := strconv.ParseUint(n.loop.most, 10, 32); err != nil && n.loop.most != "" {
			d.refuseNode(n, "loopMaximum "+xmlscan.Quote(n.loop.most)+" of "+n.kindWords(), "a whole number")
		}
		if n.loop.while == "" && n.loop.most == "" {
			d.Warnings.Add(e.pos, n.title()+" has no loop condition: after each run, it ends or runs again in turn")
		}
	}
	if e := n.el.kid("multiInstanceLoopCharacteristics"); e != nil {
		d.readInstances(n, e)
	}
}

// readInstances reads the loop of a multi-instance activity.
func (d *document) readInstances(n *node, e *elem) {
	m := &loop{multi: true, parallel: e.attr("isSequential") != "true"}
	n.loop = m
	if c := e.kid("loopCardinality"); c != nil {
		m.number = d.expression(c)
	}
	if c := e.kid("completionCondition"); c != nil {
		m.until = d.expression(c)
	}
	m.list, m.element = d.collection(n, e.extension("collection")), e.extension("elementVariable")
	if ref := e.kid("loopDataInputRef"); ref != nil && m.list == "" {
		m.list = d.collection(n, local(ref.text))
	}
	if item := e.kid("inputDataItem"); item != nil && m.element == "" {
		m.element = item.attr("name")
	}
	if ref, item := e.kid("loopDataOutputRef"), e.kid("outputDataItem"); ref != nil && item != nil {
		m.collects, m.result = local(ref.text), "=`"+item.attr("name")+"`"
	}
	for _, x := range e.extensions() {
		if x.name == "loopCharacteristics" { // Zeebe
			if m.collects = x.attr("outputCollection"); m.collects != "" {
				m.result = cmp.Or(d.expression(&elem{text: x.attr("outputElement"), pos: x.pos}), "= null")
			}
			m.first, m.list, m.element = 1, d.expression(&elem{text: x.attr("inputCollection"), pos: x.pos}), x.attr("inputElement")
		}
	}
	switch behavior := e.attr("behavior"); {
	case m.number == "" && m.list == "": // checkExecutable refuses it in an executable process
		n.loop = nil
		d.Warnings.Add(e.pos, "multi-instance "+n.title()+" has no number of instances: it runs once")
	case m.number != "" && m.list != "":
		d.refuseNode(n, "multi-instance "+n.kindWords()+" with loopCardinality and a collection", "one of them")
	case strings.ContainsAny(m.collects, notInNames):
		d.refuseNode(n, "multi-instance "+n.kindWords()+" that collects results in "+xmlscan.Quote(m.collects), "the name of a variable")
	case behavior != "" && behavior != "All":
		d.refuseNode(n, "multi-instance "+n.kindWords()+" that throws events for its instances", "the behavior All")
	}
}

// names returns the variables of the runs of an activity.
func (m *loop) names() []string {
	if m == nil {
		return nil
	}
	names := []string{"loopCounter"}
	if m.multi {
		names = append(names, "nrOfInstances", "nrOfCompletedInstances", "nrOfActiveInstances")
	}
	if m.element != "" {
		names = append(names, m.element)
	}
	return names
}

// collection returns an expression for a collection: an expression of UEL, or the name
// of a variable.
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

// clearLoop makes a transition empty the places of an activity that runs several times.
func (b *builder) clearLoop(l *level, n *node, transition string) {
	b.after(func() {
		for _, place := range l.loops[n] {
			b.test(petri.Reset, place, transition, n.pos)
		}
	})
}

// repetition is an activity that runs several times, while it is built.
type repetition struct {
	*builder
	m   *loop
	l   *level
	n   *node
	kid *level // its content, or nil

	active   string // marked while the activity is active
	vars     string // the data for the next run: that of the last one that ended
	item     string // what the next run gets: its counter and its element
	run      string // one run
	finished string // a run that ended
	count    string // of multi-instance: how many runs there are
	ended    string // of multi-instance: a run that is not counted yet
	input    string // the number or the list of multi-instance
	check    string // of one run after the other: whether there is a next one
	turn     string // of one run after the other: the next one may begin

	base    string // the data with which a run began; "" if it is not needed
	ran     string // a run that ended, before its results are taken; with base
	results string // the list of results; "" if they are not collected
}

// repeated builds an activity that runs several times. All runs are in one petri.Scope.
// If they have content, each has one of its own inside.
func (b *builder) repeated(l *level, n *node, kid *level) {
	r := &repetition{builder: b, m: n.loop, l: l, n: n, kid: kid}
	from := b.input(l, n)
	all := b.scope(l, n)
	one := all
	own := n.maps != nil || r.m.collects != "" || kid != nil && kid.results != kid.vars
	if kid != nil || own || r.m.parallel {
		one = all + eachSuffix
		local, apart := n.locals()
		b.net.Scopes = append(b.net.Scopes, petri.Scope{ID: one, Parent: all, Pos: b.here(n.pos), Local: append(local, n.loop.names()...), Apart: apart})
	}
	place := func(scope, word string) string {
		return b.loopPlace(l, n, scope, l.id(n.id)+"/"+word, n.label()+" ("+word+")")
	}
	// The order of the places is that in which the data of their tokens is merged.
	r.active = b.stateIn(all, l, n, "active")
	if !r.m.parallel {
		r.check, r.turn = place(all, "check"), place(all, "turn")
	}
	r.vars, r.item = place(all, "vars"), place(all, "item")
	if own {
		r.base, r.ran = place(one, "base"), place(one, "ran")
	}
	if r.m.collects != "" {
		r.results = place(all, "results")
	}
	r.run, r.finished = place(one, "run"), place(all, "finished")
	if r.m.multi {
		r.input, r.count, r.ended = place(all, "list"), place(all, "count"), place(all, "ended")
	}
	b.carries(petri.DataAround, r.active)
	for _, p := range []string{r.item, r.count, r.input, r.results} {
		b.carries(petri.OwnData, p)
	}
	r.beginAll(from)
	r.beginOne()
	if kid != nil {
		b.gather(l, kid, n, r.base)
	}
	r.endOne()
	r.decide()
	r.endAll()
}

// stepOf adds the transition id/word with a guard, which reads the counters, and returns
// its id.
func (r *repetition) stepOf(word, guard string, priority int) string {
	t := r.step(r.l, r.n, word)
	t.Guard, t.Priority = guard, priority
	r.spend(guard)
	return t.ID
}

// of returns an expression for the data of the token of a place.
func of(place string) string {
	return "find(pnagent.tokens, .place == " + strconv.Quote(place) + ").data"
}

// number returns an expression for the number of runs of multi-instance.
func (r *repetition) number() string {
	if r.m.list != "" {
		return "len(" + of(r.input) + ")"
	}
	return of(r.input)
}

// maxInstances bounds the instances of a multi-instance activity.
const maxInstances = 10_000

// amount returns an expression for the number or the list of multi-instance. It fails if the
// number is not a whole number from 0 to maxInstances, or the text of one, or the list is longer.
func (m *loop) amount() string {
	most := strconv.Itoa(maxInstances)
	if m.list != "" {
		return with("list", m.list) + `type(list) != "array" ? int("found " + string(list ?? "null") + "; expected a list") : len(list) <= ` + most + ` ? list : int("a list of " + string(len(list)) + " elements; expected at most ` + most + `")`
	}
	return with("number", m.number) + `number != nil && float(number) >= 0 && float(number) <= ` + most + ` && float(number) == floor(float(number)) ? int(float(number)) : ` +
		`int("loopCardinality " + string(number ?? "null") + "; expected a whole number from 0 to ` + most + `")`
}

// next returns the data of what the next run gets, after some have begun.
func (r *repetition) next(begun string) string {
	fields := `{"loopCounter": ` + begun
	if r.m.element != "" {
		fields += ", " + strconv.Quote(r.m.element) + ": get(" + of(r.input) + ", " + begun + " - " + itoa(r.m.first) + ")"
	}
	return fields + "}"
}

// counts returns the counters of multi-instance after some runs have completed.
func (r *repetition) counts(completed string) string {
	active := "1"
	if r.m.parallel {
		active = r.number() + " - (" + completed + ")"
	}
	return `{"nrOfInstances": ` + r.number() + `, "nrOfCompletedInstances": ` + completed + `, "nrOfActiveInstances": ` + active + "}"
}

// beginAll builds the begin of the activity.
func (r *repetition) beginAll(from string) {
	t := r.stepOf("begin", "", 0)
	r.begin(from, r.n, t)
	r.put(t, r.active, r.n.pos)
	r.put(t, r.vars, r.n.pos)
	r.arm(r.l, r.n, t)
	if !r.m.multi {
		r.inscribe(t, r.item, r.next("0"), r.n.pos)
		if r.m.before {
			r.put(t, r.check, r.n.pos)
		} else {
			r.put(t, r.turn, r.n.pos)
		}
		return
	}
	r.inscribe(t, r.input, r.m.amount(), r.n.pos)
	t = r.stepOf("instances", "", 0)
	r.test(petri.Read, r.input, t, r.n.pos)
	r.test(petri.Inhibitor, r.item, t, r.n.pos)
	r.inscribe(t, r.item, r.next(itoa(r.m.first)), r.n.pos)
	r.inscribe(t, r.count, r.counts("0"), r.n.pos)
	if !r.m.parallel {
		r.put(t, r.check, r.n.pos)
	}
	if r.results != "" { // BPMN and Zeebe begin with an element for each run
		r.inscribe(t, r.results, "with n = "+r.number()+"\n= if n = 0 then [] else for k in 1..n return null", r.n.pos)
	}
}

// beginOne builds the begin of a run. Those that run in parallel begin before the first
// of them ends.
func (r *repetition) beginOne() {
	guard := ""
	if r.m.parallel {
		guard = r.more()
	}
	t := r.stepOf("each", guard, 1)
	r.take(r.vars, t, r.n.pos)
	r.take(r.item, t, r.n.pos)
	if !r.m.parallel {
		r.take(r.turn, t, r.n.pos)
	}
	if r.m.multi {
		r.test(petri.Read, r.input, t, r.n.pos)
	}
	r.put(t, r.vars, r.n.pos)
	r.inscribe(t, r.item, r.next(of(r.item)+".loopCounter + 1"), r.n.pos)
	data := ""
	if r.base != "" {
		data = r.own() + r.n.maps.inside()
		r.inscribe(t, r.base, data, r.n.pos)
	}
	r.inscribe(t, r.run, data, r.n.pos)
	if r.kid != nil {
		r.after(func() { r.enter(r.kid, t, data, r.n.pos) })
	}
}

// own returns lines that define the variables of the next run. Those of the last one,
// which r.vars has, would count without them.
func (r *repetition) own() (lines string) {
	for _, name := range []string{"loopCounter", r.m.element} {
		if name != "" {
			lines += with(name, "= get value("+listAt(r.item)+", "+jsonText(name)+")")
		}
	}
	return lines
}

// more returns a guard that holds while further runs of multi-instance begin.
func (r *repetition) more() string {
	return of(r.item) + ".loopCounter - " + itoa(r.m.first) + " < " + r.number()
}

// endOne builds the end of a run, which has the id of the activity, and counts it.
func (r *repetition) endOne() {
	trigger := petri.Trigger{}
	if r.kid == nil {
		trigger = r.l.scope.doc.taskTrigger(r.n)
	}
	one := r.transition(r.l, r.n, trigger).ID
	r.take(r.run, one, r.n.pos)
	if r.base == "" {
		r.put(one, r.finished, r.n.pos)
	} else {
		r.put(one, r.ran, r.n.pos)
		r.returns()
	}
	r.completed(r.l, r.n, one)
	if r.kid != nil {
		r.after(func() { r.whenDone(r.kid, one, r.n.pos) })
	}
	t := r.stepOf("finish", "", 1)
	r.take(r.finished, t, r.n.pos)
	r.take(r.vars, t, r.n.pos)
	r.inscribe(t, r.vars, dataAt("vars", r.vars)+dataAt("run", r.finished)+"= context merge([vars, run])", r.n.pos)
	if !r.m.multi {
		r.put(t, r.check, r.n.pos)
		return
	}
	r.put(t, r.ended, r.n.pos)
	t = r.stepOf("counted", "", 1)
	r.take(r.ended, t, r.n.pos)
	r.take(r.count, t, r.n.pos)
	r.test(petri.Read, r.input, t, r.n.pos)
	r.inscribe(t, r.count, r.counts(of(r.count)+".nrOfCompletedInstances + 1"), r.n.pos)
	if !r.m.parallel {
		r.inscribe(t, r.check, "{}", r.n.pos) // without the counters
	}
}

// returns builds what becomes of the data of a run: its outputs, and its result in the
// list of results.
func (r *repetition) returns() {
	t := r.stepOf("returns", "", 1)
	r.take(r.ran, t, r.n.pos)
	r.take(r.base, t, r.n.pos)
	r.inscribe(t, r.finished, r.n.maps.outside("", r.ran), r.n.pos)
	if r.results != "" {
		r.take(r.results, t, r.n.pos)
		r.inscribe(t, r.results, with("result", r.m.result)+dataAt("base", r.base)+
			"= list replace("+listAt(r.results)+", base.loopCounter + "+itoa(1-r.m.first)+", result)", r.n.pos)
	}
}

// decide builds the decision for another run, after the one before it.
func (r *repetition) decide() {
	if r.m.parallel {
		return
	}
	guard := r.m.while
	switch {
	case r.m.multi:
		guard = r.more()
	case r.m.most != "":
		guard = all([]string{r.enough()}, r.m.while)
	}
	t := r.stepOf("again", guard, 0)
	r.take(r.check, t, r.n.pos)
	r.put(t, r.turn, r.n.pos)
	for _, place := range []string{r.vars, r.item, r.input} {
		if place != "" {
			r.test(petri.Read, place, t, r.n.pos)
		}
	}
}

// enough returns a guard that holds after the last run of a standard loop.
func (r *repetition) enough() string { return of(r.item) + ".loopCounter >= " + r.m.most }

// endAll builds the ends of the activity.
func (r *repetition) endAll() {
	switch {
	case r.m.multi:
		r.end("complete", of(r.count)+".nrOfCompletedInstances >= "+r.number(), 0)
		if r.m.until != "" {
			t := r.end("enough", all([]string{of(r.count) + ".nrOfCompletedInstances == 0"}, r.m.until), 2)
			if r.kid != nil {
				r.interruptLevel(r.kid, t, r.n.pos)
			}
		}
	case r.m.while == "" && r.m.most == "":
		r.end("complete", "", 0)
	case r.m.while != "":
		r.end("complete", all([]string{r.m.while}, ""), 0)
		fallthrough
	default:
		if r.m.most != "" {
			r.end("most", r.enough(), 0)
		}
	}
}

// afterAll returns an expression for the data after the activity, without the variables
// of its runs.
func (r *repetition) afterAll() string {
	m := &mapping{back: true}
	if r.results != "" {
		m.out = []param{{name: r.m.collects, value: "= " + listAt(r.results)}}
	}
	return m.outside(r.active, r.vars, r.m.names()...)
}

// end builds an end of the activity, which has the data of the last run.
func (r *repetition) end(word, guard string, priority int) string {
	t := r.stepOf(word, guard, priority)
	r.net.Transitions[len(r.net.Transitions)-1].Preempts = priority > 0
	r.take(r.active, t, r.n.pos)
	r.take(r.vars, t, r.n.pos)
	for _, place := range []string{r.item, r.count, r.input, r.results} {
		if place != "" {
			r.test(petri.Read, place, t, r.n.pos)
		}
	}
	if !r.m.parallel {
		r.take(r.check, t, r.n.pos)
	}
	r.disarm(r.l, r.n, t)
	r.clearLoop(r.l, r.n, t)
	r.outputOf(r.l, r.n, t, r.afterAll())
	if r.n.kept(r.kid) {
		r.put(t, allPlace(r.l, r.n), r.n.pos)
	}
	return t
}
