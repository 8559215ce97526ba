// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"errors"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// The namespaces that are read.
const (
	modelSpace   = "http://www.omg.org/spec/BPMN/20100524/MODEL"
	diagramSpace = "http://www.omg.org/spec/BPMN/20100524/DI"
	dcSpace      = "http://www.omg.org/spec/DD/20100524/DC"
	diSpace      = "http://www.omg.org/spec/DD/20100524/DI"
)

// elem is an element of the file in one of these namespaces.
type elem struct {
	name, space string
	attrs       []attr
	kids        []*elem
	text        string // without white space around it
}

// attr is an attribute.
type attr struct{ name, value string }

// attr returns an attribute without a namespace, without white space around it.
func (e *elem) attr(name string) string {
	for i := range e.attrs {
		if e.attrs[i].name == name {
			return e.attrs[i].value
		}
	}
	return ""
}

// ref returns an attribute that refers to an element, without a prefix.
func (e *elem) ref(name string) string { return local(e.attr(name)) }

func local(ref string) string { return ref[strings.LastIndexByte(ref, ':')+1:] }

func (e *elem) is(space, name string) bool { return e.name == name && e.space == space }

// kid returns the first child with a name, or nil.
func (e *elem) kid(space, name string) *elem {
	for _, k := range e.kids {
		if k.is(space, name) {
			return k
		}
	}
	return nil
}

// parser reads one document.
type parser struct {
	*xmlscan.Scanner
	lim  bpmn.Limits
	kept int
}

// parse reads the whole document and returns the root element.
func (p *parser) parse() (root *elem, err error) {
	for {
		kind, err := p.Next()
		if errors.Is(err, io.EOF) && root != nil {
			return root, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, p.Fatal(p.At, "the file has no root element; expected an XML document with the root <definitions>")
		}
		if err != nil {
			return nil, err
		}
		switch {
		case kind != xmlscan.StartTag:
		case root != nil || p.Name != xmlscan.Name{Space: modelSpace, Local: "definitions"}:
			return nil, p.Fatal(p.At, "root element %s; expected one <definitions> in %s", xmlscan.Tag(p.Name.Local), modelSpace)
		default:
			if root, err = p.element(); err != nil {
				return nil, err
			}
		}
	}
}

// element reads the element whose start tag was read last, to its end. It skips children of
// other namespaces, and extensions.
func (p *parser) element() (*elem, error) {
	e := &elem{name: p.Name.Local, space: p.Name.Space}
	for _, a := range p.Attrs {
		if a.Name.Space == "" {
			e.attrs = append(e.attrs, attr{a.Name.Local, string(xmlscan.Trim(a.Value))})
		}
	}
	if p.kept++; p.kept > p.lim.Elements {
		return nil, p.Limit("elements", int64(p.lim.Elements))
	}
	var text xmlscan.Text
	for {
		kind, err := p.Next()
		if err != nil {
			return nil, err
		}
		switch kind {
		case xmlscan.EndTag:
			e.text = text.String()
			return e, nil
		case xmlscan.CharData:
			err = text.Add(p.Scanner)
		case xmlscan.StartTag:
			switch p.Name.Space {
			case modelSpace, diagramSpace, dcSpace, diSpace:
				var k *elem
				k, err = p.element()
				e.kids = append(e.kids, k)
			default:
				err = p.Skip()
			}
		}
		if err != nil {
			return nil, err
		}
	}
}
