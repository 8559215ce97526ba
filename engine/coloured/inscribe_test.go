// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// inscribe declares the data of the arc between two nodes.
func inscribe(n *petri.Net, arc string) *petri.Net {
	for k := range n.Arcs {
		if a := &n.Arcs[k]; a.Source+">"+a.Target == arc || a.Source+"/"+a.Target == arc {
			a.Data = "its data"
		}
	}
	return n
}

// says returns an inscription with a value; it names the tokens for each %s.
func says(value string) Inscription {
	return func(tokens []Placed, _ int64) []byte {
		var all []string
		for _, p := range tokens {
			all = append(all, string(p.Token.Data))
		}
		return []byte(strings.ReplaceAll(value, "%s", strings.Join(all, " ")))
	}
}

// The value of an arc's expression is the data of its tokens. It sees what the transition takes
// and reads, by place; what other arcs put carries the data of what was taken.
func TestAnArcGivesItsTokensData(t *testing.T) {
	n := inscribe(build("p q out other", "t", "p>t q~t t>out*2 t>other"), "t>out")
	w := newWorld(t, n, Binding{Data: []Inscription{says("[%s]")}})
	w.inject("q", "read")
	w.inject("p", "taken")
	w.want("q: read; out: [taken read] [taken read]; other: taken")
}

// A token that comes back to its place with data of the arc is a new one.
func TestATokenThatGetsDataIsANewOne(t *testing.T) {
	n := inscribe(build("count p", "t", "p>t count>t t>count"), "t>count")
	w := newWorld(t, n, Binding{Data: []Inscription{says("%s+")}})
	w.inject("count", "0")
	w.inject("p", "a", "b")
	w.want("count: 0 a+ b+")
	if id := w.s.Tokens(0, 1)[0].Token.ID; id != 5 {
		t.Errorf("it has the identity %d", id)
	}
}

// A branch that is not taken has no data.
func TestABranchThatIsTakenHasData(t *testing.T) {
	n := inscribe(inscribe(build("p a b", "t", `p>t t/a t\b`), "t/a"), `t/b`)
	n.Arcs[2].Data = "its data"
	no := func([]Placed, int64) Verdict { return Verdict{WaitsFor: -1} }
	w := newWorld(t, n, Binding{Branches: []Guard{no, nil}, Data: []Inscription{func([]Placed, int64) []byte { panic("asked") }, says("<%s>")}})
	w.inject("p", "x")
	w.want("b: <x>")
}

// The result of an action, or of a call, is what an expression sees of the tokens that were taken.
func TestDataSeesTheResultOfAnAction(t *testing.T) {
	n := inscribe(build("p q out", "t", "p>t q~t t>out"), "t>out")
	w := newWorld(t, n, Binding{Action: true, Data: []Inscription{says("%s")}})
	w.inject("q", "read")
	w.inject("p", "taken")
	w.done(w.started().Run, Outcome{Data: []byte("result")})
	w.want("q: read; out: result read")
	w = newWorld(t, n, Binding{Mode: manual.Mode, Data: []Inscription{says("%s")}})
	w.inject("q", "read")
	w.inject("p", "taken")
	if err := w.fire(0, "call"); err != nil {
		t.Fatal(err)
	}
	w.want("q: read; out: call read")
}

// What cannot be data is a failure of the transition, and an incident after its last attempt.
func TestAnExpressionThatFailsIsAFailure(t *testing.T) {
	for rule, what := range map[string]Inscription{
		"it panics":                 func([]Placed, int64) []byte { panic("no such field") },
		"it is larger than a token": says(`["` + strings.Repeat("x", MaxData) + `"]`),
	} {
		t.Run(rule, func(t *testing.T) {
			n := inscribe(build("p out", "t", "p>t t>out"), "t>out")
			w := newWorld(t, n, Binding{Data: []Inscription{what}, Retry: Retry{Attempts: 1}})
			w.inject("p", "a")
			w.want("p: a")
			w.waitsFor("p", "t incident")
			if r := rowsOf(w.s, w.now).Transitions[0]; r.Failures != 1 || r.Firings != 0 {
				t.Errorf("%+v", r)
			}
			if err := w.fire(0, ""); !errors.Is(err, petri.ErrNotEnabled) || !strings.Contains(err.Error(), `the data of the arc to place "out"`) {
				t.Errorf("fired: %v", err)
			}
			act := newWorld(t, n, Binding{Action: true, Data: []Inscription{what}, Retry: Retry{Attempts: 1}})
			act.inject("p", "a")
			act.doneErr(act.started().Run, Outcome{}, ErrOutcome)
			act.waitsFor("p", "t incident")
		})
	}
}

func TestDataOfArcsMustBeBound(t *testing.T) {
	tables := petritest.Compile(t, inscribe(build("p out", "t", "p>t t>out"), "t>out"))
	for want, b := range map[string]Binding{
		`no function is bound to the data "its data" of the arc to place "out"`: {},
		"functions for the data of 2 arcs; expected 1":                          {Data: []Inscription{says(""), says("")}},
	} {
		if _, err := New(Config{Tables: tables, Bindings: []Binding{b}, Stride: 1, Count: 1}, now0); !errors.Is(err, ErrBinding) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
