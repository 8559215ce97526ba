// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// File is the content of a BPMN file. Nets, Elements, Graphs and Parts have one entry for
// each process that has flow nodes, in the order of the file.
type File struct {
	Nets     []*petri.Net
	Elements [][]Element // what each element of the process became, in the order of the file
	Graphs   []Graph
	Parts    [][]Part // where the state of each element of the process is in the net

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
	// Aside is, in the same form, what else it became that its author did not draw, see
	// petri.Role: what is armed, active around its content or on its way.
	Aside string
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

// Source is a file to read. Its name is used in messages only.
type Source struct {
	Name   string
	Reader io.Reader
}

// Read reads the processes of a BPMN 2.0 file, whose name is used in messages only.
// It returns all nets or none. Each net passes [petri.Net.Validate].
//
// The error joins all faults, each a *petri.Fault, in the order of the file. If
// reading ended early, the last fault is the reason: XML that is not well-formed,
// a root element other than BPMN's, a limit ([ErrLimit] is in its chain), or an
// error of r (which is in its chain).
func Read(r io.Reader, file string, lim Limits) (*File, error) {
	files, err := ReadAll([]Source{{file, r}}, lim)
	return files[0], err
}

// ReadAll reads files of which the call activities can call each other's processes. A process of the same file
// takes precedence, then that of an earlier file. It returns a File for each source: nil for one that has a
// fault, or that calls a process of one that has a fault. The error joins the faults of all files, as for
// [Read]. The limits apply to each file.
func ReadAll(sources []Source, lim Limits) ([]*File, error) {
	return ReadWith(sources, nil, lim)
}

// ReadWith is ReadAll with decisions that tasks of the processes call by their ids.
func ReadWith(sources []Source, decisions []*petri.Decision, lim Limits) ([]*File, error) {
	byID := make(map[string]*petri.Decision, len(decisions))
	for _, d := range decisions {
		byID[d.ID] = d
	}
	lim = lim.OrDefault()
	out := make([]*File, len(sources))
	errs := make([]error, len(sources))
	all := make([]*document, len(sources)) // nil if it could not be parsed
	for i, src := range sources {
		var text text
		p := &parser{Scanner: xmlscan.New(io.TeeReader(src.Reader, &text), src.Name, xmlscan.Limits{Bytes: lim.Bytes, Token: lim.Token, Depth: lim.Depth}), lim: lim}
		root, err := p.parse()
		errs[i] = err
		if err == nil {
			all[i] = newDocument(p, root)
			all[i].text, all[i].decisions, all[i].byDecision = text, decisions, byID
			all[i].readProcesses()
		}
	}
	docs := slices.DeleteFunc(slices.Clone(all), func(d *document) bool { return d == nil })
	link(docs)
	for i, d := range all {
		if d == nil {
			continue
		}
		d.file = d.model(docs)
		if d.sound() {
			out[i], errs[i] = d.build()
		}
		if errs[i] = d.found.Join(errs[i]); errs[i] != nil || out[i] == nil {
			out[i] = nil
			continue
		}
		if len(out[i].Nets) == 0 {
			d.Warnings.Add(d.root.pos, "no process with flow nodes in the file")
		}
		out[i].Warnings = d.Warnings.Faults()
	}
	return out, errors.Join(errs...)
}

// model returns the text of the file, and of the files with processes that it calls, in
// their order. If these are too much together, it has only its own.
func (d *document) model(docs []*document) *petri.Model {
	var texts [][]byte
	reached := d.reached()
	for _, other := range docs {
		if reached[other] {
			texts = append(texts, other.inUTF8())
		}
	}
	if m := petri.ModelOf(petri.ModelBPMN, texts...); m.Missing == "" || len(texts) == 1 {
		return m
	}
	return petri.ModelOf(petri.ModelBPMN, d.inUTF8())
}

// inUTF8 returns the text of the file, or as it is if its encoding is not known.
func (d *document) inUTF8() []byte {
	if text, err := xmlscan.UTF8(d.text); err == nil {
		return text
	}
	return d.text
}

// text keeps the beginning of a file: more than a [petri.Model] takes, also if each two
// bytes are one of UTF-8.
type text []byte

func (t *text) Write(p []byte) (int, error) {
	kept := p[:min(len(p), 2*petri.MaxModelText+4-len(*t))]
	if len(*t)+len(kept) > cap(*t) {
		*t = slices.Grow(*t, len(*t)+len(kept)) // append would grow by a quarter
	}
	*t = append(*t, kept...)
	return len(p), nil
}

// link connects the elements of all files and checks them.
func link(docs []*document) {
	for _, d := range docs {
		for _, s := range d.processes {
			d.connect(s, docs)
			d.checkScope(s, nil)
			d.warnOfCorrelation(s)
			d.checkExecutable(s)
		}
		d.connectMessages()
	}
	for _, d := range docs {
		for _, s := range d.processes {
			d.callAny(s, docs)
		}
	}
	for _, d := range docs {
		if d.sound() {
			d.checkCalls()
		}
	}
	for _, d := range docs {
		for _, s := range d.processes {
			d.separate(s)
		}
	}
}

// sound reports whether neither a file nor those that it calls have a fault.
func (d *document) sound() bool {
	for other := range d.reached() {
		if other.found.Len() > 0 {
			return false
		}
	}
	return true
}

// reached returns the file and those that it calls.
func (d *document) reached() map[*document]bool {
	seen := map[*document]bool{}
	var visit func(d *document)
	visit = func(d *document) {
		if seen[d] {
			return
		}
		seen[d] = true
		for other := range d.calls {
			visit(other)
		}
	}
	visit(d)
	return seen
}
