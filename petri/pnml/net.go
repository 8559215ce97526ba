// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// netReader reads one net.
type netReader struct {
	*document
	net         *petri.Net
	faults      xmlscan.Faults // of this net
	refused     *petri.Fault   // why this is not a place/transition net; nil if it is
	class       string         // PIPE's name of the class of tokens; "" before the first token
	refs        []reference
	places      list[petri.Place]
	transitions list[petri.Transition]
	arcs        list[petri.Arc]
	outputs     []int // arcs to read as outputs if they come from a transition
	subNets     []subNet
	finals      []finalMarking
}

// net reads a <net> and adds it to the document.
func (d *document) net(e *element) error {
	n := &netReader{document: d, net: &petri.Net{File: d.File, Pos: e.pos}, faults: xmlscan.Faults{File: d.File}}
	if d.opened++; d.opened > d.lim.Nets {
		return d.Limit("nets", int64(d.lim.Nets))
	}
	var typ string
	err := d.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "id":
			n.net.ID = string(value)
		case "type":
			typ = string(value)
		case "name":
			n.net.Name = string(xmlscan.Trim(value))
		default:
			return false
		}
		return true
	})
	if err != nil {
		return err
	}
	n.checkID(e)
	n.checkType(e, typ)
	if n.refused != nil {
		err = d.Skip()
	} else {
		err = d.each(e, elements, n.content)
	}
	if err != nil {
		n.report()
		return err
	}
	n.net.Places, n.net.Transitions, n.net.Arcs = n.places.all(), n.transitions.all(), n.arcs.all()
	n.finish()
	return nil
}

func (n *netReader) checkID(e *element) {
	id := n.net.ID
	if id == "" {
		n.found.Add(e.pos, "a net without an id; expected an id attribute")
		return
	}
	if first, dup := n.netIDs[id]; dup {
		n.found.Add(e.pos, "a net has the id %s of the net at line %d; expected every id once", xmlscan.Quote(id), first.Line)
	}
	n.netIDs[id] = e.pos
}

func (n *netReader) checkType(e *element, typ string) {
	switch {
	case isHighLevel(typ):
		n.refuse(e.pos, "the net's type is "+xmlscan.Quote(typ)+", a high-level net; expected a place/transition net")
	case typ == "":
		n.Warnings.Add(e.pos, "a net without a type; read as a place/transition net")
	case !isPlaceTransition(typ):
		n.Warnings.Add(e.pos, "unknown net type "+xmlscan.Quote(typ)+"; read as a place/transition net")
	}
}

// isHighLevel and isPlaceTransition recognise the net types of ISO/IEC 15909-2 and
// of tools by words in them, because their URIs differ too much to compare.
func isHighLevel(typ string) bool {
	return containsAny(typ, "symmetricnet", "symnet", "highlevel", "high-level", "hlpn", "hlcore", "hlnet", "colored", "coloured")
}

func isPlaceTransition(typ string) bool {
	return containsAny(typ, "ptnet", "p/t net", "pt-net", "pnmlcoremodel", "epnml")
}

