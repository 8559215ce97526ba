// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"errors"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Limits bound a file.
type Limits struct {
	Bytes    int64 // length of the file
	Token    int   // bytes of one tag, one text or one comment
	Depth    int   // elements inside each other
	Elements int   // elements of DMN in memory
}

// DefaultLimits returns 16 MiB, tokens of 1 MiB, a depth of 100 and 200,000 elements.
func DefaultLimits() Limits {
	return Limits{Bytes: 16 << 20, Token: 1 << 20, Depth: 100, Elements: 200_000}
}

// IsSpace reports whether a namespace is that of a version of DMN.
func IsSpace(namespace string) bool { return strings.Contains(namespace, "omg.org/spec/DMN/") }

// element is an element of DMN.
type element struct {
	name  string
	attrs map[string]string
	kids  []*element
	text  string // without white space around it
	pos   petri.Pos
	start petri.Pos // of the text; that of the element if it has none
}

// kid returns the element at the end of a path, or nil.
func (e *element) kid(path ...string) *element {
	for _, name := range path {
		if e == nil {
			return nil
		}
		var found *element
		for _, k := range e.kids {
			if k.name == name && found == nil {
				found = k
			}
		}
		e = found
	}
	return e
}

func (e *element) attr(name string) string {
	if e == nil {
		return ""
	}
	return e.attrs[name]
}

// all returns the elements of a name inside e.
func (e *element) all(name string) (out []*element) {
	if e == nil {
		return nil
	}
	for _, k := range e.kids {
		if k.name == name {
			out = append(out, k)
		}
	}
	return out
}

// parser reads a document into a tree.
type parser struct {
	*xmlscan.Scanner
	lim   Limits
	kept  int
	space string // the namespace of the root
}

func (p *parser) parse() (*element, error) {
	var root *element
	for {
		kind, err := p.Next()
		switch {
		case errors.Is(err, io.EOF) && root != nil:
			return root, nil
		case errors.Is(err, io.EOF):
			return nil, p.Fatal(p.At, "the file has no root element; expected an XML document with the root <definitions>")
		case err != nil:
			return nil, err
		case kind != xmlscan.StartTag:
			continue
		case root != nil || p.Name.Local != "definitions" || !IsSpace(p.Name.Space):
			return nil, p.Fatal(p.At, "the element %s in the namespace %s; expected one <definitions> of DMN", xmlscan.Tag(p.Name.Local), xmlscan.Quote(p.Name.Space))
		}
		p.space = p.Name.Space
		root, err = p.element()
		if err != nil {
			return nil, err
		}
	}
}

// element reads the element whose start tag was read last, to its end.
func (p *parser) element() (*element, error) {
	e := &element{name: p.Name.Local, attrs: map[string]string{}, pos: p.At, start: p.At}
	p.kept++
	if p.kept > p.lim.Elements {
		return nil, p.Limit("elements", int64(p.lim.Elements))
	}
	for i := range p.Attrs {
		if a := &p.Attrs[i]; a.Name.Space == "" {
			e.attrs[a.Name.Local] = string(xmlscan.Trim(a.Value))
		}
	}
	var text xmlscan.Text
	for {
		kind, err := p.Next()
		if err != nil {
			return nil, err
		}
		switch {
		case kind == xmlscan.EndTag:
			e.text = text.String()
			if e.text != "" {
				e.start = text.Pos
			}
			return e, nil
		case kind == xmlscan.StartTag && p.Name.Space == p.space:
			var k *element
			k, err = p.element()
			e.kids = append(e.kids, k)
		case kind == xmlscan.StartTag:
			err = p.Skip()
		case kind == xmlscan.CharData:
			err = text.Add(p.Scanner)
		}
		if err != nil {
			return nil, err
		}
	}
}
