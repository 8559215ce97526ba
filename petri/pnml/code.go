// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// coder reads or writes an element of a section of pnagent. What such an element has stands in one
// function for both, which calls the coder for each attribute, and then for each child, in the order in
// which they are written.
type coder interface {
	// text is an attribute, which is written if it is not empty, or always.
	text(name string, to *string, always bool)
	// word is an attribute with a value that is no text, which is written if it is not empty. set
	// takes the value that was read, and returns what was expected if it is invalid.
	word(name, value string, set func(value string) (expected string))
	// flag is a child that is there or not.
	flag(name string, to *bool)
	// child is a child that is there at most once.
	child(name string, there bool, code func(c coder))
	// each is a child that is there n times when it is written. Those that are read have the
	// numbers from n on.
	each(name string, n int, code func(c coder, i int))
	// begun is called once the attributes are known. An element is then written with an end tag.
	begun()
	// at is the position of the element in the file.
	at(to *petri.Pos)
	// fault says of an element that was read why it is invalid.
	fault(format string, args ...any)
	// warn says of an element that was read why it is ignored.
	warn(msg string)
}

// codeValue codes a child whose text is the attribute value.
func codeValue(c coder, name string, to *string) {
	c.child(name, *to != "", func(c coder) { c.text("value", to, true) })
}

// codeList codes children of a name, each of which is an element of a list.
func codeList[T any](c coder, name string, to *[]T, code func(c coder, v *T)) {
	c.each(name, len(*to), func(c coder, i int) {
		if i == len(*to) {
			*to = append(*to, *new(T))
		}
		code(c, &(*to)[i])
	})
}

// decoder reads an element. It takes off what is asked for; the rest is ignored with a warning.
type decoder struct {
	n *netReader
	e *xmlscan.Element
}

// decode reads an element with its attributes.
func (n *netReader) decode(e *xmlscan.Element, code func(c coder)) {
	d := &decoder{n, e}
	code(d)
	for _, a := range e.Attrs {
		if a.Name.Space == "" && a.Name.Local != "xmlns" {
			d.warn("ignored attribute " + xmlscan.Clip(a.Name.Local, 60) + " of " + xmlscan.Tag(e.Name.Local))
		}
	}
	d.rest()
}

// rest warns of what an element has beside its attributes that was not asked for.
func (d *decoder) rest() {
	for _, k := range d.e.Kids {
		d.n.Warnings.Add(k.Pos, "ignored "+xmlscan.Tag(k.Name.Local)+" in "+xmlscan.Tag(d.e.Name.Local))
	}
	if d.e.Text != "" {
		d.n.Warnings.Add(d.e.TextPos, "ignored text in "+xmlscan.Tag(d.e.Name.Local))
	}
}

func (d *decoder) text(name string, to *string, _ bool) {
	d.word(name, "", func(value string) string {
		if *to != "" && *to != value {
			d.fault("a second %s %s after %s; expected one", d.e.Name.Local, xmlscan.Quote(value), xmlscan.Quote(*to))
		}
		*to = value
		return ""
	})
}

func (d *decoder) word(name, _ string, set func(value string) string) {
	for i, a := range d.e.Attrs {
		if a.Name != (xmlscan.Name{Local: name}) {
			continue
		}
		d.e.Attrs = append(d.e.Attrs[:i], d.e.Attrs[i+1:]...)
		if expected := set(a.Value); expected != "" {
			d.fault("%s %s of %s; expected %s", name, xmlscan.Quote(a.Value), xmlscan.Tag(d.e.Name.Local), expected)
		}
		return
	}
}

func (d *decoder) flag(name string, to *bool) {
	d.child(name, false, func(coder) { *to = true })
}

func (d *decoder) child(name string, _ bool, code func(c coder)) {
	d.each(name, 0, func(c coder, i int) {
		if i > 0 {
			c.fault("a second %s; expected one", xmlscan.Tag(name))
			return
		}
		code(c)
	})
}

func (d *decoder) each(name string, n int, code func(c coder, i int)) {
	rest := d.e.Kids[:0]
	for _, k := range d.e.Kids {
		if k.Name.Local != name {
			rest = append(rest, k)
			continue
		}
		d.n.decode(k, func(c coder) { code(c, n) })
		n++
	}
	d.e.Kids = rest
}

func (d *decoder) begun() {}

func (d *decoder) at(to *petri.Pos) { *to = d.e.Pos }

func (d *decoder) fault(format string, args ...any) { d.n.faults.Add(d.e.Pos, format, args...) }

func (d *decoder) warn(msg string) { d.n.Warnings.Add(d.e.Pos, msg) }

// encoder writes an element.
type encoder struct {
	p      *printer
	indent string // of children
	head   string // what is written before the first child
}

func (e *encoder) text(name string, to *string, always bool) {
	if *to != "" || always {
		e.p.put(" "+name+"=\"", *to, "\"")
	}
}

func (e *encoder) word(name, value string, _ func(value string) string) { e.text(name, &value, false) }

func (e *encoder) flag(name string, to *bool) { e.child(name, *to, func(coder) {}) }

func (e *encoder) child(name string, there bool, code func(c coder)) {
	if !there {
		return
	}
	e.begun()
	e.p.put(e.indent + "<" + name)
	k := &encoder{e.p, e.indent + "  ", ">\n"}
	code(k)
	if k.head != "" {
		e.p.put("/>\n")
		return
	}
	e.p.put(e.indent + "</" + name + ">\n")
}

func (e *encoder) each(name string, n int, code func(c coder, i int)) {
	for i := range n {
		e.child(name, true, func(c coder) { code(c, i) })
	}
}

func (e *encoder) begun() {
	e.p.put(e.head)
	e.head = ""
}

func (e *encoder) at(*petri.Pos) {}

func (e *encoder) fault(string, ...any) {}

func (e *encoder) warn(string) {}

// section writes a section of pnagent, if it has anything.
func section[T any](p *printer, indent string, code func(c coder, v *T), v *T) {
	p.own = encoder{p, indent + "  ", indent + `<toolspecific tool="` + tool + `" version="` + toolVersion + "\">\n"}
	code(&p.own, v)
	if p.own.head == "" {
		p.put(indent + "</toolspecific>\n")
	}
}
