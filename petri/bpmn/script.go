// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// script returns the output of a task whose work is to evaluate an expression: Zeebe's <script>, a script in
// UEL or FEEL, or Camunda's expression, each with a variable for its result. It returns none, with a warning,
// if pnagent does not evaluate the expression: which methods of Java there are is not known here.
func (d *document) script(n *node) (out []petri.Assignment) {
	name, value := n.scriptOf()
	method := !isFEEL(value) && strings.Contains(value, "{") && strings.Contains(value, "(")
	switch {
	case name == "" && method:
		d.Warnings.Add(n.pos, "the expression of "+n.title()+" calls a method: it is not evaluated, but a piece of work")
		return nil
	case name == "":
		return nil
	case method:
		d.Warnings.Add(n.pos, "the expression or script of "+n.title()+" calls a method: it is not evaluated, but a piece of work, which sets "+xmlscan.Quote(name))
		return nil
	case value == "":
		d.Warnings.Add(n.pos, "the expression or script of "+n.title()+" is not evaluated: it is a piece of work, which sets "+xmlscan.Quote(name))
		return nil
	}
	d.assign(&out, n, &elem{name: "resultVariable", pos: n.pos}, "", name, value)
	return out
}

// scriptOf returns the variable for the result of a task, or "", and its expression, or "" for
// one in another language.
func (n *node) scriptOf() (name, value string) {
	if !isTask(n.kind) || n.kind == "userTask" || n.kind == "manualTask" || n.kind == "receiveTask" {
		return "", ""
	}
	for _, x := range n.el.extensions() {
		if x.name == "script" && n.kind == "scriptTask" { // Zeebe
			return x.attr("resultVariable"), x.attr("expression")
		}
	}
	name = n.el.extension("resultVariable")
	if value = n.el.extension("expression"); value != "" {
		return name, value
	}
	e := n.el.kid("script")
	if e == nil || n.kind != "scriptTask" {
		return "", "" // the result of Java, of a rule or of a connector
	}
	switch languageOf(n.el.attr("scriptFormat")) {
	case "uel":
		return name, e.text
	case "feel":
		return name, "= " + strings.TrimPrefix(e.text, "=")
	}
	return name, ""
}

// warnOfAssociations warns of data associations that change data.
func (d *document) warnOfAssociations(n *node) {
	for _, e := range n.el.kids {
		if !e.is("dataInputAssociation") && !e.is("dataOutputAssociation") {
			continue
		}
		for _, k := range e.kids {
			if k.is("transformation") || k.is("assignment") {
				d.Warnings.Add(k.pos, "the "+k.name+" in a "+words(e.name)+" of "+n.title()+" is not evaluated")
			}
		}
	}
}

// warnOfCorrelation warns of the keys of BPMN itself, by which messages select an instance.
func (d *document) warnOfCorrelation(s *scope) {
	for _, e := range s.el.kids {
		if e.is("correlationSubscription") {
			d.Warnings.Add(e.pos, "correlationSubscription "+xmlscan.Quote(e.attr("id"))+" is not followed: a message reaches the first instance that waits for it")
		}
	}
	for _, e := range d.root.kids {
		if e.is("correlationProperty") {
			d.Warnings.Add(e.pos, "correlationProperty "+xmlscan.Quote(e.attr("id"))+" is not followed: a message reaches the first instance that waits for it")
		}
	}
}
