// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// formula reports whether a marking satisfies it. dead reports that no transition is
// enabled.
type formula func(m []uint32, dead bool) bool

// term is a number in a marking.
type term func(m []uint32) int64

// compiler makes the properties of a file.
type compiler struct {
	tables     *petri.Tables
	faults     xmlscan.Faults
	properties []Property
}

func (c *compiler) file(root *xmlscan.Element) {
	seen := map[string]bool{}
	for _, e := range root.Kids {
		if e.Name.Local != "property" {
			c.unknown(e, "<property>")
			continue
		}
		p := c.property(e)
		if seen[p.ID] {
			c.faults.Add(e.Pos, "a second property %s; expected every id once", xmlscan.Quote(p.ID))
		}
		seen[p.ID] = true
		c.properties = append(c.properties, p)
	}
}

func (c *compiler) property(e *xmlscan.Element) (p Property) {
	var body *xmlscan.Element
	for _, child := range e.Kids {
		switch child.Name.Local {
		case "id":
			p.ID = child.Text
		case "description", "tags":
		case "formula":
			if body != nil {
				c.faults.Add(child.Pos, "a second <formula>; expected one")
			}
			body = child
		default:
			c.unknown(child, "<id>, <description> or <formula>")
		}
	}
	if p.ID == "" {
		c.faults.Add(e.Pos, "a property without an id; expected <id>")
	}
	if body == nil {
		c.faults.Add(e.Pos, "a property without a formula; expected <formula>")
		return p
	}
	if f := c.only(body); f != nil {
		c.top(&p, f)
	}
	return p
}

// top compiles the element in a <formula>.
func (c *compiler) top(p *Property, e *xmlscan.Element) {
	inner := "finally"
	switch e.Name.Local {
	case "place-bound":
		p.Kind, p.sum = Bound, c.tokens(e)
		return
	case "exists-path":
		p.Kind = Exists
	case "all-paths":
		p.Kind, inner = Always, "globally"
	default:
		c.unknown(e, "<exists-path>, <all-paths> or <place-bound>")
		return
	}
	path := c.only(e)
	switch {
	case path == nil:
	case path.Name.Local != inner:
		c.unknown(path, "<"+inner+"> in <"+e.Name.Local+">")
	default:
		if state := c.only(path); state != nil {
			p.holds = c.formula(state)
		}
	}
}

func (c *compiler) unknown(e *xmlscan.Element, expected string) {
	c.faults.Add(e.Pos, "%s is not supported here; expected %s", xmlscan.Tag(e.Name.Local), expected)
}

// only returns the single child of an element, or nil.
func (c *compiler) only(e *xmlscan.Element) *xmlscan.Element {
	if len(e.Kids) == 1 {
		return e.Kids[0]
	}
	c.count(e, "one")
	return nil
}

func (c *compiler) count(e *xmlscan.Element, expected string) {
	c.faults.Add(e.Pos, "%s with %d elements; expected %s", xmlscan.Tag(e.Name.Local), len(e.Kids), expected)
}

// never and zero stand for what has a fault.
func never([]uint32, bool) bool { return false }
func zero([]uint32) int64       { return 0 }

func (c *compiler) formula(e *xmlscan.Element) formula {
	switch e.Name.Local {
	case "true", "false", "deadlock":
		return c.constant(e)
	case "is-fireable":
		return c.fireable(e)
	case "negation":
		if child := c.only(e); child != nil {
			f := c.formula(child)
			return func(m []uint32, dead bool) bool { return !f(m, dead) }
		}
		return never
	case "conjunction", "disjunction":
		return c.several(e, e.Name.Local == "disjunction")
	case "implication", "equivalence", "exclusive-disjunction":
		return c.pair(e)
	case "integer-le", "integer-lt", "integer-ge", "integer-gt", "integer-eq", "integer-ne":
		return c.comparison(e)
	}
	c.unknown(e, "a formula of one marking: conjunction, disjunction, negation, integer-le, is-fireable or deadlock")
	return never
}

func (c *compiler) constant(e *xmlscan.Element) formula {
	if len(e.Kids) > 0 {
		c.count(e, "none")
	}
	if e.Name.Local == "deadlock" {
		return func(_ []uint32, dead bool) bool { return dead }
	}
	value := e.Name.Local == "true"
	return func([]uint32, bool) bool { return value }
}

