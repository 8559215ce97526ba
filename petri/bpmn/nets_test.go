// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/petritest"
)

// readFile reads a valid file.
func readFile(t *testing.T, path string) *File {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Read(r, filepath.Base(path), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// show formats a marking as the ids of its places, with counts above one.
func show(tables *petri.Tables, m []uint32) string {
	var parts []string
	for p, n := range m {
		switch id := tables.Net.Places[p].ID; {
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s×%d", id, n))
		case n == 1:
			parts = append(parts, id)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// seen is the result of a simple walk over all markings.
type seen struct {
	markings int
	most     uint32 // tokens in any place
	dead     []string
}

// walk visits every marking that can be reached without some transitions.
func walk(t *testing.T, tables *petri.Tables, without string) seen {
	t.Helper()
	known := map[string]bool{}
	todo := [][]uint32{slices.Clone(tables.Initial)}
	known[fmt.Sprint(tables.Initial)] = true
	var s seen
	for ; len(todo) > 0; todo = todo[1:] {
		if s.markings++; s.markings > 20_000 {
			t.Fatal("the walk does not end")
		}
		s.most = max(s.most, slices.Max(todo[0]))
		dead, first := true, len(catching(tables, todo[0])) > 0
		for tr := range tables.Transitions() {
			if slices.Contains(strings.Fields(without), tables.Net.Transitions[tr].ID) || first && tables.Net.Transitions[tr].Priority != petri.Urgent {
				continue
			}
			for _, next := range after(tables, todo[0], tr) {
				dead = false
				if key := fmt.Sprint(next); !known[key] {
					known[key] = true
					todo = append(todo, next)
				}
			}
		}
		if dead {
			s.dead = append(s.dead, show(tables, todo[0]))
		}
	}
	slices.Sort(s.dead)
	return s
}

// catching returns the enabled transitions that catch what was thrown, without guards:
// nothing else happens before these.
func catching(tables *petri.Tables, m []uint32) (out []int) {
	s := tables.NewState()
	for p, n := range m {
		s.Set(p, n)
	}
	for tr := range tables.Transitions() {
		if n := tables.Net.Transitions[tr]; n.Priority == petri.Urgent && n.Guard == "" && s.Enabled(tr) {
			out = append(out, tr)
		}
	}
	return out
}

// after returns the markings after a transition: one for each non-empty set of
// branches, none if the transition is not enabled.
func after(tables *petri.Tables, m []uint32, tr int) [][]uint32 {
	sets := uint64(1)
	if n := len(tables.Branches(tr)); n > 0 {
		sets = 1<<n - 1
	}
	fallback := uint64(0)
	for i, b := range tables.Branches(tr) {
		if b.Default {
			fallback = 1 << i
		}
	}
	var out [][]uint32
	for set := uint64(1); set <= sets; set++ {
		if set&fallback != 0 && set != fallback { // the default is taken if no other is
			continue
		}
		one := tables.NewState()
		for p, n := range m {
			one.Set(p, n)
		}
		if one.FireBranches(tr, set) == nil {
			out = append(out, slices.Clone(one.Marking()))
		}
	}
	return out
}

// Each file of testdata is one row of the table in docs/design/bpmn.md. Its net ends
// in the markings that BPMN prescribes, and in no others.
func TestNets(t *testing.T) {
	tests := []struct {
		file, rule string
		without    string // transitions that never fire here
		want       seen
	}{
		{"graph-x", "parallel gateways: the graph of the linear trace", "",
			seen{30, 1, []string{"k/end"}}},
		{"exclusive", "a split takes one flow, a merge passes each token on", "",
			seen{10, 1, []string{"e/end"}}},
		{"exclusive-bare", "a circle without conditions", "",
			seen{7, 1, []string{"e/end"}}},
		{"several-flows", "several outgoing flows split, several incoming merge; tokens are counted", "",
			seen{19, 4, []string{"e/end"}}},
		{"inclusive", "a split takes some flows or the default, a join waits for those", "",
			seen{14, 1, []string{"e/end"}}},
		{"complex", "2 of 3, then the third is taken away", "",
			seen{47, 3, []string{"e/end"}}},
		{"event-gateway", "the first event takes the token", "",
			seen{8, 1, []string{"e1/end", "e2/end", "e3/end"}}},
		{"conditional-flows", "conditions behind a task are an inclusive split", "",
			seen{15, 1, []string{"e/end"}}},
		{"sub-process", "a sub-process ends when its scope is empty", "",
			seen{27, 1, []string{"e/end"}}},
		{"terminate", "terminate empties its scope, and no other", "",
			seen{20, 1, []string{"e/end stop/end", "stop/end"}}},
		{"boundary-task", "one interrupts, a timer beside the task comes at most once", "asked",
			seen{17, 1, []string{"e/end", "e/end e2/end", "e1/end", "e1/end e2/end"}}},
		{"boundary-sub", "an interruption empties the scope and those inside", "",
			seen{32, 1, []string{"e/end", "e1/end"}}},
		{"error", "an error leads to the nearest event of its code, or of any", "",
			seen{34, 1, []string{"e/end", "failed/end"}}},
		{"error-uncaught", "an error that nothing catches ends the instance", "",
			seen{16, 1, []string{"bad/end", "bad/end e/end"}}},
		{"escalation", "an escalation goes on, or interrupts", "told",
			seen{25, 1, []string{"e/end e1/end", "e1/end e2/end", "e2/end"}}},
		{"event-sub-process", "an error begins it and empties what is around it", "logged",
			seen{14, 1, []string{"e/end"}}},
		{"event-sub-process-top", "a process stops waiting when nothing goes on", "",
			seen{24, 1, []string{"e/end event-sub-process-top/end", "event-sub-process-top/end"}}},
		{"link", "several links lead to one place", "",
			seen{15, 2, []string{"e/end×2"}}},
		{"call", "a process of the file runs inside, once for each call", "",
			seen{14, 1, []string{"e/end"}}},
		{"tasks", "tasks of every kind", "",
			seen{12, 1, []string{"e/end"}}},
	}
	for _, tt := range tests {
		t.Run(tt.file+": "+tt.rule, func(t *testing.T) {
			tables := petritest.Compile(t, readFile(t, filepath.Join("testdata", tt.file+".bpmn")).Nets[0])
			got := walk(t, tables, tt.without)
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(seen{})); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if tt.without != "" {
				return // explore leaves out no transition
			}
			if r := explore.Visit(tables, 20_000); r.Markings != got.markings || r.Deadlocks+r.Ends != len(got.dead) || !r.Complete {
				t.Errorf("explore finds %d markings, %d of them dead, complete %t", r.Markings, r.Deadlocks+r.Ends, r.Complete)
			}
		})
	}
}

// A condition that holds ends the task before anything else happens, and one that does not
// hold lets the task continue: no visit finds a task that is done although its event has occurred.
func TestAVisitOfConditionalEventsFindsNoDeadlock(t *testing.T) {
	for name, body := range map[string]string{
		"alone": `<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="u"/>`,
		"beside another branch": `<startEvent id="s"/><parallelGateway id="p"/><userTask id="w"/><sequenceFlow id="f0" sourceRef="s" targetRef="p"/>
			<sequenceFlow id="f" sourceRef="p" targetRef="u"/><sequenceFlow id="g" sourceRef="p" targetRef="w"/>`,
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Read(strings.NewReader(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="P" isExecutable="true">`+body+
				`<userTask id="u"/><userTask id="h"/><boundaryEvent id="b" attachedToRef="u"><conditionalEventDefinition><condition>${k > 5}</condition></conditionalEventDefinition></boundaryEvent>
				<sequenceFlow id="bh" sourceRef="b" targetRef="h"/></process></definitions>`), "f", Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r := explore.Visit(petritest.Compile(t, f.Nets[0]), 1000)
			if !r.Complete || r.Deadlocks != 0 || r.Ends != 2 {
				t.Errorf("complete %t, %d deadlocks, %d ends; want 2 ends: with and without the event", r.Complete, r.Deadlocks, r.Ends)
			}
		})
	}
}
