// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"errors"
	"fmt"
	"regexp"
)

// pattern parses lines of text by a regular expression whose named groups are
// fields. Package regexp takes time linear in the line for any expression.
type pattern struct {
	expr   *regexp.Regexp
	groups [fieldCount]int // numbers of the groups, by field; -1 for none
}

// maxPattern bounds an expression, in bytes.
const maxPattern = 10_000

func newPattern(text string, names Fields) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern of %d bytes; expected at most %d", len(text), maxPattern)
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("reading the pattern: %w", err)
	}
	p := &pattern{expr: expr}
	for k, name := range names.all() {
		p.groups[k] = -1
		if name != "" {
			p.groups[k] = expr.SubexpIndex(name)
		}
	}
	if p.groups[instanceField] < 0 || p.groups[transitionField] < 0 && p.groups[placeField] < 0 {
		return nil, errors.New("the pattern has no group for the instance, or none for a transition or place; expected (?P<" +
			names.Instance + ">…) and (?P<" + names.Transition + ">…)")
	}
	return p, nil
}

// read implements format. A group without a match is absent, and so is an empty one.
func (p *pattern) read(line []byte, into *fields) Reason {
	*into = fields{textual: true}
	found := p.expr.FindSubmatchIndex(line)
	if found == nil {
		return NoMatch
	}
	for field, g := range p.groups {
		switch {
		case g < 0 || found[2*g] == found[2*g+1]:
		case field == endField:
			into.end = true
		default:
			*into.of(field) = line[found[2*g]:found[2*g+1]]
		}
	}
	return Taken
}
