// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// function takes a call of a function by its name: now() and dateTime(), as Camunda 7 has them.
func (p *parser) function(at int, name string) node {
	args := p.arguments()
	if name != "now" && name != "dateTime" || len(args) > 0 {
		p.Fail(at, "unknown function %s with %d arguments; expected now(), dateTime() or a function such as vars:get('name')", scan.Quote(name), len(args))
	}
	p.Reads("now()")
	return func(r *run) any { return moment{r.now} }
}

// isPrefix reports whether a word begins the name of one of Flowable's functions of variables, as in
// vars:get(x).
func (p *parser) isPrefix(word string) bool {
	if word != "vars" && word != "variables" && word != "var" || !strings.HasPrefix(p.Text[p.Pos:], ":") {
		return false
	}
	rest := *p
	rest.Pos++
	name := rest.word()
	rest.Pos += len(name)
	return name != "" && strings.HasPrefix(rest.Text[rest.Pos:], "(")
}

// ofVariable is a function of Flowable: its names, how many arguments it has after the name of a variable
// (-1 for one or more), and its value. A variable that does not exist is null.
type ofVariable struct {
	names []string
	args  int
	value func(v any, args []any) any
}

func (p *parser) ofVariable(prefix string) node {
	at := p.Pos - len(prefix)
	p.Pos++
	name := p.word()
	p.Pos += len(name)
	i := slices.IndexFunc(ofVariables, func(f ofVariable) bool { return slices.Contains(f.names, name) })
	if i < 0 {
		p.Fail(at, "unknown function %s", scan.Quote(prefix+":"+name))
	}
	p.Expect("(")
	variable := p.variableName()
	var args []node
	for !p.Sign(")") {
		p.Expect(",")
		args = append(args, p.choice())
	}
	f := ofVariables[i]
	if len(args) != f.args && (f.args >= 0 || len(args) == 0) {
		p.Fail(at, "%d arguments of %s:%s", len(args)+1, prefix, name)
	}
	return func(r *run) any {
		v, _ := r.variable(toText(variable(r)))
		return f.value(v, evaluate(r, args))
	}
}

// variableName takes the name of a variable: a word by itself, or an expression for it.
func (p *parser) variableName() node {
	p.Skip()
	start, word := p.Pos, p.word()
	p.Pos += len(word)
	if word != "" && !slices.Contains(reserved, word) && (p.Is(",") || p.Is(")")) {
		p.Reads(word)
		return func(*run) any { return word }
	}
	p.Pos = start
	p.Reads("variables")
	return p.choice()
}

func evaluate(r *run, args []node) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a(r)
	}
	return out
}

var ofVariables = []ofVariable{
	{[]string{"get"}, 0, func(v any, _ []any) any { return v }},
	{[]string{"getOrDefault"}, 1, func(v any, a []any) any {
		if v == nil {
			return a[0]
		}
		return v
	}},
	{[]string{"exists", "exist"}, 0, func(v any, _ []any) any { return v != nil }},
	{[]string{"isEmpty", "empty"}, 0, func(v any, _ []any) any { return emptyVariable(v) }},
	{[]string{"isNotEmpty", "notEmpty"}, 0, func(v any, _ []any) any { return !emptyVariable(v) }},
	{[]string{"equals", "eq"}, 1, func(v any, a []any) any { return sameAs(v, a[0]) }},
	{[]string{"notEquals", "ne"}, 1, func(v any, a []any) any { return v != nil && !sameAs(v, a[0]) }},
	{[]string{"greaterThan", "gt"}, 1, func(v any, a []any) any { return compared(">", v, a[0]) }},
	{[]string{"greaterThanOrEquals", "gte"}, 1, func(v any, a []any) any { return compared(">=", v, a[0]) }},
	{[]string{"lowerThan", "lessThan", "lt"}, 1, func(v any, a []any) any { return compared("<", v, a[0]) }},
	{[]string{"lowerThanOrEquals", "lessThanOrEquals", "lte"}, 1, func(v any, a []any) any { return compared("<=", v, a[0]) }},
	{[]string{"contains"}, -1, func(v any, a []any) any {
		return holds(v) && !slices.ContainsFunc(a, func(e any) bool { return !containsOne(v, e) })
	}},
	{[]string{"containsAny"}, -1, func(v any, a []any) any {
		return holds(v) && slices.ContainsFunc(a, func(e any) bool { return containsOne(v, e) })
	}},
	{[]string{"base64"}, 0, func(v any, _ []any) any {
		if v == nil {
			return nil
		}
		s, ok := v.(string)
		if !ok {
			scan.Fail("found %s; expected a text", kind(v))
		}
		return short(base64.StdEncoding.EncodeToString([]byte(s)))
	}},
}

