// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// node computes the value of a part of an expression.
type node func(*run) any

// run is one evaluation.
type run struct {
	variable func(name string) (any, bool)
}

// maxDepth bounds how deep an expression nests.
const maxDepth = 100

// parser reads the text of an expression and composes its node.
type parser struct {
	text  string
	pos   int
	depth int
	paths []string
}

// reserved words are no names.
var reserved = []string{"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "div", "mod", "empty", "true", "false", "null", "instanceof"}

func (p *parser) fail(at int, format string, args ...any) {
	line := 1 + strings.Count(p.text[:at], "\n")
	column := 1 + utf8.RuneCountInString(p.text[1+strings.LastIndexByte(p.text[:at], '\n'):at])
	panic(&Error{Line: line, Column: column, Msg: fmt.Sprintf(format, args...)})
}

func (p *parser) unexpected(expected string) {
	p.space()
	found := "the end"
	if w := p.word(); w != "" {
		found = strconv.Quote(clip(w))
	} else if p.pos < len(p.text) {
		r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
		found = strconv.Quote(string(r))
	}
	p.fail(p.pos, "found %s; expected %s", found, expected)
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

func (p *parser) space() {
	p.pos = len(p.text) - len(strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace))
}

func (p *parser) is(sign string) bool {
	p.space()
	return strings.HasPrefix(p.text[p.pos:], sign)
}

func (p *parser) sign(s string) bool {
	if p.is(s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) expect(s string) {
	if !p.sign(s) {
		p.unexpected(strconv.Quote(s))
	}
}

// word returns the Java identifier that follows, or "".
func (p *parser) word() string {
	for i, r := range p.text[p.pos:] {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return p.text[p.pos : p.pos+i]
		}
	}
	return p.text[p.pos:]
}

// operator takes one of some operators and returns its sign, or "". signs are pairs of a
// sign and a word.
func (p *parser) operator(signs ...string) string {
	p.space()
	w := p.word()
	for i := 0; i < len(signs); i += 2 {
		switch sign, word := signs[i], signs[i+1]; {
		case word != "" && w == word:
			p.pos += len(w)
			return sign
		case sign == "+" && p.is("+="):
		case p.sign(sign):
			return sign
		}
	}
	return ""
}

// template takes the whole text: expressions in ${…} or #{…}, and text between them.
func (p *parser) template() node {
	var parts []node
	for p.pos < len(p.text) {
		rest := p.text[p.pos:]
		if strings.HasPrefix(rest, "${") || strings.HasPrefix(rest, "#{") {
			p.pos += 2
			parts = append(parts, p.choice())
			p.expect("}")
			continue
		}
		end := len(rest)
		for _, sign := range []string{"${", "#{"} {
			if i := strings.Index(rest, sign); i >= 0 {
				end = min(end, i)
			}
		}
		p.pos += end
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

func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.pos, "an expression nested more than %d deep", maxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) choice() node {
	defer p.enter()()
	cond := p.or()
	if !p.sign("?") {
		return cond
	}
	yes := p.choice()
	p.expect(":")
	no := p.choice()
	return func(r *run) any {
		if toBool(cond(r)) {
			return yes(r)
		}
		return no(r)
	}
}

func (p *parser) or() node {
	left := p.and()
	for p.operator("||", "or") != "" {
		l, right := left, p.and()
		left = func(r *run) any { return toBool(l(r)) || toBool(right(r)) }
	}
	return left
}

func (p *parser) and() node {
	left := p.equality()
	for p.operator("&&", "and") != "" {
		l, right := left, p.equality()
		left = func(r *run) any { return toBool(l(r)) && toBool(right(r)) }
	}
	return left
}

func (p *parser) equality() node {
	left := p.relation()
	for {
		op := p.operator("==", "eq", "!=", "ne")
		if op == "" {
			return left
		}
		l, right := left, p.relation()
		left = func(r *run) any { return equal(l(r), right(r)) == (op == "==") }
	}
}

func (p *parser) relation() node {
	left := p.concatenation()
	for {
		op := p.operator("<=", "le", ">=", "ge", "<", "lt", ">", "gt")
		if op == "" {
			return left
		}
		l, right := left, p.concatenation()
		left = func(r *run) any { return related(op, l(r), right(r)) }
	}
}

func (p *parser) concatenation() node {
	left := p.sum()
	for p.sign("+=") {
		l, right := left, p.sum()
		left = func(r *run) any { return joined(l(r), right(r)) }
	}
	return left
}

func (p *parser) sum() node {
	left := p.product()
	for {
		op := p.operator("+", "", "-", "")
		if op == "" {
			return left
		}
		l, right := left, p.product()
		left = func(r *run) any { return calculate(op, l(r), right(r)) }
	}
}

func (p *parser) product() node {
	left := p.unary()
	for {
		op := p.operator("*", "", "/", "div", "%", "mod")
		if op == "" {
			return left
		}
		l, right := left, p.unary()
		left = func(r *run) any { return calculate(op, l(r), right(r)) }
	}
}

func (p *parser) unary() node {
	defer p.enter()()
	switch {
	case p.operator("-", "") != "":
		of := p.unary()
		return func(r *run) any { return negative(of(r)) }
	case !p.is("!=") && p.operator("!", "not") != "":
		of := p.unary()
		return func(r *run) any { return !toBool(of(r)) }
	case p.word() == "empty":
		p.pos += len("empty")
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
			p.paths = append(p.paths, path+member)
		}
		path = ""
	}
	for {
		l := left
		switch {
		case p.sign("."):
			p.space()
			at, member := p.pos, p.word()
			if member == "" {
				p.unexpected("the name of a property or a method")
			}
			if p.pos += len(member); p.is("(") {
				if name == "execution" && path != "" {
					left, path = p.execution(at, member), ""
				} else {
					note("")
					left = p.method(at, l, member)
				}
				continue
			}
			note("." + member)
			left = func(r *run) any { return property(l(r), member) }
		case p.sign("["):
			note("")
			by := p.choice()
			p.expect("]")
			left = func(r *run) any { return property(l(r), by(r)) }
		default:
			note("")
			return left
		}
	}
}

// primary returns a node and, if it is a variable, its name.
func (p *parser) primary() (node, string) {
	p.space()
	if p.pos == len(p.text) {
		p.unexpected("an expression")
	}
	at := p.pos
	switch c := p.text[at]; {
	case c == '(':
		p.pos++
		e := p.choice()
		p.expect(")")
		return e, ""
	case c == '\'' || c == '"':
		s := p.str()
		return func(*run) any { return s }, ""
	case c >= '0' && c <= '9' || c == '.':
		v := p.number()
		return func(*run) any { return v }, ""
	}
	w := p.word()
	p.pos += len(w)
	switch {
	case w == "true" || w == "false":
		return func(*run) any { return w == "true" }, ""
	case w == "null":
		return func(*run) any { return nil }, ""
	case w == "" || slices.Contains(reserved, w):
		p.pos = at
		p.unexpected("an expression")
	case p.is("("):
		p.fail(at, "unknown function %q", clip(w))
	}
	return func(r *run) any {
		v, ok := r.variable(w)
		if !ok {
			panic(&Error{Msg: fmt.Sprintf("unknown variable %q", clip(w))})
		}
		return v
	}, w
}

func (p *parser) number() any {
	at := p.pos
	rest := p.text[at:]
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
	p.pos += n
	if whole {
		if v, err := strconv.ParseInt(rest[:n], 10, 64); err == nil {
			return v
		}
	} else if v, err := strconv.ParseFloat(rest[:n], 64); err == nil {
		return v
	}
	p.fail(at, "the number %s; expected one of 64 bits", strconv.Quote(clip(rest[:n])))
	return nil
}

func (p *parser) str() string {
	at, quote := p.pos, p.text[p.pos]
	var b strings.Builder
	for p.pos++; p.pos < len(p.text); p.pos++ {
		c := p.text[p.pos]
		if c == quote {
			p.pos++
			return b.String()
		}
		if c == '\\' {
			if p.pos++; p.pos == len(p.text) || p.text[p.pos] != '\\' && p.text[p.pos] != '\'' && p.text[p.pos] != '"' {
				p.fail(p.pos-1, "a backslash; expected a backslash or a quote after it")
			}
			c = p.text[p.pos]
		}
		b.WriteByte(c)
	}
	p.fail(at, "a text without an end; expected %s", strconv.Quote(string(quote)))
	return ""
}

func (p *parser) arguments() []node {
	p.expect("(")
	var out []node
	for !p.sign(")") {
		if len(out) > 0 {
			p.expect(",")
		}
		out = append(out, p.choice())
	}
	return out
}

// method takes a call of a method of Java's texts, numbers, lists and maps.
func (p *parser) method(at int, of node, name string) node {
	args := p.arguments()
	if n, ok := arities[name]; !ok || !slices.Contains(n, len(args)) {
		p.fail(at, "unknown method %q with %d arguments", clip(name), len(args))
	}
	return func(r *run) any {
		v := of(r)
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a(r)
		}
		return call(v, name, values)
	}
}

// execution takes a call of a method of the variable execution, by which engines offer
// variables.
func (p *parser) execution(at int, name string) node {
	args := p.arguments()
	if !slices.Contains([]string{"getVariable", "getVariableLocal", "hasVariable", "hasVariableLocal"}, name) || len(args) != 1 {
		p.fail(at, "unknown method %q of execution with %d arguments; expected getVariable('name') or hasVariable('name')", clip(name), len(args))
	}
	p.paths = append(p.paths, "execution")
	return func(r *run) any {
		v, ok := r.variable(toText(args[0](r)))
		if strings.HasPrefix(name, "has") {
			return ok
		}
		return v
	}
}
