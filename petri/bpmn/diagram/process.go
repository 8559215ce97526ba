// SPDX-License-Identifier: Apache-2.0

package diagram

import "strings"

// Process is what a file has of one process, also if no net can be made of it.
type Process struct {
	Name  string
	Nodes []Node // those of a sub-process are behind it
	Flows []Flow
}

// Node is a flow node.
type Node struct {
	ID, Name string
	Kind     string // the name of its XML element, such as "userTask"
	Host     string // of a boundary event: the activity that it is attached to
	Event    string // of an event: the kind of its definition, such as "timer"; the last of several
	Within   int    // the index of the sub-process that it is in; -1 for none
	At       *Point // the middle of its first shape; nil if it is not drawn
}

// Sub reports whether the node is a sub-process.
func (n *Node) Sub() bool { return isSub(n.Kind) }

// Flow is a sequence flow.
type Flow struct{ ID, Source, Target string }

// Process returns a process by its id, or nil.
func (f *File) Process(id string) *Process {
	of := f.byID[id]
	if of == nil || !named(of.elem, modelSpace, "process") {
		return nil
	}
	at := map[string]*Point{}
	for _, d := range f.Diagrams {
		for i := range d.Shapes {
			if s := &d.Shapes[i]; at[s.Element] == nil {
				at[s.Element] = &Point{X: s.X + s.W/2, Y: s.Y + s.H/2}
			}
		}
	}
	p := &Process{Name: of.Attr("name")}
	f.content(p, of.elem, -1, at)
	return p
}

// content adds what is inside of an element, which is in a sub-process or in none.
func (f *File) content(p *Process, e *elem, within int, at map[string]*Point) {
	for _, k := range e.Kids {
		inside := within
		switch {
		case named(k, modelSpace, "sequenceFlow"):
			p.Flows = append(p.Flows, Flow{k.Attr("id"), ref(k, "sourceRef"), ref(k, "targetRef")})
		case k.Name.Space == modelSpace && isNode(k.Name.Local) && f.first(k):
			n := Node{ID: k.Attr("id"), Name: k.Attr("name"), Kind: k.Name.Local, Host: ref(k, "attachedToRef"), Within: within, At: at[k.Attr("id")]}
			for _, d := range k.Kids {
				if kind, is := strings.CutSuffix(d.Name.Local, "EventDefinition"); is && isEvent(k.Name.Local) {
					n.Event = kind
				}
			}
			if n.Sub() {
				inside = len(p.Nodes)
			}
			p.Nodes = append(p.Nodes, n)
		}
		f.content(p, k, inside, at)
	}
}
