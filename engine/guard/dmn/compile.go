// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/guard/feel"
	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/pnagent/pnagent/engine/guard/uel"
	"github.com/pnagent/pnagent/petri"
)

// Decision is a compiled decision with those that it requires. It is read-only, so any number of goroutines may use it.
type Decision struct {
	of       *petri.Decision
	requires []*Decision
	table    *table
	literal  value // if table is nil; also that of a boxed context
	paths    []string
	types    map[string]string // of inputs, by name
}

// table is a compiled decision table.
type table struct {
	inputs  []value
	rules   []rule
	ranks   []value // of outputs: the list of its values by priority; nil if it has none
	absents []value // of outputs: the value if no rule matches; nil if it has none
}

type rule struct {
	tests  []*feel.Tests
	values []value
}

// value evaluates an expression to a value of FEEL.
type value func(e *evaluation) (any, error)

// compiler compiles decisions, each once.
type compiler struct {
	all  []*petri.Decision
	done map[string]*Decision
	path []string // of decisions that are being compiled
}

// Compile compiles one of some decisions. The error is a *petri.Fault at its position in the DMN file.
func Compile(all []*petri.Decision, id string) (*Decision, error) {
	return (&compiler{all: all, done: map[string]*Decision{}}).decision(id, nil)
}

// decision compiles a decision that another one requires, or that is nil.
func (c *compiler) decision(id string, by *petri.Decision) (*Decision, error) {
	if d := c.done[id]; d != nil {
		return d, nil
	}
	i := slices.IndexFunc(c.all, func(d *petri.Decision) bool { return d.ID == id && (by == nil || d.File == by.File) })
	if i < 0 {
		return nil, fmt.Errorf("no decision %s; expected one of a DMN file that is given beside the process", scan.Quote(id))
	}
	d := &Decision{of: c.all[i], types: map[string]string{}}
	if d.of.Refused != "" {
		return nil, d.fault(d.of.Pos, "%s", d.of.Refused)
	}
	if slices.Contains(c.path, id) {
		return nil, d.fault(d.of.Pos, "it requires itself, by %s", strings.Join(append(c.path, id), " → "))
	}
	if len(c.path) == scan.MaxDepth {
		return nil, d.fault(d.of.Pos, "it is required by more than %d decisions in a row", scan.MaxDepth)
	}
	c.path = append(c.path, id)
	for _, required := range d.of.Requires {
		r, err := c.decision(required, d.of)
		if err != nil {
			return nil, err
		}
		d.requires, d.paths = append(d.requires, r), append(d.paths, r.paths...)
		maps.Copy(d.types, r.types)
	}
	c.path = c.path[:len(c.path)-1]
	maps.Copy(d.types, d.of.Types)
	if err := d.compile(); err != nil {
		return nil, err
	}
	slices.Sort(d.paths)
	d.paths = slices.Compact(d.paths)
	c.done[id] = d
	return d, nil
}

func (d *Decision) fault(pos petri.Pos, format string, args ...any) error {
	return &petri.Fault{File: d.of.File, Pos: pos, Msg: fmt.Sprintf("decision %s: ", scan.Quote(d.of.ID)) + fmt.Sprintf(format, args...)}
}

func (d *Decision) compile() (err error) {
	switch {
	case d.of.Table != nil:
		return d.compileTable()
	case d.of.Entries == nil:
		d.literal, err = d.expression(&d.of.Expression, "the expression")
		return err
	}
	entries := make([]value, len(d.of.Entries))
	for i := range entries {
		of := &d.of.Entries[i]
		entries[i], err = d.expression(&of.DecisionText, fmt.Sprintf("entry %d of its context, %s", i+1, scan.Quote(of.Name)))
		if err != nil {
			return err
		}
	}
	d.literal = func(e *evaluation) (any, error) { return d.context(e, entries) }
	return nil
}

func (d *Decision) compileTable() error {
	t, from := &table{}, d.of.Table
	for i := range from.Inputs {
		v, err := d.expression(&from.Inputs[i].DecisionText, fmt.Sprintf("input %d", i+1))
		if err != nil {
			return err
		}
		t.inputs = append(t.inputs, v)
	}
	for i := range from.Outputs {
		o := from.Outputs[i]
		values := o.Values
		if values.Text != "" {
			values.Text = "[" + values.Text + "]"
		}
		rank, err := d.optional(&values, fmt.Sprintf("the values of output %d", i+1))
		if err != nil {
			return err
		}
		absent, err := d.optional(&o.Default, fmt.Sprintf("the default of output %d", i+1))
		if err != nil {
			return err
		}
		t.ranks, t.absents = append(t.ranks, rank), append(t.absents, absent)
	}
	ranked := slices.ContainsFunc(t.ranks, func(v value) bool { return v != nil })
	if !ranked && (from.HitPolicy == petri.PriorityHit || from.HitPolicy == petri.OutputOrder) {
		return d.fault(d.of.Pos, "the hit policy %s without outputValues; expected the values of an output in their order", from.HitPolicy)
	}
	for k := range from.Rules {
		r, err := d.rule(&from.Rules[k], k+1)
		if err != nil {
			return err
		}
		t.rules = append(t.rules, r)
	}
	d.table = t
	return nil
}

