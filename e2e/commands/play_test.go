// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/pnml"
)

// answer is a line that play prints: where the tokens are and what is enabled,
// or why a command was refused.
type answer struct {
	Marking map[string]uint64
	Enabled []string
	Error   string
}

// play plays a net and returns an answer for the beginning and each command.
func play(t *testing.T, net string, commands []string) (answers []answer, code int) {
	t.Helper()
	in := ""
	for _, c := range commands {
		in += c + "\n"
	}
	r := kit.PnagentWith(t, in, "play", net)
	for line := range strings.Lines(r.Out) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("play answers %q: %v", line, err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(commands)+1 {
		t.Fatalf("%d answers to %d commands; stderr: %s", len(answers), len(commands), r.Err)
	}
	return answers, r.Code
}

// script reads a test script of Perpetuum: markings and the actions that they
// allow, in turns.
func script(t *testing.T, path string) []answer {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("the corpus of example files is not here: %v", err)
	}
	body := regexp.MustCompile(`(?m)^%.*$`).ReplaceAllString(string(text), "")
	var steps []answer
	for _, m := range regexp.MustCompile(`#\{([^}]*)\},\s*\[([^]]*)\]`).FindAllStringSubmatch(body, -1) {
		step := answer{Marking: map[string]uint64{}}
		for _, entry := range strings.Split(m[1], ",") {
			place, count, ok := strings.Cut(strings.TrimSpace(entry), "=>")
			n, err := strconv.ParseUint(count, 10, 32)
			if !ok || err != nil {
				t.Fatalf("%s: %q is no place=>n", path, entry)
			}
			step.Marking[place] = n
		}
		for _, action := range strings.Split(m[2], ",") {
			step.Enabled = append(step.Enabled, strings.TrimSpace(action))
		}
		steps = append(steps, step)
	}
	if len(steps) != 20 {
		t.Fatalf("%s: %d steps, want 20", path, len(steps))
	}
	return steps
}

func TestPlayFollowsTheTrafficLightsScriptStepByStep(t *testing.T) {
	t.Parallel()
	net := filepath.Join(kit.Corpus, "pnml", "perpetuum_traffic_light_nightly")
	want := script(t, net+".test")
	var commands []string
	for i := range want {
		commands = append(commands, "fire "+want[i].Enabled[0])
		slices.Sort(want[i].Enabled)
	}
	commands = commands[:len(commands)-1] // what the last one leads to the script does not say
	got, code := play(t, net+".pnml", commands)
	if diff := cmp.Diff(want, got); diff != "" || code != 0 {
		t.Errorf("got exit code %d, -script +play\n%s", code, diff)
	}
}

// walker plays a net by the reference, in random steps, and notes what it did.
type walker struct {
	*petritest.Reference
	random   *rand.Rand
	commands []string
	want     []answer
	refused  int
}

func (w *walker) state() answer {
	a := answer{Marking: map[string]uint64{}, Enabled: []string{}}
	for p, n := range w.Marking {
		if n > 0 {
			a.Marking[p] = n
		}
	}
	for _, tr := range w.Net.Transitions {
		if w.Enabled(tr.ID) {
			a.Enabled = append(a.Enabled, tr.ID)
		}
	}
	slices.Sort(a.Enabled)
	return a
}

// step fires something, mostly what is enabled, or injects tokens.
func (w *walker) step() {
	ok := true
	switch k := w.random.IntN(10); {
	case k < 2 && len(w.Net.Places) > 0:
		p, n := w.Net.Places[w.random.IntN(len(w.Net.Places))].ID, w.random.Uint64N(4)
		if w.random.IntN(50) == 0 {
			n = math.MaxUint32
		}
		w.commands = append(w.commands, fmt.Sprintf("inject %d %s", n, p))
		ok = w.Marking[p]+n <= math.MaxUint32
		if ok {
			w.Marking[p] += n
		}
	case k < 9 && len(w.Net.Transitions) > 0:
		id := w.Net.Transitions[w.random.IntN(len(w.Net.Transitions))].ID
		if enabled := w.state().Enabled; len(enabled) > 0 && k < 8 {
			id = enabled[w.random.IntN(len(enabled))]
		}
		w.commands = append(w.commands, "fire "+id)
		ok = w.Fire(id)
	default:
		w.commands = append(w.commands, "state")
	}
	if ok {
		w.want = append(w.want, w.state())
	} else {
		w.want, w.refused = append(w.want, answer{Error: "some reason"}), w.refused+1
	}
}

