// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/netfile"
)

// limitFlags bound what is read from a net's file.
type limitFlags struct {
	MaxBytes int64 `name:"pnml.max-bytes" default:"67108864" help:"Largest net file to read, PNML or BPMN, in bytes."`
	MaxDepth int   `name:"pnml.max-depth" default:"200" help:"Deepest nesting of elements in a net file."`
	MaxNodes int   `name:"pnml.max-nodes" default:"1000000" help:"Most places, transitions and arcs in a net file."`
}

func (f limitFlags) limits() netfile.Limits {
	return netfile.Limits{Bytes: f.MaxBytes, Depth: f.MaxDepth, Nodes: f.MaxNodes}
}

// readNet reads one net file; "-" is standard input.
func readNet(path string, s streams, lim limitFlags) (*netfile.File, error) {
	if path == "-" {
		return netfile.Read(s.in, "stdin", lim.limits())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a net: %w", err)
	}
	defer f.Close()
	return netfile.Read(f, path, lim.limits())
}

// compileNets reads and compiles every net of the files.
func compileNets(paths []string, s streams, lim limitFlags) ([]*petri.Tables, error) {
	return netfile.Compile(paths, func(path string) (*netfile.File, error) { return readNet(path, s, lim) })
}

func netsOf(tables []*petri.Tables) []*petri.Net {
	nets := make([]*petri.Net, len(tables))
	for i, t := range tables {
		nets[i] = t.Net
	}
	return nets
}