// several compiles a disjunction, or a conjunction: one part that is true, or false, decides
// it.
func (c *compiler) several(e *xmlscan.Element, decides bool) formula {
	if len(e.Kids) == 0 {
		c.count(e, "one or more")
	}
	var parts []formula
	for _, child := range e.Kids {
		parts = append(parts, c.formula(child))
	}
	return func(m []uint32, dead bool) bool {
		for _, f := range parts {
			if f(m, dead) == decides {
				return decides
			}
		}
		return !decides
	}
}

func (c *compiler) pair(e *xmlscan.Element) formula {
	if len(e.Kids) != 2 {
		c.count(e, "two")
		return never
	}
	a, b := c.formula(e.Kids[0]), c.formula(e.Kids[1])
	switch e.Name.Local {
	case "implication":
		return func(m []uint32, dead bool) bool { return !a(m, dead) || b(m, dead) }
	case "equivalence":
		return func(m []uint32, dead bool) bool { return a(m, dead) == b(m, dead) }
	}
	return func(m []uint32, dead bool) bool { return a(m, dead) != b(m, dead) }
}

func (c *compiler) comparison(e *xmlscan.Element) formula {
	if len(e.Kids) != 2 {
		c.count(e, "two")
		return never
	}
	a, b := c.term(e.Kids[0]), c.term(e.Kids[1])
	holds := map[string]func(a, b int64) bool{
		"integer-le": func(a, b int64) bool { return a <= b },
		"integer-lt": func(a, b int64) bool { return a < b },
		"integer-ge": func(a, b int64) bool { return a >= b },
		"integer-gt": func(a, b int64) bool { return a > b },
		"integer-eq": func(a, b int64) bool { return a == b },
		"integer-ne": func(a, b int64) bool { return a != b },
	}[e.Name.Local]
	return func(m []uint32, _ bool) bool { return holds(a(m), b(m)) }
}

// fireable compiles <is-fireable>: one of its transitions can fire.
func (c *compiler) fireable(e *xmlscan.Element) formula {
	transitions := c.named(e, "transition", c.tables.TransitionIndex)
	first := explore.NewPrecedence(c.tables)
	return func(m []uint32, _ bool) bool {
		only := first.Only(m)
		return slices.ContainsFunc(transitions, func(tr int) bool { return first.Fires(tr, m, only) })
	}
}

// named returns the indices of what the children of an element name, which must be of one kind.
func (c *compiler) named(e *xmlscan.Element, kind string, index func(id string) (int, bool)) (all []int) {
	if len(e.Kids) == 0 {
		c.count(e, "one or more <"+kind+">")
	}
	for _, child := range e.Kids {
		i, known := index(child.Text)
		switch {
		case child.Name.Local != kind:
			c.unknown(child, "<"+kind+">")
		case !known:
			c.faults.Add(child.TextPos, "the net has no %s %s; expected the id of one", kind, xmlscan.Quote(child.Text))
		}
		all = append(all, i)
	}
	return all
}

func (c *compiler) term(e *xmlscan.Element) term {
	switch e.Name.Local {
	case "tokens-count":
		return c.tokens(e)
	case "integer-constant":
		return c.number(e)
	case "integer-sum":
		return c.sum(e)
	case "integer-difference":
		if len(e.Kids) != 2 {
			c.count(e, "two")
			return zero
		}
		a, b := c.term(e.Kids[0]), c.term(e.Kids[1])
		return func(m []uint32) int64 { return a(m) - b(m) }
	}
	c.unknown(e, "tokens-count, integer-constant, integer-sum or integer-difference")
	return zero
}

// tokens compiles the tokens in some places together.
func (c *compiler) tokens(e *xmlscan.Element) term {
	places := c.named(e, "place", c.tables.PlaceIndex)
	return func(m []uint32) (sum int64) {
		for _, p := range places {
			sum += int64(m[p])
		}
		return sum
	}
}

func (c *compiler) number(e *xmlscan.Element) term {
	n, err := strconv.ParseInt(e.Text, 10, 33) // twice the tokens that a place can have
	if err != nil || len(e.Kids) > 0 {
		c.faults.Add(e.Pos, "the number %s; expected an integer from -4294967296 to 4294967295", xmlscan.Quote(e.Text))
	}
	return func([]uint32) int64 { return n }
}

func (c *compiler) sum(e *xmlscan.Element) term {
	if len(e.Kids) == 0 {
		c.count(e, "one or more")
	}
	var parts []term
	for _, child := range e.Kids {
		parts = append(parts, c.term(child))
	}
	return func(m []uint32) (sum int64) {
		for _, t := range parts {
			sum += t(m)
		}
		return sum
	}
}
