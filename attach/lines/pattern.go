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
	groups [8]int // numbers of the groups of time, net, instance, transition, place, tokens, end, dropped; -1 for none
	found  []int  // positions of the groups in the present line
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
	for k, name := range []string{names.Time, names.Net, names.Instance, names.Transition, names.Place, names.Tokens, names.End, names.Dropped} {
		p.groups[k] = -1
		if name != "" {
			p.groups[k] = expr.SubexpIndex(name)
		}
	}
	if p.groups[2] < 0 || p.groups[3] < 0 && p.groups[4] < 0 {
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
	p.found = found
	into.time, into.net, into.instance = p.group(line, 0), p.group(line, 1), p.group(line, 2)
	into.transition, into.place, into.tokens = p.group(line, 3), p.group(line, 4), p.group(line, 5)
	into.end, into.dropped = p.group(line, 6) != nil, p.group(line, 7)
	return Taken
}

func (p *pattern) group(line []byte, k int) []byte {
	g := p.groups[k]
	if g < 0 || p.found[2*g] < 0 || p.found[2*g] == p.found[2*g+1] {
		return nil
	}
	return line[p.found[2*g]:p.found[2*g+1]]
}
