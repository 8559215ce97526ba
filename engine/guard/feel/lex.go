// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// node computes the value of a part of an expression.
type node func(*run) any

// parser reads the text of an expression and composes its node.
type parser struct {
	scan.Reader
	asks  bool     // the expression reads ?, the input of a unary test
	bound []string // names that are bound here, innermost last
	names []string // names that the caller knows
}

func newParser(text string, names []string) *parser {
	p := &parser{Reader: scan.Reader{Text: text}, names: names}
	p.Skip, p.Word = p.skip, func() string { return p.word(p.Pos) }
	return p
}

// keywords end a name of several words.
var keywords = []string{"and", "between", "else", "every", "false", "for", "function", "if", "in", "instance", "null", "or", "return", "satisfies", "some", "then", "true"}

// skip skips white space and comments.
func (p *parser) skip() {
	for p.Pos < len(p.Text) {
		rest := p.Text[p.Pos:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\ufeff' || r == '\u180e' || r == '\u200b':
			p.Pos += n
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
			p.Pos += n
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest[2:], "*/"); n < 0 {
				p.Fail(p.Pos, "a comment without an end; expected */")
			}
			p.Pos += n + 4
		default:
			return
		}
	}
}

// keyword takes a word.
func (p *parser) keyword(w string) bool {
	p.Skip()
	if p.word(p.Pos) == w {
		p.Pos += len(w)
		return true
	}
	return false
}

func (p *parser) expectWord(w string) {
	if !p.keyword(w) {
		p.Unexpected(strconv.Quote(w))
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
	for i, r := range p.Text[at:] {
		if i == 0 && !nameStart(r) || !namePart(r) {
			return p.Text[at : at+i]
		}
	}
	return p.Text[at:]
}

// name takes a name. That is the longest one that is known, or else the words up to
// the next sign or keyword.
func (p *parser) name() string {
	p.Skip()
	if p.Pos < len(p.Text) && p.Text[p.Pos] == '`' {
		end := strings.IndexByte(p.Text[p.Pos+1:], '`')
		if end < 1 {
			p.Unexpected("a name in backquotes")
		}
		at := p.Pos + 1
		p.Pos += end + 2
		return p.Text[at : at+end]
	}
	best, end := "", p.Pos
	for _, known := range [][]string{p.bound, p.names, wordy} {
		for _, n := range known {
			if to := p.spelt(n); to > end {
				best, end = n, to
			}
		}
	}
	words, to := p.words()
	if end >= to && best != "" {
		p.Pos = end
		return best
	}
	if words == "" {
		p.Unexpected("an expression")
	}
	p.Pos = to
	return words
}

// wordy are names of functions with keywords in them.
var wordy = []string{"date and time", "years and months duration", "days and time duration", "get or else"}

// spelt returns where a name ends that begins here, or -1.
func (p *parser) spelt(name string) int {
	at := p.Pos
	for _, r := range name {
		if r == ' ' {
			before := at
			for at < len(p.Text) && (p.Text[at] == ' ' || p.Text[at] == '\n' || p.Text[at] == '\t') {
				at++
			}
			if at == before {
				return -1
			}
			continue
		}
		if !strings.HasPrefix(p.Text[at:], string(r)) {
			return -1
		}
		at += utf8.RuneLen(r)
	}
	last, _ := utf8.DecodeLastRuneInString(name)
	if next, _ := utf8.DecodeRuneInString(p.Text[at:]); at < len(p.Text) && namePart(last) && namePart(next) {
		return -1
	}
	return at
}

// words returns the words that follow, with single spaces, and where they end.
func (p *parser) words() (string, int) {
	first := p.word(p.Pos)
	if first == "" || slices.Contains(keywords, first) {
		return "", p.Pos
	}
	all, end := []string{first}, p.Pos+len(first)
	defer func(at int) { p.Pos = at }(p.Pos)
	for {
		p.Pos = end
		p.Skip()
		w := p.word(p.Pos)
		if w == "" || p.Pos == end || slices.Contains(keywords, w) {
			return strings.Join(all, " "), end
		}
		all, end = append(all, w), p.Pos+len(w)
	}
}

// bind makes names known until the function that it returns is called.
func (p *parser) bind(names ...string) func() {
	n := len(p.bound)
	p.bound = append(p.bound, names...)
	return func() { p.bound = p.bound[:n] }
}
