// SPDX-License-Identifier: Apache-2.0

package textnet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Limits bound a file. A field that is not positive means its default.
type Limits struct {
	Bytes int64 // length of the file; default 64 MiB
	Nodes int   // places, transitions and arcs; default a million
}

func (l Limits) orDefault() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	if l.Nodes <= 0 {
		l.Nodes = 1_000_000
	}
	return l
}

// ErrLimit is in the chain of the error for a file that exceeds a limit.
var ErrLimit = xmlscan.ErrLimit

// limitError is the fault of a file that exceeds a limit.
type limitError struct{ *petri.Fault }

// Unwrap returns ErrLimit and the fault.
func (e limitError) Unwrap() []error { return []error{ErrLimit, e.Fault} }

// reader reads a file into a net.
type reader struct {
	text     []byte
	at       int // in text
	pos      petri.Pos
	tok      token // the next one
	nodes    int
	limits   Limits
	net      *petri.Net
	nodeOf   map[string]node // by id of a place or transition
	marked   map[string]bool // places with a marking
	warnings xmlscan.Warnings
	lex      func(r *reader) (token, error)
}

// node is a place or a transition of the net.
type node struct {
	place bool
	index int
}

// token is a word, a quoted name or a sign. The end of the file is a token without text.
type token struct {
	text   string
	name   bool // a word or a quoted name
	quoted bool
	pos    petri.Pos
}

// String returns the token for messages.
func (t token) String() string {
	if t.text == "" && !t.quoted {
		return "the end of the file"
	}
	return xmlscan.Quote(t.text)
}

