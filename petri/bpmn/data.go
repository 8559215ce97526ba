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
	in, out []petri.Assignment
	local   []string // of in: they do not return
	only    bool     // there is nothing inside but in
	back    bool     // what is inside returns, beside out
	all     bool     // of a call in Camunda: what is inside leaves with what is thrown, too
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
			a, ok := d.variable(n, x, "sourceExpression", x.attr("target"), x.attr("sourceExpression"))
			if source := x.attr("source"); source != "" {
				a.Source, a.Value = source, petri.Expression{}
			}
			a.Leaves = !in
			switch {
			case !ok:
			case in:
				m.in = append(m.in, a)
			default:
				m.out = append(m.out, a)
			}
			m.only = m.only || in && !d.takesAll(n)
		}
	}
	returned, called := d.decided(n)
	if !called {
		returned = d.script(n)
	}
	for i := range returned { // others replace what the task returns
		returned[i].Inner = !m.back
	}
	m.out, n.script = append(returned, m.out...), called || returned != nil
	switch trivial := len(m.in)+len(m.out) == 0 && !m.only && m.back != call; {
	case trivial:
	case n.event != nil:
		d.Warnings.Add(n.pos, n.title()+" has a mapping of data, which is not followed")
	default:
		kept := m // m itself stays on the stack
		n.maps = &kept
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
			d.assign(&m.in, n, k, "", k.attr("name"), k.text)
		case "outputParameter":
			d.assign(&m.out, n, k, "", k.attr("name"), k.text)
		case "input":
			d.assign(&m.in, n, k, "source", k.attr("target"), k.attr("source"))
		case "output":
			d.assign(&m.out, n, k, "source", k.attr("target"), k.attr("source"))
			m.back = false // in Zeebe, outputs replace what a job returns
		}
	}
	for _, a := range m.in {
		m.local = append(m.local, a.Name)
	}
}

// variable returns an input or output, whose value is a text or an attribute of an element. ok is
// false, with a warning, if it is not followed.
func (d *document) variable(n *node, k *elem, attr, name, value string) (a petri.Assignment, ok bool) {
	what := words(k.name) + " " + xmlscan.Quote(name) + " of " + n.title()
	switch {
	case len(k.kids) > 0:
		d.Warnings.Add(k.pos, what+" is a "+words(k.kids[0].name)+", which is not evaluated; expected an expression")
		return a, false
	case name == "" || strings.ContainsAny(name, notInNames):
		d.Warnings.Add(k.pos, what+" is not followed; expected the name of a variable")
		return a, false
	case isUEL(value) || isFEEL(value):
		value = onOneLine(value)
	case strings.Contains(value, "${") || strings.Contains(value, "#{"):
		value = "${''}" + onOneLine(value)
	default:
		value = "= " + jsonText(value)
	}
	if attr != "" {
		what = attr + " of " + what
	}
	return petri.Assignment{Name: name, Value: petri.Expression{Text: value, Of: what, Pos: k.pos}}, true
}

// assign appends an input or output, if it is followed.
func (d *document) assign(to *[]petri.Assignment, n *node, k *elem, attr, name, value string) {
	if a, ok := d.variable(n, k, attr, name, value); ok {
		*to = append(*to, a)
	}
}

// notInNames are the characters that names of variables in a mapping cannot have.
const notInNames = ".=`\n"

// jsonText returns a text in quotes, as JSON and FEEL have it.
func jsonText(s string) string {
	out, _ := json.Marshal(s) // a text has no error
	return string(out)
}

// locals returns the variables that an activity has of its own; apart is true if all are.
func (n *node) locals() (names []string, apart bool) {
	if n.maps == nil {
		return nil, n.calls != nil
	}
	return n.maps.local, n.calls != nil || n.maps.only || !n.maps.back || n.kind == "callActivity"
}

// exchange returns what a run of an activity begins with, beside the variables around it that it
// sees, and what it writes around it.
func (n *node) exchange() (in, out []petri.Assignment) {
	m := n.maps
	if m == nil {
		m = &mapping{}
	}
	if _, apart := n.locals(); apart && !m.only {
		in = append(in, petri.Assignment{})
	}
	if _, apart := n.locals(); apart && m.back {
		out = append(out, petri.Assignment{Leaves: m.all})
	}
	if item := n.resultItem(); item != "" {
		in = append(in, petri.Assignment{Name: item, Value: petri.Expression{Text: "=null", Of: n.loop.Result.Of, Pos: n.loop.Result.Pos}})
	}
	return append(in, m.in...), append(out, m.out...)
}

// leaves makes a transition write around a call what leaves it with an event: in Camunda, a call
// returns what its out elements say each time, not only at its end.
func (b *builder) leaves(kid *level, transition string) {
	if kid.node.returns() {
		b.after(func() {
			k := slices.IndexFunc(b.net.Scopes, func(s petri.Scope) bool { return s.ID == kid.run })
			b.net.Scopes[k].Leave = append(b.net.Scopes[k].Leave, transition)
		})
	}
}

// returns reports whether a node is a call that returns something each time that an event leaves it.
func (n *node) returns() bool {
	_, out := n.exchange()
	return n.calls != nil && slices.ContainsFunc(out, func(a petri.Assignment) bool { return a.Leaves })
}
