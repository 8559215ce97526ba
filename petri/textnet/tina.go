// SPDX-License-Identifier: Apache-2.0

package textnet

import (
	"bytes"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// ReadTina reads a file in the .net format of the Tina toolbox (its manual, page formats). file is for
// messages, and names the net if its text does not. Labels become names. Time intervals, priorities and
// notes are ignored with a warning; stopwatch arcs are refused.
func ReadTina(in io.Reader, file string, lim Limits) (*petri.Net, []petri.Fault, error) {
	r, err := newReader(in, file, lim, lexTina)
	for err == nil && (r.tok.text != "" || r.tok.quoted) {
		err = r.declaration()
	}
	if err != nil {
		return nil, nil, err
	}
	return r.finish()
}

// tinaWords begin a declaration.
const tinaWords = " net tr pl lb pr nt "

// keyword reports whether a word begins a declaration.
func keyword(text string) bool { return text != "" && strings.Contains(tinaWords, " "+text+" ") }

// keyword reports whether the next token begins a declaration.
func (r *reader) keyword() bool { return r.tok.name && !r.tok.quoted && keyword(r.tok.text) }

// plainName reports whether a byte is part of a name without braces.
func plainName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '\'' || c >= 0x80
}

// lexTina reads a token of Tina's format. A line that begins with # is a comment.
func lexTina(r *reader) (token, error) {
	for len(r.rest()) > 0 {
		switch c := r.rest()[0]; {
		case c == '#' && len(bytes.TrimLeft(r.text[bytes.LastIndexByte(r.text[:r.at], '\n')+1:r.at], " \t\r")) == 0:
			line := bytes.IndexByte(r.rest(), '\n')
			if line < 0 {
				line = len(r.rest())
			}
			r.skip(line)
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			r.skip(1)
		case c == '{':
			return r.braces()
		case plainName(c):
			n := 1
			for n < len(r.rest()) && plainName(r.rest()[n]) {
				n++
			}
			return r.take(n, true), nil
		default:
			for _, sign := range []string{"->", "?-", "!-"} {
				if bytes.HasPrefix(r.rest(), []byte(sign)) {
					return r.take(2, false), nil
				}
			}
			return r.take(1, false), nil
		}
	}
	return token{pos: r.pos}, nil
}

// braces reads a name in braces, in which \ is before a brace or another \.
func (r *reader) braces() (token, error) {
	t := token{name: true, quoted: true, pos: r.pos}
	var name []byte
	rest := r.rest()
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '}':
			t.text = string(name)
			r.skip(i + 1)
			if t.text == "" {
				return t, r.fault(t.pos, "a name without a character; expected one or more")
			}
			return t, nil
		case c == '{':
			r.skip(i)
			return t, r.fault(r.pos, "a { in a name in braces; expected \\{")
		case c == '\\' && i+1 < len(rest):
			i++
			name = append(name, rest[i])
		default:
			name = append(name, c)
		}
	}
	return t, r.fault(t.pos, "a name that begins with { and does not end; expected }")
}

