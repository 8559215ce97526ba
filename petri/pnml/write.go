// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

const (
	namespace = "http://www.pnml.org/version-2009/grammar/pnml"
	ptNet     = "http://www.pnml.org/version-2009/grammar/ptnet"
)

// Write writes a net as PNML in UTF-8: one page, with nodes and arcs in the order of
// the net and without defaults. The same net has the same bytes. Arcs that are not
// normal have <type value="…"/> as in GreatSPN, transitions <priority> as in PIPE.
// What PNML cannot express, such as guards and triggers, is in
// <toolspecific tool="pnagent" version="1">, which other tools ignore. The rest is
// ISO/IEC 15909-2.
//
// What only replays of logs use is left out (petri.Transition.Silent and
// petri.Net.FinalMarkings), so that a net keeps the digest of its definition.
//
// Otherwise Read returns the same net, except for positions in the source and white
// space around names and documentation. Write returns an error before it writes anything,
// if the net is invalid, has no id, or has what XML cannot contain: control
// characters, invalid UTF-8, or a coordinate that is not a number.
func Write(w io.Writer, n *petri.Net) error {
	if err := writable(n); err != nil {
		return fmt.Errorf("writing net %s as PNML: %w", xmlscan.Quote(n.ID), err)
	}
	p := printer{w: bufio.NewWriter(w)}
	p.net(n)
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("writing net %s as PNML: %w", xmlscan.Quote(n.ID), err)
	}
	return nil
}

func writable(n *petri.Net) error {
	if n.ID == "" {
		return errors.New("the net has no id")
	}
	if err := n.Validate(); err != nil {
		return err
	}
	if err := xmlText(n.ID, n.Name, n.Doc); err != nil {
		return err
	}
	if n.Model != nil {
		if err := xmlText(n.Model.Kind, n.Model.Missing); err != nil {
			return fmt.Errorf("model: %w", err)
		}
	}
	for i := range n.Places {
		p := &n.Places[i]
		if err := errors.Join(xmlText(p.ID, p.Name, p.Doc, p.Scope, p.Element), finite(p.At)); err != nil {
			return fmt.Errorf("place %s: %w", xmlscan.Quote(p.ID), err)
		}
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		if err := errors.Join(xmlText(t.ID, t.Name, t.Doc, t.Guard, t.Trigger.Name,
			t.Trigger.Event.Name, t.Trigger.Event.Key, t.Throws.Name, t.Throws.Key), finite(t.At)); err != nil {
			return fmt.Errorf("transition %s: %w", xmlscan.Quote(t.ID), err)
		}
	}
	for i := range n.Arcs {
		if err := xmlText(n.Arcs[i].ID, n.Arcs[i].Guard, n.Arcs[i].Data); err != nil {
			return fmt.Errorf("arc %s: %w", xmlscan.Quote(n.Arcs[i].ID), err)
		}
	}
	for i := range n.Scopes {
		if err := scopeText(&n.Scopes[i]); err != nil {
			return fmt.Errorf("scope %s: %w", xmlscan.Quote(n.Scopes[i].ID), err)
		}
	}
	return nil
}

// xmlText returns an error for a character outside the Char of XML 1.0.
func xmlText(texts ...string) error {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%s is not UTF-8", xmlscan.Quote(s))
		}
		for _, r := range s {
			if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff' {
				return fmt.Errorf("%s has the character %U, which XML cannot contain", xmlscan.Quote(s), r)
			}
		}
	}
	return nil
}

func finite(at *petri.Point) error {
	if at != nil && (math.IsNaN(at.X-at.Y) || math.IsInf(at.X, 0) || math.IsInf(at.Y, 0)) {
		return errors.New("its position is not two finite numbers")
	}
	return nil
}

// printer writes lines of XML. Its bufio.Writer keeps the first error.
type printer struct{ w *bufio.Writer }

// put writes strings and escapes every second one.
func (p printer) put(parts ...string) {
	for i, s := range parts {
		if i%2 == 0 {
			_, _ = p.w.WriteString(s)
		} else {
			_ = xml.EscapeText(p.w, []byte(s))
		}
	}
}

func (p printer) net(n *petri.Net) {
	p.put(xml.Header, "", "<pnml xmlns=\"", namespace, "\">\n  <net id=\"", n.ID, "\" type=\"", ptNet, "\">\n")
	p.label("    ", "name", n.Name)
	p.label("    ", "documentation", n.Doc)
	p.ownNet(n)
	p.put("    <page id=\"", pageID(n), "\">\n")
	for i := range n.Places {
		pl := &n.Places[i]
		p.put("      <place id=\"", pl.ID, "\">\n")
		p.node(pl.Name, pl.Doc, pl.At)
		if pl.Initial > 0 {
			p.label("        ", "initialMarking", strconv.FormatUint(uint64(pl.Initial), 10))
		}
		p.ownPlace(pl)
		p.put("      </place>\n")
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		p.put("      <transition id=\"", t.ID, "\">\n")
		p.node(t.Name, t.Doc, t.At)
		if t.Priority != 0 {
			p.label("        ", "priority", strconv.Itoa(t.Priority))
		}
		p.ownTransition(t)
		p.put("      </transition>\n")
	}
	for i := range n.Arcs {
		p.arc(&n.Arcs[i])
	}
	p.put("    </page>\n  </net>\n</pnml>\n")
}

func (p printer) arc(a *petri.Arc) {
	p.put("      <arc")
	if a.ID != "" {
		p.put(" id=\"", a.ID, "\"")
	}
	p.put(" source=\"", a.Source, "\" target=\"", a.Target, "\">\n")
	if a.Kind != petri.Normal {
		p.put("        <type value=\"", a.Kind.String(), "\"/>\n")
	}
	if a.Weight != 1 {
		p.label("        ", "inscription", strconv.FormatUint(uint64(a.Weight), 10))
	}
	p.ownArc(a)
	p.put("      </arc>\n")
}

func (p printer) node(name, doc string, at *petri.Point) {
	p.label("        ", "name", name)
	p.label("        ", "documentation", doc)
	if at != nil {
		p.put("        <graphics><position x=\"", coord(at.X), "\" y=\"", coord(at.Y), "\"/></graphics>\n")
	}
}

func (p printer) label(indent, name, value string) {
	if value != "" {
		p.put(indent+"<"+name+"><text>", value, "</text></"+name+">\n")
	}
}

func coord(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// pageID returns an id for the page that no node or arc has, because PNML requires
// unique ids in a document.
func pageID(n *petri.Net) string {
	const stem = "page"
	taken := make(map[string]bool)
	note := func(id string) {
		if strings.HasPrefix(id, stem) {
			taken[id] = true
		}
	}
	note(n.ID)
	for i := range n.Places {
		note(n.Places[i].ID)
	}
	for i := range n.Transitions {
		note(n.Transitions[i].ID)
	}
	for i := range n.Arcs {
		note(n.Arcs[i].ID)
	}
	id := stem
	for k := 1; taken[id]; k++ {
		id = stem + strconv.Itoa(k)
	}
	return id
}
