// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"cmp"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Read returns the decisions of a file, in its order. The file's name is used in messages only. The error joins
// all faults, each a *petri.Fault.
func Read(r io.Reader, file string, lim Limits) ([]*petri.Decision, error) {
	p := &parser{Scanner: xmlscan.New(r, file, xmlscan.Limits{Bytes: lim.Bytes, Token: lim.Token, Depth: lim.Depth}), lim: lim}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	d := &reader{found: xmlscan.Faults{File: file}, names: map[string]string{}, types: map[string]string{}, ids: map[string]petri.Pos{}, language: root.attr("expressionLanguage"), items: map[string]*element{}, left: maxTyped}
	for _, e := range root.all("itemDefinition") {
		d.items[e.attr("name")] = e
	}
	for _, e := range root.kids {
		if e.name == "inputData" || e.name == "decision" {
			d.names[e.attr("id")] = cmp.Or(e.kid("variable").attr("name"), e.attr("name"))
			d.types[e.attr("id")] = e.kid("variable").attr("typeRef")
		}
	}
	var out []*petri.Decision
	for _, e := range root.all("decision") {
		out = append(out, d.decision(e, file))
	}
	if len(out) == 0 {
		d.found.Add(root.pos, "no decision in the file; expected one or more")
	}
	if err := d.found.Join(nil); err != nil {
		return nil, err
	}
	return out, nil
}

// reader makes decisions of a tree.
type reader struct {
	found    xmlscan.Faults
	names    map[string]string    // of inputs and decisions, by id
	types    map[string]string    // of the same
	ids      map[string]petri.Pos // of decisions
	language string               // the default of the file
	items    map[string]*element  // types that the file defines, by name
	left     int                  // of maxTyped
}

func (d *reader) decision(e *element, file string) *petri.Decision {
	out := &petri.Decision{ID: e.attr("id"), Name: e.attr("name"), File: file, Pos: e.pos, Types: map[string]string{}}
	out.Variable = cmp.Or(e.kid("variable").attr("name"), out.Name, out.ID)
	first, twice := d.ids[out.ID]
	switch {
	case out.ID == "":
		d.found.Add(e.pos, "a decision without an id; expected one")
	case twice:
		d.found.Add(e.pos, "a second decision %s, after that at %d:%d; expected different ids", xmlscan.Quote(out.ID), first.Line, first.Column)
	}
	d.ids[out.ID] = e.pos
	for _, of := range e.all("informationRequirement") {
		ref := of.kid("requiredInput")
		if decision := of.kid("requiredDecision"); decision != nil {
			ref = decision
			out.Requires = append(out.Requires, strings.TrimPrefix(ref.attr("href"), "#"))
		}
		href := strings.TrimPrefix(ref.attr("href"), "#")
		name, known := d.names[href]
		if !known {
			out.Refused = "it requires " + xmlscan.Quote(href) + ", which is not in the file"
		}
		out.Names = append(out.Names, name)
		if of.kid("requiredInput") != nil {
			d.typed(out.Types, name, d.types[href], 0)
		}
	}
	switch table, literal := e.kid("decisionTable"), e.kid("literalExpression"); {
	case e.kid("knowledgeRequirement") != nil:
		out.Refused = "it requires a business knowledge model"
	case table != nil:
		out.Table = d.table(table, out)
	case literal != nil:
		out.Expression = d.expression(literal, out)
	default:
		out.Refused = "it has neither a decision table nor a literal expression"
	}
	return out
}

// Bounds of types: how deep one is followed, and how many inputs and fields of a file have one. What is beyond
// has none.
const (
	maxTypes = 10
	maxTyped = 100_000
)

// typed notes the type of an input or a field, and of the fields inside it.
func (d *reader) typed(to map[string]string, name, typ string, depth int) {
	d.left--
	if typ == "" || depth > maxTypes || d.left < 0 {
		return
	}
	item := d.items[typ]
	if item == nil {
		to[name] = typ
		return
	}
	if of := item.kid("typeRef"); of != nil {
		d.typed(to, name, of.text, depth+1)
	}
	for _, field := range item.all("itemComponent") {
		of := field.kid("typeRef")
		if of != nil && d.left > 0 {
			d.typed(to, name+"."+field.attr("name"), of.text, depth+1)
		}
	}
}

// maxText bounds an expression, in bytes, as package guard does.
const maxText = 4096

