// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// The namespaces that are read.
const (
	model   = "http://www.omg.org/spec/BPMN/20100524/MODEL"
	diagram = "http://www.omg.org/spec/BPMN/20100524/DI"
	dc      = "http://www.omg.org/spec/DD/20100524/DC"
	di      = "http://www.omg.org/spec/DD/20100524/DI"
)

// isEngine reports whether a namespace is that of a process engine, whose
// extensions can name the work of a task.
func isEngine(space string) bool {
	switch space {
	case "http://camunda.org/schema/1.0/bpmn", "http://camunda.org/schema/zeebe/1.0",
		"http://activiti.org/bpmn", "http://flowable.org/bpmn":
		return true
	}
	return false
}

// elem is one element of the document.
type elem struct {
	name  string // local name
	space string
	attrs []attr
	kids  []*elem
	text  string // without white space around it
	pos   petri.Pos
}

// attr is an attribute.
type attr struct{ space, name, value string }

// attr returns an attribute of BPMN itself, without white space around it.
func (e *elem) attr(name string) string {
	return e.attrIn(name, isOwn)
}

// isOwn reports whether an attribute without a prefix is in a namespace: it is one of its element.
func isOwn(space string) bool { return space == "" }

// extension returns an attribute of a process engine.
func (e *elem) extension(name string) string { return e.attrIn(name, isEngine) }

func (e *elem) attrIn(name string, in func(space string) bool) string {
	for i := range e.attrs {
		if a := &e.attrs[i]; a.name == name && in(a.space) {
			return a.value
		}
	}
	return ""
}

// is reports whether e is an element of BPMN with that name.
func (e *elem) is(name string) bool { return e.space == model && e.name == name }

// kid returns the first child of BPMN with a name, or nil.
func (e *elem) kid(name string) *elem {
	for _, k := range e.kids {
		if k.is(name) {
			return k
		}
	}
	return nil
}

// extensions returns the elements of process engines inside e.
func (e *elem) extensions() []*elem {
	if x := e.kid("extensionElements"); x != nil {
		return x.kids
	}
	return nil
}

// isPlain reports whether e has only attributes of its own, and no children but references to flows, as
// most elements do.
func (e *elem) isPlain() bool {
	for i := range e.attrs {
		if e.attrs[i].space != "" {
			return false
		}
	}
	for _, k := range e.kids {
		if k.name != "incoming" && k.name != "outgoing" {
			return false
		}
	}
	return true
}

// local returns a reference without the prefix of its namespace.
func local(ref string) string { return ref[strings.LastIndexByte(ref, ':')+1:] }

// parser reads one XML document into a tree.
type parser struct {
	*xmlscan.Scanner
	lim  Limits
	kept int // elements, counted against Limits.Elements
	own  int // of these, elements of BPMN itself

	strings xmlscan.Strings // nets have many of them
	drawn   xmlscan.Strings // nets have none of them
	elems   []elem          // not yet given out
	attrs   []attr          // not yet given out
	texts   []xmlscan.Text  // by depth, to be used again
	depth   int
	model   string // the namespace as the scanner has it
}

// parse reads the whole document and returns the root element.
func (p *parser) parse() (*elem, error) {
	var root *elem
	for {
		kind, err := p.Next()
		if errors.Is(err, io.EOF) {
			if root == nil {
				return nil, p.Fatal(p.At, "the file has no root element; expected an XML document with the root <definitions>")
			}
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch kind {
		case xmlscan.StartTag:
			if root != nil {
				return nil, p.Fatal(p.At, "a second root element %s; expected the end of the file", xmlscan.Tag(p.Name.Local))
			}
			if p.Name.Local != "definitions" || p.Name.Space != model {
				return nil, p.Fatal(p.At, "the root element is %s in the namespace %s; expected <definitions> in %s",
					xmlscan.Tag(p.Name.Local), xmlscan.Quote(p.Name.Space), model)
			}
			p.model = p.Name.Space
			if root, err = p.element(); err != nil {
				return nil, err
			}
		case xmlscan.CharData:
			if out := bytes.TrimLeft(p.Data, xmlscan.Space); len(out) > 0 {
				return nil, p.Fatal(xmlscan.After(p.At, p.Data[:len(p.Data)-len(out)]),
					"the text %s outside any element; expected an XML document with the root <definitions>", xmlscan.Quote(string(out)))
			}
		}
	}
}

// element reads the element whose start tag was read last, to its end.
func (p *parser) element() (*elem, error) {
	e := &give(&p.elems, 1)[0]
	e.name, e.space, e.pos = p.Name.Local, p.Name.Space, p.At
	if e.space == p.model {
		e.space = model // the same string in memory, so that it is compared at once
		p.own++
	}
	if p.kept++; p.kept > p.lim.Elements {
		return nil, p.Limit("elements", int64(p.lim.Elements))
	}
	if err := p.CheckAttrs(e.pos, e.name, p.Attrs); err != nil {
		return nil, err
	}
	e.attrs = give(&p.attrs, len(p.Attrs))
	kept := &p.strings
	if e.space == dc || e.space == di || e.space == diagram {
		kept = &p.drawn
	}
	for i := range p.Attrs {
		a := &p.Attrs[i]
		e.attrs[i] = attr{a.Name.Space, a.Name.Local, kept.Of(xmlscan.Trim(a.Value))}
	}
	err := p.content(e)
	p.depth--
	return e, err
}

// give returns n zero values, which are together with others in memory.
func give[T any](left *[]T, n int) []T {
	const together = 64
	if n > len(*left) {
		*left = make([]T, max(n, together))
	}
	out := (*left)[:n:n]
	*left = (*left)[n:]
	return out
}

func (p *parser) content(e *elem) error {
	if len(p.texts) == p.depth {
		p.texts = append(p.texts, xmlscan.Text{})
	}
	p.texts[p.depth].Reset()
	p.depth++
	for {
		kind, err := p.Next()
		if err != nil {
			return err
		}
		switch kind {
		case xmlscan.EndTag:
			e.text = p.strings.Of(p.texts[p.depth-1].Bytes())
			return nil
		case xmlscan.StartTag:
			err = p.child(e)
		case xmlscan.CharData:
			err = p.texts[p.depth-1].Add(p.Scanner)
		}
		if err != nil {
			return err
		}
	}
}

// child reads a child of e, and keeps it if it can have a meaning.
func (p *parser) child(e *elem) error {
	switch space := p.Name.Space; {
	case space == p.model, space == diagram, space == dc, space == di, isEngine(space):
		k, err := p.element()
		e.kids = append(e.kids, k)
		return err
	case !e.is("extensionElements") && e.space == model:
		p.Warnings.Add(p.At, "ignored "+xmlscan.Tag(p.Name.Local)+" of the namespace "+xmlscan.Quote(space)+" in "+xmlscan.Tag(e.name))
	}
	return p.Skip()
}
