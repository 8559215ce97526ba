// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
)

// limitFlags bound what is read from a net's file.
type limitFlags struct {
	MaxBytes int64 `name:"pnml.max-bytes" default:"67108864" help:"Largest net file to read, in bytes."`
	MaxDepth int   `name:"pnml.max-depth" default:"200" help:"Deepest nesting of elements in a net file."`
	MaxNodes int   `name:"pnml.max-nodes" default:"1000000" help:"Most places, transitions and arcs in a net file."`
}

func (f limitFlags) limits() pnml.Limits {
	l := pnml.DefaultLimits()
	l.Bytes, l.Depth, l.Nodes = f.MaxBytes, f.MaxDepth, f.MaxNodes
	return l
}

// readNet reads one net file; "-" is standard input.
func readNet(path string, s streams, lim pnml.Limits) (*pnml.File, error) {
	if path == "-" {
		return pnml.Read(s.in, "stdin", lim)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a net: %w", err)
	}
	defer f.Close()
	return pnml.Read(f, path, lim)
}

// compileNets reads and compiles every net of the files. A file without a net
// and a net id given twice are errors.
func compileNets(paths []string, s streams, lim pnml.Limits) ([]*petri.Tables, error) {
	var all []*petri.Tables
	var errs []error
	from := map[string]string{}
	for _, path := range paths {
		file, err := readNet(path, s, lim)
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

func netsOf(tables []*petri.Tables) []*petri.Net {
	nets := make([]*petri.Net, len(tables))
	for i, t := range tables {
		nets[i] = t.Net
	}
	return nets
}
