// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

func TestFindings(t *testing.T) {
	n := net(marks{"p": 1, "q": 0, "r": 0}, []string{"t", "u", "v"},
		petri.Arc{Source: "p", Target: "t", Weight: 2}, petri.Arc{Source: "p", Target: "t", Kind: petri.Inhibitor, Weight: 2},
		petri.Arc{Source: "u", Target: "q"})
	var got []string
	for _, f := range petritest.Compile(t, n).Findings() {
		got = append(got, f.Error())
	}
	want := []string{
		`transition "t" can never be enabled: place "p" must hold at least 2 tokens and fewer than 2`,
		`transition "u" has no inputs: it fires only from outside or by a timer`,
		`transition "v" has no arcs`,
		`place "q" is final: no transition takes its tokens`,
		`place "r" has no arcs`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTheEndsOfAProcessAreNoFindings(t *testing.T) {
	n := net(marks{"p": 1, "q": 0}, []string{"t"}, petri.Arc{Source: "p", Target: "t"}, petri.Arc{Source: "t", Target: "q"})
	n.Model = &petri.Model{}
	if f := petritest.Compile(t, n).Findings(); len(f) > 0 {
		t.Error(f)
	}
}

func TestFindingsOfInclusiveGateways(t *testing.T) {
	for _, c := range []struct {
		rule, drawing string
		want          []string
	}{
		{"a join takes tokens away", "s~ > t > ", nil},
		{"a join that always puts its token back does not", "s~ > t > s", []string{`place "s" keeps its tokens: each transition that takes some puts as many back`}},
		{"a branch that is always taken puts the token back", "s > t > s!", []string{`place "s" keeps its tokens: each transition that takes some puts as many back`}},
		{"a branch that may be taken may leave it out", "s q > t > s? q?", nil},
		{"a place that only branches lead to keeps its tokens", "s > t > a?", []string{`place "a" is final: no transition takes its tokens`}},
		{"a default beside a branch without a guard is idle", "s a b > t > a! b*", []string{
			`transition "t" never takes its default branch, to place "b": another branch has no guard`,
			`place "a" keeps its tokens: each transition that takes some puts as many back`}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var got []string
			for _, f := range petritest.Compile(t, flow(t, c.drawing, "")).Findings() {
				got = append(got, f.Error())
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