func containsAny(s string, words ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// refuse records why this is not a place/transition net. The first reason counts.
func (n *netReader) refuse(pos petri.Pos, reason string) {
	if n.refused == nil {
		n.refused = &petri.Fault{File: n.File, Pos: pos, Msg: reason}
	}
}

// content reads a child of a net or a page.
func (n *netReader) content(e *element) error {
	switch e.name {
	case "place", "transition", "arc", "inputArc", "outputArc", "inhibitorArc", "referencePlace", "referenceTransition":
		if err := n.countNode(); err != nil {
			return err
		}
	}
	switch e.name {
	case "page":
		return n.page(e)
	case "place":
		return n.place(e)
	case "transition":
		return n.transition(e)
	case "arc", "inputArc", "outputArc", "inhibitorArc": // the last three are those of TAPAAL's engine
		return n.arc(e)
	case "transportArc":
		n.faults.Add(e.pos, "<transportArc>, an arc of timed nets; expected an <inputArc> and an <outputArc>")
		return n.Skip()
	case "referencePlace", "referenceTransition":
		return n.reference(e)
	case "finalmarkings":
		return n.each(e, elements, n.finalMarking)
	case "toolspecific":
		return n.own(e, n.countNode, func(c coder) { codeNet(c, n.net) })
	}
	if e.in == "page" && e.name == "name" {
		return n.Skip() // the name of a sheet of the drawing
	}
	return n.described(e, &n.net.Name, &n.net.Doc)
}

func (n *netReader) place(e *element) error {
	p := n.places.add()
	p.Pos = e.pos
	var marking number
	err := n.nodeAttrs(e, &p.ID, &p.Name, &p.At, func(name string, value []byte) bool {
		switch name {
		case "initialMarking", "marking", "tokens":
			n.setCount(&marking, "initial marking", n.attribute(e, value))
		case "capacity":
			n.capacity(n.attribute(e, value))
		default:
			return false
		}
		return true
	})
	if err != nil {
		return err
	}
	err = n.each(e, elements, func(c *element) error {
		switch c.name {
		case "initialMarking":
			return n.number(c, &marking, "initial marking", 0)
		case "capacity":
			l, err := n.label(c)
			n.capacity(l)
			return err
		case "graphics":
			return n.graphics(c, &p.At)
		case "toolspecific":
			return n.ownNode(c, func(c coder) { codePlace(c, p) })
		}
		return n.described(c, &p.Name, &p.Doc)
	})
	p.Initial = marking.value
	return err
}

// capacity refuses a bound on a place, which the token game does not have. Tools
// write 0 or a word for "no bound".
func (n *netReader) capacity(l label) {
	switch strings.ToLower(l.value) {
	case "", "0", "inf", "infinity", "unlimited":
		return
	}
	n.faults.Add(l.pos, "a place capacity of %s; expected none (0): capacities are not supported, use a complementary place",
		xmlscan.Quote(l.value))
}

func (n *netReader) transition(e *element) error {
	t := n.transitions.add()
	t.Pos = e.pos
	var prioritized bool
	err := n.nodeAttrs(e, &t.ID, &t.Name, &t.At, func(name string, value []byte) bool {
		if name != "priority" {
			return false
		}
		n.setPriority(t, &prioritized, n.attribute(e, value))
		return true
	})
	if err != nil {
		return err
	}
	return n.each(e, elements, func(c *element) error {
		switch c.name {
		case "priority":
			l, err := n.label(c)
			n.setPriority(t, &prioritized, l)
			return err
		case "graphics":
			return n.graphics(c, &t.At)
		case "toolspecific":
			t.Silent = t.Silent || c.attr("activity") == invisible
			return n.ownNode(c, func(c coder) { codeTransition(c, t) })
		}
		return n.described(c, &t.Name, &t.Doc)
	})
}

func (n *netReader) setPriority(t *petri.Transition, given *bool, l label) {
	p, err := strconv.Atoi(l.value)
	switch {
	case l.value == "":
	case err != nil:
		n.faults.Add(l.pos, "the priority %s; expected an integer", xmlscan.Quote(l.value))
	case *given && p != t.Priority:
		n.faults.Add(l.pos, "a second priority %d after %d; expected one", p, t.Priority)
	default:
		t.Priority, *given = p, true
	}
}

// nodeAttrs reads the attributes that places and transitions share, and calls other
// for the rest. The position is TAPAAL's.
func (n *netReader) nodeAttrs(e *element, id, label *string, at **petri.Point, other func(name string, value []byte) bool) error {
	var x, y string
	err := n.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "id":
			*id = n.strings.Of(value)
		case "name":
			*label = n.strings.Of(xmlscan.Trim(value))
		case "positionX":
			x = string(value)
		case "positionY":
			y = string(value)
		default:
			return other(name, value)
		}
		return true
	})
	if err == nil {
		n.setPoint(at, e.pos, x, y)
	}
	return err
}

// graphics reads the position of a node, which is the first <position>.
func (n *netReader) graphics(e *element, at **petri.Point) error {
	return n.each(e, mixed, func(c *element) error {
		if c.name == "position" {
			n.setPoint(at, c.pos, c.attr("x"), c.attr("y"))
		}
		return n.Skip()
	})
}

func (n *netReader) setPoint(at **petri.Point, pos petri.Pos, x, y string) {
	if *at != nil || x == "" && y == "" {
		return
	}
	fx, errX := strconv.ParseFloat(strings.Trim(x, xmlscan.Space), 64)
	fy, errY := strconv.ParseFloat(strings.Trim(y, xmlscan.Space), 64)
	if errX != nil || errY != nil || math.IsInf(fx+fy, 0) || math.IsNaN(fx+fy) {
		n.Warnings.Add(pos, "ignored a position that is not two numbers")
		return
	}
	*at = &petri.Point{X: fx, Y: fy}
}

// described reads a child that any element of a net may have: its name, its
// documentation, or an element to ignore.
func (n *netReader) described(e *element, name, doc *string) error {
	switch e.name {
	case "name":
		return n.set(e, name)
	case "documentation", "description":
		return n.set(e, doc)
	}
	return n.other(e)
}

// set reads a label for people. If it has several values, the first counts.
func (n *netReader) set(e *element, to *string) error {
	l, err := n.label(e)
	switch {
	case *to == "":
		*to = l.value
	case *to != l.value:
		l.again = true
	}
	if l.again {
		n.Warnings.Add(e.pos, "ignored a second value of "+xmlscan.Tag(e.name)+" in "+xmlscan.Tag(e.in))
	}
	return err
}

// highLevel refuses the net because of a term of high-level nets.
func (n *netReader) highLevel(e *element) error {
	n.refuse(e.pos, xmlscan.Tag(e.name)+" in "+xmlscan.Tag(e.in)+", a term of a high-level net; expected a place/transition net")
	return n.Skip()
}

// other reads an element without a meaning for tokens, or one that only high-level
// nets have.
func (n *netReader) other(e *element) error {
	switch e.name {
	case "graphics", "toolspecific": // without a meaning for the net by ISO/IEC 15909-2
		return n.Skip()
	case "orientation", "arcpath", "labels", "token": // PIPE's drawings and colours
		return n.Skip()
	case "hlinitialMarking", "hlinscription":
		return n.highLevel(e)
	case "type", "declaration", "condition":
		_, err := n.label(e) // refuses the net if there is a term in it
		n.Warnings.Add(e.pos, "ignored "+xmlscan.Tag(e.name)+" in "+xmlscan.Tag(e.in))
		return err
	}
	return n.ignore(e)
}
