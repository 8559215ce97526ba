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
	root, err := tree(r, file, lim)
	if err != nil {
		return nil, err
	}
	d := &reader{found: xmlscan.Faults{File: file}, names: map[string]string{}, types: map[string]string{}, ids: map[string]petri.Pos{}, language: root.Attr("expressionLanguage"), items: map[string]*xmlscan.Element{}, left: maxTyped}
	for _, e := range all(root, "itemDefinition") {
		d.items[e.Attr("name")] = e
	}
	for _, e := range root.Kids {
		if e.Name.Local == "inputData" || e.Name.Local == "decision" {
			d.names[e.Attr("id")] = cmp.Or(e.Kid("variable").Attr("name"), e.Attr("name"))
			d.types[e.Attr("id")] = e.Kid("variable").Attr("typeRef")
		}
	}
	var out []*petri.Decision
	for _, e := range all(root, "decision") {
		out = append(out, d.decision(e, file))
	}
	if len(out) == 0 {
		d.found.Add(root.Pos, "no decision in the file; expected one or more")
	}
	if err := d.found.Join(nil); err != nil {
		return nil, err
	}
	return out, nil
}

// reader makes decisions of a tree.
type reader struct {
	found    xmlscan.Faults
	names    map[string]string           // of inputs and decisions, by id
	types    map[string]string           // of the same
	ids      map[string]petri.Pos        // of decisions
	language string                      // the default of the file
	items    map[string]*xmlscan.Element // types that the file defines, by name
	left     int                         // of maxTyped
}

func (d *reader) decision(e *xmlscan.Element, file string) *petri.Decision {
	out := &petri.Decision{ID: e.Attr("id"), Name: e.Attr("name"), File: file, Pos: e.Pos, Types: map[string]string{}}
	out.Variable = cmp.Or(e.Kid("variable").Attr("name"), out.Name, out.ID)
	first, twice := d.ids[out.ID]
	switch {
	case out.ID == "":
		d.found.Add(e.Pos, "a decision without an id; expected one")
	case twice:
		d.found.Add(e.Pos, "a second decision %s, after that at %d:%d; expected different ids", xmlscan.Quote(out.ID), first.Line, first.Column)
	}
	d.ids[out.ID] = e.Pos
	for _, of := range all(e, "informationRequirement") {
		ref := of.Kid("requiredInput")
		if decision := of.Kid("requiredDecision"); decision != nil {
			ref = decision
			out.Requires = append(out.Requires, strings.TrimPrefix(ref.Attr("href"), "#"))
		}
		href := strings.TrimPrefix(ref.Attr("href"), "#")
		name, known := d.names[href]
		if !known {
			out.Refused = "it requires " + xmlscan.Quote(href) + ", which is not in the file"
		}
		out.Names = append(out.Names, name)
		if of.Kid("requiredInput") != nil {
			d.typed(out.Types, name, d.types[href], 0)
		}
	}
	switch table, literal, context := e.Kid("decisionTable"), e.Kid("literalExpression"), e.Kid("context"); {
	case e.Kid("knowledgeRequirement") != nil:
		out.Refused = "it requires a business knowledge model"
	case table != nil:
		out.Table = d.table(table, out)
	case literal != nil:
		out.Expression = d.expression(literal, out)
	case context != nil:
		d.context(context, out)
	default:
		out.Refused = "it has neither a decision table, a literal expression nor a boxed context"
	}
	return out
}

// context reads a boxed context. One with an entry that is not a literal expression makes the decision refused.
func (d *reader) context(e *xmlscan.Element, out *petri.Decision) {
	for _, k := range all(e, "contextEntry") {
		literal, name := k.Kid("literalExpression"), k.Kid("variable").Attr("name")
		if literal == nil {
			out.Refused = "its boxed context has an entry that is not a literal expression"
			return
		}
		out.Entries = append(out.Entries, petri.DecisionEntry{Name: name, DecisionText: d.expression(literal, out)})
		if name != "" {
			out.Names = append(out.Names, name)
		}
	}
	if len(out.Entries) == 0 {
		out.Refused = "its boxed context has no entries"
	}
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
	if of := item.Kid("typeRef"); of != nil {
		d.typed(to, name, of.Text, depth+1)
	}
	for _, field := range all(item, "itemComponent") {
		of := field.Kid("typeRef")
		if of != nil && d.left > 0 {
			d.typed(to, name+"."+field.Attr("name"), of.Text, depth+1)
		}
	}
}