func (d *Decision) rule(from *petri.DecisionRule, number int) (r rule, err error) {
	for i := range from.Tests {
		x := &from.Tests[i]
		if x.Language != "feel" {
			return r, d.fault(x.Pos, "the test of input %d in rule %d: an expression in UEL; expected FEEL", i+1, number)
		}
		t, err := feel.CompileTests(x.Text, d.of.Names...)
		if err != nil {
			return r, d.fault(x.Pos, "the test of input %d in rule %d: %v", i+1, number, err)
		}
		r.tests, d.paths = append(r.tests, t), append(d.paths, t.Paths()...)
	}
	for i := range from.Values {
		v, err := d.expression(&from.Values[i], fmt.Sprintf("output %d of rule %d", i+1, number))
		if err != nil {
			return r, err
		}
		r.values = append(r.values, v)
	}
	return r, nil
}

// optional is expression for one that may be missing: the result is nil then.
func (d *Decision) optional(x *petri.DecisionText, what string) (value, error) {
	if x.Text == "" {
		return nil, nil
	}
	return d.expression(x, what)
}

// expression compiles an expression. One without a text, or -, is null.
func (d *Decision) expression(x *petri.DecisionText, what string) (value, error) {
	if text := strings.TrimSpace(x.Text); text == "" || text == "-" {
		return func(*evaluation) (any, error) { return nil, nil }, nil
	}
	if x.Language == "uel" {
		p, err := uel.Compile(x.Text)
		if err != nil {
			return nil, d.fault(x.Pos, "%s: %v", what, err)
		}
		d.paths = append(d.paths, p.Paths()...)
		return func(e *evaluation) (any, error) {
			e.budget.Left -= uelSteps + len(x.Text)
			if e.budget.Left < 0 {
				return nil, d.fault(x.Pos, "%s: more than %d steps", what, MaxSteps)
			}
			v, err := p.Eval(e.now, e.inUEL)
			if err != nil {
				return nil, d.fault(x.Pos, "%s: %v", what, err)
			}
			return fromUEL(v), nil
		}, nil
	}
	p, err := feel.Compile(x.Text, d.of.Names...)
	if err != nil {
		return nil, d.fault(x.Pos, "%s: %v", what, err)
	}
	d.paths = append(d.paths, p.Paths()...)
	return func(e *evaluation) (any, error) {
		v, err := p.EvalWithin(&e.budget, e.now, e.inFEEL)
		if err != nil {
			return nil, d.fault(x.Pos, "%s: %v", what, err)
		}
		return v, nil
	}, nil
}

// uelSteps is what an expression in UEL costs, beside its length.
const uelSteps = 1000

// Paths returns the names of variables that the decision and those that it requires may read, sorted.
func (d *Decision) Paths() []string { return d.paths }

// evaluation is one evaluation of a decision.
type evaluation struct {
	now      time.Time
	budget   feel.Budget
	variable func(name string) (any, bool) // decoded JSON
	results  map[string]any                // of decisions, as values of FEEL
	imported map[string]any
	types    map[string]string
}

// inFEEL returns a variable as a value of FEEL.
func (e *evaluation) inFEEL(name string) (any, bool) {
	if v, ok := e.results[name]; ok {
		return v, true
	}
	if v, ok := e.imported[name]; ok {
		return v, true
	}
	v, ok := e.variable(name)
	if ok {
		v = e.typed(name, feel.Import(v))
		e.imported[name] = v
	}
	return v, ok
}

// typed returns a variable, or a field of one, as the types of inputs have it.
func (e *evaluation) typed(name string, v any) any {
	c, ok := v.(*feel.Context)
	if !ok || len(e.types) == 0 {
		return feel.Typed(e.now, v, e.types[name])
	}
	out := feel.NewContext()
	for _, k := range c.Keys() {
		field, _ := c.Get(k)
		out.Set(k, e.typed(name+"."+k, field))
	}
	return out
}

// inUEL returns a variable as a value of UEL.
func (e *evaluation) inUEL(name string) (any, bool) {
	if v, ok := e.results[name]; ok {
		return uel.Import(feel.Export(v)), true
	}
	v, ok := e.variable(name)
	return uel.Import(v), ok
}