// agree plays the walk in the binary.
func (w *walker) agree(t *testing.T, net string, steps int) {
	t.Helper()
	w.want = []answer{w.state()}
	for range steps {
		w.step()
	}
	got, code := play(t, net, w.commands)
	for i := range got {
		if got[i].Error != "" {
			got[i].Error = "some reason"
		}
	}
	for i := range got {
		if diff := cmp.Diff(w.want[i], got[i]); diff != "" {
			t.Fatalf("after %q -reference +play\n%s", w.commands[:i], diff)
		}
	}
	if (code == 1) != (w.refused > 0) || code > 1 {
		t.Errorf("got exit code %d after %d refused commands", code, w.refused)
	}
}

func readFirst(t *testing.T, path string) *petri.Net {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	nets, err := pnml.Read(f, path, pnml.DefaultLimits())
	if err != nil || len(nets.Nets) == 0 {
		t.Fatalf("%s: got %v, %d nets; want at least one", path, err, len(nets.Nets))
	}
	return nets.Nets[0]
}

func TestPlayAgreesWithTheReferenceOnRandomWalksOfEveryExample(t *testing.T) {
	t.Parallel()
	for _, path := range kit.Examples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { walkRandomly(t, path) })
	}
}

func TestPlayAgreesWithTheReferenceOnRandomWalksOfEveryNetOfTheCorpus(t *testing.T) {
	t.Parallel()
	kit.CorpusFiles(t)
	files, _ := kit.ValidNets(t)
	for _, f := range files {
		t.Run(filepath.Base(f.Path), func(t *testing.T) { walkRandomly(t, f.Path) })
	}
}

// walkRandomly walks 200 steps from the initial marking, the same ones each time.
func walkRandomly(t *testing.T, path string) {
	t.Helper()
	seed := fnv.New64a()
	seed.Write([]byte(filepath.Base(path)))
	w := &walker{Reference: petritest.NewReference(readFirst(t, path)), random: rand.New(rand.NewPCG(seed.Sum64(), 1))}
	w.agree(t, path, 200)
}

func TestPlayTakesIdsWithAnyCharacter(t *testing.T) {
	t.Parallel()
	n := kit.OddNet()
	w := &walker{Reference: petritest.NewReference(n), random: rand.New(rand.NewPCG(1, 2))}
	w.agree(t, kit.WriteNet(t, n), 300)
}

//promise:refused hostile
func TestPlayRefusesWithAReasonAndChangesNothing(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	commands := []string{"state", "fire ask", "fire nothing", "inject x inbox", "inject -1 inbox", "inject 1 nowhere", "inject 4294967295 inbox", "dance", "state now", "fire", "state"}
	got, code := play(t, net, commands)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for i, why := range []string{"", "review.* holds 0 of 1", `no transition "nothing"`, "expected a number", "expected a number", `no place "nowhere"`,
		"inbox", "unknown command", "state takes nothing", "no transition", ""} {
		a := got[i+1]
		if (why == "") != (a.Error == "") || kit.Submatch(a.Error, why) == nil {
			t.Errorf("%q is answered with %+v, want %q", commands[i], a, why)
		}
	}
	if diff := cmp.Diff(got[0], got[len(got)-1]); diff != "" {
		t.Error(diff)
	}
}
