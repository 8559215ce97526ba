// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sound

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/petritest"
)

// lola is LoLA 2 (K. Wolf, Petri Net Model Checking with LoLA 2, Petri Nets 2018), which the tests
// run for each formula.
type lola struct {
	path, dir string
	asked     int
}

// newLoLA returns the LoLA of the path, or skips the test: it is no package of a distribution.
func newLoLA(t *testing.T) *lola {
	t.Helper()
	path, err := exec.LookPath("lola")
	if err != nil {
		t.Skipf("%v: LoLA 2 is not installed; it is built from its sources, of theo.informatik.uni-rostock.de", err)
	}
	return &lola{path: path, dir: t.TempDir()}
}

// sides returns how many tokens each transition takes and puts, by place. The places
// become p0, p1, ….
func sides(n *petri.Net) (takes, puts []map[string]uint64) {
	places, transitions := map[string]string{}, map[string]int{}
	for i := range n.Places {
		places[n.Places[i].ID] = fmt.Sprint("p", i)
	}
	for i := range n.Transitions {
		transitions[n.Transitions[i].ID] = i
		takes, puts = append(takes, map[string]uint64{}), append(puts, map[string]uint64{})
	}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		if tr, in := transitions[a.Target]; in {
			takes[tr][places[a.Source]] += uint64(a.Weight)
		} else {
			puts[transitions[a.Source]][places[a.Target]] += uint64(a.Weight)
		}
	}
	return takes, puts
}

// terms returns a term for each place, in order.
func terms(tokens map[string]uint64, format string) (out []string) {
	for _, place := range slices.Sorted(maps.Keys(tokens)) {
		out = append(out, fmt.Sprintf(format, place, tokens[place]))
	}
	return out
}

// write writes a net, whose transitions become t0, t1, ….
func (l *lola) write(t *testing.T, n *petri.Net) {
	t.Helper()
	var b strings.Builder
	var places, marked []string
	for i := range n.Places {
		places = append(places, fmt.Sprint("p", i))
		if n.Places[i].Initial > 0 {
			marked = append(marked, fmt.Sprintf("p%d: %d", i, n.Places[i].Initial))
		}
	}
	fmt.Fprintf(&b, "PLACE %s;\nMARKING %s;\n", strings.Join(places, ", "), strings.Join(marked, ", "))
	takes, puts := sides(n)
	for i := range n.Transitions {
		fmt.Fprintf(&b, "TRANSITION t%d\nCONSUME %s;\nPRODUCE %s;\n", i, strings.Join(terms(takes[i], "%s: %d"), ", "), strings.Join(terms(puts[i], "%s: %d"), ", "))
	}
	if err := os.WriteFile(filepath.Join(l.dir, "net.lola"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// holds returns whether a formula holds in the net that was written.
func (l *lola) holds(t *testing.T, formula string, args ...any) bool {
	t.Helper()
	l.asked++
	formula, answer := fmt.Sprintf(formula, args...), filepath.Join(l.dir, "answer.json")
	cmd := exec.CommandContext(t.Context(), l.path, "net.lola", "--quiet", "--timelimit=60", "--json="+answer, "--formula="+formula)
	cmd.Dir = l.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %.500s", formula, err, out)
	}
	text, err := os.ReadFile(answer)
	if err != nil {
		t.Fatal(err)
	}
	var got struct { // of the release, and of later versions
		Analysis struct{ Result *bool }
		Result   struct{ Value *bool }
	}
	// LoLA writes a line break into a string.
	err = json.Unmarshal([]byte(strings.ReplaceAll(string(text), "\n", " ")), &got)
	result := cmp.Or(got.Analysis.Result, got.Result.Value)
	if err != nil || result == nil {
		t.Fatalf("%s: %v: no result in %s", formula, err, text)
	}
	return *result
}

// final returns the formulas for the one token in the sink, and for tokens besides.
func final(n *petri.Net, sink int) (is, more string) {
	var rest []string
	for p := range n.Places {
		if p != sink {
			rest = append(rest, fmt.Sprint("p", p))
		}
	}
	sum := strings.Join(rest, " + ")
	return fmt.Sprintf("p%d = 1 AND %s = 0", sink, sum), fmt.Sprintf("p%d > 1 OR p%d = 1 AND %s > 0", sink, sink, sum)
}

func TestLoLAFindsTheSame(t *testing.T) {
	l := newLoLA(t)
	counts := map[string]int{}
	compare := func(n *petri.Net) {
		n.Model, n.FinalMarkings = nil, nil
		tables := petritest.Compile(t, n)
		const most = 5000
		s, r := Judge(tables, explore.Options{Markings: most})
		if !playedByLoLA(tables) || len(n.Places) < 2 || len(n.Transitions) > 40 || !r.Complete {
			return // LoLA would not end, or plays another net
		}
		l.write(t, n)
		counts["nets"]++
		check := func(what string, ours, theirs bool) {
			counts[what]++
			if ours != theirs {
				t.Errorf("net %q: %s: %t; by LoLA: %t\n%+v", n.ID, what, ours, theirs, s)
			}
		}
		check("a dead marking", r.Deadlocks+r.Ends > 0, l.holds(t, "EF DEADLOCK"))
		dead, last := map[int]bool{}, map[int]bool{}
		for _, tr := range s.Dead {
			dead[tr] = true
		}
		for _, tr := range s.Last {
			last[tr] = true
		}
		takes, _ := sides(n)
		for tr := range n.Transitions {
			// Some versions of LoLA take a transition that is FIREABLE once for live.
			is := strings.Join(append([]string{"TRUE"}, terms(takes[tr], "%s >= %d")...), " AND ")
			check("a transition that fires", !dead[tr], l.holds(t, "EF (%s)", is))
			if s.Live != Inapplicable && !dead[tr] {
				check("a transition that fires again", !last[tr], l.holds(t, "AGEF (%s)", is))
			}
		}
		if sink := workflow(tables); sink >= 0 {
			end, more := final(n, sink)
			check("option to complete", s.Completes == Yes, l.holds(t, "AGEF (%s)", end))
			check("proper completion", s.Proper == Yes, !l.holds(t, "EF (%s)", more))
		}
	}
	for _, n := range corpusNets(t) {
		compare(n)
	}
	files := counts["nets"]
	for seed := range seeds.Of(40, 4000) {
		r := rand.New(rand.NewPCG(9, seed))
		compare(randomWorkflow(r))
		compare(randomRing(r))
	}
	t.Logf("%d nets of files, %d formulas: %v", files, l.asked, counts)
	if files < 10 || counts["a transition that fires again"] < 20 || counts["option to complete"] < 10 {
		t.Errorf("too little to compare: %d nets of files, %v", files, counts)
	}
}

// playedByLoLA reports whether a net has only what LoLA has: normal arcs of any weight. What Judge
// ignores does not count.
func playedByLoLA(t *petri.Tables) bool {
	for i := range t.Net.Arcs {
		if t.Net.Arcs[i].Kind != petri.Normal {
			return false
		}
	}
	for tr := range t.Transitions() {
		if t.Urgent(tr) {
			return false
		}
	}
	return true
}
