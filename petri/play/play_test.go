// SPDX-License-Identifier: Apache-2.0

package play

import (
	"errors"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// Each command has its answer: a fired transition, an injection, and each kind of refusal.
func TestCommandsAreAnswered(t *testing.T) {
	net := petritest.Compile(t, &petri.Net{ID: "n", Places: []petri.Place{{ID: "a", Initial: 1}, {ID: "b c"}},
		Transitions: []petri.Transition{{ID: "go on"}},
		Arcs:        []petri.Arc{{Source: "a", Target: "go on", Weight: 1}, {Source: "go on", Target: "b c", Weight: 2}}})
	const idle = `{"marking":{"b c":2},"enabled":[]}`
	for _, c := range []struct {
		name    string
		command string
		want    []string
		refused bool
	}{
		{"nothing", "", []string{}, false},
		{"empty lines and CRLF", "\n \nstate\r\n", []string{`{"marking":{"a":1},"enabled":["go on"]}`}, false},
		{"fire", "fire go on", []string{idle}, false},
		{"fire again", "fire go on\nfire go on\nstate", []string{idle, `{"error":"transition \"go on\": not enabled: place \"a\" holds 0 of 1 tokens"}`, idle}, true},
		{"inject", "inject 2 b c", []string{`{"marking":{"a":1,"b c":2},"enabled":["go on"]}`}, false},
		{"no such transition", "fire x", []string{`{"error":"no transition \"x\" in net \"n\""}`}, true},
		{"no such place", "inject 1 x", []string{`{"error":"no place \"x\" in net \"n\""}`}, true},
		{"no number", "inject -1 a", []string{`{"error":"inject \"-1\": expected a number of tokens from 0 to 4294967295"}`}, true},
		{"state with more", "state a", []string{`{"error":"state takes nothing; found \"a\""}`}, true},
		{"no command", "stop", []string{`{"error":"unknown command \"stop\"; expected fire ID, inject N ID or state"}`}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			err := Run(t.Context(), net, strings.NewReader(c.command), &out)
			if errors.Is(err, ErrRefused) != c.refused || !c.refused && err != nil {
				t.Errorf("error %v; refused is %t", err, c.refused)
			}
			want := strings.Join(append([]string{`{"marking":{"a":1},"enabled":["go on"]}`}, c.want...), "\n") + "\n"
			if out.String() != want {
				t.Errorf("answers\n%swant\n%s", out.String(), want)
			}
		})
	}
}

func TestALineThatIsTooLongEndsTheGame(t *testing.T) {
	net := petritest.Compile(t, &petri.Net{ID: "n", Places: []petri.Place{{ID: "a"}}})
	err := Run(t.Context(), net, strings.NewReader(strings.Repeat("x", maxLine+1)), new(strings.Builder))
	if err == nil || errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// Two tokens come to a scope. The game does not keep its runs apart, so it refuses the second until
// the first has ended, and changes nothing.
func TestASecondRunOfAScopeIsRefused(t *testing.T) {
	net := petritest.Compile(t, &petri.Net{ID: "n", Scopes: []petri.Scope{{ID: "s"}}, Places: []petri.Place{{ID: "in", Initial: 2}, {ID: "active", Scope: "s"}},
		Transitions: []petri.Transition{{ID: "begin"}, {ID: "end"}},
		Arcs:        []petri.Arc{{Source: "in", Target: "begin", Weight: 1}, {Source: "begin", Target: "active", Weight: 1}, {Source: "active", Target: "end", Weight: 1}}})
	var out strings.Builder
	err := Run(t.Context(), net, strings.NewReader("fire begin\nfire begin\ninject 1 active\nfire end\nfire begin"), &out)
	const why = `it would open a second run of scope \"s\", and play keeps no runs apart; expected a net without two runs at one time, or pnagent engine"}`
	want := `{"marking":{"in":2},"enabled":["begin"]}
{"marking":{"active":1,"in":1},"enabled":["begin","end"]}
{"error":"transition \"begin\": ` + why + `
{"error":"place \"active\": ` + why + `
{"marking":{"in":1},"enabled":["begin"]}
{"marking":{"active":1},"enabled":["end"]}
`
	if !errors.Is(err, ErrRefused) || out.String() != want {
		t.Errorf("error %v, answers\n%swant\n%s", err, out.String(), want)
	}
}
