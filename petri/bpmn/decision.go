// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// decisionField is Flowable's name for the decision that a task calls.
const decisionField = "decisionTableReferenceKey"

// decided returns the outputs of a task that calls a decision of a DMN file, as Camunda 7, Camunda 8 and Flowable have
// it. It returns false if the task calls none, or one that is in no file: that is a piece of work.
func (d *document) decided(n *node) (out []petri.Assignment, called bool) {
	id, result, form := n.calledDecision()
	of := d.byDecision[id]
	if of == nil {
		return nil, false
	}
	output := func(name, value string) {
		if a, ok := d.variable(n, &elem{name: "resultVariable", pos: n.pos}, "", name, ""); ok {
			a.Value.Text = value
			out = append(out, a)
		}
	}
	quoted := strconv.Quote(id)
	switch {
	case form != "output" && result == "":
		d.Warnings.Add(n.pos, "the result of the decision "+xmlscan.Quote(id)+" is not kept: "+n.title()+" has no resultVariable")
	case form != "output":
		output(result, "dmn: "+form+" "+quoted)
	case of.Table != nil && of.Table.Several():
		output(id, "dmn: resultList "+quoted)
	case of.Table == nil:
		output(of.Variable, "dmn: value "+quoted)
	default:
		for _, o := range of.Table.Outputs {
			output(o.Name, "dmn: output "+quoted+" "+strconv.Quote(o.Name))
		}
	}
	return out, true
}

// calledDecision returns the decision that a task calls, or "", the variable for its result, and the form of that: see
// package guard. In Flowable, each output is a variable.
func (n *node) calledDecision() (id, result, form string) {
	switch n.kind {
	case "businessRuleTask":
		for _, x := range n.el.extensions() {
			if x.name == "calledDecision" {
				return x.attr("decisionId"), x.attr("resultVariable"), "value"
			}
		}
		return n.el.extension("decisionRef"), n.el.extension("resultVariable"), cmp.Or(n.el.extension("mapDecisionResult"), "resultList")
	case "serviceTask":
		for _, x := range n.el.extensions() {
			if n.el.extension("type") == "dmn" && x.name == "field" && x.attr("name") == decisionField {
				id = x.attr("stringValue")
				for _, k := range x.kids {
					id = cmp.Or(id, k.text)
				}
			}
		}
	}
	return id, "", "output"
}
