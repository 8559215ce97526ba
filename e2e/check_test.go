// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// corpus is the folder of files that real tools wrote, beside the project.
const corpus = "../../shared/corpus"

// size is how much is in a file: places, transitions, arcs, initial tokens.
type size struct{ Places, Transitions, Arcs, Tokens uint64 }

// file is one net file of the corpus.
type file struct {
	path  string
	valid bool
	size  size // as the corpus' own list says
}

// refused are the files of the corpus that are no place/transition nets, or
// broken on purpose; the number is the line of the first fault.
var refused = map[string]int{
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
var miscounted = map[string]size{"running-example.pnml": {9, 10, 22, 1}}

// corpusFiles reads the corpus' list. It skips the test where there is none.
func corpusFiles(t *testing.T) []file {
	t.Helper()
	if _, err := os.Stat(filepath.Join(corpus, "SOURCES.md")); err != nil {
		t.Skipf("the corpus of example files is not here: %v", err)
	}
	return corpusList(t)
}

// corpusList is corpusFiles, with no files where there is no corpus.
func corpusList(t *testing.T) []file {
	t.Helper()
	list, err := os.ReadFile(filepath.Join(corpus, "SOURCES.md"))
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
		path, err := filepath.Abs(filepath.Join(corpus, dir, m[1]))
		if err != nil {
			t.Fatal(err)
		}
		f := file{path: path, valid: refused[m[1]] == 0}
		if s, ok := miscounted[m[1]]; ok {
			f.size = s
		} else if f.valid {
			var weight uint64
			if _, err := fmt.Sscanf(m[2], "P=%d T=%d A=%d w=%d m=%d", &f.size.Places, &f.size.Transitions, &f.size.Arcs, &weight, &f.size.Tokens); err != nil {
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

// validNets are the valid files of the corpus, if it is here, with at least one
// net, and the nets' ids.
func validNets(t *testing.T) (files []file, ids [][]string) {
	t.Helper()
	for _, f := range corpusList(t) {
		if !f.valid {
			continue
		}
		var of []string
		for _, n := range checked(t, pnagent(t, "check", "--json", f.path).out) {
			of = append(of, n.Net)
		}
		if len(of) > 0 {
			files, ids = append(files, f), append(ids, of)
		}
	}
	return files, ids
}

// checkedNet is a line of "check --json".
type checkedNet struct {
	Net string
	size
}

func checked(t *testing.T, out string) []checkedNet {
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

func TestCheckReadsEveryValidFileOfTheCorpusWithTheSizesOfItsList(t *testing.T) {
	t.Parallel()
	for _, f := range corpusFiles(t) {
		if !f.valid {
			continue
		}
		t.Run(filepath.Base(f.path), func(t *testing.T) {
			r := pnagent(t, "check", "--json", f.path)
			if r.code != 0 || r.err != "" {
				t.Fatalf("got exit code %d, stderr %q; want 0 and nothing", r.code, r.err)
			}
			var got size
			for _, n := range checked(t, r.out) {
				got.Places += n.Places
				got.Transitions += n.Transitions
				got.Arcs += n.Arcs
				got.Tokens += n.Tokens
			}
			if got != f.size {
				t.Errorf("check counts %+v, the list %+v", got, f.size)
			}
			text := pnagent(t, "check", f.path)
			if text.code != 0 || text.err != "" || !strings.Contains(text.out, f.path+": ") {
				t.Errorf("as text: got %+v; want exit code 0 and a line of the file", text)
			}
		})
	}
}

func TestCheckRefusesEveryBrokenFileOfTheCorpusWithLineAndReason(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range corpusFiles(t) {
		name := filepath.Base(f.path)
		seen[name] = true
		if f.valid {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := pnagent(t, "check", f.path)
			if r.code != 1 || r.out != "" {
				t.Errorf("got exit code %d, stdout %q; want 1 and nothing", r.code, r.out)
			}
			each := regexp.MustCompile(`^pnagent: ` + regexp.QuoteMeta(f.path) + `:(\d+):\d+: .{10,}\n$`)
			first := true
			for line := range strings.Lines(r.err) {
				m := each.FindStringSubmatch(line)
				if m == nil {
					t.Fatalf("stderr has %q, want file:line:column: reason", line)
				}
				if want := fmt.Sprint(refused[name]); first && m[1] != want {
					t.Errorf("the first fault is in line %s, want %s", m[1], want)
				}
				first = false
			}
			if first {
				t.Error("no reason is given")
			}
			// Its own time, however busy the machine is.
			if r.cpu > time.Second {
				t.Errorf("got %s of processor time; want at most 1 s", r.cpu)
			}
		})
	}
	for name := range refused {
		if !seen[name] {
			t.Errorf("%s is not in the corpus", name)
		}
	}
}

func TestCheckOfSeveralFilesReportsAllFaults(t *testing.T) {
	t.Parallel()
	var args, broken []string
	for _, f := range corpusFiles(t) {
		args = append(args, f.path)
		if !f.valid {
			broken = append(broken, f.path)
		}
	}
	r := pnagent(t, append([]string{"check", "--json"}, args...)...)
	if r.code != 1 {
		t.Errorf("got exit code %d; want 1", r.code)
	}
	for _, path := range broken {
		if !strings.Contains(r.err, "pnagent: "+path+":") {
			t.Errorf("nothing is said of %s", path)
		}
	}
	if n := len(checked(t, r.out)); n < len(args)-len(broken) {
		t.Errorf("%d nets are read of %d valid files", n, len(args)-len(broken))
	}
}

func TestCheckReadsStandardInput(t *testing.T) {
	t.Parallel()
	r := pnagentWith(t, stuckNet, "check", "-")
	if r.code != 0 || !strings.Contains(r.out, `net "claims": 4 places, 4 transitions, 7 arcs, 40 tokens`) {
		t.Errorf("got %+v; want exit code 0 and the sizes of claims", r)
	}
	wantFailure(t, pnagentWith(t, "<pnml><net", "check", "-"), 1, `stdin:1:7: the file ends`)
}

func TestCheckCompilesTheNamesOfWork(t *testing.T) {
	t.Parallel()
	const text = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="http://camunda.org/schema/zeebe/1.0"><process id="p"><startEvent id="s"/>
<sequenceFlow id="f" sourceRef="s" targetRef="c"/><callActivity id="c"><extensionElements><z:calledElement processId="=p."/></extensionElements></callActivity></process></definitions>`
	wantFailure(t, pnagentWith(t, text, "check", "-"), 1, `stdin:2:51: the work of transition "c": column 4: found the end; expected an expression`)
}
