// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// scanner reads the elements of one PNML document.
type scanner struct {
	*xmlscan.Scanner
	lim     Limits
	depth   []*element // the last element read at each depth, to be used again
	strings xmlscan.Strings
	tree    xmlscan.Tree // of sections of pnagent
}

func newScanner(r io.Reader, file string, lim Limits) *scanner {
	lim = lim.orDefault()
	s := xmlscan.New(r, file, xmlscan.Limits{Bytes: lim.Bytes, Token: lim.Token, Depth: lim.Depth})
	return &scanner{Scanner: s, lim: lim, tree: xmlscan.Tree{Scanner: s}}
}

// element is a start tag. It is valid until the next one of the same enclosing element.
type element struct {
	name  string // local name
	space string
	in    string         // local name of the enclosing element
	attrs []xmlscan.Attr // valid until the content is read
	pos   petri.Pos
	depth int // the root has 0
	text  xmlscan.Text
}

// attr returns the last attribute of e with a local name, or "".
func (e *element) attr(name string) string {
	for i := len(e.attrs) - 1; i >= 0; i-- {
		if e.attrs[i].Name.Local == name {
			return string(e.attrs[i].Value)
		}
	}
	return ""
}

// ignore skips e with a warning.
func (s *scanner) ignore(e *element) error {
	s.Warnings.Add(e.pos, "ignored "+xmlscan.Tag(e.name)+" in "+xmlscan.Tag(e.in))
	return s.Skip()
}

// content is what a reader expects in an element.
type content uint8

const (
	elements content = iota // text gets a warning
	mixed                   // text is added to that of the element
)

// each reads e to its end. It calls child for every child, which child must read to
// its end.
func (s *scanner) each(e *element, is content, child func(c *element) error) error {
	for {
		c, err := s.child(e, is)
		if c == nil {
			return err
		}
		err = child(c)
		if err != nil {
			return err
		}
	}
}

// child returns the next child of e, which the caller must read to its end, or nil at the
// end of e and for an error.
func (s *scanner) child(e *element, is content) (*element, error) {
	for {
		kind, err := s.Next()
		if err != nil {
			return nil, err
		}
		switch kind {
		case xmlscan.EndTag:
			return nil, nil
		case xmlscan.StartTag:
			c := s.element(e)
			if !c.foreign(e) || e.name == "arc" { // see kindIn
				return c, nil
			}
			err = s.ignore(c)
		case xmlscan.CharData:
			if is == mixed {
				err = e.text.Add(s.Scanner)
			} else if len(xmlscan.Trim(s.Data)) > 0 {
				s.Warnings.Add(s.At, "ignored text in "+xmlscan.Tag(e.name))
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// element returns the element in e whose start tag was read last.
func (s *scanner) element(e *element) *element {
	if len(s.depth) == e.depth {
		s.depth = append(s.depth, new(element))
	}
	c := s.depth[e.depth]
	*c = element{name: s.Name.Local, space: s.Name.Space, in: e.name, attrs: s.Attrs, pos: s.At, depth: e.depth + 1, text: c.text}
	c.text.Reset()
	return c
}

// foreign reports whether e belongs to another language than PNML. Tools use several
// namespaces for PNML, so that of the parent is one, too.
func (e *element) foreign(parent *element) bool {
	return e.space != "" && e.space != parent.space && e.name != "net" &&
		!strings.HasPrefix(e.space, "http://www.pnml.org/") &&
		!strings.HasPrefix(e.space, "http://www.informatik.hu-berlin.de/top/pn")
}

// attrs calls take for the attributes of e, except for namespaces and attributes of
// other languages. An attribute for which take returns false gets a warning. The value is
// that of xmlscan.Attr.
func (s *scanner) attrs(e *element, take func(name string, value []byte) bool) error {
	if err := s.CheckAttrs(e.pos, e.name, e.attrs); err != nil {
		return err
	}
	for i := range e.attrs {
		a := &e.attrs[i]
		if a.Name.Space != "" || a.Name.Local == "xmlns" || take(a.Name.Local, a.Value) || isDrawing(a.Name.Local) {
			continue
		}
		switch string(a.Value) {
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
