// SPDX-License-Identifier: Apache-2.0

package feel

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

// maxDepth bounds how deep an expression nests, and calls of functions.
const maxDepth = 100

// parser reads the text of an expression and composes its node.
type parser struct {
	text  string
	pos   int
	depth int
	bound []string // names that are bound here, innermost last
	names []string // names that the caller knows
	paths []string // free names, with the field that is read of them: "a", "a.b"
}

// keywords end a name of several words.
var keywords = []string{"and", "between", "else", "every", "false", "for", "function", "if", "in", "instance", "null", "or", "return", "satisfies", "some", "then", "true"}

// fail stops the parser.
func (p *parser) fail(at int, format string, args ...any) {
	line := 1 + strings.Count(p.text[:at], "\n")
	column := 1 + utf8.RuneCountInString(p.text[1+strings.LastIndexByte(p.text[:at], '\n'):at])
	panic(&Error{Line: line, Column: column, Msg: fmt.Sprintf(format, args...)})
}

// found returns what is at the position, for messages.
func (p *parser) found() string {
	p.space()
	if p.pos == len(p.text) {
		return "the end"
	}
	if w := p.word(p.pos); w != "" {
		return strconv.Quote(clip(w))
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return strconv.Quote(string(r))
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

func (p *parser) unexpected(expected string) {
	found := p.found()
	p.fail(p.pos, "found %s; expected %s", found, expected)
}

// space skips white space and comments.
func (p *parser) space() {
	for p.pos < len(p.text) {
		rest := p.text[p.pos:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff' || r == '\u180e' || r == '\u200b':
			p.pos += n
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			p.pos += n
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest[2:], "*/"); n < 0 {
				p.fail(p.pos, "a comment without an end; expected */")
			}
			p.pos += n + 4
		default:
			return
		}
	}
}

// sign takes a sign.
func (p *parser) sign(s string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

// is reports whether a sign follows.
func (p *parser) is(s string) bool {
	p.space()
	return strings.HasPrefix(p.text[p.pos:], s)
}

func (p *parser) expect(s string) {
	if !p.sign(s) {
		p.unexpected(strconv.Quote(s))
	}
}

// keyword takes a word.
func (p *parser) keyword(w string) bool {
	p.space()
	if p.word(p.pos) == w {
		p.pos += len(w)
		return true
	}
	return false
}

func (p *parser) expectWord(w string) {
	if !p.keyword(w) {
		p.unexpected(strconv.Quote(w))
	}
}

func nameStart(r rune) bool {
	return r == '_' || r == '?' || unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Sc) && r != '$' || r >= 0x10000 && r <= 0xeffff
}

func namePart(r rune) bool {
	return nameStart(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc) || r == '\u00b7'
}

// word returns the word at a position, or "".
func (p *parser) word(at int) string {
	for i, r := range p.text[at:] {
		if i == 0 && !nameStart(r) || !namePart(r) {
			return p.text[at : at+i]
		}
	}
	return p.text[at:]
}

// name takes a name. That is the longest one that is known, or else the words up to
// the next sign or keyword.
func (p *parser) name() string {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == '`' {
		end := strings.IndexByte(p.text[p.pos+1:], '`')
		if end < 1 {
			p.unexpected("a name in backquotes")
		}
		at := p.pos + 1
		p.pos += end + 2
		return p.text[at : at+end]
	}
	best, end := "", p.pos
	for _, known := range [][]string{p.bound, p.names, wordy} {
		for _, n := range known {
			if to := p.spelt(n); to > end {
				best, end = n, to
			}
		}
	}
	words, to := p.words()
	if end >= to && best != "" {
		p.pos = end
		return best
	}
	if words == "" {
		p.unexpected("an expression")
	}
	p.pos = to
	return words
}

// wordy are names of functions with keywords in them.
var wordy = []string{"date and time", "years and months duration", "days and time duration"}

// spelt returns where a name ends that begins here, or -1.
func (p *parser) spelt(name string) int {
	at := p.pos
	for _, r := range name {
		if r == ' ' {
			before := at
			for at < len(p.text) && (p.text[at] == ' ' || p.text[at] == '\n' || p.text[at] == '\t') {
				at++
			}
			if at == before {
				return -1
			}
			continue
		}
		if !strings.HasPrefix(p.text[at:], string(r)) {
			return -1
		}
		at += utf8.RuneLen(r)
	}
	last, _ := utf8.DecodeLastRuneInString(name)
	if next, _ := utf8.DecodeRuneInString(p.text[at:]); at < len(p.text) && namePart(last) && namePart(next) {
		return -1
	}
	return at
}

// words returns the words that follow, with single spaces, and where they end.
func (p *parser) words() (string, int) {
	first := p.word(p.pos)
	if first == "" || slices.Contains(keywords, first) {
		return "", p.pos
	}
	all, end := []string{first}, p.pos+len(first)
	defer func(at int) { p.pos = at }(p.pos)
	for {
		p.pos = end
		p.space()
		w := p.word(p.pos)
		if w == "" || p.pos == end || slices.Contains(keywords, w) {
			return strings.Join(all, " "), end
		}
		all, end = append(all, w), p.pos+len(w)
	}
}

// bind makes names known until the function that it returns is called.
func (p *parser) bind(names ...string) func() {
	n := len(p.bound)
	p.bound = append(p.bound, names...)
	return func() { p.bound = p.bound[:n] }
}

func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.pos, "an expression nested more than %d deep", maxDepth)
	}
	return func() { p.depth-- }
}
