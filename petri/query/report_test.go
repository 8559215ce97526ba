// SPDX-License-Identifier: Apache-2.0

package query

import (
	"encoding/json"
	"testing"

	"github.com/pnagent/pnagent/petri/explore"
)

func TestReportsOfAnswers(t *testing.T) {
	for _, c := range []struct {
		name          string
		r             Result
		contest, want string
	}{
		{"it holds", Result{Property: &Property{ID: "q", Kind: Always}, Known: true, Holds: true}, "FORMULA q TRUE TECHNIQUES EXPLICIT", `{"net":"n","property":"q","holds":true}`},
		{"it does not hold", Result{Property: &Property{ID: "q", Kind: Exists}, Known: true}, "FORMULA q FALSE TECHNIQUES EXPLICIT", `{"net":"n","property":"q","holds":false}`},
		{"not known", Result{Property: &Property{ID: "q", Kind: Exists}}, "FORMULA q CANNOT_COMPUTE", `{"net":"n","property":"q","stopped":"memory"}`},
		{"a bound", Result{Property: &Property{ID: "q", Kind: Bound}, Known: true, Most: 7}, "FORMULA q 7 TECHNIQUES EXPLICIT", `{"net":"n","property":"q","bound":7}`},
		{"a bound that is not known", Result{Property: &Property{ID: "q", Kind: Bound}, Most: 7}, "FORMULA q CANNOT_COMPUTE", `{"net":"n","property":"q","atLeast":7,"stopped":"memory"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := ReportOf("n", &c.r, explore.Reason("memory"))
			if text, err := json.Marshal(a); err != nil || string(text) != c.want || a.Contest() != c.contest {
				t.Errorf("%s, %v, %s", text, err, a.Contest())
			}
		})
	}
}