// newReader reads the text of a file.
func newReader(in io.Reader, file string, lim Limits, lex func(r *reader) (token, error)) (*reader, error) {
	r := &reader{limits: lim.orDefault(), pos: petri.Pos{Line: 1, Column: 1}, nodeOf: map[string]node{}, marked: map[string]bool{}, lex: lex,
		net: &petri.Net{File: file}, warnings: xmlscan.Warnings{File: file}}
	var err error
	if r.text, err = io.ReadAll(io.LimitReader(in, r.limits.Bytes+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if int64(len(r.text)) > r.limits.Bytes {
		return nil, limitError{&petri.Fault{File: file, Msg: fmt.Sprintf("the file has more than %d bytes", r.limits.Bytes)}}
	}
	r.text = bytes.TrimPrefix(r.text, []byte("\ufeff"))
	if bad := invalid(r.text); bad >= 0 {
		r.skip(bad)
		return nil, r.fault(r.pos, "a byte that is not UTF-8, or a NUL; expected text in UTF-8")
	}
	return r, r.next()
}

// invalid returns where a text is not UTF-8 or has a NUL; -1 for nowhere.
func invalid(text []byte) int {
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && n == 1 || c == 0 {
			return i
		}
		i += n
	}
	return -1
}

func (r *reader) fault(pos petri.Pos, format string, args ...any) error {
	return &petri.Fault{File: r.net.File, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// expected is the fault of the next token.
func (r *reader) expected(what string) error {
	return r.fault(r.tok.pos, "%s; expected %s", r.tok, what)
}

// skip moves over n bytes.
func (r *reader) skip(n int) {
	for _, c := range r.text[r.at : r.at+n] {
		r.pos.Column++
		if c == '\n' {
			r.pos.Line, r.pos.Column = r.pos.Line+1, 1
		}
	}
	r.at += n
}

// next reads the next token.
func (r *reader) next() (err error) {
	r.tok, err = r.lex(r)
	return err
}

// rest returns the text that is not read yet.
func (r *reader) rest() []byte { return r.text[r.at:] }

// take returns the next n bytes as a token.
func (r *reader) take(n int, name bool) token {
	t := token{text: string(r.text[r.at : r.at+n]), name: name, pos: r.pos}
	r.skip(n)
	return t
}

// is reports whether the next token is a sign or a word.
func (r *reader) is(text string) bool { return r.tok.text == text && !r.tok.quoted }

// accept reads the next token if it is a sign or a word, and reports whether it was.
func (r *reader) accept(text string) (bool, error) {
	if !r.is(text) {
		return false, nil
	}
	return true, r.next()
}

// demand reads a sign or a word.
func (r *reader) demand(text string) error {
	if !r.is(text) {
		return r.expected(strconv.Quote(text))
	}
	return r.next()
}

// word reads a name; what is for the fault.
func (r *reader) word(what string) (token, error) {
	t := r.tok
	if !t.name {
		return t, r.expected(what)
	}
	return t, r.next()
}

// number reads a whole number. In Tina's format a letter behind it multiplies it.
func (r *reader) number(what string, letters string) (uint32, error) {
	t, err := r.word(what)
	if err != nil {
		return 0, err
	}
	digits, factor := t.text, uint64(1)
	for i, c := range letters {
		if short, is := strings.CutSuffix(digits, string(c)); is {
			digits, factor = short, uint64(math.Pow10(3*(i+1)))
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || t.quoted || n > math.MaxUint32/factor {
		return 0, r.fault(t.pos, "%s; expected %s, a whole number of at most %d", t, what, uint32(math.MaxUint32))
	}
	return uint32(n * factor), nil
}

// count counts a place, transition or arc against the limit.
func (r *reader) count(pos petri.Pos) error {
	if r.nodes++; r.nodes > r.limits.Nodes {
		return limitError{&petri.Fault{File: r.net.File, Pos: pos, Msg: fmt.Sprintf("more than %d places, transitions and arcs", r.limits.Nodes)}}
	}
	return nil
}

// place returns the place with the id of a token, which it adds if there is none.
func (r *reader) place(t token) (*petri.Place, error) {
	n, known := r.nodeOf[t.text]
	switch {
	case known && !n.place:
		return nil, r.fault(t.pos, "%s is a transition, at line %d; expected a place", t, r.net.Transitions[n.index].Pos.Line)
	case !known:
		if err := r.count(t.pos); err != nil {
			return nil, err
		}
		n = node{true, len(r.net.Places)}
		r.nodeOf[t.text] = n
		r.net.Places = append(r.net.Places, petri.Place{ID: t.text, Pos: t.pos})
	}
	return &r.net.Places[n.index], nil
}

// transition is place for transitions.
func (r *reader) transition(t token) (*petri.Transition, error) {
	n, known := r.nodeOf[t.text]
	switch {
	case known && n.place:
		return nil, r.fault(t.pos, "%s is a place, at line %d; expected a transition", t, r.net.Places[n.index].Pos.Line)
	case !known:
		if err := r.count(t.pos); err != nil {
			return nil, err
		}
		n = node{false, len(r.net.Transitions)}
		r.nodeOf[t.text] = n
		r.net.Transitions = append(r.net.Transitions, petri.Transition{ID: t.text, Pos: t.pos})
	}
	return &r.net.Transitions[n.index], nil
}

// mark sets the initial marking of a place.
func (r *reader) mark(p *petri.Place, t token, tokens uint32) error {
	if r.marked[p.ID] {
		return r.fault(t.pos, "a second marking of place %s; expected one", xmlscan.Quote(p.ID))
	}
	r.marked[p.ID], p.Initial = true, tokens
	return nil
}

// arc adds an arc.
func (r *reader) arc(from, to string, kind petri.ArcKind, weight uint32, pos petri.Pos) error {
	if err := r.count(pos); err != nil {
		return err
	}
	if weight == 0 {
		return r.fault(pos, "the weight 0 of the arc from %s to %s; expected 1 or more", xmlscan.Quote(from), xmlscan.Quote(to))
	}
	r.net.Arcs = append(r.net.Arcs, petri.Arc{Source: from, Target: to, Kind: kind, Weight: weight, Pos: pos})
	return nil
}

// finish returns the net. One without an id has the name of its file.
func (r *reader) finish() (*petri.Net, []petri.Fault, error) {
	if r.net.ID == "" {
		base := filepath.Base(r.net.File)
		r.net.ID = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if r.net.ID == "" || r.net.ID == "." {
		r.net.ID = "net"
	}
	if err := r.net.Validate(); err != nil {
		return nil, nil, err
	}
	return r.net, r.warnings.Faults(), nil
}
