// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"fmt"
	"io"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// File is the content of a BPMN file. Nets, Elements and Graphs have one entry for
// each process that has flow nodes, in the order of the file.
type File struct {
	Nets     []*petri.Net
	Elements [][]Element // what each element of the process became, in the order of the file
	Graphs   []Graph

	LeftOut  []Element     // what is outside of processes and has no meaning for the nets
	Warnings []petri.Fault // where the reading may be unexpected, in the order of the file
}

// Element is one element of a process, or all of a kind that were left out.
type Element struct {
	Kind string // such as "exclusive gateway"
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

// Read reads the processes of a BPMN 2.0 file, whose name is used in messages only.
// It returns all nets or none. Each net passes [petri.Net.Validate].
//
// The error joins all faults, each a *petri.Fault, in the order of the file. If
// reading ended early, the last fault is the reason: XML that is not well-formed,
// a root element other than BPMN's, a limit ([ErrLimit] is in its chain), or an
// error of r (which is in its chain).
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
