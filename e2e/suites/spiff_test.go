// SPDX-License-Identifier: Apache-2.0

//go:build peers

package suites

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/cachetest"
)

// playedBySpiff is a process that SpiffWorkflow has played, as testdata/spiff.py prints it.
type playedBySpiff struct {
	Files   []string
	Process string
	Error   string // why it did not play it further, or ""
	Steps   []struct {
		Complete string          // a task that ended
		Data     json.RawMessage // then
		At       map[string]int  // what waits, where only a user can continue and at the end
		Ended    *bool           // at the end
	}
}

// scenario returns what SpiffWorkflow has done as a scenario: the same tasks end in the same
// order, with the same data, and the same waits.
func (s *playedBySpiff) scenario() *scenario {
	out := &scenario{suite: "SpiffWorkflow", name: s.Process, files: s.Files, at: s.Files[0], steps: []step{{verb: "start", args: []string{s.Process}}}}
	for i := range s.Steps {
		next := &s.Steps[i]
		out.hold = slices.AppendSeq(append(out.hold, next.Complete), maps.Keys(next.At))
		switch {
		case next.Complete != "":
			out.steps = append(out.steps, step{line: i, verb: "complete", args: []string{next.Complete}, vars: string(next.Data)})
		case next.Ended != nil && *next.Ended:
			out.steps = append(out.steps, step{line: i, verb: "ended"})
		default:
			at := step{line: i, verb: "at"}
			for id, n := range next.At {
				at.args = append(at.args, fmt.Sprintf("%s*%d", id, n))
			}
			out.steps = append(out.steps, at)
		}
	}
	return out
}

// passesJoins are the processes in which SpiffWorkflow passes a parallel gateway though no token
// comes along one of its flows: by BPMN 2.0.2, 10.6.4, it waits for one along each.
var passesJoins = map[string]bool{"tests/SpiffWorkflow/bpmn/data/gateway_loop_input.bpmn": true}

// The processes of SpiffWorkflow's own tests come to where SpiffWorkflow comes, task by task, or
// are refused. A process that SpiffWorkflow does not play to its end, because its scripts need data
// that its tests give, is compared as far as it does.
func TestProcessesOfSpiffWorkflow(t *testing.T) {
	dir := suitesDir(t)
	needs(t, dir, "SpiffWorkflow")
	cmd := exec.CommandContext(t.Context(), spiffWorkflow(t), filepath.Join("testdata", "spiff.py"), filepath.Join(dir, "SpiffWorkflow"))
	var failed bytes.Buffer
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, failed.String())
	}
	var all []playedBySpiff
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	rs, alone := results{}, 0
	for i := range all {
		s := &all[i]
		if s.Error != "" && len(s.Steps) == 0 {
			alone++
			t.Logf("%s %s: %s", s.Files[0], s.Process, s.Error)
			continue
		}
		if passesJoins[s.Files[0]] {
			continue
		}
		suite := "SpiffWorkflow"
		if s.Error != "" {
			suite = "SpiffWorkflow (in part)"
		}
		t.Run(s.Files[0]+" "+s.Process, func(t *testing.T) {
			err := play(t, s.scenario(), dir, whole)
			rs.count(suite, err)
			switch {
			case err == nil:
			case errors.Is(err, errRefused), errors.Is(err, errWarned):
				t.Log(err)
			default:
				t.Error(err)
			}
		})
	}
	rs.print(os.Stdout, "processes", dir)
	t.Logf("%d processes, of which SpiffWorkflow plays %d without data that its tests give", len(all), len(all)-alone)
	if len(all)-alone < 50 {
		t.Errorf("SpiffWorkflow played %d processes of %d; expected 50 or more", len(all)-alone, len(all))
	}
}

// spiffWorkflow returns a Python with SpiffWorkflow, or skips the test.
func spiffWorkflow(t *testing.T) string {
	t.Helper()
	packages := []string{"lxml==6.0.2", "SpiffWorkflow==3.1.0"}
	return filepath.Join(cachetest.Dir(t, "spiff-", []byte(strings.Join(packages, " ")), func(dir string) error {
		python := filepath.Join(dir, "bin", "python")
		for _, args := range [][]string{{"python3", "-m", "venv", "--clear", dir}, append([]string{python, "-m", "pip", "install", "-q", "--no-deps"}, packages...)} {
			if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %w: %.500s", args, err, out)
			}
		}
		return nil
	}), "bin", "python")
}
