// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// readMessage reads the reference of a node to a message or a signal, and returns its
// name, or "" if it has none.
func (d *document) readMessage(n *node, kind petri.EventKind, ref string) string {
	name := d.named(ref)
	if name == "" {
		return ""
	}
	n.message = petri.Event{Kind: kind, Name: name}
	if e := d.defs[local(ref)]; e != nil && kind == petri.EventMessage && (n.kind != "startEvent" || n.inside) {
		n.message.Key = d.correlationKey(e)
	}
	return name
}

// isExpression reports whether a name is an expression of UEL or FEEL, or has one in it.
func isExpression(name string) bool { return petri.Event{Name: name}.Computed() }

// correlationKey returns the expression of the key of a message, or "".
func (d *document) correlationKey(message *elem) string {
	for _, x := range message.extensions() {
		if x.name == "subscription" {
			return d.expression(&elem{text: x.attr("correlationKey"), pos: x.pos})
		}
	}
	return ""
}

// catches reports whether a node waits for its message.
func (n *node) catches() bool {
	switch n.kind {
	case "startEvent", "intermediateCatchEvent", "boundaryEvent":
		return n.event.kind == "message" || n.event.kind == "signal"
	}
	return n.kind == "receiveTask"
}

// throws returns what a node sends. If a process engine names its work, the work sends the message.
func (n *node) throws() petri.Event {
	if n.catches() || n.message.Kind == petri.EventMessage && n.workName() != "" {
		return petri.Event{}
	}
	return n.message
}

// connectMessages gives the same message to both ends of each message flow between
// flow nodes of the file, if one end has none of its own.
func (d *document) connectMessages() {
	for _, e := range d.root.kids {
		if !e.is("collaboration") {
			continue
		}
		for _, f := range e.kids {
			if f.is("messageFlow") {
				d.connectMessage(f, d.ids[local(f.attr("sourceRef"))].node, d.ids[local(f.attr("targetRef"))].node)
			}
		}
	}
}

func (d *document) connectMessage(f *elem, src, dst *node) {
	switch {
	case src == nil || dst == nil || !dst.catches() || !src.sends():
		return
	case src.message.Name == "" && dst.message.Name == "":
		src.message = petri.Event{Kind: petri.EventMessage, Name: cmp.Or(d.named(f.attr("messageRef")), f.attr("id"))}
		fallthrough
	case dst.message.Name == "":
		dst.message = petri.Event{Kind: petri.EventMessage, Name: src.message.Name}
	case src.message.Name == "":
		src.message = dst.message
	case src.message.Name != dst.message.Name:
		d.Warnings.Add(f.pos, "message flow "+xmlscan.Quote(f.attr("id"))+" leads from "+src.title()+", which sends "+xmlscan.Quote(src.message.Name)+
			", to "+dst.title()+", which waits for "+xmlscan.Quote(dst.message.Name)+"; it carries nothing")
	}
}

// sends reports whether a message flow may begin at a node.
func (n *node) sends() bool {
	if n.event != nil {
		return n.event.kind == "message" && !n.catches()
	}
	return isTask(n.kind) && n.kind != "receiveTask"
}

// each calls f for the nodes of a scope and those inside.
func (s *scope) each(f func(n *node)) {
	for _, n := range s.nodes {
		f(n)
		if n.inner != nil {
			n.inner.each(f)
		}
	}
}
