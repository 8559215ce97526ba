// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/netfile"
)

// Limits are flags that bound what is read from a net's file.
type Limits struct {
	MaxBytes int64 `name:"pnml.max-bytes" default:"67108864" help:"Largest net file to read, in bytes."`
	MaxDepth int   `name:"pnml.max-depth" default:"200" help:"Deepest nesting of elements in a net file of XML."`
	MaxNodes int   `name:"pnml.max-nodes" default:"1000000" help:"Maximum number of places, transitions and arcs in a net file."`
}

// Netfile returns the bounds.
func (f Limits) Netfile() netfile.Limits {
	return netfile.Limits{Bytes: f.MaxBytes, Depth: f.MaxDepth, Nodes: f.MaxNodes}
}

// ReadNet reads one net file and logs its warnings; "-" is in.
func ReadNet(path string, in io.Reader, lim Limits, log *slog.Logger) (*netfile.File, error) {
	files, err := ReadNets([]string{path}, in, lim)
	if files[0] != nil {
		LogWarnings(files[0].Warnings, log)
	}
	return files[0], err
}

// ReadNets reads net files together; "-" is in. A file that is invalid is nil.
func ReadNets(paths []string, in io.Reader, lim Limits) ([]*netfile.File, error) {
	sources, closeAll := OpenNets(paths, in)
	defer closeAll()
	return netfile.ReadAll(sources, lim.Netfile())
}

// MaxWarnings bounds the warnings of net files that a command logs.
const MaxWarnings = 20

// LogWarnings logs warnings of net files, the first ones if there are many.
func LogWarnings(warnings []petri.Fault, log *slog.Logger) {
	for i := range warnings[:min(len(warnings), MaxWarnings)] {
		log.Warn("net file", "warning", warnings[i].Error())
	}
	if more := len(warnings) - MaxWarnings; more > 0 {
		log.Warn("net file: further warnings are printed by pnagent check", "warnings", more)
	}
}

// CompileNets reads and compiles every net of the files, and logs their warnings; "-" is in.
func CompileNets(paths []string, in io.Reader, lim Limits, log *slog.Logger) ([]*petri.Tables, error) {
	sources, closeAll := OpenNets(paths, in)
	defer closeAll()
	tables, warnings, err := netfile.Compile(sources, lim.Netfile())
	LogWarnings(warnings, log)
	return tables, err
}

// OpenNets opens net files; "-" is in. A file that cannot be opened fails when it is read.
func OpenNets(paths []string, in io.Reader) (sources []netfile.Source, closeAll func()) {
	var opened []*os.File
	for _, path := range paths {
		src := netfile.Source{Name: path}
		if f, err := os.Open(path); path == "-" {
			src = netfile.Source{Name: "stdin", Reader: in}
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

// NetsOf returns the nets of tables.
func NetsOf(tables []*petri.Tables) []*petri.Net {
	nets := make([]*petri.Net, len(tables))
	for i, t := range tables {
		nets[i] = t.Net
	}
	return nets
}

// ReadFile reads a file; what it holds is for the error.
func ReadFile[T any](path, what string, read func(r io.Reader, name string) (T, error)) (v T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, fmt.Errorf("reading %s: %w", what, err)
	}
	defer f.Close()
	return read(f, path)
}