// declaration reads a declaration.
func (r *reader) declaration() error {
	word := r.tok
	if !r.keyword() {
		return r.expected("net, tr, pl, lb, pr or nt")
	}
	if err := r.next(); err != nil {
		return err
	}
	switch word.text {
	case "net":
		name, err := r.word("the name of the net")
		r.net.ID, r.net.Pos = name.text, name.pos
		return err
	case "tr":
		return r.tinaTransition()
	case "pl":
		return r.tinaPlace()
	case "lb":
		return r.labelled()
	}
	what := map[string]string{"pr": "ignored priorities of transitions (pr)", "nt": "ignored a note (nt)"}[word.text]
	r.warnings.Add(word.pos, what)
	for (r.tok.text != "" || r.tok.quoted) && !r.keyword() {
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// labelled reads the label of a place or transition, which was declared before.
func (r *reader) labelled() error {
	id, err := r.word("the name of a place or a transition")
	if err != nil {
		return err
	}
	label, err := r.word("a label")
	if err != nil {
		return err
	}
	switch n, known := r.nodeOf[id.text]; {
	case !known:
		return r.fault(id.pos, "%s is no place or transition; expected one that was declared before", id)
	case n.place:
		r.net.Places[n.index].Name = label.text
	default:
		r.net.Transitions[n.index].Name = label.text
	}
	return nil
}

// label reads ":" and a label, if they are there.
func (r *reader) label(name *string) error {
	has, err := r.accept(":")
	if !has || err != nil {
		return err
	}
	label, err := r.word("a label")
	*name = label.text
	return err
}

func (r *reader) tinaTransition() error {
	id, err := r.word("the name of a transition")
	if err != nil {
		return err
	}
	tr, err := r.transition(id)
	if err != nil {
		return err
	}
	if err := r.label(&tr.Name); err != nil {
		return err
	}
	if r.is("[") || r.is("]") {
		if err := r.interval(); err != nil {
			return err
		}
	}
	return r.arcs(func(to bool, t token) (from, into string, err error) {
		_, err = r.place(t)
		if to {
			return t.text, id.text, err
		}
		return id.text, t.text, err
	}, true)
}

func (r *reader) tinaPlace() error {
	id, err := r.word("the name of a place")
	if err != nil {
		return err
	}
	p, err := r.place(id)
	if err != nil {
		return err
	}
	if err := r.label(&p.Name); err != nil {
		return err
	}
	has, err := r.accept("(")
	if err != nil {
		return err
	}
	if has {
		n, err := r.number("the marking", "KMGTPE")
		if err != nil {
			return err
		}
		if err := r.mark(p, id, n); err != nil {
			return err
		}
		if err := r.demand(")"); err != nil {
			return err
		}
	}
	return r.arcs(func(in bool, t token) (from, into string, err error) {
		_, err = r.transition(t)
		if in {
			return t.text, id.text, err
		}
		return id.text, t.text, err
	}, false)
}

// interval reads a time interval. All but [0,w[ are ignored with a warning.
func (r *reader) interval() error {
	pos, parts := r.tok.pos, ""
	for range 5 {
		if r.tok.text == "" || r.keyword() {
			return r.expected("a time interval such as [0,w[")
		}
		parts += r.tok.text
		if err := r.next(); err != nil {
			return err
		}
	}
	first, last := parts[0], parts[len(parts)-1]
	low, high, both := strings.Cut(parts[1:len(parts)-1], ",")
	if !both || (last != '[' && last != ']') || strings.Trim(low, "0123456789") != "" || strings.Trim(high, "0123456789") != "" && high != "w" {
		return r.fault(pos, "the time interval %s; expected one such as [0,4] or [0,w[", parts)
	}
	if low != "0" || high != "w" || first != '[' {
		r.warnings.Add(pos, "ignored the time interval of a transition: its firing is not delayed")
	}
	return nil
}

// arcs reads the names before and after "->", if they are there. of returns the ends of an arc for a
// name before it, or after it. testing reports that those before may test tokens, otherwise those after.
func (r *reader) arcs(of func(before bool, t token) (from, into string, err error), testing bool) error {
	for before := true; ; {
		arrow, err := r.accept("->")
		if err != nil {
			return err
		}
		if arrow {
			if !before {
				return r.fault(r.tok.pos, "a second ->; expected one")
			}
			before = false
			continue
		}
		if !r.tok.name || r.keyword() {
			return nil
		}
		t := r.tok
		if err := r.next(); err != nil {
			return err
		}
		kind, weight, err := r.weight(before == testing)
		if err != nil {
			return err
		}
		from, into, err := of(before, t)
		if err != nil {
			return err
		}
		if err := r.arc(from, into, kind, weight, t.pos); err != nil {
			return err
		}
	}
}

// weight reads the kind and the weight of an arc.
func (r *reader) weight(testing bool) (petri.ArcKind, uint32, error) {
	kind, sign := petri.Normal, r.tok
	switch {
	case r.is("*"):
	case r.is("?"):
		kind = petri.Read
	case r.is("?-"):
		kind = petri.Inhibitor
	case r.is("!") || r.is("!-"):
		return kind, 0, r.fault(sign.pos, "a stopwatch arc; expected an arc without time: *, ? or ?-")
	default:
		return kind, 1, nil
	}
	if kind != petri.Normal && !testing {
		return kind, 0, r.fault(sign.pos, "%s on an arc from a transition to a place; expected * or no sign", sign)
	}
	if err := r.next(); err != nil {
		return kind, 0, err
	}
	n, err := r.number("the weight of an arc", "KMGTPE")
	return kind, n, err
}
