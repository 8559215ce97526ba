// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Corpus is the folder of files that real tools wrote, beside the project.
const Corpus = "../../../shared/corpus"

// Size is how much is in a file: places, transitions, arcs, initial tokens.
type Size struct{ Places, Transitions, Arcs, Tokens uint64 }

// file is one net file of the corpus.
type file struct {
	Path  string
	Valid bool
	Size  Size // as the corpus' own list says
}

// Refused are the files of the corpus that are no place/transition nets, or
// broken on purpose; the number is the line of the first fault.
var Refused = map[string]int{
	"perpetuum_traffic_light_nightly.test":          1,
	"pipe_Accident_and_Emergency_Unit_Coloured.xml": 951,
	"pnmlfw_ClientServer.pnml":                      2,
	"pnmlfw_SharedMemory.pnml":                      2,
	"synthetic_dangling_arc.pnml":                   2,
	"synthetic_doctype_entity.pnml":                 1,
	"synthetic_duplicate_ids.pnml":                  2,
	"synthetic_huge_marking_uint64_overflow.pnml":   2,
	"synthetic_inhibitor_from_transition.pnml":      2,
	"synthetic_negative_marking.pnml":               2,
	"synthetic_nonint_weight.pnml":                  2,
	"synthetic_place_to_place.pnml":                 2,
	"synthetic_truncated.pnml":                      2,
	"synthetic_zero_weight.pnml":                    2,
}

// miscounted are sizes where the list counts something else: it takes the
// places that ProM's final marking refers to for places.
var miscounted = map[string]Size{"running-example.pnml": {9, 10, 22, 1}}

// CorpusFiles reads the corpus' list. It skips the test where there is none.
func CorpusFiles(t *testing.T) []file {
	t.Helper()
	if _, err := os.Stat(filepath.Join(Corpus, "SOURCES.md")); err != nil {
		t.Skipf("the corpus of example files is not here: %v", err)
	}
	return corpusList(t)
}

// corpusList is corpusFiles, with no files where there is no corpus.
func corpusList(t *testing.T) []file {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(Corpus, "SOURCES.md"))
	if err != nil {
		return nil
	}
	row := regexp.MustCompile(`^\| (\S+\.(?:pnml|xml|test)) \|.*\| ([^|]*)\|$`)
	var files []file
	dir := ""
	for line := range strings.Lines(string(list)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			dir = name
		}
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		path, err := filepath.Abs(filepath.Join(Corpus, dir, m[1]))
		if err != nil {
			t.Fatal(err)
		}
		f := file{Path: path, Valid: Refused[m[1]] == 0}
		if s, ok := miscounted[m[1]]; ok {
			f.Size = s
		} else if f.Valid {
			var weight uint64
			if _, err := fmt.Sscanf(m[2], "P=%d T=%d A=%d w=%d m=%d", &f.Size.Places, &f.Size.Transitions, &f.Size.Arcs, &weight, &f.Size.Tokens); err != nil {
				t.Fatalf("%s: got size %q of the list: %v", m[1], m[2], err)
			}
		}
		files = append(files, f)
	}
	if len(files) < 40 {
		t.Fatalf("the list of the corpus names %d files", len(files))
	}
	return files
}

// ValidNets are the valid files of the corpus, if it is here, with at least one
// net, and the nets' ids.
func ValidNets(t *testing.T) (files []file, ids [][]string) {
	t.Helper()
	args, valid := []string{"check", "--json"}, []file{}
	for _, f := range corpusList(t) {
		if f.Valid {
			args, valid = append(args, f.Path), append(valid, f)
		}
	}
	if len(valid) == 0 {
		return nil, nil
	}
	of := map[string][]string{}
	for _, n := range Checked(t, Pnagent(t, args...).Out) {
		of[n.File] = append(of[n.File], n.Net)
	}
	for _, f := range valid {
		if nets := of[f.Path]; len(nets) > 0 {
			files, ids = append(files, f), append(ids, nets)
		}
	}
	return files, ids
}

// checkedNet is a line of "check --json".
type checkedNet struct {
	File, Net string
	Size
}

// Checked parses what "check --json" printed.
func Checked(t *testing.T, out string) []checkedNet {
	t.Helper()
	var nets []checkedNet
	for line := range strings.Lines(out) {
		var n checkedNet
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			t.Fatalf("reading line %q: %v", line, err)
		}
		nets = append(nets, n)
	}
	return nets
}
