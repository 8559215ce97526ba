// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A scenario is a test of a suite, in own words.
//
// In a file of scenarios a line is a step, # begins a comment, and these lines
// say what follows:
//
//	suite NAME FOLDER       the repository, and the folder of its BPMN files
//	case CLASS.METHOD       a scenario begins. Its file is FOLDER/CLASS.METHOD.bpmn20.xml, or .bpmn,
//	file PATH…              or those at these paths, beside CLASS
//	hold ID…                work that a user completes or fails, instead of firing at once
//
// These lines act. JSON is an object of variables, and may be absent:
//
//	start [PROCESS] [JSON]  begin an instance of the first process of the file, or of that one
//	complete ID [JSON]      complete the activity that has waited longest; ID*N for N times
//	fail ID CODE [JSON]     fail the activity with an error of BPMN
//	occur ID [JSON]         let an event occur at the element that catches it
//	message NAME [JSON]     send a message to the one that waits for it
//	signal NAME [JSON]      send a signal to all
//	advance DURATION        let time pass
//	delete                  leave the instances so far out of account
//
// These lines expect:
//
//	at ID…                  exactly these activities and intermediate events wait, in all
//	                        instances together; ID*N for N times
//	armed ID…               exactly these boundary and start events wait
//	reads ID EXPRESSION     this holds for the variables of a token that waits for the activity
//	running N               N instances have not ended
//	ended                   no token is left but at ends
//	incident                a transition has failed, or waits for a user after a mistake,
//	                        such as a split without a flow to take
//	unawaited NAME          nothing waits for a message of this name
//	refused                 pnagent refuses the file, as the suite's engine does
type scenario struct {
	suite string
	name  string   // CLASS.METHOD
	files []string // paths inside the repository
	hold  []string
	at    string // file:line of its case line
	steps []step
}

// step is one line of a scenario.
type step struct {
	line int
	verb string
	args []string
	vars string // JSON, or ""
}

func (s *step) String() string {
	return strings.TrimSpace(s.verb + " " + strings.Join(s.args, " ") + " " + s.vars)
}

// scenarios reads all files of scenarios.
func scenarios(t *testing.T) []*scenario {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("got no scenarios, %v; want some", err)
	}
	var all []*scenario
	known := map[string]bool{}
	for _, name := range names {
		found, err := readScenarios(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if key := s.suite + " " + s.name; known[key] {
				t.Errorf("%s: got a second scenario of %s; want one", s.at, s.name)
			} else {
				known[key] = true
			}
		}
		all = append(all, found...)
	}
	return all
}

// verbs are the steps of a scenario, with the least and the most arguments.
var verbs = map[string][2]int{
	"start": {0, 1}, "complete": {1, 1}, "fail": {2, 2}, "occur": {1, 1}, "message": {1, 9}, "signal": {1, 9}, "advance": {1, 1}, "delete": {0, 0},
	"at": {0, 99}, "armed": {0, 99}, "running": {1, 1}, "ended": {0, 0}, "incident": {0, 0}, "unawaited": {1, 9}, "reads": {2, 9}, "refused": {0, 0},
}

func readScenarios(name string) ([]*scenario, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []*scenario
	var suite, folder string
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		text, vars, isJSON := strings.Cut(text, "{")
		words := strings.Fields(text)
		if isJSON {
			vars = "{" + strings.TrimSpace(vars)
		}
		if len(words) == 0 {
			continue
		}
		verb, args := words[0], words[1:]
		bounds, isStep := verbs[verb]
		switch {
		case verb == "suite" && len(args) == 2:
			suite, folder = args[0], args[1]
		case verb == "case" && len(args) == 1 && suite != "":
			all = append(all, &scenario{suite: suite, name: args[0], at: fmt.Sprintf("%s:%d", name, n),
				files: []string{path.Join(folder, args[0])}})
		case len(all) == 0:
			return nil, fmt.Errorf("%s:%d: found %q; expected a suite and a case first", name, n, verb)
		case verb == "file" && len(args) > 0:
			s := all[len(all)-1]
			for i, a := range args {
				args[i] = path.Join(folder, path.Dir(s.name), a)
			}
			s.files = args
		case verb == "hold" && len(args) > 0:
			all[len(all)-1].hold = args
		case isStep && len(args) >= bounds[0] && len(args) <= bounds[1]:
			s := all[len(all)-1]
			s.steps = append(s.steps, step{line: n, verb: verb, args: args, vars: vars})
		default:
			return nil, fmt.Errorf("%s:%d: found %q with %d arguments; expected a line that the language has", name, n, verb, len(args))
		}
	}
	return all, lines.Err()
}

// tally parses a list of ids, ID or ID*N.
func tally(ids []string) (map[string]int, error) {
	out := map[string]int{}
	for _, id := range ids {
		n := 1
		if name, times, ok := strings.Cut(id, "*"); ok {
			if _, err := fmt.Sscan(times, &n); err != nil || n < 1 {
				return nil, fmt.Errorf("found %q; expected a number from 1 after *", id)
			}
			id = name
		}
		out[id] += n
	}
	return out, nil
}

// list is the inverse of tally.
func list(m map[string]int) string {
	var out []string
	for id, n := range m {
		if n > 1 {
			id = fmt.Sprintf("%s*%d", id, n)
		}
		out = append(out, id)
	}
	if len(out) == 0 {
		return "nothing"
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// lasts reports whether a step lets more time than d pass.
func (s *scenario) lasts(d time.Duration) bool {
	return slices.ContainsFunc(s.steps, func(step step) bool {
		passes, err := time.ParseDuration(strings.Join(step.args, ""))
		return step.verb == "advance" && err == nil && passes > d
	})
}
