// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
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
	const nodeSize = 200 // bytes of a node or an arc, about
	p := &printer{}
	p.text.Grow(nodeSize * (len(n.Places) + len(n.Transitions) + len(n.Arcs)))
	err := n.Validate()
	switch {
	case n.ID == "":
		err = errors.New("the net has no id")
	case err == nil:
		p.net(n)
		err = p.err
	}
	if err == nil {
		_, err = w.Write(p.text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing net %s as PNML: %w", xmlscan.Quote(n.ID), err)
	}
	return nil
}

// xmlText returns an error for a character outside the Char of XML 1.0.
func xmlText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s is not UTF-8", xmlscan.Quote(s))
	}
	for _, r := range s {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff' {
			return fmt.Errorf("%s has the character %U, which XML cannot contain", xmlscan.Quote(s), r)
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

// printer writes lines of XML, and keeps the first error.
type printer struct {
	text bytes.Buffer
	err  error
	own  encoder // of a section
}

// put writes strings and escapes every second one.
func (p *printer) put(parts ...string) {
	for i, s := range parts {
		if i%2 == 0 {
			p.text.WriteString(s)
			continue
		}
		p.fail(xmlText(s))
		_ = xml.EscapeText(&p.text, []byte(s)) // a buffer has no error
	}
}

func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// failed reports whether there is an error, and names the part of the net that has it.
func (p *printer) failed(what, id string) bool {
	if p.err == nil {
		return false
	}
	p.err = fmt.Errorf("%s %s: %w", what, xmlscan.Quote(id), p.err)
	return true
}

func (p *printer) net(n *petri.Net) {
	p.put(xml.Header, "", "<pnml xmlns=\"", namespace, "\">\n  <net id=\"", n.ID, "\" type=\"", ptNet, "\">\n")
	p.label("    ", "name", n.Name)
	p.label("    ", "documentation", n.Doc)
	section(p, "    ", codeNet, n)
	p.put("    <page id=\"", pageID(n), "\">\n")
	for i := range n.Places {
		p.place(&n.Places[i])
		if p.failed("place", n.Places[i].ID) {
			return
		}
	}
	for i := range n.Transitions {
		p.transition(&n.Transitions[i])
		if p.failed("transition", n.Transitions[i].ID) {
			return
		}
	}
	for i := range n.Arcs {
		p.arc(&n.Arcs[i])
		if p.failed("arc", n.Arcs[i].ID) {
			return
		}
	}
	p.put("    </page>\n  </net>\n</pnml>\n")
}

func (p *printer) place(pl *petri.Place) {
	p.put("      <place id=\"", pl.ID, "\">\n")
	p.node(pl.Name, pl.Doc, pl.At)
	if pl.Initial > 0 {
		p.label("        ", "initialMarking", strconv.FormatUint(uint64(pl.Initial), 10))
	}
	section(p, "        ", codePlace, pl)
	p.put("      </place>\n")
}

func (p *printer) transition(t *petri.Transition) {
	p.put("      <transition id=\"", t.ID, "\">\n")
	p.node(t.Name, t.Doc, t.At)
	if t.Priority != 0 {
		p.label("        ", "priority", strconv.Itoa(t.Priority))
	}
	section(p, "        ", codeTransition, t)
	p.put("      </transition>\n")
}

func (p *printer) arc(a *petri.Arc) {
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
	section(p, "        ", codeArc, a)
	p.put("      </arc>\n")
}

func (p *printer) node(name, doc string, at *petri.Point) {
	p.label("        ", "name", name)
	p.label("        ", "documentation", doc)
	p.fail(finite(at))
	if at != nil {
		p.put("        <graphics><position x=\"", coord(at.X), "\" y=\"", coord(at.Y), "\"/></graphics>\n")
	}
}

func (p *printer) label(indent, name, value string) {
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
