// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

func (p *parser) postfix() node {
	left, path := p.primary()
	for {
		l := left
		switch {
		case !p.is("..") && p.sign("."):
			name := p.name()
			if path != "" {
				p.paths, path = append(p.paths, path+"."+name), ""
			}
			left = func(r *run) any { r.spend(1); return member(r, l(r), name) }
		case p.is("[") && !p.closesRange():
			p.sign("[")
			done := p.bind("item")
			by := p.expression()
			done()
			p.expect("]")
			left = func(r *run) any { return filter(r, l(r), by) }
		case p.is("("):
			at := p.pos
			args := p.arguments()
			if len(args.names) > 0 {
				p.fail(at, "names of arguments for a function that is a value; expected arguments in order")
			}
			left = func(r *run) any { return r.call(l(r), args.evaluate(r)) }
		case p.keyword("instance"):
			p.expectWord("of")
			t := p.typeName()
			left = func(r *run) any { return t.has(r, l(r)) }
		default:
			if path != "" {
				p.paths = append(p.paths, path)
			}
			return left
		}
		if path != "" {
			p.paths, path = append(p.paths, path), ""
		}
	}
}

// closesRange reports whether a bracket that opens is the end of a range, as in
// [1..10[: nothing that begins an expression follows.
func (p *parser) closesRange() bool {
	rest := strings.TrimLeftFunc(p.text[p.pos+1:], unicode.IsSpace)
	return rest == "" || strings.ContainsAny(rest[:1], ".),]}=<>!*/+") || slices.ContainsFunc(keywords, func(k string) bool {
		return strings.HasPrefix(rest, k+" ") && !slices.Contains([]string{"if", "for", "some", "every", "true", "false", "null"}, k)
	})
}

// primary returns a node and, if it is a free name, the name.
func (p *parser) primary() (node, string) {
	p.space()
	at := p.pos
	if at == len(p.text) {
		p.unexpected("an expression")
	}
	switch c := p.text[at]; {
	case c >= '0' && c <= '9' || c == '.' && at+1 < len(p.text) && p.text[at+1] >= '0' && p.text[at+1] <= '9':
		return p.number(), ""
	case c == '"':
		s := p.str()
		return func(*run) any { return s }, ""
	case c == '@':
		p.pos++
		p.space()
		if p.pos == len(p.text) || p.text[p.pos] != '"' {
			p.unexpected("a text")
		}
		v := temporal(p.str())
		return func(r *run) any { return r.zoned(v) }, ""
	case c == '(':
		return p.parenthesis(), ""
	case c == '[' || c == ']':
		return p.bracket(), ""
	case c == '{':
		return p.context(), ""
	}
	switch p.word(at) {
	case "true", "false":
		v := p.word(at) == "true"
		p.pos += len(p.word(at))
		return func(*run) any { return v }, ""
	case "null":
		p.pos += len("null")
		return func(*run) any { return nil }, ""
	case "function", "if", "for", "some", "every":
		return p.expression(), ""
	}
	return p.variable()
}

// variable takes a name, or a call of a function by its name.
func (p *parser) variable() (node, string) {
	at := p.pos
	name := p.name()
	local := slices.Contains(p.bound, name)
	if p.is("(") && !local && !slices.Contains(p.names, name) {
		return p.builtin(at, name), ""
	}
	n := func(r *run) any { r.spend(1); return r.lookup(name) }
	if local {
		return n, ""
	}
	return n, name
}

func (p *parser) number() node {
	at := p.pos
	digits := func() {
		for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
			p.pos++
		}
	}
	digits()
	if rest := p.text[p.pos:]; len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9' {
		p.pos++
		digits()
	}
	if rest := p.text[p.pos:]; len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		if after := strings.TrimLeft(rest[1:], "+-"); len(rest)-len(after) <= 2 && after != "" && after[0] >= '0' && after[0] <= '9' {
			p.pos += len(rest) - len(after)
			digits()
		}
	}
	v := parseNumber(p.text[at:p.pos])
	if v == nil {
		p.fail(at, "the number %s; expected one of at most 6144 digits", clip(p.text[at:p.pos]))
	}
	return func(*run) any { return v }
}

// str takes a text in quotes.
func (p *parser) str() string {
	at := p.pos
	var b strings.Builder
	for p.pos++; p.pos < len(p.text); {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return b.String()
		case c == '\\' && p.pos+1 < len(p.text):
			p.escape(&b)
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	p.fail(at, "a text without an end; expected \"")
	return ""
}

func (p *parser) escape(b *strings.Builder) {
	p.pos += 2
	switch c := p.text[p.pos-1]; c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case '"', '\'', '\\':
		b.WriteByte(c)
	case 'u':
		r := p.hex(4)
		if utf16.IsSurrogate(r) && strings.HasPrefix(p.text[p.pos:], `\u`) {
			p.pos += 2
			r = utf16.DecodeRune(r, p.hex(4))
		}
		b.WriteRune(r)
	case 'U':
		b.WriteRune(p.hex(6))
	default: // as in patterns
		b.WriteByte('\\')
		b.WriteByte(c)
	}
}

func (p *parser) hex(n int) rune {
	if len(p.text)-p.pos >= n {
		if v, err := strconv.ParseUint(p.text[p.pos:p.pos+n], 16, 32); err == nil {
			p.pos += n
			return rune(v)
		}
	}
	p.fail(p.pos, "expected %d hexadecimal digits", n)
	return 0
}

// parenthesis takes an expression in parentheses, or a range.
func (p *parser) parenthesis() node {
	p.expect("(")
	if op := p.comparator(); op != "" {
		of := p.additive()
		p.expect(")")
		return func(r *run) any { return openRange(r, op, of(r)) }
	}
	if p.sign("..") {
		return p.rangeEnd(nil, false)
	}
	e := p.expression()
	if p.sign("..") {
		return p.rangeEnd(e, false)
	}
	p.expect(")")
	return e
}

// bracket takes a list, or a range.
func (p *parser) bracket() node {
	included := p.sign("[")
	if !included {
		p.expect("]")
	}
	if p.sign("..") {
		return p.rangeEnd(nil, included)
	}
	if included && p.sign("]") {
		return func(*run) any { return []any{} }
	}
	items := []node{p.expression()}
	if p.sign("..") {
		return p.rangeEnd(items[0], included)
	}
	if !included {
		p.unexpected("..")
	}
	for p.sign(",") {
		items = append(items, p.expression())
	}
	p.expect("]")
	return func(r *run) any {
		r.spend(len(items))
		out := make([]any, len(items))
		for i, n := range items {
			out[i] = n(r)
		}
		return out
	}
}

func (p *parser) rangeEnd(low node, included bool) node {
	var high node
	if !p.is(")") && !p.is("]") && !p.is("[") {
		high = p.expression()
	}
	closed := p.sign("]")
	if !closed && !p.sign(")") && !p.sign("[") {
		p.unexpected("the end of a range")
	}
	if low == nil && high == nil {
		p.unexpected("a range with an end")
	}
	return func(r *run) any { return newRange(r, low, high, included, closed) }
}
