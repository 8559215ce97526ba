// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

func TestFindingsNameWhatIsProbablyNotMeant(t *testing.T) {
	n := net(marks{"p": 1, "q": 0, "r": 0}, []string{"t", "u", "v"},
		petri.Arc{Source: "p", Target: "t", Weight: 2}, petri.Arc{Source: "p", Target: "t", Kind: petri.Inhibitor, Weight: 2},
		petri.Arc{Source: "u", Target: "q"})
	var got []string
	for _, f := range compile(t, n).Findings() {
		got = append(got, f.Error())
	}
	want := []string{
		`transition "t" can never be enabled: place "p" must hold at least 2 tokens and fewer than 2`,
		`transition "u" has no inputs: it fires only from outside or by a timer`,
		`transition "v" has no arcs`,
		`place "q" keeps its tokens for ever: no transition takes them`,
		`place "r" has no arcs`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
