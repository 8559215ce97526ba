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
func (s *playedBySpiff) scenario(suite string) *scenario {
	out := &scenario{suite: suite, name: s.Process, files: s.Files, at: s.Files[0], steps: []step{{verb: "start", args: []string{s.Process}}}}
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

// differs are the files in which SpiffWorkflow does other than BPMN 2.0.2 says, and how.
var differs = map[string]string{
	"tests/SpiffWorkflow/bpmn/data/gateway_loop_input.bpmn": "it passes a parallel gateway though no token comes along one of its flows; by 10.6.4 that waits for one along each",
}

// The processes of SpiffWorkflow's own tests come to where SpiffWorkflow comes, task by task, or
// are refused. So do those of other projects that have no expressions: SpiffWorkflow has those of Python.
// A process that SpiffWorkflow does not play to its end, for example because its scripts need data
// that its tests give, is compared as far as it does.
func TestProcessesOfSpiffWorkflow(t *testing.T) {
	dir := suitesDir(t)
	needs(t, dir, "SpiffWorkflow")
	rs, most := results{}, map[string]int{"SpiffWorkflow": 90, "flowable-engine": 900}
	for _, suite := range []string{"SpiffWorkflow", "Activiti", "bpmn-miwg-test-suite", "camunda-bpm-platform", "flowable-engine", "incubator-kie-kogito-runtimes", "jbpm", "zeebe"} {
		if _, err := os.Stat(filepath.Join(dir, suite)); err != nil {
			t.Logf("%s is not there: %v", suite, err)
			continue
		}
		played := playedWith(t, dir, suite, rs)
		if played < most[suite] {
			t.Errorf("SpiffWorkflow played %d processes of %s; expected %d or more", played, suite, most[suite])
		}
	}
	rs.print(os.Stdout, "processes", dir)
}

// playedWith compares the processes of a suite, and returns how many SpiffWorkflow has played.
func playedWith(t *testing.T, dir, suite string, rs results) (played int) {
	cmd := exec.CommandContext(t.Context(), spiffWorkflow(t), filepath.Join("testdata", "spiff.py"), filepath.Join(dir, suite))
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
	for i := range all {
		s := &all[i]
		if s.Error != "" && len(s.Steps) == 0 {
			t.Logf("%s %s: %s", s.Files[0], s.Process, s.Error)
			continue
		}
		if differs[s.Files[0]] != "" {
			continue
		}
		played++
		name := suite
		if s.Error != "" {
			name += " (in part)"
		}
		t.Run(suite+" "+s.Files[0]+" "+s.Process, func(t *testing.T) {
			err := play(t, s.scenario(suite), dir, whole)
			rs.count(name, err)
			switch {
			case err == nil:
			case errors.Is(err, errRefused), errors.Is(err, errWarned):
				t.Log(err)
			default:
				t.Error(err)
			}
		})
	}
	t.Logf("%s: SpiffWorkflow plays %d of %d processes", suite, played, len(all))
	return played
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
