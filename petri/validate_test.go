// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

func TestValidateNamesTheFaultAndItsPlace(t *testing.T) {
	at := func(line int) petri.Pos { return petri.Pos{Line: line, Column: 7} }
	arc := func(src, dst string, kind petri.ArcKind, w uint32) *petri.Net {
		return &petri.Net{ID: "n", File: "f.pnml",
			Places:      []petri.Place{{ID: "p", Pos: at(2)}, {ID: "q", Pos: at(3)}},
			Transitions: []petri.Transition{{ID: "t", Pos: at(4)}, {ID: "u", Pos: at(5)}},
			Arcs:        []petri.Arc{{ID: "a", Source: src, Target: dst, Kind: kind, Weight: w, Pos: at(6)}}}
	}
	for _, c := range []struct {
		rule string
		net  *petri.Net
		want string
	}{
		{"an arc starts somewhere", arc("x", "t", petri.Normal, 1), `f.pnml:6:7: arc "a" starts at "x"`},
		{"an arc ends somewhere", arc("p", "x", petri.Normal, 1), `f.pnml:6:7: arc "a" ends at "x"`},
		{"not place to place", arc("p", "q", petri.Normal, 1), `f.pnml:6:7: arc "a" joins two places`},
		{"not transition to transition", arc("t", "u", petri.Normal, 1), `f.pnml:6:7: arc "a" joins two transitions`},
		{"an inhibitor leads to a transition", arc("t", "p", petri.Inhibitor, 1), `f.pnml:6:7: inhibitor arc "a" leads from transition`},
		{"a reset leads to a transition", arc("t", "p", petri.Reset, 0), `f.pnml:6:7: reset arc "a" leads from transition`},
		{"a weight is 1 or more", arc("p", "t", petri.Normal, 0), `f.pnml:6:7: arc "a" has weight 0`},
		{"an id is there", &petri.Net{File: "f.pnml", Places: []petri.Place{{Pos: at(9)}}}, `f.pnml:9:7: place without an id`},
		{"an id is there once", &petri.Net{File: "f.pnml", Places: []petri.Place{{ID: "x", Pos: at(2)}}, Transitions: []petri.Transition{{ID: "x", Pos: at(3)}}},
			`f.pnml:3:7: transition has the id "x" of the place at line 2`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if err := c.net.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s…", err, c.want)
			}
		})
	}
	if err := arc("p", "t", petri.Reset, 0).Validate(); err != nil {
		t.Errorf("a reset arc needs no weight: %v", err)
	}
}

func TestValidateBoundsItsFindings(t *testing.T) {
	n := &petri.Net{}
	for range 10_000 {
		n.Arcs = append(n.Arcs, petri.Arc{Source: "x", Target: "y"})
	}
	if lines := strings.Count(n.Validate().Error(), "\n"); lines != petri.MaxFaults {
		t.Errorf("%d lines of faults, want %d", lines+1, petri.MaxFaults+1)
	}
}

func TestFaultSaysWhatIsKnown(t *testing.T) {
	for want, f := range map[string]petri.Fault{
		"f:1:2: m": {File: "f", Pos: petri.Pos{Line: 1, Column: 2}, Msg: "m"}, "f: m": {File: "f", Msg: "m"},
		"1:2: m": {Pos: petri.Pos{Line: 1, Column: 2}, Msg: "m"}, "m": {Msg: "m"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
