// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"fmt"
	"io"

	"github.com/pnagent/pnagent/internal/xmlscan"
	"github.com/pnagent/pnagent/petri"
)

// File is what a BPMN file holds. Nets, Elements and Graphs have one entry for
// each process that has flow nodes, in the order of the file.
type File struct {
	Nets     []*petri.Net
	Elements [][]Element // what each element of the process became, in the order of the file
	Graphs   []Graph

	LeftOut  []Element     // what belongs to no process and means nothing for the nets
	Warnings []petri.Fault // what was read in a way that may surprise, in the order of the file
}

// Element is one element of a process, or several of a kind that were left out.
type Element struct {
	Kind string // in words, such as "exclusive gateway"
	ID   string // "" if the element has none
	Name string
	Pos  petri.Pos
	Text string // what it became: "place x, transitions y, z (if g)"
}

// String returns "line:column: kind "id" (name): text".
func (e Element) String() string {
	s := fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Column, e.Kind)
	if e.ID != "" {
		s += " " + xmlscan.Quote(e.ID)
	}
	if e.Name != "" {
		s += " (" + xmlscan.Clip(e.Name, 60) + ")"
	}
	return s + ": " + e.Text
}

// Read reads the processes of a BPMN 2.0 file; the name is used in messages
// only. Each net it returns passes [petri.Net.Validate]. It returns all nets or
// none.
//
// The error joins every fault found, each a *petri.Fault, in the order of the
// file: what is not built is refused by its name, never misread. If reading
// ended early the last one says why: XML that is not well-formed, no BPMN, a
// limit (then [ErrLimit] is in its chain), or r failing (then r's error is).
func Read(r io.Reader, file string, lim Limits) (*File, error) {
	lim = lim.orDefault()
	p := &parser{Scanner: xmlscan.New(r, file, xmlscan.Limits{Bytes: lim.Bytes, Token: lim.Token, Depth: lim.Depth}), lim: lim}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	d := newDocument(p, root)
	d.readProcesses()
	var out *File
	if d.found.Len() == 0 {
		out, err = d.build()
	}
	if err := d.found.Join(err); err != nil {
		return nil, err
	}
	if len(out.Nets) == 0 {
		d.Warnings.Add(root.pos, "no process with flow nodes in the file")
	}
	out.Warnings = d.Warnings.Faults()
	return out, nil
}
