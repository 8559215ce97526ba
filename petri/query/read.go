// SPDX-License-Identifier: Apache-2.0

package query

import (
	"cmp"
	"errors"
	"io"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Kind is the kind of a property.
type Kind uint8

// The kinds.
const (
	Exists Kind = iota // a marking that can be reached satisfies the formula
	Always             // every marking that can be reached satisfies it
	Bound              // the most tokens in some places together
)

// Property is one property of a file.
type Property struct {
	ID   string
	Kind Kind

	holds formula
	sum   term // of Bound
}

// Limits bound a file. A field that is not positive means its default: 64 MiB, tokens
// of 1 MiB and a depth of 200.
type Limits = xmlscan.Limits

func orDefault(l Limits) Limits {
	return Limits{Bytes: cmp.Or(max(l.Bytes, 0), 64<<20), Token: cmp.Or(max(l.Token, 0), 1<<20), Depth: cmp.Or(max(l.Depth, 0), 200)}
}

// Read reads the properties of a file for a net. The file's name is used in messages
// only. The error joins all faults, each a *petri.Fault with its position.
func Read(r io.Reader, file string, t *petri.Tables, lim Limits) ([]Property, error) {
	s := xmlscan.New(r, file, orDefault(lim))
	root, err := tree(s)
	c := compiler{tables: t, faults: xmlscan.Faults{File: file}}
	if err == nil {
		c.file(root)
	}
	if err := c.faults.Join(err); err != nil {
		return nil, err
	}
	return c.properties, nil
}

// element is an element of the file.
type element struct {
	name     string
	pos      petri.Pos
	text     xmlscan.Text
	children []*element
}

// tree reads a document and returns its root element.
func tree(s *xmlscan.Scanner) (*element, error) {
	var top element
	for open := []*element{&top}; ; {
		kind, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		last := open[len(open)-1]
		switch kind {
		case xmlscan.StartTag:
			e := &element{name: s.Name.Local, pos: s.At}
			last.children = append(last.children, e)
			open = append(open, e)
		case xmlscan.EndTag:
			open = open[:len(open)-1]
		case xmlscan.CharData:
			if err := last.text.Add(s); err != nil {
				return nil, err
			}
		}
	}
	if len(top.children) != 1 || top.children[0].name != "property-set" {
		pos := s.At
		if len(top.children) > 0 {
			pos = top.children[min(1, len(top.children)-1)].pos
		}
		return nil, s.Fatal(pos, "expected one root element <property-set>")
	}
	return top.children[0], nil
}
