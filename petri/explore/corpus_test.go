// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/netfile"
)

// corpusNets returns the nets of files from real tools, beside the project, and of its
// examples.
func corpusNets(t *testing.T) map[string]*petri.Tables {
	nets := map[string]*petri.Tables{}
	for _, pattern := range []string{"../../../shared/corpus/pnml/*", "../../../shared/corpus/bpmn/*", "../../examples/*/*.pnml", "../../examples/*/*.bpmn"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := netfile.Read(f, path, netfile.Limits{})
			f.Close()
			if err != nil {
				continue // the corpus has files that must be refused
			}
			for _, n := range file.Nets {
				if tables, err := petri.Compile(n); err == nil {
					nets[filepath.Base(path)+" "+n.ID] = tables
				}
			}
		}
	}
	return nets
}

func TestReducedVisitOfTheCorpus(t *testing.T) {
	nets := corpusNets(t)
	if len(nets) < 10 {
		t.Skipf("only %d nets; the corpus of example files is not here", len(nets))
	}
	whole := 0
	for name, tables := range nets {
		full := Visit(tables, 100_000)
		if !full.Complete {
			continue
		}
		whole++
		reduced := sameDead(t, tables, full, name)
		t.Logf("%s: %d of %d markings, %d dead", name, reduced.Markings, full.Markings, full.Deadlocks)
	}
	t.Logf("compared %d of %d nets", whole, len(nets))
	if whole < len(nets)/2 {
		t.Errorf("compared %d of %d nets", whole, len(nets))
	}
}

// maxBytesOfUnbounded is for a net of the corpus that is unbounded: nearly every firing changes
// the counts of both halves of the places, so that no part of a marking occurs twice, and a
// marking takes an entry in most tables of the tree.
const maxBytesOfUnbounded = 110

// A large net of the corpus takes as little memory for a marking as a generated one.
func TestMemoryOfAMarkingInTheCorpus(t *testing.T) {
	for name, tables := range corpusNets(t) {
		r := Visit(tables, 100_000)
		if r.Markings < 20_000 {
			continue
		}
		most := int64(maxBytesPerMarking)
		if tables.Net.ID == "development_net" {
			most = maxBytesOfUnbounded
		}
		bound := int64(r.Markings) * most
		if b := Explore(tables, Options{Markings: r.Markings, Memory: bound}); b.Stopped == MaxMemory {
			t.Errorf("%s: more than %d bytes for each of %d markings", name, most, r.Markings)
		}
	}
}