// maxText bounds an expression, in bytes, as package guard does.
const maxText = 4096

// expression returns the text of an element in its language. One that cannot be evaluated makes the decision refused.
func (d *reader) expression(e *xmlscan.Element, of *petri.Decision) petri.DecisionText {
	t := e.Kid("text")
	if t == nil {
		return petri.DecisionText{Language: "feel", Pos: e.Pos}
	}
	if len(t.Text) > maxText {
		d.found.Add(t.TextPos, "an expression of %d bytes; expected at most %d", len(t.Text), maxText)
	}
	out := petri.DecisionText{Text: t.Text, Language: "feel", Pos: t.TextPos}
	switch language := strings.ToLower(cmp.Or(e.Attr("expressionLanguage"), d.language)); {
	case strings.HasPrefix(t.Text, "${") || strings.HasPrefix(t.Text, "#{"):
		out.Language = "uel"
	case strings.Contains(language, "juel") || language == "uel":
		out.Language, out.Text = "uel", "${"+t.Text+"}"
		if t.Text == "" {
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

func (d *reader) table(e *xmlscan.Element, of *petri.Decision) *petri.DecisionTable {
	policy, known := policies[strings.ReplaceAll(e.Attr("hitPolicy"), "_", " ")]
	if !known {
		d.found.Add(e.Pos, "the hit policy %s; expected UNIQUE, ANY, PRIORITY, FIRST, COLLECT, RULE ORDER or OUTPUT ORDER", xmlscan.Quote(e.Attr("hitPolicy")))
	}
	t := &petri.DecisionTable{HitPolicy: policy, Aggregation: e.Attr("aggregation")}
	if !aggregations[t.Aggregation] {
		d.found.Add(e.Pos, "the aggregation %s; expected SUM, MIN, MAX or COUNT", xmlscan.Quote(t.Aggregation))
	}
	if policy != petri.Collect {
		t.Aggregation = ""
	}
	for _, in := range all(e, "input") {
		x := in.Kid("inputExpression")
		if x == nil {
			d.found.Add(in.Pos, "an input without an inputExpression; expected one")
			continue
		}
		t.Inputs = append(t.Inputs, petri.DecisionInput{DecisionText: d.expression(x, of), Type: x.Attr("typeRef")})
	}
	outputs := all(e, "output")
	for _, x := range outputs {
		o := petri.DecisionOutput{Name: x.Attr("name")}
		if o.Name == "" && len(outputs) == 1 {
			o.Name = of.Variable
		}
		if o.Name == "" {
			d.found.Add(x.Pos, "an output without a name, of %d; expected a name for each", len(outputs))
		}
		if v := x.Kid("outputValues"); v != nil {
			o.Values = d.expression(v, of)
		}
		if v := x.Kid("defaultOutputEntry"); v != nil {
			o.Default = d.expression(v, of)
		}
		t.Outputs = append(t.Outputs, o)
	}
	if len(outputs) == 0 || t.Aggregation != "" && len(outputs) > 1 {
		d.found.Add(e.Pos, "%d outputs; expected one or more, and one with an aggregation", len(outputs))
	}
	for _, r := range all(e, "rule") {
		rule := petri.DecisionRule{Pos: r.Pos}
		for _, x := range all(r, "inputEntry") {
			rule.Tests = append(rule.Tests, d.expression(x, of))
		}
		for _, x := range all(r, "outputEntry") {
			rule.Values = append(rule.Values, d.expression(x, of))
		}
		if len(rule.Tests) != len(t.Inputs) || len(rule.Values) != len(t.Outputs) {
			d.found.Add(r.Pos, "a rule of %d input entries and %d output entries; expected %d and %d", len(rule.Tests), len(rule.Values), len(t.Inputs), len(t.Outputs))
		}
		t.Rules = append(t.Rules, rule)
	}
	return t
}
