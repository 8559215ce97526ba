// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/pnml"
)

// limitFlags bound what is read from a net's file.
type limitFlags struct {
	MaxBytes int64 `name:"pnml.max-bytes" default:"67108864" help:"Largest net file to read, PNML or BPMN, in bytes."`
	MaxDepth int   `name:"pnml.max-depth" default:"200" help:"Deepest nesting of elements in a net file."`
	MaxNodes int   `name:"pnml.max-nodes" default:"1000000" help:"Most places, transitions and arcs in a net file."`
}

func (f limitFlags) pnml() pnml.Limits {
	l := pnml.DefaultLimits()
	l.Bytes, l.Depth, l.Nodes = f.MaxBytes, f.MaxDepth, f.MaxNodes
	return l
}

// netFile is what one file holds: of PNML or of BPMN.
type netFile struct {
	nets     []*petri.Net
	warnings []petri.Fault
	process  *bpmn.File // nil for PNML
}

// readNet reads one net file; "-" is standard input.
func readNet(path string, s streams, lim limitFlags) (*netFile, error) {
	if path == "-" {
		return parseNet(s.in, "stdin", lim)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a net: %w", err)
	}
	defer f.Close()
	return parseNet(f, path, lim)
}

func parseNet(r io.Reader, name string, lim limitFlags) (*netFile, error) {
	br := bufio.NewReaderSize(r, rootWithin)
	if isBPMN(name, br) {
		l := bpmn.DefaultLimits()
		l.Bytes, l.Depth, l.Nodes = lim.MaxBytes, lim.MaxDepth, lim.MaxNodes
		f, err := bpmn.Read(br, name, l)
		if err != nil {
			return nil, err
		}
		return &netFile{f.Nets, f.Warnings, f}, nil
	}
	f, err := pnml.Read(br, name, lim.pnml())
	if err != nil {
		return nil, err
	}
	return &netFile{f.Nets, f.Warnings, nil}, nil
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
	head, _ := r.Peek(rootWithin) // as much as there is
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

// compileNets reads and compiles every net of the files. A file without a net
// and a net id given twice are errors.
func compileNets(paths []string, s streams, lim limitFlags) ([]*petri.Tables, error) {
	var all []*petri.Tables
	var errs []error
	from := map[string]string{}
	for _, path := range paths {
		file, err := readNet(path, s, lim)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(file.nets) == 0 {
			errs = append(errs, fmt.Errorf("%s: no net in the file; expected one or more", path))
		}
		for _, n := range file.nets {
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

func netsOf(tables []*petri.Tables) []*petri.Net {
	nets := make([]*petri.Net, len(tables))
	for i, t := range tables {
		nets[i] = t.Net
	}
	return nets
}
