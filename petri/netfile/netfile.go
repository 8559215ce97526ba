// SPDX-License-Identifier: Apache-2.0

// Package netfile reads files of nets, whether they hold PNML, BPMN, Tina's .net or LoLA's format, and files
// of DMN, whose decisions the processes of BPMN that are read with them call.
package netfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/dmn"
	"github.com/pnagent/pnagent/petri/pnml"
)

// Limits bound a file.
type Limits struct {
	Bytes int64 // length of the file
	Depth int   // depth of nested elements
	Nodes int   // places, transitions and arcs, over all nets
}

// PNML returns the limits of package pnml, its defaults elsewhere.
func (l Limits) PNML() pnml.Limits {
	out := pnml.DefaultLimits()
	out.Bytes, out.Depth, out.Nodes = l.Bytes, l.Depth, l.Nodes
	return out
}

// File is the content of one file.
type File struct {
	Nets     []*petri.Net
	Warnings []petri.Fault
	Process  *bpmn.File // nil for other files

	Decisions []*petri.Decision // of DMN
}

// Source is a file to read. Its name is used in faults.
type Source = bpmn.Source

// Read reads a file. name identifies it in faults.
func Read(r io.Reader, name string, l Limits) (*File, error) {
	files, err := ReadAll([]Source{{Name: name, Reader: r}}, l)
	return files[0], err
}

// ReadAll reads files together: the call activities of BPMN call the processes of all
// of them, and their tasks the decisions. It returns a File for each source, nil where reading failed. The error joins
// those of all files. The limits apply to each file.
func ReadAll(sources []Source, l Limits) ([]*File, error) {
	out := make([]*File, len(sources))
	var errs []error
	var processes []Source
	var at []int // of processes, in sources
	var decisions []*petri.Decision
	for i, src := range sources {
		br := bufio.NewReaderSize(src.Reader, rootWithin)
		switch kind := kindOf(src.Name, br); kind {
		case "bpmn":
			processes, at = append(processes, Source{Name: src.Name, Reader: br}), append(at, i)
		case "dmn":
			limits := dmn.DefaultLimits()
			limits.Bytes, limits.Depth = l.Bytes, l.Depth
			list, err := dmn.Read(br, src.Name, limits)
			errs = append(errs, err)
			decisions = append(decisions, list...)
			if err == nil {
				out[i] = &File{Decisions: list}
			}
		default:
			var err error
			out[i], err = readOne(br, src.Name, kind, l)
			errs = append(errs, err)
		}
	}
	errs = append(errs, differentDecisions(decisions))
	limits := bpmn.DefaultLimits()
	limits.Bytes, limits.Depth, limits.Nodes = l.Bytes, l.Depth, l.Nodes
	files, err := bpmn.ReadWith(processes, decisions, limits)
	for k, f := range files {
		if f != nil {
			out[at[k]] = &File{Nets: f.Nets, Warnings: f.Warnings, Process: f}
		}
	}
	return out, errors.Join(append(errs, err)...)
}

// differentDecisions returns a fault for each decision with the id of an earlier one.
func differentDecisions(all []*petri.Decision) error {
	var errs []error
	from := map[string]string{}
	for _, d := range all {
		first, twice := from[d.ID]
		if !twice {
			from[d.ID] = d.File
			continue
		}
		errs = append(errs, &petri.Fault{File: d.File, Pos: d.Pos, Msg: fmt.Sprintf("decision %q was already given by %s; expected decisions with different ids", d.ID, first)})
	}
	return errors.Join(errs...)
}

// Compile reads files and compiles all their nets. A file without a net and a duplicate
// net id are errors. The error joins those of all files. It also returns the warnings
// of the files.
func Compile(sources []Source, l Limits) ([]*petri.Tables, []petri.Fault, error) {
	files, err := ReadAll(sources, l)
	errs := []error{err}
	var all []*petri.Tables
	var warnings []petri.Fault
	from := map[string]string{}
	for i, file := range files {
		name := sources[i].Name
		switch {
		case file == nil:
			continue
		case len(file.Nets) == 0 && len(file.Decisions) == 0:
			errs = append(errs, fmt.Errorf("%s: no net in the file; expected one or more", name))
		}
		warnings = append(warnings, file.Warnings...)
		for _, n := range file.Nets {
			if first, dup := from[n.ID]; dup {
				errs = append(errs, &petri.Fault{File: n.File, Pos: n.Pos, Msg: fmt.Sprintf("net %q was already given by %s; expected nets with different ids", n.ID, first)})
				continue
			}
			from[n.ID] = name
			t, err := petri.Compile(n)
			errs = append(errs, err)
			all = append(all, t)
		}
	}
	return all, warnings, errors.Join(errs...)
}

// Became returns what each element of a process became in one of the nets, and, with
// the first net, what was left out of the file. It returns nothing for other files. If all is
// set, it also returns what the author of the process did not draw.
func (f *File) Became(net int, all bool) (out []string) {
	if f.Process == nil {
		return nil
	}
	for _, e := range f.Process.Elements[net] {
		s := e.String()
		if all && e.Aside != "" {
			s += "; not drawn: " + e.Aside
		}
		out = append(out, s)
	}
	if net == 0 {
		for _, e := range f.Process.LeftOut {
			out = append(out, e.String())
		}
	}
	return out
}
