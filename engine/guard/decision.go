// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/engine/guard/dmn"
	"github.com/pnagent/pnagent/engine/guard/scan"
)

// decisionPrefix begins an expression for the result of a decision.
const decisionPrefix = "dmn: "

// decisionForms are the forms of the value of a decision: see dmn.Result.
var decisionForms = []string{"value", "singleEntry", "singleResult", "collectEntries", "resultList", "output"}

// decisionExpression is the result of a decision: dmn: FORM "id", or dmn: output "id" "name" for one output, which
// is the variable of that name if no rule matches.
type decisionExpression struct {
	access
	decision     *dmn.Decision
	form, output string
}

func (c *Compiler) compileDecision(text string) (expression, error) {
	form, rest, _ := strings.Cut(strings.TrimPrefix(text, decisionPrefix), " ")
	id, rest := quoted(rest)
	e := &decisionExpression{form: form}
	if form == "output" {
		e.output, rest = quoted(rest)
	}
	if id == "" || rest != "" || !slices.Contains(decisionForms, form) || form == "output" && e.output == "" {
		return nil, &Error{Line: 1, Column: 1, Msg: fmt.Sprintf("%s; expected %s%s \"id\"", scan.Quote(text), decisionPrefix, strings.Join(decisionForms, "|"))}
	}
	d, err := dmn.Compile(c.Decisions, id)
	if err != nil {
		return nil, err
	}
	e.decision = d
	e.access, err = accessOf(e.decision.Paths())
	e.fields = true
	return e, err
}

// quoted returns the text in quotes at the beginning of a text, and what follows it.
func quoted(s string) (text, rest string) {
	prefix, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", s
	}
	text, _ = strconv.Unquote(prefix) // it is quoted
	return text, strings.TrimPrefix(s[len(prefix):], " ")
}

func (e *decisionExpression) value(in *input) (any, error) {
	variable := func(name string) (any, bool) {
		v, ok, err := in.variable(name, true)
		if err != nil {
			scan.Fail("%v", err)
		}
		return v, ok
	}
	if _, err := in.decoded(); err != nil {
		return nil, err
	}
	r, err := e.decision.Eval(in.time(), variable)
	if err != nil {
		return nil, err
	}
	switch e.form {
	case "value":
		return r.Value(), nil
	case "output":
		v, ok := r.Output(e.output)
		if !ok {
			v, _ = variable(e.output)
		}
		return v, nil
	}
	return r.Mapped(e.form)
}

// truth returns a result as FEEL has it.
func (e *decisionExpression) truth(v any) (bool, error) { return (&feelExpression{}).truth(v) }
