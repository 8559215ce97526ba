// SPDX-License-Identifier: Apache-2.0

package petri_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

func TestValidateReportsFaultsWithPositions(t *testing.T) {
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

func TestValidateReportsFaultsOfInclusiveGateways(t *testing.T) {
	join, branch := petri.Arc{ID: "a", Source: "p", Target: "t", Kind: petri.Join, Weight: 1}, petri.Arc{ID: "a", Source: "t", Target: "p", Kind: petri.Branch, Weight: 1}
	with := func(a petri.Arc, change func(*petri.Arc)) petri.Arc {
		change(&a)
		return a
	}
	times := func(n int, a petri.Arc) (out []petri.Arc) {
		for range n {
			out = append(out, a)
		}
		return out
	}
	for _, c := range []struct {
		rule string
		arcs []petri.Arc
		want string // "" for none
	}{
		{"a join arc and a branch arc are valid", []petri.Arc{join, branch}, ""},
		{"a join leads to a transition", []petri.Arc{with(join, func(a *petri.Arc) { a.Source, a.Target = "t", "p" })}, `join arc "a" leads from transition "t" to place "p"`},
		{"a branch leads to a place", []petri.Arc{with(branch, func(a *petri.Arc) { a.Source, a.Target = "p", "t" })}, `branch arc "a" leads from place "p" to transition "t"`},
		{"a join takes one token", []petri.Arc{with(join, func(a *petri.Arc) { a.Weight = 2 })}, `join arc "a" has weight 2; expected 1`},
		{"a place is joined once", []petri.Arc{join, with(join, func(a *petri.Arc) { a.ID = "b" })}, `join arc "b" is a second one from place "p" to transition "t"`},
		{"a branch may put more than one", []petri.Arc{with(branch, func(a *petri.Arc) { a.Weight = 3 })}, ""},
		{"a branch puts something", []petri.Arc{with(branch, func(a *petri.Arc) { a.Weight = 0 })}, `arc "a" has weight 0`},
		{"a guard is on a branch only", []petri.Arc{with(join, func(a *petri.Arc) { a.Guard = "x" })}, `join arc "a" has a guard or is a default`},
		{"a default is a branch only", []petri.Arc{with(join, func(a *petri.Arc) { a.Default = true })}, `join arc "a" has a guard or is a default`},
		{"a default has no guard", []petri.Arc{with(branch, func(a *petri.Arc) { a.Default, a.Guard = true, "x" })}, `branch arc "a" is a default with a guard`},
		{"only arcs of paths are aside", []petri.Arc{{ID: "a", Source: "p", Target: "t", Kind: petri.Reset, Aside: petri.AsideAll}}, `reset arc "a" is aside`},
		{"an arc is aside of all joins, or of its own", []petri.Arc{{ID: "a", Source: "p", Target: "t", Weight: 1, Aside: petri.AsideOwn + 1}}, `arc "a" has the kind 3 of aside; expected none, all or own`},
		{"there is one default", times(2, with(branch, func(a *petri.Arc) { a.Default = true })), `branch arc "a" is a second default of transition "t"`},
		{"a second default is one fault", times(3, with(branch, func(a *petri.Arc) { a.Default = true })), `branch arc "a" is a second default of transition "t"`},
		{"64 branches are allowed", times(petri.MaxOptional, branch), ""},
		{"65 branches are not", times(petri.MaxOptional+1, branch), `transition "t" has more than 64 branch arcs`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := &petri.Net{ID: "n", Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}}, Arcs: c.arcs}
			err := n.Validate()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("got  %v\nwant %s…", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one fault: %v", err)
			}
		})
	}
}

func TestValidateReportsFaultsOfEvents(t *testing.T) {
	message := petri.Event{Kind: petri.EventMessage, Name: "paid", Key: "order"}
	catches := func(kind petri.TriggerKind, e petri.Event) petri.Transition {
		return petri.Transition{Trigger: petri.Trigger{Kind: kind, Event: e}}
	}
	long := strings.Repeat("x", petri.MaxEventName+1)
	for _, c := range []struct {
		rule string
		t    petri.Transition
		want string // "" for none
	}{
		{"a message with a key is thrown", petri.Transition{Throws: message}, ""},
		{"a message with a key is caught", catches(petri.TriggerEvent, message), ""},
		{"a signal is thrown", petri.Transition{Throws: petri.Event{Kind: petri.EventSignal, Name: "stop"}}, ""},
		{"an event is a message or a signal", petri.Transition{Throws: petri.Event{Kind: 9, Name: "x"}}, `transition "t" throws an event of kind 9; expected a message or a signal`},
		{"a name needs a kind", petri.Transition{Throws: petri.Event{Name: "x"}}, `transition "t" throws an event of kind 0; expected a message or a signal`},
		{"an event has a name", petri.Transition{Throws: petri.Event{Kind: petri.EventSignal}}, `transition "t" throws a signal with a name of 0 bytes; expected 1 to 255`},
		{"a name is bounded", petri.Transition{Throws: petri.Event{Kind: petri.EventSignal, Name: long}}, `transition "t" throws a signal with a name of 256 bytes; expected 1 to 255`},
		{"a signal has no key", petri.Transition{Throws: petri.Event{Kind: petri.EventSignal, Name: "x", Key: "a"}}, `transition "t" throws the signal "x" with a key; expected keys of messages only`},
		{"a key is bounded", petri.Transition{Throws: petri.Event{Kind: petri.EventMessage, Name: "x", Key: strings.Repeat("y", 5000)}}, `transition "t" throws the message "x" with a key of 5000 bytes; expected at most 4096`},
		{"a transition that catches waits for events", catches(petri.TriggerDelay, message), `transition "t" catches a message and has the trigger delay; expected the trigger event`},
		{"a transition does not catch and throw", petri.Transition{Throws: message, Trigger: petri.Trigger{Kind: petri.TriggerEvent, Event: message}}, `transition "t" catches a message and throws a message; expected one or the other`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.t.ID = "t"
			err := (&petri.Net{ID: "n", Transitions: []petri.Transition{c.t}}).Validate()
			if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestValidateRefusesTooManyJoinArcs(t *testing.T) {
	n := &petri.Net{ID: "n", Transitions: []petri.Transition{{ID: "t"}}}
	for i := range petri.MaxOptional + 1 {
		id := fmt.Sprint(i)
		n.Places = append(n.Places, petri.Place{ID: id})
		n.Arcs = append(n.Arcs, petri.Arc{Source: id, Target: "t", Kind: petri.Join, Weight: 1})
	}
	if err := n.Validate(); err == nil || err.Error() != `transition "t" has more than 64 join arcs` {
		t.Error(err)
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

func TestFaultLeavesOutUnknownParts(t *testing.T) {
	for want, f := range map[string]petri.Fault{
		"f:1:2: m": {File: "f", Pos: petri.Pos{Line: 1, Column: 2}, Msg: "m"}, "f: m": {File: "f", Msg: "m"},
		"1:2: m": {Pos: petri.Pos{Line: 1, Column: 2}, Msg: "m"}, "m": {Msg: "m"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
