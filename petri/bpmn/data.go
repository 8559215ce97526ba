// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// mapping is how an activity exchanges data with what is around it.
type mapping struct {
	in, out []param
	only    bool // there is nothing inside but in
	back    bool // what is inside returns, beside out
	all     bool // of a call in Camunda: what is inside leaves with what is thrown, too
}

// param is a variable and the expression of its value.
type param struct {
	name, value string
	local       bool // of in: it does not return
	hidden      bool // of out: only those after it can read it
	thrown      bool // of out: it leaves with what is thrown, too
}

// readMapping reads the mapping of a node, which is nil if the file has none.
func (d *document) readMapping(n *node) {
	call := n.kind == "callActivity"
	m := mapping{back: !call}
	for _, x := range n.el.extensions() {
		in := x.name == "in"
		switch {
		case x.name == "inputOutput" || x.name == "ioMapping":
			d.readParams(n, &m, x)
		case call && x.name == "calledElement":
			m.only, m.back = x.attr("propagateAllParentVariables") == "false", x.attr("propagateAllChildVariables") != "false"
		case !call || !in && x.name != "out" || x.attr("businessKey") != "":
		case x.attr("variables") == "all":
			m.only, m.back, m.all = m.only && !in, m.back || !in, m.all || !in
		default:
			value := x.attr("sourceExpression")
			if source := x.attr("source"); in && source != "" {
				value = "=`" + source + "`"
			} else if source != "" {
				value = "= get value(" + insideOf + ", " + jsonText(source) + ")"
			}
			p := d.param(n, x, x.attr("target"), value)
			for k := range p {
				p[k].thrown = !in
			}
			if m.out = append(m.out, p...); in {
				m.out = m.out[:len(m.out)-len(p)]
				m.in = append(m.in, p...)
				m.only = m.only || !d.takesAll(n)
			}
		}
	}
	if p, called := d.decided(n); called {
		for i := range p {
			p[i].hidden = !m.back
		}
		m.out, n.script = append(p, m.out...), true
	} else if p := d.script(n, !m.back); p != nil {
		m.out, n.script = append(p, m.out...), true
	}
	switch trivial := len(m.in)+len(m.out) == 0 && !m.only && m.back != call; {
	case trivial:
	case n.event != nil:
		d.Warnings.Add(n.pos, n.title()+" has a mapping of data, which is not followed")
	default:
		n.maps = &m
	}
}

// takesAll reports whether a call activity passes on all variables.
func (d *document) takesAll(n *node) bool {
	return slices.ContainsFunc(n.el.extensions(), func(x *elem) bool { return x.name == "in" && x.attr("variables") == "all" })
}

// readParams reads inputs and outputs of Camunda or Zeebe.
func (d *document) readParams(n *node, m *mapping, x *elem) {
	for _, k := range x.kids {
		switch k.name {
		case "inputParameter":
			m.in = append(m.in, d.param(n, k, k.attr("name"), k.text)...)
		case "outputParameter":
			m.out = append(m.out, d.param(n, k, k.attr("name"), k.text)...)
		case "input":
			m.in = append(m.in, d.param(n, k, k.attr("target"), k.attr("source"))...)
		case "output":
			m.out = append(m.out, d.param(n, k, k.attr("target"), k.attr("source"))...)
			m.back = false // in Zeebe, outputs replace what a job returns
		}
	}
	for i := range m.in {
		m.in[i].local = true
	}
}

// param returns an input or output, or none, with a warning, if it is not followed.
func (d *document) param(n *node, k *elem, name, value string) []param {
	switch {
	case len(k.kids) > 0:
		d.Warnings.Add(k.pos, words(k.name)+" "+xmlscan.Quote(name)+" of "+n.title()+" is a "+words(k.kids[0].name)+", which is not evaluated; expected an expression")
		return nil
	case name == "" || strings.ContainsAny(name, notInNames):
		d.Warnings.Add(k.pos, words(k.name)+" "+xmlscan.Quote(name)+" of "+n.title()+" is not followed; expected the name of a variable")
		return nil
	case isUEL(value) || isFEEL(value):
		value = onOneLine(value)
	case strings.Contains(value, "${") || strings.Contains(value, "#{"):
		value = "${''}" + onOneLine(value)
	default:
		value = "= " + jsonText(value)
	}
	return []param{{name: name, value: value}}
}

// notInNames are the characters that names of variables in a mapping cannot have.
const notInNames = ".=`\n"

// jsonText returns a text in quotes, as JSON and FEEL have it.
func jsonText(s string) string {
	out, _ := json.Marshal(s) // a text has no error
	return string(out)
}

// with returns a line of an expression, which defines a variable.
func with(name, value string) string { return "with " + name + " = " + value + "\n" }