func emptyVariable(v any) bool {
	_, object := v.(map[string]any)
	return !object && isEmpty(v)
}

// sameAs compares a variable as Flowable does: numbers by the type of the variable, other values only with
// those of their type.
func sameAs(v, other any) bool {
	if numeric(v) && numeric(other) {
		if isLong(v) {
			return v == toLong(other)
		}
		return v == toDouble(other)
	}
	return javaEqual(v, other)
}

func numeric(v any) bool { return isLong(v) || isDouble(v) }

// compared compares a variable by its order; false for null and for what has no order.
func compared(op string, v, other any) bool {
	switch {
	case numeric(v) && numeric(other) && isLong(v):
		return related(op, v, toLong(other))
	case numeric(v) && numeric(other):
		return related(op, v, toDouble(other))
	case v == nil || other == nil || !ordered(v) || !ordered(other):
		return false
	case reflect.TypeOf(v) != reflect.TypeOf(other):
		scan.Fail("%s %s %s; expected values of one type", kind(v), op, kind(other))
	}
	return related(op, v, other)
}

func ordered(v any) bool { return numeric(v) || isText(v) || isBool(v) }

// holds reports whether a value can contain others.
func holds(v any) bool { _, list := v.([]any); return list || isText(v) }

func containsOne(v, e any) bool {
	if s, ok := v.(string); ok {
		part, ok := e.(string)
		if !ok && e != nil {
			scan.Fail("found %s; expected a text", kind(e))
		}
		return ok && strings.Contains(s, part)
	}
	list, _ := v.([]any)
	return slices.ContainsFunc(list, func(have any) bool { return sameAs(have, e) })
}

// own are the properties that engines have of an execution and a task, and the variables that have them here.
var own = map[string]string{"execution.businessKey": "businessKey", "execution.processBusinessKey": "businessKey", "task.assignee": "assignee"}

// ownProperty takes a property of the variable execution or task. If there is no variable of that name, it is
// another variable, which is null if it does not exist.
func (p *parser) ownProperty(of, member string) node {
	name := own[of+"."+member]
	p.Reads(of + "." + member)
	p.Reads(name)
	return func(r *run) any {
		if v, ok := r.variable(of); ok {
			return property(v, member)
		}
		v, _ := r.variable(name)
		return v
	}
}

// ownMethod takes a call of a method of the variable execution or task, by which engines offer variables.
func (p *parser) ownMethod(at int, of, name string) node {
	args := p.arguments()
	if get, is := strings.CutPrefix(name, "get"); is && len(args) == 0 && get != "" {
		if member := strings.ToLower(get[:1]) + get[1:]; own[of+"."+member] != "" {
			return p.ownProperty(of, member)
		}
	}
	if !slices.Contains([]string{"getVariable", "getVariableLocal", "hasVariable", "hasVariableLocal"}, name) || len(args) != 1 {
		p.Fail(at, "unknown method %s of %s with %d arguments; expected getVariable('name') or hasVariable('name')", scan.Quote(name), of, len(args))
	}
	p.Reads(of)
	return func(r *run) any {
		v, ok := r.variable(toText(args[0](r)))
		if strings.HasPrefix(name, "has") {
			return ok
		}
		return v
	}
}
