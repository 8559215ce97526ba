// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pnagent/pnagent/engine/guard/feel"
	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/pnagent/pnagent/petri"
)

// MaxSteps bounds the work of a decision with those that it requires: see feel.MaxSteps.
const MaxSteps = 4 * feel.MaxSteps

// Result is what a decision decided: rows of values, of which each has one for each output.
type Result struct {
	Outputs []string
	Rows    [][]any // values of FEEL
	Several bool    // the hit policy gives a list
}

// Eval evaluates the decision. variables returns a variable as decoded JSON, and whether there is one. now is the time
// that its expressions see.
func (d *Decision) Eval(now time.Time, variables func(name string) (any, bool)) (r *Result, err error) {
	defer func() { err = scan.Caught(recover(), err) }()
	e := &evaluation{now: now, budget: feel.Budget{Left: MaxSteps}, variable: variables, results: map[string]any{}, imported: map[string]any{}, types: d.types}
	return d.eval(e)
}

func (d *Decision) eval(e *evaluation) (*Result, error) {
	for _, r := range d.requires {
		if _, done := e.results[r.of.Variable]; done {
			continue
		}
		out, err := r.eval(e)
		if err != nil {
			return nil, err
		}
		if len(out.Rows) == 1 && !out.Several {
			for i, name := range out.Outputs {
				e.results[name] = out.Rows[0][i]
			}
		}
		e.results[r.of.Variable] = out.Value()
	}
	if d.table == nil {
		v, err := d.literal(e)
		return &Result{Outputs: []string{d.of.Variable}, Rows: [][]any{{v}}}, err
	}
	out := &Result{Several: d.of.Table.Several()}
	for _, o := range d.of.Table.Outputs {
		out.Outputs = append(out.Outputs, o.Name)
	}
	hits, err := d.matches(e)
	if err != nil {
		return nil, err
	}
	for _, k := range hits {
		row, err := evaluate(e, d.table.rules[k].values)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	if len(hits) == 0 && slices.ContainsFunc(d.table.absents, func(v value) bool { return v != nil }) {
		row, err := evaluate(e, d.table.absents)
		out.Rows = append(out.Rows, row)
		return out, err
	}
	return out, d.choose(e, out, hits)
}

// context evaluates the entries of a boxed context in their order.
func (d *Decision) context(e *evaluation, entries []value) (any, error) {
	outside, c := e.results, feel.NewContext()
	e.results = maps.Clone(outside)
	defer func() { e.results = outside }()
	for i, entry := range entries {
		v, err := entry(e)
		name := d.of.Entries[i].Name
		if err != nil || name == "" {
			return v, err
		}
		c.Set(name, v)
		e.results[name] = v
	}
	return c, nil
}

// evaluate returns the values of expressions; that of one that is nil is null.
func evaluate(e *evaluation, list []value) ([]any, error) {
	out := make([]any, len(list))
	for i, v := range list {
		if v == nil {
			continue
		}
		x, err := v(e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// matches returns the indexes of the rules that match; at most one if the hit policy is First.
func (d *Decision) matches(e *evaluation) (hits []int, err error) {
	inputs, err := evaluate(e, d.table.inputs)
	if err != nil {
		return nil, err
	}
	for i := range inputs {
		inputs[i] = feel.Typed(e.now, inputs[i], d.of.Table.Inputs[i].Type)
	}
	for k, r := range d.table.rules {
		match := true
		for i := 0; i < len(r.tests) && match; i++ {
			match, err = r.tests[i].Pass(&e.budget, e.now, inputs[i], e.inFEEL)
			if err != nil {
				return nil, d.fault(d.of.Table.Rules[k].Tests[i].Pos, "the test of input %d in rule %d: %v", i+1, k+1, err)
			}
		}
		if !match {
			continue
		}
		hits = append(hits, k)
		if d.of.Table.HitPolicy == petri.First {
			break
		}
	}
	return hits, nil
}

// choose makes of the rows of all rules that match those of the hit policy.
func (d *Decision) choose(e *evaluation, out *Result, hits []int) (err error) {
	switch policy := d.of.Table.HitPolicy; policy {
	case petri.Unique:
		if len(hits) > 1 {
			return d.fault(d.of.Table.Rules[hits[1]].Pos, "the rules %d and %d match, with the hit policy UNIQUE; expected at most one", hits[0]+1, hits[1]+1)
		}
	case petri.AnyHit:
		for i := 1; i < len(out.Rows); i++ {
			if !feel.Equal(out.Rows[0], out.Rows[i]) {
				return d.fault(d.of.Table.Rules[hits[i]].Pos, "the rules %d and %d match with different outputs, with the hit policy ANY; expected equal ones", hits[0]+1, hits[i]+1)
			}
		}
		out.Rows = out.Rows[:min(len(out.Rows), 1)]
	case petri.PriorityHit, petri.OutputOrder:
		err = d.byPriority(e, out.Rows)
		if err == nil && policy == petri.PriorityHit {
			out.Rows = out.Rows[:min(len(out.Rows), 1)]
		}
	case petri.Collect:
		return d.aggregate(e, out)
	}
	return err
}

// byPriority sorts rows by the order in which the values of their outputs are listed.
func (d *Decision) byPriority(e *evaluation, rows [][]any) error {
	lists, err := evaluate(e, d.table.ranks)
	if err != nil {
		return err
	}
	rank := func(v any, output int) int {
		list, _ := lists[output].([]any)
		i := slices.IndexFunc(list, func(of any) bool { return feel.Equal(of, v) })
		if i < 0 {
			return len(list)
		}
		return i
	}
	slices.SortStableFunc(rows, func(a, b []any) int {
		for i := range a {
			if c := cmp.Compare(rank(a[i], i), rank(b[i], i)); c != 0 {
				return c
			}
		}
		return 0
	})
	return nil
}

// aggregate replaces the rows by one with their sum, least, greatest or number.
func (d *Decision) aggregate(e *evaluation, out *Result) error {
	name := map[string]string{"SUM": "sum", "MIN": "min", "MAX": "max", "COUNT": "count"}[d.of.Table.Aggregation]
	if name == "" {
		return nil
	}
	if len(out.Rows) == 0 && name != "count" {
		return nil
	}
	list := make([]any, len(out.Rows))
	for i, row := range out.Rows {
		list[i] = row[0]
	}
	v, err := feel.Call(&e.budget, name, list)
	if err != nil || v == nil {
		return d.fault(d.of.Pos, "the %s of %s; expected numbers", d.of.Table.Aggregation, scan.Quote(fmt.Sprint(feel.Export(list))))
	}
	out.Rows = [][]any{{v}}
	return nil
}

// entry returns the value of a row: that of its only output, or a context of all.
func (r *Result) entry(row []any) any {
	if len(row) == 1 {
		return row[0]
	}
	return r.context(row)
}

func (r *Result) context(row []any) any {
	c := feel.NewContext()
	for i, name := range r.Outputs {
		c.Set(name, row[i])
	}
	return c
}

func mapped(rows [][]any, of func(row []any) any) []any {
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = of(row)
	}
	return out
}

// Value returns the result as DMN and Camunda 8 have it: a value, or a context of several outputs, or a list of these. It is
// null if no rule matches.
func (r *Result) Value() any {
	switch {
	case len(r.Rows) == 0:
		return nil
	case r.Several:
		return mapped(r.Rows, r.entry)
	}
	return r.entry(r.Rows[0])
}

// Mapped returns the result as a mapping of Camunda 7 makes it: singleEntry, singleResult, collectEntries or resultList.
func (r *Result) Mapped(by string) (any, error) {
	switch by {
	case "resultList":
		return mapped(r.Rows, r.context), nil
	case "collectEntries":
		if len(r.Outputs) != 1 {
			return nil, fmt.Errorf("%d outputs; expected one for collectEntries", len(r.Outputs))
		}
		return mapped(r.Rows, r.entry), nil
	}
	switch {
	case len(r.Rows) > 1:
		return nil, fmt.Errorf("%d rules match; expected at most one for %s", len(r.Rows), by)
	case len(r.Rows) == 0:
		return nil, nil
	case by == "singleResult":
		return r.context(r.Rows[0]), nil
	case len(r.Outputs) != 1:
		return nil, fmt.Errorf("%d outputs; expected one for singleEntry", len(r.Outputs))
	}
	return r.Rows[0][0], nil
}

// Output returns the value of an output, and whether a rule matches.
func (r *Result) Output(name string) (any, bool) {
	i := slices.Index(r.Outputs, name)
	if i < 0 || len(r.Rows) == 0 {
		return nil, false
	}
	return r.Rows[0][i], true
}

// fromUEL returns a value of UEL as one of FEEL.
func fromUEL(v any) any {
	switch v := v.(type) {
	case int64:
		return feel.Import(json.Number(strconv.FormatInt(v, 10)))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fromUEL(v[i])
		}
		return out
	case map[string]any:
		c := map[string]any{}
		for k, e := range v {
			c[k] = feel.Export(fromUEL(e))
		}
		return feel.Import(c)
	}
	return feel.Import(v)
}
