// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// Bounds of a net's own texts in a DESCRIPTION, in bytes.
const (
	clipName = 200
	clipDoc  = 1200
)

// netText writes the module of one net.
type netText struct {
	*moduleText
	net     *LockedNet
	def     *petri.Net
	aside   map[string]bool // ids of the net's places and transitions without objects
	contact string
	short   bool // descriptions only lead to PETRINET-MIB
}

// named returns a name for texts: 'Awaiting payment' (p7).
func named(name, id string) string {
	if name == "" || name == id {
		return "'" + clip(id, clipName) + "'"
	}
	return "'" + clip(name, clipName) + "' (" + clip(id, clipName) + ")"
}

// newNetText writes the body of the module of a net with the names of the lock. Places and
// transitions that shown, the part of the net with objects, does not have are obsolete.
func newNetText(net *LockedNet, def, shown *petri.Net, opts Options) *netText {
	m := &netText{moduleText: newModuleText(), net: net, def: def, aside: without(def, shown), contact: cmp.Or(strings.TrimSpace(clip(opts.Contact, clipDoc)), Contact)}
	d := net.Prefix
	m.lateNode(d+"Objects", d+"MIB", subObjects)
	m.lateNode(d+"Net", d+"Objects", subModuleNet)
	m.lateNode(d+"Places", d+"Objects", subPlaces)
	m.lateNode(d+"Transitions", d+"Objects", subTransitions)
	m.short = net.objects(net.level) > longTexts
	netMembers := m.netScalars()

	present := map[*Locked]element{}
	for e := range elements(shown) {
		present[net.entry(e)] = e
	}
	var retired []string
	placeMembers := m.nodes(kindPlace, d+"Places", present, objectsOf(placeColumns()), &retired)
	transMembers := m.nodes(kindTransition, d+"Transitions", present, objectsOf(transitionColumns()), &retired)
	m.conformance(netMembers, placeMembers, transMembers, retired)
	return m
}

// without returns the ids of the places and transitions that a part of a net lacks.
func without(def, shown *petri.Net) map[string]bool {
	aside := map[string]bool{}
	for e := range elements(def) {
		aside[e.id] = true
	}
	for e := range elements(shown) {
		delete(aside, e.id)
	}
	return aside
}

// left returns why a place or a transition is obsolete.
func (m *netText) left(n *element) string {
	if m.aside[n.id] {
		return "It is bookkeeping of the net, which has no objects any more."
	}
	return "It is not in the net any more."
}

func namedOnly(objects []object) []object {
	var kept []object
	for _, o := range objects {
		if o.named {
			kept = append(kept, o)
		}
	}
	return kept
}

func (m *netText) netScalars() []string {
	var members []string
	for _, o := range objectsOf(moduleScalars()) {
		name := m.net.own(o.suffix)
		m.objectType(name, &o, "read-only", "current", o.text, m.net.own("Net"))
		members = append(members, name)
	}
	return members
}

// nodes writes the objects of all places or transitions. It returns the names of the current
// objects, and appends those of the obsolete ones to retired.
func (m *netText) nodes(kind, parent string, present map[*Locked]element, objects []object, retired *[]string) []string {
	objects = m.net.level.of(objects)
	var members []string
	for _, e := range m.net.of(kind).sorted() {
		n, current := present[e]
		status, list := "current", &members
		if !current {
			n, status, list = element{kind: kind, id: e.ID}, "obsolete", retired
		}
		own := m.net.Name(e)
		m.lateNode(own, parent, e.Number)
		for i := range objects {
			name := own + objects[i].suffix
			o := objects[i]
			text := m.describe(&n, &o, i == 0, current)
			if m.short {
				text = m.lead(&n, &o, current)
				o.syntax.see = ""
			}
			m.objectType(name, &o, "read-only", status, text, own)
			*list = append(*list, name)
		}
	}
	return members
}

// describe returns the description of an object, with its node. The first object of a node
// has the documentation of the node.
func (m *netText) describe(n *element, o *object, first, current bool) string {
	text := fmt.Sprintf("%s %s. ", upperFirst(n.kind), named(n.name, n.id))
	if !current {
		text += m.left(n) + " "
	}
	if first && n.doc != "" {
		text += clip(n.doc, clipDoc) + " "
	}
	return text + strings.ReplaceAll(o.text, discontinuity, " The discontinuity time is "+m.net.own("CountedSince")+".")
}

// lead returns a description of an object that leads to the one in PETRINET-MIB.
func (m *netText) lead(n *element, o *object, current bool) string {
	text := fmt.Sprintf("%s%s of %s.", inModule(n.kind), o.suffix, named(n.name, n.id))
	if strings.HasSuffix(o.text, discontinuity) {
		text += " The discontinuity time is " + m.net.own("CountedSince") + "."
	}
	if !current {
		text += " " + m.left(n)
	}
	return text
}

// conformance puts every object into a group. Obsolete ones have their own group and
// statement, because a current one must not include them.
func (m *netText) conformance(net, places, transitions, retired []string) {
	d := m.net.Prefix
	m.lateNode(d+"Conformance", d+"MIB", subConformance)
	m.lateNode(d+"Compliances", d+"Conformance", 1)
	m.lateNode(d+"Groups", d+"Conformance", 2)
	var may [][2]string
	const known = "Needed as far as the sources of the net report it."
	m.macro(d+"NetGroup", "OBJECT-GROUP", "OBJECTS", net, "current", descriptionClause("Which net this is."), d+"Groups", 1)
	if len(places) > 0 {
		m.macro(d+"PlaceGroup", "OBJECT-GROUP", "OBJECTS", places, "current", descriptionClause("The places of the net."), d+"Groups", 2)
		may = append(may, [2]string{d + "PlaceGroup", known})
	}
	if len(transitions) > 0 {
		m.macro(d+"TransGroup", "OBJECT-GROUP", "OBJECTS", transitions, "current", descriptionClause("The transitions of the net."), d+"Groups", 3)
		may = append(may, [2]string{d + "TransGroup", known})
	}
	m.compliance(d+"Compliance", "current", "The requirements for an agent that serves this net.", []string{d + "NetGroup"}, may, d+"Compliances", 1)
	if len(retired) > 0 {
		m.macro(d+"RetiredGroup", "OBJECT-GROUP", "OBJECTS", retired, "obsolete",
			descriptionClause("The places and transitions that have left the net."), d+"Groups", 4)
		m.compliance(d+"Retired", "obsolete", "The requirements for the objects that have left this net.", []string{d + "RetiredGroup"}, nil, d+"Compliances", 2)
	}
}

// identity returns the head of the module.
func (m *netText) identity() identity {
	text := fmt.Sprintf("The places and transitions of the Petri net %s, each an object by its own name, summed over all sources and "+
		"instances. The same numbers are in the tables of PETRINET-MIB. An object that no source reports has no instance.",
		named(m.def.Name, m.net.ID))
	if m.def.Doc != "" {
		text += " About the net: " + clip(m.def.Doc, clipDoc)
	}
	return identity{
		module: m.net.Module, name: m.net.own("MIB"), text: text,
		parent: "petrinetNets", sub: m.net.Number, contact: m.contact, revisions: m.net.revisions,
	}
}
