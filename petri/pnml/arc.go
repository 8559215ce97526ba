// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// arcKind is the kind of an arc by its spellings.
type arcKind struct {
	kind   petri.ArcKind
	output bool // the spelling means an output if the arc comes from a transition
	given  bool
}

func (n *netReader) arc(e *element) error {
	a := n.arcs.add()
	a.Pos = e.pos
	var weight number
	var kind arcKind
	if e.name == "inhibitorArc" {
		kind = arcKind{kind: petri.Inhibitor, given: true}
	}
	var inscription label
	err := n.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "id":
			a.ID = n.strings.Of(value)
		case "source":
			a.Source = n.strings.Of(value)
		case "target":
			a.Target = n.strings.Of(value)
		case "type":
			n.setKind(&kind, n.attribute(e, value), true)
		case "weight", "multiplicity":
			n.setCount(&weight, "weight", n.attribute(e, value))
		case "inscription":
			inscription = n.attribute(e, value)
		default:
			return n.kindAt(e, name, value, false, &kind)
		}
		return true
	})
	if err != nil {
		return err
	}
	for i := range e.attrs {
		if a := &e.attrs[i]; a.Name.Space != "" && a.Name.Space != "xmlns" {
			n.kindAt(e, a.Name.Local, a.Value, true, &kind)
		}
	}
	n.inscription(&weight, inscription)
	err = n.each(e, elements, func(c *element) error {
		if c.foreign(e) {
			return n.kindIn(c, &kind)
		}
		switch c.name {
		case "inscription", "weight", "multiplicity", "value", "text":
			return n.number(c, &weight, "weight", 1)
		case "type", "arctype":
			l, err := n.label(c)
			n.setKind(&kind, l, false)
			return err
		case "toolspecific":
			if c.attr("tool") == tool {
				return n.ownNode(c, func(c coder) { codeArc(c, a) })
			}
		case "graphics", "arcpath", "orientation", "labels", "token", "name", "hlinscription", "declaration", "condition":
			return n.other(c)
		}
		return n.kindIn(c, &kind)
	})
	if err != nil {
		return err
	}
	n.endArc(a, weight, kind)
	return nil
}

func (n *netReader) endArc(a *petri.Arc, weight number, kind arcKind) {
	a.Kind, a.Weight = kind.kind, 1
	if weight.given {
		a.Weight = weight.value
	}
	if a.Weight == 0 && a.Kind != petri.Reset {
		n.faults.Add(weight.pos, "arc %s has weight 0; expected 1 or more", xmlscan.Quote(a.ID))
		a.Weight = 1
	}
	if kind.output {
		n.outputs = append(n.outputs, n.arcs.n-1)
	}
}

// inscription reads the attribute. In TAPAAL's files it is a time interval, or a
// constant 1 for an arc from a transition, and the attribute weight is the weight.
func (n *netReader) inscription(weight *number, l label) {
	switch {
	case l.value == "[0,inf)":
	case l.value == "1" && weight.given:
	case strings.HasPrefix(l.value, "[") || strings.HasPrefix(l.value, "("):
		n.Warnings.Add(l.pos, "ignored the time interval of an arc")
	default:
		n.setCount(weight, "weight", l)
	}
}

// setKind sets to from a label. The spellings are those of GreatSPN, PIPE,
// TAPAAL, ProM, Perpetuum and the extensions at pnml.org.
func (n *netReader) setKind(to *arcKind, l label, attr bool) {
	k := arcKind{given: true}
	switch strings.ToLower(l.value) {
	case "":
		return
	case "normal", "ordinary", "standard":
	case "timed", "transport": // TAPAAL: both take or put tokens, with times
		n.Warnings.Add(l.pos, "an arc of type "+xmlscan.Quote(l.value)+" is read as normal: its times are ignored")
	case "inhibitor", "inhibit":
		k.kind = petri.Inhibitor
	case "tapninhibitor", "prohibit":
		k.kind, k.output = petri.Inhibitor, attr
	case "read", "test":
		k.kind = petri.Read
	case "reset", "flush":
		k.kind = petri.Reset
	case "join":
		k.kind = petri.Join
	case "branch":
		k.kind = petri.Branch
	default:
		n.faults.Add(l.pos, "the arc type %s; expected normal, inhibitor, read, reset, join or branch", xmlscan.Quote(l.value))
		return
	}
	switch {
	case l.again || to.given && to.kind != k.kind:
		n.faults.Add(l.pos, "an arc of type %s and of another; expected one", xmlscan.Quote(l.value))
	case to.given:
		to.output = to.output && k.output
	default:
		*to = k
	}
}