// asContext returns an expression of FEEL for data as a context.
const asContext = "if t.data instance of context then t.data else {}"

// dataAt returns a line that defines a variable: the data of the token of a place.
func dataAt(name, place string) string {
	return with(name, "= context merge(for t in pnagent.tokens[place = "+jsonText(place)+"] return "+asContext+")")
}

// params returns lines that define variables, and an expression of FEEL for a context of them.
func params(list []param) (lines, context string) {
	var fields []string
	for i, p := range list {
		lines += with(p.name, p.value)
		if !p.hidden && !slices.ContainsFunc(list[i+1:], func(later param) bool { return later.name == p.name }) {
			fields = append(fields, jsonText(p.name)+": `"+p.name+"`")
		}
	}
	return lines, "{" + strings.Join(fields, ", ") + "}"
}

// locals returns the inputs that do not leave the activity.
func (m *mapping) locals() (names []string) {
	if m == nil {
		return nil
	}
	for _, p := range m.in {
		if p.local {
			names = append(names, p.name)
		}
	}
	return names
}

// locals returns the variables that an activity has of its own; apart is true if all are.
func (n *node) locals() (names []string, apart bool) {
	return n.maps.locals(), n.calls != nil || n.maps != nil && (n.maps.only || !n.maps.back || n.kind == "callActivity")
}

// thrown returns what an event that leaves a call writes around it: in Camunda, a call returns what
// its out elements say each time, not only at its end. It is nil for nothing.
func (n *node) thrown() *mapping {
	if n.calls == nil || n.maps == nil {
		return nil
	}
	m := &mapping{back: n.maps.all, out: slices.DeleteFunc(slices.Clone(n.maps.out), func(p param) bool { return !p.thrown })}
	if !m.back && len(m.out) == 0 {
		return nil
	}
	return m
}

// brings returns an expression for the variables with which a run of an activity begins; "" if it
// has none of its own, or all that are around it.
func (n *node) brings() string {
	m, calls := n.maps, n.calls != nil && n.loop != nil // what the loop sets goes in, too
	if m == nil && !calls {
		return ""
	}
	if m == nil {
		m = &mapping{}
	}
	lines, in := params(m.in)
	switch _, apart := n.locals(); {
	case len(m.in) == 0 && !m.only && (!apart || n.loop == nil):
		return ""
	case m.only || !apart:
		return lines + "= " + in
	}
	return lines + with("here", "= context merge(for t in pnagent.tokens return "+asContext+")") + "= context merge([here, " + in + "])"
}

// insideOf is the variable with the data of the place inside, in what outside returns.
const insideOf = "`data inside`"

// outside returns an expression for what an activity writes outside: the data of a place around it, if
// that is not "", over it all variables of a place inside but some names, and over these its outputs.
// It is "" if that is nothing.
func (m *mapping) outside(outer, inner string, all bool, names ...string) string {
	if m == nil {
		return ""
	}
	lines, out := params(m.out)
	lines = dataAt("data inside", inner) + lines
	var parts []string
	if all {
		parts = append(parts, without(insideOf, append(names, m.locals()...)))
	}
	if len(m.out) > 0 {
		parts = append(parts, out)
	}
	switch {
	case len(parts) == 0:
		return ""
	case outer != "":
		lines += dataAt("outer", outer)
		parts = slices.Insert(parts, 0, "outer")
	}
	return lines + "= context merge([" + strings.Join(parts, ", ") + "])"
}

// returns returns an expression for what an activity writes outside when it ends; "" for nothing.
func (n *node) returns(inner string) string {
	_, apart := n.locals()
	return n.maps.outside("", inner, apart && n.maps != nil && n.maps.back, n.runNames()...)
}

// without returns an expression of FEEL for a context without some names.
func without(context string, names []string) string {
	if len(names) == 0 {
		return context
	}
	list := make([]string, len(names))
	for i := range names {
		list[i] = jsonText(names[i])
	}
	return "context(get entries(" + context + ")[not(list contains([" + strings.Join(list, ", ") + "], key))])"
}

// inscribe makes a transition put a token with data.
func (b *builder) inscribe(transition, place, data string, pos petri.Pos) {
	b.spend(data)
	b.arc(petri.Arc{Source: transition, Target: place, Weight: 1, Data: data, Pos: pos})
}

// gather builds a step of an ad hoc sub-process after something inside has ended.
func (b *builder) gather(l, kid *level, n *node) {
	b.workPlace(kid, kid.results, n.label()+" (ends)", b.at(l, n.id), n.pos)
	t := b.step(l, n, "gather")
	t.Priority = 1
	id := t.ID
	b.take(kid.results, id, n.pos)
}
