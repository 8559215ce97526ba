// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

func (p *parser) postfix() node {
	left, path := p.primary()
	for {
		l := left
		switch {
		case !p.Is("..") && p.Sign("."):
			name := p.name()
			if path != "" {
				p.Reads(path + "." + name)
				path = ""
			}
			left = func(r *run) any { r.spend(1); return member(r, l(r), name) }
		case p.Is("[") && !p.closesRange():
			p.Sign("[")
			done := p.bind("item")
			by := p.expression()
			done()
			p.Expect("]")
			left = func(r *run) any { return filter(r, l(r), by) }
		case p.Is("("):
			at := p.Pos
			args := p.arguments()
			if len(args.names) > 0 {
				p.Fail(at, "names of arguments for a function that is a value; expected arguments in order")
			}
			left = func(r *run) any { return r.call(l(r), args.evaluate(r)) }
		case p.keyword("instance"):
			p.expectWord("of")
			t := p.typeName()
			left = func(r *run) any { return t.has(r, l(r)) }
		default:
			if path != "" {
				p.Reads(path)
			}
			return left
		}
		if path != "" {
			p.Reads(path)
			path = ""
		}
	}
}

// closesRange reports whether a bracket that opens is the end of a range, as in
// [1..10[: nothing that begins an expression follows.
func (p *parser) closesRange() bool {
	rest := strings.TrimLeftFunc(p.Text[p.Pos+1:], unicode.IsSpace)
	return rest == "" || strings.ContainsAny(rest[:1], ".),]}=<>!*/+") || slices.ContainsFunc(keywords, func(k string) bool {
		return strings.HasPrefix(rest, k+" ") && !slices.Contains([]string{"if", "for", "some", "every", "true", "false", "null"}, k)
	})
}

// primary returns a node and, if it is a free name, the name.
func (p *parser) primary() (node, string) {
	p.Skip()
	at := p.Pos
	if at == len(p.Text) {
		p.Unexpected("an expression")
	}
	switch c := p.Text[at]; {
	case c >= '0' && c <= '9' || c == '.' && at+1 < len(p.Text) && p.Text[at+1] >= '0' && p.Text[at+1] <= '9':
		return p.number(), ""
	case c == '"':
		s := p.str()
		return func(*run) any { return s }, ""
	case c == '@':
		p.Pos++
		p.Skip()
		if p.Pos == len(p.Text) || p.Text[p.Pos] != '"' {
			p.Unexpected("a text")
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
		p.Pos += len(p.word(at))
		return func(*run) any { return v }, ""
	case "null":
		p.Pos += len("null")
		return func(*run) any { return nil }, ""
	case "function", "if", "for", "some", "every":
		return p.expression(), ""
	}
	return p.variable()
}

// variable takes a name, or a call of a function by its name.
func (p *parser) variable() (node, string) {
	at := p.Pos
	name := p.name()
	local := slices.Contains(p.bound, name)
	if p.Is("(") && !local && !slices.Contains(p.names, name) {
		return p.builtin(at, name), ""
	}
	n := func(r *run) any { r.spend(1); return r.lookup(name) }
	if local {
		return n, ""
	}
	return n, name
}

func (p *parser) number() node {
	at := p.Pos
	digits := func() {
		for p.Pos < len(p.Text) && p.Text[p.Pos] >= '0' && p.Text[p.Pos] <= '9' {
			p.Pos++
		}
	}
	digits()
	if rest := p.Text[p.Pos:]; len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9' {
		p.Pos++
		digits()
	}
	if rest := p.Text[p.Pos:]; len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		if after := strings.TrimLeft(rest[1:], "+-"); len(rest)-len(after) <= 2 && after != "" && after[0] >= '0' && after[0] <= '9' {
			p.Pos += len(rest) - len(after)
			digits()
		}
	}
	v := parseNumber(p.Text[at:p.Pos])
	if v == nil {
		p.Fail(at, "the number %s; expected one of at most 6144 digits", scan.Quote(p.Text[at:p.Pos]))
	}
	return func(*run) any { return v }
}

// str takes a text in quotes.
func (p *parser) str() string {
	at := p.Pos
	var b strings.Builder
	for p.Pos++; p.Pos < len(p.Text); {
		switch c := p.Text[p.Pos]; {
		case c == '"':
			p.Pos++
			return b.String()
		case c == '\\' && p.Pos+1 < len(p.Text):
			p.escape(&b)
		default:
			b.WriteByte(c)
			p.Pos++
		}
	}
	p.Fail(at, "a text without an end; expected \"")
	return ""
}

func (p *parser) escape(b *strings.Builder) {
	p.Pos += 2
	switch c := p.Text[p.Pos-1]; c {
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
		if utf16.IsSurrogate(r) && strings.HasPrefix(p.Text[p.Pos:], `\u`) {
			p.Pos += 2
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
	if len(p.Text)-p.Pos >= n {
		if v, err := strconv.ParseUint(p.Text[p.Pos:p.Pos+n], 16, 32); err == nil {
			p.Pos += n
			return rune(v)
		}
	}
	p.Fail(p.Pos, "expected %d hexadecimal digits", n)
	return 0
}

// parenthesis takes an expression in parentheses, or a range.
func (p *parser) parenthesis() node {
	p.Expect("(")
	if op := p.comparator(); op != "" {
		of := p.additive()
		p.Expect(")")
		return func(r *run) any { return openRange(r, op, of(r)) }
	}
	if p.Sign("..") {
		return p.rangeEnd(nil, false)
	}
	e := p.expression()
	if p.Sign("..") {
		return p.rangeEnd(e, false)
	}
	p.Expect(")")
	return e
}

// bracket takes a list, or a range.
func (p *parser) bracket() node {
	included := p.Sign("[")
	if !included {
		p.Expect("]")
	}
	if p.Sign("..") {
		return p.rangeEnd(nil, included)
	}
	if included && p.Sign("]") {
		return func(*run) any { return []any{} }
	}
	items := []node{p.expression()}
	if p.Sign("..") {
		return p.rangeEnd(items[0], included)
	}
	if !included {
		p.Unexpected("..")
	}
	for p.Sign(",") {
		items = append(items, p.expression())
	}
	p.Expect("]")
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
	if !p.Is(")") && !p.Is("]") && !p.Is("[") {
		high = p.expression()
	}
	closed := p.Sign("]")
	if !closed && !p.Sign(")") && !p.Sign("[") {
		p.Unexpected("the end of a range")
	}
	if low == nil && high == nil {
		p.Unexpected("a range with an end")
	}
	return func(r *run) any { return newRange(r, low, high, included, closed) }
}
