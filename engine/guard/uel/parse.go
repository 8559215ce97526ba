// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// node computes the value of a part of an expression.
type node func(*run) any

// run is one evaluation.
type run struct {
	variable func(name string) (any, bool)
	now      time.Time
	left     int // steps of patterns, see maxSteps
}

// parser reads the text of an expression and composes its node.
type parser struct{ scan.Reader }

func newParser(text string) *parser {
	p := &parser{scan.Reader{Text: text}}
	p.Skip, p.Word = p.skip, p.word
	return p
}

// reserved words are no names.
var reserved = []string{"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "div", "mod", "empty", "true", "false", "null", "instanceof"}

func (p *parser) skip() {
	p.Pos = len(p.Text) - len(strings.TrimLeftFunc(p.Text[p.Pos:], unicode.IsSpace))
}

// word returns the Java identifier that follows, or "".
func (p *parser) word() string {
	for i, r := range p.Text[p.Pos:] {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return p.Text[p.Pos : p.Pos+i]
		}
	}
	return p.Text[p.Pos:]
}

// operator takes one of some operators and returns its sign, or "". signs are pairs of a
// sign and a word.
func (p *parser) operator(signs ...string) string {
	p.Skip()
	w := p.word()
	for i := 0; i < len(signs); i += 2 {
		switch sign, word := signs[i], signs[i+1]; {
		case word != "" && w == word:
			p.Pos += len(w)
			return sign
		case sign == "+" && p.Is("+="):
		case p.Sign(sign):
			return sign
		}
	}
	return ""
}