// expression returns the text of an element in its language. One that cannot be evaluated makes the decision refused.
func (d *reader) expression(e *element, of *petri.Decision) petri.DecisionText {
	t := e.kid("text")
	if t == nil {
		return petri.DecisionText{Language: "feel", Pos: e.pos}
	}
	if len(t.text) > maxText {
		d.found.Add(t.start, "an expression of %d bytes; expected at most %d", len(t.text), maxText)
	}
	out := petri.DecisionText{Text: t.text, Language: "feel", Pos: t.start}
	switch language := strings.ToLower(cmp.Or(e.attr("expressionLanguage"), d.language)); {
	case strings.HasPrefix(t.text, "${") || strings.HasPrefix(t.text, "#{"):
		out.Language = "uel"
	case strings.Contains(language, "juel") || language == "uel":
		out.Language, out.Text = "uel", "${"+t.text+"}"
		if t.text == "" {
			out.Text = ""
		}
	case language != "" && !strings.Contains(language, "feel"):
		of.Refused = "an expression in the language " + xmlscan.Quote(language) + "; expected FEEL or UEL"
	}
	return out
}

var policies = map[string]petri.HitPolicy{"": petri.Unique, "UNIQUE": petri.Unique, "ANY": petri.AnyHit, "PRIORITY": petri.PriorityHit, "FIRST": petri.First, "COLLECT": petri.Collect,
	"RULE ORDER": petri.RuleOrder, "OUTPUT ORDER": petri.OutputOrder}

var aggregations = map[string]bool{"": true, "SUM": true, "MIN": true, "MAX": true, "COUNT": true}

func (d *reader) table(e *element, of *petri.Decision) *petri.DecisionTable {
	policy, known := policies[strings.ReplaceAll(e.attr("hitPolicy"), "_", " ")]
	if !known {
		d.found.Add(e.pos, "the hit policy %s; expected UNIQUE, ANY, PRIORITY, FIRST, COLLECT, RULE ORDER or OUTPUT ORDER", xmlscan.Quote(e.attr("hitPolicy")))
	}
	t := &petri.DecisionTable{HitPolicy: policy, Aggregation: e.attr("aggregation")}
	if !aggregations[t.Aggregation] {
		d.found.Add(e.pos, "the aggregation %s; expected SUM, MIN, MAX or COUNT", xmlscan.Quote(t.Aggregation))
	}
	if policy != petri.Collect {
		t.Aggregation = ""
	}
	for _, in := range e.all("input") {
		x := in.kid("inputExpression")
		if x == nil {
			d.found.Add(in.pos, "an input without an inputExpression; expected one")
			continue
		}
		t.Inputs = append(t.Inputs, petri.DecisionInput{DecisionText: d.expression(x, of), Type: x.attr("typeRef")})
	}
	outputs := e.all("output")
	for _, x := range outputs {
		o := petri.DecisionOutput{Name: x.attr("name")}
		if o.Name == "" && len(outputs) == 1 {
			o.Name = of.Variable
		}
		if o.Name == "" {
			d.found.Add(x.pos, "an output without a name, of %d; expected a name for each", len(outputs))
		}
		if v := x.kid("outputValues"); v != nil {
			o.Values = d.expression(v, of)
		}
		if v := x.kid("defaultOutputEntry"); v != nil {
			o.Default = d.expression(v, of)
		}
		t.Outputs = append(t.Outputs, o)
	}
	if len(outputs) == 0 || t.Aggregation != "" && len(outputs) > 1 {
		d.found.Add(e.pos, "%d outputs; expected one or more, and one with an aggregation", len(outputs))
	}
	for _, r := range e.all("rule") {
		rule := petri.DecisionRule{Pos: r.pos}
		for _, x := range r.all("inputEntry") {
			rule.Tests = append(rule.Tests, d.expression(x, of))
		}
		for _, x := range r.all("outputEntry") {
			rule.Values = append(rule.Values, d.expression(x, of))
		}
		if len(rule.Tests) != len(t.Inputs) || len(rule.Values) != len(t.Outputs) {
			d.found.Add(r.pos, "a rule of %d input entries and %d output entries; expected %d and %d", len(rule.Tests), len(rule.Values), len(t.Inputs), len(t.Outputs))
		}
		t.Rules = append(t.Rules, rule)
	}
	return t
}
