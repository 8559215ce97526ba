// SPDX-License-Identifier: Apache-2.0

// Package netfile reads a file of nets, whether it holds PNML or BPMN.
package netfile

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
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
	Process  *bpmn.File // nil for PNML
}

// Read reads a file. name identifies it in faults.
func Read(r io.Reader, name string, l Limits) (*File, error) {
	br := bufio.NewReaderSize(r, rootWithin)
	if isBPMN(name, br) {
		limits := bpmn.DefaultLimits()
		limits.Bytes, limits.Depth, limits.Nodes = l.Bytes, l.Depth, l.Nodes
		f, err := bpmn.Read(br, name, limits)
		if err != nil {
			return nil, err
		}
		return &File{f.Nets, f.Warnings, f}, nil
	}
	f, err := pnml.Read(br, name, l.PNML())
	if err != nil {
		return nil, err
	}
	return &File{f.Nets, f.Warnings, nil}, nil
}

// rootWithin is how far into a file its root element is looked for, in bytes.
const rootWithin = 64 << 10

// isBPMN reports whether a file holds BPMN: by its name, or else by its root
// element.
func isBPMN(name string, r *bufio.Reader) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".bpmn", ".bpmn2":
		return true
	case ".pnml":
		return false
	}
	head, _ := r.Peek(rootWithin) // a shorter file is in it completely
	d := xml.NewDecoder(bytes.NewReader(head))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := d.RawToken()
		if err != nil {
			return false
		}
		if start, ok := token.(xml.StartElement); ok {
			return start.Name.Local == "definitions"
		}
	}
}

// Compile reads files and compiles all their nets. A file without a net and a duplicate
// net id are errors. The error joins those of all files.
func Compile(paths []string, read func(path string) (*File, error)) ([]*petri.Tables, error) {
	var all []*petri.Tables
	var errs []error
	from := map[string]string{}
	for _, path := range paths {
		file, err := read(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(file.Nets) == 0 {
			errs = append(errs, fmt.Errorf("%s: no net in the file; expected one or more", path))
		}
		for _, n := range file.Nets {
			if first, dup := from[n.ID]; dup {
				errs = append(errs, &petri.Fault{File: n.File, Pos: n.Pos, Msg: fmt.Sprintf("net %q was already given by %s; expected nets with different ids", n.ID, first)})
				continue
			}
			from[n.ID] = path
			t, err := petri.Compile(n)
			errs = append(errs, err)
			all = append(all, t)
		}
	}
	return all, errors.Join(errs...)
}

// Became returns what each element of a process became in one of the nets, and, with
// the first net, what was left out of the file. It returns nothing for PNML.
func (f *File) Became(net int) (out []string) {
	if f.Process == nil {
		return nil
	}
	for _, e := range f.Process.Elements[net] {
		out = append(out, e.String())
	}
	if net == 0 {
		for _, e := range f.Process.LeftOut {
			out = append(out, e.String())
		}
	}
	return out
}
