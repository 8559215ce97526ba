// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"
)

// build makes a net of each process that has flow nodes.
func (d *document) build() (*File, error) {
	out := &File{LeftOut: d.leftOut()}
	left := d.lim.Nodes
	for _, s := range d.processes {
		if len(s.nodes) == 0 {
			continue
		}
		b := &builder{document: d, rounds: map[string]uint32{}, made: map[string]bool{}, left: left}
		b.process(s)
		if b.left < 0 {
			return nil, d.limitNodes(s)
		}
		left = b.left
		if err := b.net.Validate(); err != nil {
			d.found.AddAll(err)
			continue
		}
		out.Nets = append(out.Nets, b.net)
		out.Graphs = append(out.Graphs, s.graph())
		out.Parts = append(out.Parts, b.parts())
		out.Elements = append(out.Elements, sortElements(append(b.became(), s.leftOut()...)))
	}
	return out, nil
}

// limitNodes returns the error for a process whose net is too large.
func (d *document) limitNodes(s *scope) error {
	d.At = s.el.pos
	return d.Limit("places, transitions and arcs", int64(d.lim.Nodes))
}

// leftOut returns the elements outside of processes, and the processes without nodes.
func (d *document) leftOut() []Element {
	left := tally{}
	var empty []Element
	for _, e := range d.root.kids {
		switch {
		case e.is("collaboration"):
			left.add(e)
			for _, k := range e.kids {
				if k.is("participant") || isLeftOut(k.name) {
					left.add(k)
				}
			}
		case e.is("process"):
			if s := d.byID[e.attr("id")]; len(s.nodes) == 0 {
				empty = append(empty, Element{Kind: "process", ID: s.id, Name: s.name, Pos: e.pos, Text: "left out: it has no flow nodes"})
			}
		case isLeftOut(e.name):
			left.add(e)
		}
	}
	return sortElements(append(left.elements(), empty...))
}

// leftOut returns what was left out of a process and its sub-processes.
func (s *scope) leftOut() []Element {
	for _, e := range s.el.kids {
		if !e.is("association") {
			continue
		}
		from, to := local(e.attr("sourceRef")), local(e.attr("targetRef"))
		if !s.doc.followed[[2]string{from, to}] && !s.doc.followed[[2]string{to, from}] {
			s.left.add(e)
		}
	}
	out := s.left.elements()
	for _, n := range s.nodes {
		if n.inner != nil {
			out = append(out, n.inner.leftOut()...)
		}
	}
	return out
}

// sortElements sorts elements in the order of the file, and returns them. They are few sequences that have
// it, so halves that are sorted nearly always need no change.
func sortElements(list []Element) []Element {
	if len(list) < 2 {
		return list
	}
	half := len(list) / 2
	sortElements(list[:half])
	sortElements(list[half:])
	if !list[half].isBefore(&list[half-1]) {
		return list
	}
	first, second := slices.Clone(list[:half]), list[half:]
	for i := range list {
		if len(first) > 0 && (len(second) == 0 || !second[0].isBefore(&first[0])) {
			list[i], first = first[0], first[1:]
		} else {
			list[i], second = second[0], second[1:]
		}
	}
	return list
}

func (e *Element) isBefore(other *Element) bool {
	return e.Pos.Line < other.Pos.Line || e.Pos.Line == other.Pos.Line && e.Pos.Column < other.Pos.Column
}