// template takes the whole text: expressions in ${…} or #{…}, and text between them.
func (p *parser) template() node {
	var parts []node
	for p.Pos < len(p.Text) {
		rest := p.Text[p.Pos:]
		if strings.HasPrefix(rest, "${") || strings.HasPrefix(rest, "#{") {
			p.Pos += 2
			parts = append(parts, p.choice())
			p.Expect("}")
			continue
		}
		end := len(rest)
		for _, sign := range []string{"${", "#{"} {
			if i := strings.Index(rest, sign); i >= 0 {
				end = min(end, i)
			}
		}
		p.Pos += end
		parts = append(parts, func(*run) any { return rest[:end] })
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return func(r *run) any {
		out := ""
		for _, part := range parts {
			out = joined(out, part(r))
		}
		return out
	}
}

func (p *parser) choice() node {
	defer p.Enter()()
	cond := p.binary(0)
	if !p.Sign("?") {
		return cond
	}
	yes := p.choice()
	p.Expect(":")
	no := p.choice()
	return func(r *run) any {
		if toBool(cond(r)) {
			return yes(r)
		}
		return no(r)
	}
}

// level is a level of precedence: pairs of the sign and the word of an operator, see operator,
// and what it makes of the values on both sides.
type level struct {
	signs []string
	node  func(op string, left, right node) node
}

// levels are the operators of two values, from those that bind least.
var levels = []level{
	{[]string{"||", "or"}, func(_ string, left, right node) node {
		return func(r *run) any { return toBool(left(r)) || toBool(right(r)) }
	}},
	{[]string{"&&", "and"}, func(_ string, left, right node) node {
		return func(r *run) any { return toBool(left(r)) && toBool(right(r)) }
	}},
	{[]string{"==", "eq", "!=", "ne"}, func(op string, left, right node) node {
		return func(r *run) any { return equal(left(r), right(r)) == (op == "==") }
	}},
	{[]string{"<=", "le", ">=", "ge", "<", "lt", ">", "gt"}, func(op string, left, right node) node {
		return func(r *run) any { return related(op, left(r), right(r)) }
	}},
	{[]string{"+=", ""}, func(_ string, left, right node) node {
		return func(r *run) any { return joined(left(r), right(r)) }
	}},
	{[]string{"+", "", "-", ""}, calculation},
	{[]string{"*", "", "/", "div", "%", "mod"}, calculation},
}

func calculation(op string, left, right node) node {
	return func(r *run) any { return calculate(op, left(r), right(r)) }
}

// binary takes an expression of the operators from a level on.
func (p *parser) binary(from int) node {
	if from == len(levels) {
		return p.unary()
	}
	left := p.binary(from + 1)
	for {
		op := p.operator(levels[from].signs...)
		if op == "" {
			return left
		}
		left = levels[from].node(op, left, p.binary(from+1))
	}
}

func (p *parser) unary() node {
	defer p.Enter()()
	switch {
	case p.operator("-", "") != "":
		of := p.unary()
		return func(r *run) any { return negative(of(r)) }
	case !p.Is("!=") && p.operator("!", "not") != "":
		of := p.unary()
		return func(r *run) any { return !toBool(of(r)) }
	case p.word() == "empty":
		p.Pos += len("empty")
		of := p.unary()
		return func(r *run) any { return isEmpty(of(r)) }
	}
	return p.value()
}

// value takes a primary and what is read of it.
func (p *parser) value() node {
	left, name := p.primary()
	path := name // of a variable
	note := func(member string) {
		if path != "" {
			p.Reads(path + member)
		}
		path = ""
	}
	for {
		l := left
		switch {
		case p.Sign("."):
			p.Skip()
			at, member := p.Pos, p.word()
			if member == "" {
				p.Unexpected("the name of a property or a method")
			}
			p.Pos += len(member)
			if p.Is("(") {
				if (name == "execution" || name == "task") && path != "" {
					left, path = p.ownMethod(at, name, member), ""
				} else {
					note("")
					left = p.method(at, l, member)
				}
				continue
			}
			if path != "" && own[path+"."+member] != "" {
				left, path = p.ownProperty(name, member), ""
				continue
			}
			note("." + member)
			left = func(r *run) any { return property(l(r), member) }
		case p.Sign("["):
			note("")
			by := p.choice()
			p.Expect("]")
			left = func(r *run) any { return property(l(r), by(r)) }
		default:
			note("")
			return left
		}
	}
}

// primary returns a node and, if it is a variable, its name.
func (p *parser) primary() (node, string) {
	p.Skip()
	if p.Pos == len(p.Text) {
		p.Unexpected("an expression")
	}
	at := p.Pos
	switch c := p.Text[at]; {
	case c == '(':
		p.Pos++
		e := p.choice()
		p.Expect(")")
		return e, ""
	case c == '\'' || c == '"':
		s := p.str()
		return func(*run) any { return s }, ""
	case c >= '0' && c <= '9' || c == '.':
		v := p.number()
		return func(*run) any { return v }, ""
	}
	w := p.word()
	p.Pos += len(w)
	switch {
	case w == "true" || w == "false":
		return func(*run) any { return w == "true" }, ""
	case w == "null":
		return func(*run) any { return nil }, ""
	case w == "" || slices.Contains(reserved, w):
		p.Pos = at
		p.Unexpected("an expression")
	case p.Is("("):
		return p.function(at, w), ""
	case p.isPrefix(w):
		return p.ofVariable(w), ""
	}
	return func(r *run) any {
		v, ok := r.variable(w)
		if !ok {
			scan.Fail("unknown variable %s", scan.Quote(w))
		}
		return v
	}, w
}

func (p *parser) number() any {
	at := p.Pos
	rest := p.Text[at:]
	n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	whole := true
	if n < len(rest) && rest[n] == '.' {
		whole = false
		n++
		n += len(rest[n:]) - len(strings.TrimLeft(rest[n:], "0123456789"))
	}
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		sign := len(rest[n+1:]) - len(strings.TrimLeft(rest[n+1:], "+-"))
		digits := len(rest[n+1+sign:]) - len(strings.TrimLeft(rest[n+1+sign:], "0123456789"))
		if sign <= 1 && digits > 0 {
			whole = false
			n += 1 + sign + digits
		}
	}
	p.Pos += n
	if whole {
		if v, err := strconv.ParseInt(rest[:n], 10, 64); err == nil {
			return v
		}
	} else if v, err := strconv.ParseFloat(rest[:n], 64); err == nil {
		return v
	}
	p.Fail(at, "the number %s; expected one of 64 bits", scan.Quote(rest[:n]))
	return nil
}

func (p *parser) str() string {
	at, quote := p.Pos, p.Text[p.Pos]
	var b strings.Builder
	for p.Pos++; p.Pos < len(p.Text); p.Pos++ {
		c := p.Text[p.Pos]
		if c == quote {
			p.Pos++
			return b.String()
		}
		if c == '\\' {
			if p.Pos++; p.Pos == len(p.Text) || p.Text[p.Pos] != '\\' && p.Text[p.Pos] != '\'' && p.Text[p.Pos] != '"' {
				p.Fail(p.Pos-1, "a backslash; expected a backslash or a quote after it")
			}
			c = p.Text[p.Pos]
		}
		b.WriteByte(c)
	}
	p.Fail(at, "a text without an end; expected %s", strconv.Quote(string(quote)))
	return ""
}

func (p *parser) arguments() []node {
	p.Expect("(")
	var out []node
	for !p.Sign(")") {
		if len(out) > 0 {
			p.Expect(",")
		}
		out = append(out, p.choice())
	}
	return out
}

// method takes a call of a method of Java's texts, numbers, lists and maps.
func (p *parser) method(at int, of node, name string) node {
	args := p.arguments()
	if n, ok := arities[name]; !ok || !slices.Contains(n, len(args)) {
		p.Fail(at, "unknown method %s with %d arguments", scan.Quote(name), len(args))
	}
	return func(r *run) any {
		v := of(r)
		return call(r, v, name, evaluate(r, args))
	}
}
