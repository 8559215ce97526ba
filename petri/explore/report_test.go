// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// ends returns a net with a token in a, which ends in b; and, if stuck, may instead reach
// c, from which a transition takes tokens two by two.
func ends(stuck bool) *petri.Net {
	n := &petri.Net{ID: "n", Places: []petri.Place{{ID: "a", Initial: 1}, {ID: "b"}, {ID: "c"}}, Transitions: []petri.Transition{{ID: "t"}, {ID: "u"}},
		Arcs: []petri.Arc{{Source: "a", Target: "t", Weight: 1}, {Source: "t", Target: "b", Weight: 1}, {Source: "c", Target: "u", Weight: 2}}}
	if stuck {
		n.Transitions = append(n.Transitions, petri.Transition{ID: "v"})
		n.Arcs = append(n.Arcs, petri.Arc{Source: "a", Target: "v", Weight: 1}, petri.Arc{Source: "v", Target: "c", Weight: 1})
	}
	return n
}

func TestReportsNameElementsAndHaveASentence(t *testing.T) {
	initial := ends(false)
	initial.Places[0].Initial, initial.Places[2].Initial = 0, 1
	for _, c := range []struct {
		name                                   string
		net                                    *petri.Net
		most                                   int
		sentence, document, search, searchJSON string
	}{
		{"an end", ends(false), 9,
			"2 markings visited, all that can be reached; 1 proper end (tokens only in final places) and no deadlock",
			`{"net":"n","markings":2,"complete":true,"deadlocks":0,"ends":1,"bounds":{"a":1,"b":1,"c":0}}`,
			"2 markings visited, which are enough to find every deadlock; 1 proper end (tokens only in final places) and no deadlock",
			`{"net":"n","markings":2,"reduced":true,"complete":true,"deadlocks":0,"ends":1}`},
		{"a deadlock", ends(true), 9,
			`3 markings visited, all that can be reached; 1 proper end (tokens only in final places) and 1 deadlock; a shortest way to one: ["v"]`,
			`{"net":"n","markings":3,"complete":true,"deadlocks":1,"ends":1,"bounds":{"a":1,"b":1,"c":1},"path":["v"],"dead":{"c":1}}`,
			`3 markings visited, which are enough to find every deadlock; 1 proper end (tokens only in final places) and 1 deadlock; a shortest way to one: ["v"]`,
			`{"net":"n","markings":3,"reduced":true,"complete":true,"deadlocks":1,"ends":1,"path":["v"],"dead":{"c":1}}`},
		{"the initial marking", initial, 9,
			"1 marking visited, all that can be reached; no proper end and 1 deadlock; the initial marking is a deadlock",
			`{"net":"n","markings":1,"complete":true,"deadlocks":1,"ends":0,"bounds":{"a":0,"b":0,"c":1},"dead":{"c":1}}`,
			"1 marking visited, which are enough to find every deadlock; no proper end and 1 deadlock; the initial marking is a deadlock",
			`{"net":"n","markings":1,"reduced":true,"complete":true,"deadlocks":1,"ends":0,"dead":{"c":1}}`},
		{"too many markings", rings(2, 3), 2,
			"2 markings visited, not all that can be reached; no proper end and no deadlock among them", "",
			"2 markings visited, not all that are needed to find every deadlock; no proper end and no deadlock among them", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := petritest.Compile(t, c.net)
			r := Explore(net, Options{Markings: c.most})
			report := ReportOf(net, &r)
			check(t, report.Sentence(), c.sentence, report, c.document)
			r = Explore(net, Options{Markings: c.most, Reduce: true})
			search := DeadlocksOf(net, &r)
			check(t, search.Sentence(), c.search, search, c.searchJSON)
		})
	}
}

func check(t *testing.T, sentence, want string, document any, wantJSON string) {
	t.Helper()
	if sentence != want {
		t.Errorf("%s\nwant %s", sentence, want)
	}
	if text, err := json.Marshal(document); err != nil || wantJSON != "" && string(text) != wantJSON {
		t.Errorf("%s, %v\nwant %s", text, err, wantJSON)
	}
}

func TestConservedSumsNamePlaces(t *testing.T) {
	got, err := json.Marshal(ConservedIn(petritest.Compile(t, rings(1, 2))))
	if want := `[{"weights":{"p0.0":1,"p0.1":1},"sum":1}]`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestProgressOfAVisit(t *testing.T) {
	var out strings.Builder
	now := time.Unix(1000, 0)
	p := Progress{Out: &out, Net: "n", End: "\n", Every: time.Hour, Now: func() time.Time { return now }}
	p.Print(0, 1)
	now = now.Add(2 * time.Hour)
	p.Print(7200, 8000)
	p.Print(7201, 8001)
	p.Clear()
	if want := "net \"n\": 7200 markings visited, 800 waiting, 1 a second\n"; out.String() != want {
		t.Errorf("%q; want %q", out.String(), want)
	}
	p.Begin = "\r"
	p.Clear()
	if !strings.HasSuffix(out.String(), "\n\r") {
		t.Errorf("%q is not cleared", out.String())
	}
}
