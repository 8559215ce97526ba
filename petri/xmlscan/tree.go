// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"errors"
	"io"

	"github.com/pnagent/pnagent/petri"
)

// Element is an element of a file with what is inside it.
type Element struct {
	Name    Name
	Attrs   []Attribute
	Kids    []*Element
	Text    string // without white space around it
	Pos     petri.Pos
	TextPos petri.Pos // Pos if there is no text
}

// Attribute is an attribute of an Element.
type Attribute struct {
	Name  Name
	Value string // with its references replaced
}

// Attr returns an attribute without a namespace, without white space around it: "" if e has
// none, or is nil.
func (e *Element) Attr(name string) string {
	if e == nil {
		return ""
	}
	for i := range e.Attrs {
		if e.Attrs[i].Name == (Name{Local: name}) {
			return string(Trim([]byte(e.Attrs[i].Value)))
		}
	}
	return ""
}

// Kid returns the first child with a local name, or nil.
func (e *Element) Kid(name string) *Element {
	if e == nil {
		return nil
	}
	for _, k := range e.Kids {
		if k.Name.Local == name {
			return k
		}
	}
	return nil
}

// Tree reads elements with what is inside them.
type Tree struct {
	*Scanner
	Keep  func(Name) bool // the elements to read; all if it is nil. Others are skipped
	Count func() error    // is called for each element, and can end the reading

	strings Strings
}

// AtMost returns a Count that ends the reading at more than n elements.
func (s *Scanner) AtMost(n int) func() error {
	left := n
	return func() error {
		left--
		if left < 0 {
			return s.Limit("elements", int64(n))
		}
		return nil
	}
}

// Root reads a whole document. is reports whether an element may be the root, and expected
// describes that for messages.
func (t *Tree) Root(is func(Name) bool, expected string) (*Element, error) {
	var root *Element
	for {
		kind, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && root != nil:
			return root, nil
		case errors.Is(err, io.EOF):
			return nil, t.Fatal(t.At, "the file has no root element; expected an XML document with the root %s", expected)
		case err != nil:
			return nil, err
		case kind != StartTag:
			continue
		case root != nil:
			return nil, t.Fatal(t.At, "a second root element %s; expected the end of the file", Tag(t.Name.Local))
		case !is(t.Name):
			return nil, t.Fatal(t.At, "the root element is %s in the namespace %s; expected %s", Tag(t.Name.Local), Quote(t.Name.Space), expected)
		}
		root, err = t.Element()
		if err != nil {
			return nil, err
		}
	}
}

// Element reads the element whose start tag was read last, to its end.
func (t *Tree) Element() (*Element, error) {
	if err := t.Count(); err != nil {
		return nil, err
	}
	e := &Element{Name: t.Name, Attrs: make([]Attribute, len(t.Attrs)), Pos: t.At, TextPos: t.At}
	if err := t.CheckAttrs(e.Pos, e.Name.Local, t.Attrs); err != nil {
		return nil, err
	}
	for i := range t.Attrs {
		e.Attrs[i] = Attribute{t.Attrs[i].Name, t.strings.Of(t.Attrs[i].Value)}
	}
	var text Text
	for {
		kind, err := t.Next()
		if err != nil {
			return nil, err
		}
		switch {
		case kind == EndTag:
			e.Text = t.strings.Of(text.Bytes())
			if e.Text != "" {
				e.TextPos = text.Pos
			}
			return e, nil
		case kind == CharData:
			err = text.Add(t.Scanner)
		case kind == StartTag && (t.Keep == nil || t.Keep(t.Name)):
			var k *Element
			k, err = t.Element()
			e.Kids = append(e.Kids, k)
		case kind == StartTag:
			err = t.Skip()
		}
		if err != nil {
			return nil, err
		}
	}
}

// maxAttrs bounds the attributes of an element.
const maxAttrs = 64

// CheckAttrs returns the fault of an element that has too many attributes, or one of them twice.
func (s *Scanner) CheckAttrs(pos petri.Pos, element string, attrs []Attr) error {
	if len(attrs) > maxAttrs {
		return s.Fatal(pos, "%s with %d attributes; expected at most %d", Tag(element), len(attrs), maxAttrs)
	}
	for i := range attrs {
		for k := range attrs[:i] {
			if attrs[i].Name == attrs[k].Name {
				return s.Fatal(pos, "%s has the attribute %s twice; expected it once", Tag(element), Clip(attrs[i].Name.Local, 60))
			}
		}
	}
	return nil
}
