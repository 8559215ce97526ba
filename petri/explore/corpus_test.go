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
		full := Visit(tables, 50_000)
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

// A large net of the corpus takes as little memory for a marking as a generated one, both by the
// account of the visit and by the runtime. A net with fewer than 20,000 markings does not count:
// what does not depend on their number is a large part of its memory.
func TestMemoryOfAMarkingInTheCorpus(t *testing.T) {
	const most = 200_000
	for name, tables := range corpusNets(t) {
		before, measured, next := heap(), int64(0), 20_000
		r := Explore(tables, Options{Markings: most, Memory: most * maxBytesPerMarking, Continue: func(visited, found int) bool {
			if found == most || found >= next && visited == found-1 {
				measured, next = (heap()-before)/int64(found), 2*found
			}
			return found < most
		}})
		if r.Markings < 20_000 {
			continue
		}
		if r.Stopped == MaxMemory || measured == 0 || measured > maxBytesPerMarking {
			t.Errorf("%s: stopped by %q after %d markings, %d bytes each by the runtime", name, r.Stopped, r.Markings, measured)
		}
		t.Logf("%s: %d markings, %d bytes each", name, r.Markings, measured)
	}
}
