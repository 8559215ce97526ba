// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// finish checks the net and adds it, or its faults, to the document.
func (n *netReader) finish() {
	if n.refused == nil && n.resolve() { // otherwise Validate would report arcs for faults of their references
		n.readOutputs()
		n.replaceSubProcesses()
		n.faults.AddAll(n.net.Validate())
		n.setFinals()
	}
	if n.report() {
		return
	}
	n.warnDoubleArcs()
	n.nets = append(n.nets, n.net)
}

// report moves the net's faults to the document and reports whether there were any.
// A high-level net has that one fault: the others are its consequences.
func (n *netReader) report() bool {
	if n.refused != nil {
		n.found.AddAll(n.refused)
		return true
	}
	faulty := n.faults.Len() > 0
	n.found.Take(&n.faults)
	return faulty
}

// readOutputs makes arcs from transitions ordinary outputs, if the spelling of
// their kind means that.
func (n *netReader) readOutputs() {
	if len(n.outputs) == 0 {
		return
	}
	transitions := make(map[string]struct{}, len(n.net.Transitions))
	for i := range n.net.Transitions {
		transitions[n.net.Transitions[i].ID] = struct{}{}
	}
	for _, i := range n.outputs {
		a := &n.net.Arcs[i]
		if _, out := transitions[a.Source]; out {
			a.Kind = petri.Normal
			n.Warnings.Add(a.Pos, "arc "+xmlscan.Quote(a.ID)+" into place "+xmlscan.Quote(a.Target)+
				" has the type of an inhibitor arc; read as an ordinary output, as Perpetuum does")
		}
	}
}

func (n *netReader) warnDoubleArcs() {
	seen := make(map[string]struct{}, len(n.net.Arcs))
	for i := range n.net.Arcs {
		a := &n.net.Arcs[i]
		if _, dup := seen[a.ID]; dup && a.ID != "" {
			n.Warnings.Add(a.Pos, "the id "+xmlscan.Quote(a.ID)+" of an arc occurs twice; both arcs count")
		}
		seen[a.ID] = struct{}{}
	}
}

// reference is a reference place or transition: another drawing of the node that it
// refers to, directly or through other references.
type reference struct {
	id    string
	to    string
	place bool
	pos   petri.Pos
}

func (n *netReader) reference(e *element) error {
	r := reference{place: e.name == "referencePlace", pos: e.pos}
	err := n.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "id":
			r.id = n.strings.Of(value)
		case "ref":
			r.to = n.strings.Of(value)
		default:
			return false
		}
		return true
	})
	if err != nil {
		return err
	}
	n.refs = append(n.refs, r)
	return n.each(e, elements, func(c *element) error {
		if c.name == "name" {
			return n.Skip() // the name of the drawing, not of the node
		}
		return n.other(c)
	})
}

// resolve replaces references in arcs by their nodes. It returns false if it found
// faults.
func (n *netReader) resolve() bool {
	if len(n.refs) == 0 {
		return true
	}
	before := n.faults.Len()
	r := resolver{netReader: n, index: make(map[string]int, len(n.refs)), final: make([]string, len(n.refs)), state: make([]state, len(n.refs))}
	r.collect()
	for i := range n.refs {
		r.follow(i)
	}
	if n.faults.Len() > before {
		return false
	}
	for i := range n.net.Arcs {
		a := &n.net.Arcs[i]
		if k, ok := r.index[a.Source]; ok {
			a.Source = r.final[k]
		}
		if k, ok := r.index[a.Target]; ok {
			a.Target = r.final[k]
		}
	}
	return true
}

type state uint8

const (
	unseen state = iota
	onPath
	known
)

type resolver struct {
	*netReader
	place map[string]bool // every place (true) and transition (false)
	index map[string]int  // reference id to its index in refs
	final []string        // per reference, once known: its node, or "" if it has none
	state []state
}

// collect fills place and index, and refuses references with missing or duplicate
// ids.
func (r *resolver) collect() {
	r.place = make(map[string]bool, len(r.net.Places)+len(r.net.Transitions))
	for i := range r.net.Places {
		r.place[r.net.Places[i].ID] = true
	}
	for i := range r.net.Transitions {
		r.place[r.net.Transitions[i].ID] = false
	}
	for i, ref := range r.refs {
		_, node := r.place[ref.id]
		_, other := r.index[ref.id]
		switch {
		case ref.id == "":
			r.faults.Add(ref.pos, "a reference without an id; expected an id attribute")
		case node || other:
			r.faults.Add(ref.pos, "a reference has the id %s, which another node has; expected every id once", xmlscan.Quote(ref.id))
		default:
			r.index[ref.id] = i
		}
	}
}

// follow finds the node of reference i and of every reference on the way. Each
// reference is visited once, so that a chain takes time in proportion to its length.
func (r *resolver) follow(i int) {
	path, node := r.walk(i)
	for _, k := range path {
		ref := &r.refs[k]
		r.final[k], r.state[k] = node, known
		if node != "" && r.place[node] != ref.place {
			r.faults.Add(ref.pos, "reference %s refers to %s, a node of the other kind; "+
				"expected a place for a reference place, a transition for a reference transition", xmlscan.Quote(ref.id), xmlscan.Quote(node))
		}
	}
}

// walk returns the references from i on that were not known, and the node at their
// end, or "".
func (r *resolver) walk(i int) (path []int, node string) {
	for {
		ref := &r.refs[i]
		switch r.state[i] {
		case known:
			return path, r.final[i]
		case onPath:
			r.faults.Add(ref.pos, "reference %s refers to itself, directly or through others; expected it to end at a node", xmlscan.Quote(ref.id))
			return path, ""
		}
		r.state[i] = onPath
		path = append(path, i)
		next, isRef := r.index[ref.to]
		if !isRef {
			if _, ok := r.place[ref.to]; !ok {
				r.faults.Add(ref.pos, "reference %s refers to %s, which is not a node of the net", xmlscan.Quote(ref.id), xmlscan.Quote(ref.to))
				return path, ""
			}
			return path, ref.to
		}
		i = next
	}
}
