// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"os"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/netfile"
)

// limitFlags bound what is read from a net's file.
type limitFlags struct {
	MaxBytes int64 `name:"pnml.max-bytes" default:"67108864" help:"Largest net file to read, in bytes."`
	MaxDepth int   `name:"pnml.max-depth" default:"200" help:"Deepest nesting of elements in a net file of XML."`
	MaxNodes int   `name:"pnml.max-nodes" default:"1000000" help:"Maximum number of places, transitions and arcs in a net file."`
}

func (f limitFlags) limits() netfile.Limits {
	return netfile.Limits{Bytes: f.MaxBytes, Depth: f.MaxDepth, Nodes: f.MaxNodes}
}

// readNet reads one net file and logs its warnings; "-" is standard input.
func readNet(path string, s streams, lim limitFlags, log *slog.Logger) (*netfile.File, error) {
	files, err := readNets([]string{path}, s, lim)
	if files[0] != nil {
		logWarnings(files[0].Warnings, log)
	}
	return files[0], err
}

// readNets reads net files together; "-" is standard input. A file that is invalid is nil.
func readNets(paths []string, s streams, lim limitFlags) ([]*netfile.File, error) {
	sources, closeAll := openNets(paths, s)
	defer closeAll()
	return netfile.ReadAll(sources, lim.limits())
}

// maxWarnings bounds the warnings of net files that a command logs.
const maxWarnings = 20

// logWarnings logs warnings of net files, the first ones if there are many.
func logWarnings(warnings []petri.Fault, log *slog.Logger) {
	for i := range warnings[:min(len(warnings), maxWarnings)] {
		log.Warn("net file", "warning", warnings[i].Error())
	}
	if more := len(warnings) - maxWarnings; more > 0 {
		log.Warn("net file: further warnings are printed by pnagent check", "warnings", more)
	}
}

// compileNets reads and compiles every net of the files, and logs their warnings.
func compileNets(paths []string, s streams, lim limitFlags, log *slog.Logger) ([]*petri.Tables, error) {
	sources, closeAll := openNets(paths, s)
	defer closeAll()
	tables, warnings, err := netfile.Compile(sources, lim.limits())
	logWarnings(warnings, log)
	return tables, err
}

// openNets opens net files. A file that cannot be opened fails when it is read.
func openNets(paths []string, s streams) (sources []netfile.Source, closeAll func()) {
	var opened []*os.File
	for _, path := range paths {
		src := netfile.Source{Name: path}
		if f, err := os.Open(path); path == "-" {
			src = netfile.Source{Name: "stdin", Reader: s.in}
		} else if err != nil {
			src.Reader = unreadable{err}
		} else {
			src.Reader, opened = f, append(opened, f)
		}
		sources = append(sources, src)
	}
	return sources, func() {
		for _, f := range opened {
			f.Close()
		}
	}
}

// unreadable is a reader that fails.
type unreadable struct{ err error }

func (u unreadable) Read([]byte) (int, error) { return 0, u.err }

func netsOf(tables []*petri.Tables) []*petri.Net {
	nets := make([]*petri.Net, len(tables))
	for i, t := range tables {
		nets[i] = t.Net
	}
	return nets
}
