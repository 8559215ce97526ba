// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sound

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/netfile"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/pnml"
)

// woflan prints, by file of a directory, whether pm4py's version of WOFLAN finds the net sound;
// or its error.
const woflan = `
import contextlib, glob, io, json, os, sys
sys.stdout, out = io.StringIO(), sys.stdout
from pm4py.objects.petri_net.importer import importer
from pm4py.objects.petri_net.obj import Marking
from pm4py.algo.analysis.woflan import algorithm
answers = {}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.pnml"))):
    net, initial, _ = importer.apply(path)
    final = Marking({p: 1 for p in net.places if not p.out_arcs})
    try:
        answers[os.path.basename(path)] = algorithm.apply(net, initial, final, parameters={"print_diagnostics": False, "return_asap_when_not_sound": True})
    except Exception as e:
        answers[os.path.basename(path)] = type(e).__name__
json.dump(answers, out)
`

// corpusNets returns the nets of files from real tools, beside the project, and of its examples.
func corpusNets(t *testing.T) (nets []*petri.Net) {
	for _, pattern := range []string{"../../../shared/corpus/pnml/*", "../../../shared/corpus/bpmn/*", "../../examples/*.pnml", "../../examples/*.bpmn", "../bpmn/testdata/*.bpmn"} {
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
			if err == nil { // the corpus has files that must be refused
				nets = append(nets, file.Nets...)
			}
		}
	}
	return nets
}

// plain reports whether a net has only what WOFLAN is for: normal arcs of weight 1.
func plain(n *petri.Net) bool {
	for i := range n.Arcs {
		if n.Arcs[i].Kind != petri.Normal || n.Arcs[i].Weight != 1 {
			return false
		}
	}
	return true
}

func TestWOFLANFindsTheSameNetsSound(t *testing.T) {
	pm4py := cachetest.Pip(t, "python3", "pm4py==2.7.23.11")
	dir := t.TempDir()
	ours := map[string]Verdict{}
	put := func(n *petri.Net) {
		n.Model, n.FinalMarkings = nil, nil
		tables := petritest.Compile(t, n)
		if workflow(tables) < 0 || !plain(n) {
			return
		}
		name := strconv.Itoa(len(ours)) + ".pnml"
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := pnml.Write(f, n); err != nil {
			t.Fatal(err)
		}
		s, _ := Judge(tables, explore.Options{Markings: 1000})
		ours[name] = s.Sound()
	}
	for _, n := range corpusNets(t) {
		put(n)
	}
	corpus := len(ours)
	for seed := range seeds.Of(4000, 40_000) {
		put(randomWorkflow(rand.New(rand.NewPCG(7, seed))))
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", woflan, dir)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+pm4py)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%.3000s", err, failed.String())
	}
	theirs := map[string]any{}
	if err := json.Unmarshal(out, &theirs); err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	counts := map[string]int{}
	for name, our := range ours {
		their, is := theirs[name].(bool)
		counts[string(our)]++
		if !is {
			counts["failed"]++
			t.Logf("%s: pm4py fails: %v; ours %s", name, theirs[name], our)
			continue
		}
		if our != verdict(true, their) {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			t.Errorf("%s: sound: %s; by pm4py: %v\n%s", name, our, their, text)
		}
	}
	t.Logf("%d nets, %d of them files: %v", len(ours), corpus, counts)
	if len(ours) < 100 || counts["yes"] < 10 || counts["failed"] > len(ours)/20 {
		t.Errorf("too few nets to compare: %v of %d", counts, len(ours))
	}
}
