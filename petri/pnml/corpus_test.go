// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// corpus is the folder of files from real tools, beside the project.
const corpus = "../../../shared/corpus"

// size is the size of a file in the corpus' list, summed over its nets: places,
// transitions, arcs, the largest weight (1 if there is no arc), and the tokens of
// the initial markings.
type size struct{ P, T, A, W, M uint64 }

// counted are the sizes of files that the list counts in another way.
var counted = map[string]size{
	// The list takes the nine <place idref="…"> of ProM's final markings for places.
	"running-example.pnml": {P: 9, T: 10, A: 22, W: 1, M: 1},
}

// broken are the files that must be refused, and how.
var broken = map[string][]string{
	"pipe_Accident_and_Emergency_Unit_Coloured.xml": {
		`951:8: tokens of the classes "Unassigned" and "Critical Condition", a coloured net; expected a place/transition net with one class`},
	"pnmlfw_ClientServer.pnml": {
		`2:2: the net's type is "http://www.pnml.org/version-2009/grammar/symmetricnet", a high-level net; expected a place/transition net`},
	"pnmlfw_SharedMemory.pnml": {
		`2:2: the net's type is "http://www.pnml.org/version-2009/grammar/symmetricnet", a high-level net; expected a place/transition net`},
	"synthetic_dangling_arc.pnml": {
		`2:229: arc "a" ends at "nowhere", which is no place or transition of net "n"`},
	"synthetic_doctype_entity.pnml": {
		`1:22: a DOCTYPE with declarations of its own; expected none: entities are not expanded`},
	"synthetic_duplicate_ids.pnml": {
		`2:209: place has the id "x" of the place at line 2; expected every id once`,
		`2:278: transition has the id "x" of the place at line 2; expected every id once`,
		`2:298: arc "a" joins two places, "x" and "x"; expected a place and a transition`},
	"synthetic_huge_marking_uint64_overflow.pnml": {
		`2:176: the initial marking "18446744073709551616" is too large; expected a whole number, at most 4294967295`},
	"synthetic_inhibitor_from_transition.pnml": {
		`2:182: inhibitor arc "a" leads from transition "t" to place "p"; expected it to lead from a place to a transition`},
	"synthetic_negative_marking.pnml": {
		`2:176: the initial marking "-1" is negative; expected a whole number, at most 4294967295`},
	"synthetic_nonint_weight.pnml": {
		`2:282: the weight "2.5" is not an integer; expected a whole number, at most 4294967295`},
	"synthetic_place_to_place.pnml": {
		`2:231: arc "a" joins two places, "p" and "q"; expected a place and a transition`},
	"synthetic_truncated.pnml": {
		`2:229: the file ends inside what begins here; expected a complete XML document`},
	"synthetic_zero_weight.pnml": {
		`2:282: arc "a" has weight 0; expected 1 or more`},
	"perpetuum_traffic_light_nightly.test": { // not PNML at all
		`1:1: the text "% Perpetuum test script: Traffic Light with Night Service\n%\n…" outside any element; expected an XML document with the root <pnml>`},
}

var row = regexp.MustCompile(`^\| (\S+\.(?:pnml|xml|test)) \|.*\| ([^|]*)\|$`)

// corpusFiles returns the PNML files of the corpus, or none if it is absent.
func corpusFiles(t testing.TB) []string {
	files, err := filepath.Glob(filepath.Join(corpus, "pnml", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// listed reads the corpus' list: every file for this package with its features.
func listed(t *testing.T) map[string]string {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(corpus, "SOURCES.md"))
	if err != nil {
		t.Skipf("the corpus of example files is not here: %v", err)
	}
	files := make(map[string]string)
	dir := ""
	for line := range strings.Lines(string(list)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			dir = name
		}
		if m := row.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			files[filepath.Join(corpus, dir, m[1])] = m[2]
		}
	}
	return files
}

func TestCorpus(t *testing.T) {
	files := listed(t)
	if len(files) < 40 {
		t.Fatalf("found only %d files in the list", len(files))
	}
	for path, features := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Read(bytes.NewReader(content), name, Limits{})
			if lines, bad := broken[name]; bad {
				if err == nil {
					t.Fatal("read; want it refused")
				}
				want := name + ":" + strings.Join(lines, "\n"+name+":")
				if diff := cmp.Diff(want, err.Error()); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, counted := counted[name]
			if !counted {
				want = parseSize(t, features)
			}
			if diff := cmp.Diff(want, sizeOf(f.Nets)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, n := range f.Nets {
				roundTrip(t, n)
			}
		})
	}
}

func parseSize(t *testing.T, features string) size {
	t.Helper()
	var s size
	if _, err := fmt.Sscanf(features, "P=%d T=%d A=%d w=%d m=%d", &s.P, &s.T, &s.A, &s.W, &s.M); err != nil {
		t.Fatalf("features %q: %v", features, err)
	}
	return s
}

func sizeOf(nets []*petri.Net) size {
	s := size{W: 1}
	for _, n := range nets {
		s.P += uint64(len(n.Places))
		s.T += uint64(len(n.Transitions))
		s.A += uint64(len(n.Arcs))
		for _, a := range n.Arcs {
			s.W = max(s.W, uint64(a.Weight))
		}
		for _, p := range n.Places {
			s.M += uint64(p.Initial)
		}
	}
	return s
}

// The list counts the spellings of inhibitor and reset arcs. In the last arc of
// perpetuum_netin.pnml, an output, the spelling does not count.
func TestCorpusArcKinds(t *testing.T) {
	tests := []struct {
		file string
		want map[petri.ArcKind]int
	}{
		{"perpetuum_netin.pnml", map[petri.ArcKind]int{petri.Normal: 378, petri.Inhibitor: 48}},
		{"perpetuum_kxover_client.pnml", map[petri.ArcKind]int{petri.Normal: 73, petri.Inhibitor: 5}},
		{"perpetuum_traffic_light_nightly.pnml", map[petri.ArcKind]int{petri.Normal: 8, petri.Inhibitor: 2}},
		{"synthetic_inhibitor_weight3.pnml", map[petri.ArcKind]int{petri.Normal: 2, petri.Inhibitor: 1}},
		{"synthetic_reset_arc.pnml", map[petri.ArcKind]int{petri.Reset: 1}},
	}
	listed(t)
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(corpus, "pnml", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Read(bytes.NewReader(content), tt.file, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[petri.ArcKind]int)
			for _, a := range f.Nets[0].Arcs {
				got[a.Kind]++
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Positions are kept for every node that has one by the list.
func TestCorpusPositions(t *testing.T) {
	for path, features := range listed(t) {
		var want int
		i := strings.Index(features, "pos=")
		if i < 0 || broken[filepath.Base(path)] != nil {
			continue
		}
		if _, err := fmt.Sscanf(features[i:], "pos=%d", &want); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Read(bytes.NewReader(content), path, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, n := range f.Nets {
			for _, p := range n.Places {
				if p.At != nil {
					got++
				}
			}
			for _, tr := range n.Transitions {
				if tr.At != nil {
					got++
				}
			}
		}
		// The list counts the bends of arcs too.
		if nodes := len(f.Nets[0].Places) + len(f.Nets[0].Transitions); got != min(want, nodes) {
			t.Errorf("%s: %d positions, want %d", path, got, min(want, nodes))
		}
	}
}
