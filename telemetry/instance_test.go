// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"strings"
	"testing"
)

// People paste a command line, so one that is cut or that shows other characters than it has is
// left out.
func TestOnlyWholeCommandLinesAreShown(t *testing.T) {
	for what, c := range map[string]struct{ line, want string }{
		"a line":                {"q retry 7", "q retry 7"},
		"other letters":         {"q retry 'Übung'", "q retry 'Übung'"},
		"two lines":             {"q retry 7\nrm x", ""},
		"a terminal's controls": {"q retry 7\x1b[2K", ""},
		"text that turns":       {"q retry \u202e7", ""},
		"too long":              {strings.Repeat("x", MaxCommand+1), ""},
	} {
		text, err := json.Marshal(Instance{At: 1, Tokens: []InstanceToken{{Place: "p", Waits: []InstanceWait{{Transition: "t", Reason: "incident", Command: c.line}}}}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readInstance(text)
		if err != nil || got.Tokens[0].Waits[0].Command != c.want {
			t.Errorf("%s: %q, %v; expected %q", what, got.Tokens[0].Waits[0].Command, err, c.want)
		}
	}
}
