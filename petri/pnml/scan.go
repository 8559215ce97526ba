// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// scanner reads the elements of one PNML document.
type scanner struct {
	*xmlscan.Scanner
	lim Limits
}

func newScanner(r io.Reader, file string, lim Limits) *scanner {
	lim = lim.orDefault()
	return &scanner{xmlscan.New(r, file, xmlscan.Limits{Bytes: lim.Bytes, Token: lim.Token, Depth: lim.Depth}), lim}
}

// element is a start tag whose content is not read yet.
type element struct {
	name  string // local name
	space string
	in    string // local name of the enclosing element
	attrs []xml.Attr
	pos   petri.Pos
}

// attr returns the last attribute of e with a local name, or "".
func (e *element) attr(name string) (value string) {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			value = a.Value
		}
	}
	return value
}

// ignore skips e with a warning.
func (s *scanner) ignore(e *element) error {
	s.Warnings.Add(e.pos, "ignored "+xmlscan.Tag(e.name)+" in "+xmlscan.Tag(e.in))
	return s.Skip()
}

// each reads e to its end. It calls child for every child, which child must read to
// its end. It adds text to into; if that is nil, text gets a warning.
func (s *scanner) each(e *element, into *xmlscan.Text, child func(c *element) error) error {
	for {
		tok, err := s.Next()
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			c := element{name: t.Name.Local, space: t.Name.Space, in: e.name, attrs: t.Attr, pos: s.At}
			if c.foreign(e) {
				err = s.ignore(&c)
			} else {
				err = child(&c)
			}
		case xml.CharData:
			if into != nil {
				err = into.Add(s.Scanner, t)
			} else if len(bytes.TrimLeft(t, xmlscan.Space)) > 0 {
				s.Warnings.Add(s.At, "ignored text in "+xmlscan.Tag(e.name))
			}
		}
		if err != nil {
			return err
		}
	}
}

// foreign reports whether e belongs to another language than PNML. Tools use several
// namespaces for PNML, so that of the parent is one, too.
func (e *element) foreign(parent *element) bool {
	return e.space != "" && e.space != parent.space && e.name != "net" &&
		!strings.HasPrefix(e.space, "http://www.pnml.org/") &&
		!strings.HasPrefix(e.space, "http://www.informatik.hu-berlin.de/top/pn")
}

// maxAttrs bounds the attributes of an element of PNML.
const maxAttrs = 64

// attrs calls take for the attributes of e, except for namespaces and attributes of
// other languages. An attribute for which take returns false gets a warning.
func (s *scanner) attrs(e *element, take func(name, value string) bool) error {
	if len(e.attrs) > maxAttrs {
		return s.Fatal(e.pos, "%s with %d attributes; expected at most %d", xmlscan.Tag(e.name), len(e.attrs), maxAttrs)
	}
	for i, a := range e.attrs {
		for _, b := range e.attrs[:i] {
			if a.Name == b.Name {
				return s.Fatal(e.pos, "%s has the attribute %s twice; expected it once", xmlscan.Tag(e.name), xmlscan.Clip(a.Name.Local, 60))
			}
		}
		if a.Name.Space != "" || a.Name.Local == "xmlns" || take(a.Name.Local, a.Value) || isDrawing(a.Name.Local) {
			continue
		}
		switch a.Value {
		case "", "false", "< inf": // the feature is not used
		default:
			s.Warnings.Add(e.pos, "ignored attribute "+xmlscan.Clip(a.Name.Local, 60)+" of "+xmlscan.Tag(e.name))
		}
	}
	return nil
}

// isDrawing reports whether an attribute is only about TAPAAL's drawing of a node.
func isDrawing(attr string) bool {
	switch attr {
	case "nameOffsetX", "nameOffsetY", "displayName", "angle", "active":
		return true
	}
	return false
}
