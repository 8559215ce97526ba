// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// label is the value of an element, in one of its spellings.
type label struct {
	value string    // without white space around it; "" if there is none
	pos   petri.Pos // of the value's first character, or of the element
	again bool      // the element has a second, different value
	other bool      // the element has children that are not a value or a drawing
}

// attribute returns an attribute of e as a label. Its position is that of e, because
// the decoder does not return the positions of attributes.
func (n *netReader) attribute(e *element, value []byte) label {
	return label{value: n.strings.Of(xmlscan.Trim(value)), pos: e.pos}
}

func (l *label) give(value string, pos petri.Pos) {
	switch {
	case l.value == "":
		l.value = value
		if pos.Line > 0 {
			l.pos = pos
		}
	case value != "" && value != l.value:
		l.again = true
	}
}

// label reads the label e.
func (n *netReader) label(e *element) (label, error) {
	l := label{pos: e.pos}
	err := n.attrs(e, func(name string, value []byte) bool {
		if name == "value" || name == "text" {
			l.give(n.strings.Of(xmlscan.Trim(value)), e.pos)
			return true
		}
		return false
	})
	if err != nil {
		return l, err
	}
	err = n.each(e, mixed, func(c *element) error {
		switch {
		case c.name == "text" || c.name == "value":
			err := n.each(c, mixed, n.other)
			l.give(n.strings.Of(c.text.Bytes()), c.text.Pos)
			return err
		case c.name == "multiset" && e.name == "initialMarking":
			return n.each(c, elements, func(value *element) error {
				n.refuse(value.pos, "a marking of token values, a high-level net; expected a number of tokens")
				return n.Skip()
			})
		case c.name == "structure":
			return n.highLevel(c)
		}
		l.other = l.other || c.name != "graphics" && c.name != "toolspecific"
		return n.other(c)
	})
	l.give(n.strings.Of(e.text.Bytes()), e.text.Pos)
	return l, err
}

// number is a count read from a label or an attribute.
type number struct {
	value uint32
	pos   petri.Pos
	given bool
}

// number reads the label e into to. what is its name in messages, absent the number
// of a label without a value.
func (n *netReader) number(e *element, to *number, what string, absent uint32) error {
	l, err := n.label(e)
	if err != nil {
		return err
	}
	if l.value == "" && l.other {
		n.Warnings.Add(e.pos, "the "+what+" of "+xmlscan.Tag(e.in)+" has no number; read as "+strconv.FormatUint(uint64(absent), 10))
	}
	n.setCount(to, what, l)
	return nil
}

// setCount sets to to the number of tokens of a label.
func (n *netReader) setCount(to *number, what string, l label) {
	if l.value == "" {
		return
	}
	tokens, err := n.tokens(l)
	switch {
	case err != nil:
		n.faults.Add(l.pos, "the %s %s %v; expected a whole number, at most 4294967295", what, xmlscan.Quote(l.value), err)
	case l.again:
		n.faults.Add(l.pos, "the %s %s and another value beside it; expected one", what, xmlscan.Quote(l.value))
	case to.given && to.value != tokens:
		n.faults.Add(l.pos, "a second %s %d after %d; expected one", what, tokens, to.value)
	default:
		*to = number{value: tokens, pos: l.pos, given: true}
	}
}

// The faults of a number, as the end of a message.
var (
	errNegative   = errors.New("is negative")
	errNotInteger = errors.New("is not an integer")
	errTooBig     = errors.New("is too large")
)

// tokens reads "3" or PIPE's "Class,3,Class,0", in which a class without tokens is
// ignored. It refuses a net that uses two classes, because that is coloured.
func (n *netReader) tokens(l label) (uint32, error) {
	if !strings.Contains(l.value, ",") {
		count, err := parseCount(l.value)
		n.useClass("Default", count, l)
		return count, err
	}
	var sum uint32
	for rest, more := l.value, true; more; {
		var class, digits string
		class, rest, more = strings.Cut(rest, ",")
		if _, err := strconv.ParseFloat(strings.Trim(class, xmlscan.Space), 64); err == nil || !more || class == "" {
			return 0, errNotInteger // "2,5" is not a class named 2
		}
		digits, rest, more = strings.Cut(rest, ",")
		count, err := parseCount(strings.Trim(digits, xmlscan.Space))
		if err != nil {
			return 0, err
		}
		if count > math.MaxUint32-sum {
			return 0, errTooBig
		}
		sum += count
		n.useClass(strings.Trim(class, xmlscan.Space), count, l)
	}
	return sum, nil
}

// useClass records that a class has tokens. A plain number has PIPE's class Default.
func (n *netReader) useClass(class string, count uint32, l label) {
	switch {
	case count == 0 || class == n.class:
	case n.class == "":
		n.class = class
	default:
		n.refuse(l.pos, "tokens of the classes "+xmlscan.Quote(n.class)+" and "+xmlscan.Quote(class)+
			", a coloured net; expected a place/transition net with one class")
	}
}

func parseCount(s string) (uint32, error) {
	digits := strings.TrimPrefix(s, "-")
	v, err := strconv.ParseUint(digits, 10, 32)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, errNotInteger
	case digits != s:
		return 0, errNegative
	case err != nil:
		return 0, errTooBig
	}
	return uint32(v), nil
}
