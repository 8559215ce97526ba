// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// loop reads how often the activity runs of which a scope is one run.
func (n *netReader) loop(e *element, l *petri.Loop) error {
	wrong := ""
	number := func(name string, value []byte) uint64 {
		v, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil {
			wrong = name + " " + xmlscan.Quote(string(value))
		}
		return v
	}
	err := n.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "most":
			l.Most = uint32(number(name, value))
		case "first":
			l.First = int(number(name, value))
		case "element":
			l.Element = n.strings.Of(value)
		case "into":
			l.Into = n.strings.Of(value)
		default:
			return false
		}
		return true
	})
	if err != nil {
		return err
	}
	if wrong != "" {
		n.faults.Add(e.pos, "%s of a <loop>; expected a whole number", wrong)
	}
	return n.each(e, elements, func(c *element) error {
		switch c.name {
		case "parallel":
			return n.flag(c, &l.Parallel)
		case "before":
			return n.flag(c, &l.Before)
		}
		for _, x := range loopExpressions(l) {
			if x.name == c.name {
				return n.expression(c, x.Expression)
			}
		}
		return n.ignore(c)
	})
}

// expression reads an expression, and what has it in the source.
func (n *netReader) expression(e *element, x *petri.Expression) error {
	if err := n.countNode(); err != nil {
		return err
	}
	x.Pos = e.pos
	return n.empty(e, func(name string, value []byte) bool {
		switch name {
		case "value":
			x.Text = n.strings.Of(value)
		case "of":
			x.Of = n.strings.Of(value)
		default:
			return false
		}
		return true
	})
}

// named is an expression and the name of its element.
type named struct {
	name string
	*petri.Expression
}

func loopExpressions(l *petri.Loop) []named {
	return []named{{"number", &l.Number}, {"list", &l.List}, {"until", &l.Until}, {"while", &l.While}, {"result", &l.Result}}
}

func (p printer) loop(l *petri.Loop) {
	p.put("        <loop")
	if l.Most > 0 {
		p.attr("most", strconv.FormatUint(uint64(l.Most), 10))
	}
	if l.First > 0 {
		p.attr("first", strconv.Itoa(l.First))
	}
	p.attr("element", l.Element)
	p.attr("into", l.Into)
	p.put(">\n")
	if l.Parallel {
		p.put("          <parallel/>\n")
	}
	if l.Before {
		p.put("          <before/>\n")
	}
	for _, x := range loopExpressions(l) {
		if x.Text != "" {
			p.put("          <"+x.name+" value=\"", x.Text, "\" of=\"", x.Of, "\"/>\n")
		}
	}
	p.put("        </loop>\n")
}

// assignment reads a variable that a run gets or gives.
func (n *netReader) assignment(e *element, to *[]petri.Assignment) error {
	if err := n.countNode(); err != nil {
		return err
	}
	a := petri.Assignment{}
	err := n.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "name":
			a.Name = n.strings.Of(value)
		case "source":
			a.Source = n.strings.Of(value)
		default:
			return false
		}
		return true
	})
	if err == nil {
		err = n.each(e, elements, func(c *element) error {
			switch c.name {
			case "inner":
				return n.flag(c, &a.Inner)
			case "leaves":
				return n.flag(c, &a.Leaves)
			case "be":
				return n.expression(c, &a.Value)
			}
			return n.ignore(c)
		})
	}
	*to = append(*to, a)
	return err
}

func (p printer) assignments(word string, list []petri.Assignment) {
	for k := range list {
		a := &list[k]
		p.put("        <" + word)
		p.attr("name", a.Name)
		p.attr("source", a.Source)
		if !a.Inner && !a.Leaves && a.Value.Text == "" {
			p.put("/>\n")
			continue
		}
		p.put(">\n")
		if a.Inner {
			p.put("          <inner/>\n")
		}
		if a.Leaves {
			p.put("          <leaves/>\n")
		}
		if a.Value.Text != "" {
			p.put("          <be value=\"", a.Value.Text, "\" of=\"", a.Value.Of, "\"/>\n")
		}
		p.put("        </" + word + ">\n")
	}
}

// scopeText returns an error for a text of a scope that XML cannot contain.
func scopeText(s *petri.Scope) error {
	texts := append(slices.Concat(s.Local, s.Leave), s.ID, s.Begin, s.End)
	for _, list := range [][]petri.Assignment{s.In, s.Out} {
		for k := range list {
			texts = append(texts, list[k].Name, list[k].Source, list[k].Value.Text, list[k].Value.Of)
		}
	}
	if l := s.Loop; l != nil {
		texts = append(texts, l.Element, l.Into)
		for _, x := range loopExpressions(l) {
			texts = append(texts, x.Text, x.Of)
		}
	}
	return xmlText(texts...)
}
