// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// finalMarking is a <marking> of <finalmarkings>, as ProM and pm4py write it.
type finalMarking struct {
	pos    petri.Pos
	tokens petri.Marking
	wrong  string // what is wrong with it; "" if nothing
}

func (n *netReader) finalMarking(e *element) error {
	if e.name != "marking" {
		return n.other(e)
	}
	m := finalMarking{pos: e.pos, tokens: petri.Marking{}}
	err := n.each(e, elements, func(c *element) error {
		if c.name != "place" {
			return n.other(c)
		}
		if err := n.countNode(); err != nil {
			return err
		}
		place := c.attr("idref")
		l, err := n.label(withoutAttrs(c))
		m.set(place, l.value)
		return err
	})
	n.finals = append(n.finals, m)
	return err
}

// withoutAttrs returns an element without its attributes, which are no label.
func withoutAttrs(e *element) *element {
	c := *e
	c.attrs = nil
	return &c
}

// set sets the tokens of a place.
func (m *finalMarking) set(place, tokens string) {
	k, err := strconv.ParseUint(tokens, 10, 32)
	switch _, again := m.tokens[place]; {
	case err != nil:
		m.wrong = "the number of tokens " + xmlscan.Quote(tokens)
	case again:
		m.wrong = "the place " + xmlscan.Quote(place) + " twice"
	case k > 0:
		m.tokens[place] = uint32(k)
	}
}

// setFinals sets the final markings of the net. Those that are not markings of it
// are ignored, because the token game does without them.
func (n *netReader) setFinals() {
	if len(n.finals) == 0 {
		return
	}
	places := make(map[string]bool, len(n.net.Places))
	for i := range n.net.Places {
		places[n.net.Places[i].ID] = true
	}
	for _, m := range n.finals {
		for id := range m.tokens {
			if !places[id] {
				m.wrong = "a place that is not of the net"
			}
		}
		if len(m.tokens) == 0 && m.wrong == "" {
			m.wrong = "no token"
		}
		if m.wrong != "" {
			n.Warnings.Add(m.pos, "ignored a final marking with "+m.wrong)
			continue
		}
		n.net.FinalMarkings = append(n.net.FinalMarkings, m.tokens)
	}
}
