// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/simulate"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
)

const hours = int64(3600e6)

// simulatedFor simulates a net of one place, or the process of a text, with bindings.
func simulatedFor(t *testing.T, tables *petri.Tables, bindings string) *simulate.Summary {
	t.Helper()
	b, err := engine.ReadBindings(strings.NewReader(bindings), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := engine.Simulation(b, tables, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := simulate.Study(m, simulate.Options{Start: 1e15, For: 60 * hours, Warmup: simulate.Auto, Runs: 20, Seed: 1, Confidence: 0.999})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tablesOf(t *testing.T, n *petri.Net) *petri.Tables {
	t.Helper()
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func processOf(t *testing.T, text string) *petri.Tables {
	t.Helper()
	doc, err := bpmn.Read(strings.NewReader(text), "p.bpmn", bpmn.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return tablesOf(t, doc.Nets[0])
}

// queueNet has a transition that fills a place, and one that empties it.
func queueNet() *petri.Net {
	return &petri.Net{ID: "q", Places: []petri.Place{{ID: "queue"}, {ID: "done"}}, Transitions: []petri.Transition{{ID: "arrive"}, {ID: "serve"}, {ID: "lose"}},
		Arcs: []petri.Arc{{Source: "arrive", Target: "queue", Weight: 1}, {Source: "queue", Target: "serve", Weight: 1}, {Source: "serve", Target: "done", Weight: 1},
			{Source: "queue", Target: "lose", Weight: 1}}}
}

func TestBindingsOfAnEngineSimulate(t *testing.T) {
	for name, text := range map[string]string{
		"a delay":                  `{arrive: {rate: 30/h}, serve: {delay: {exponential: 1m}}, lose: manual}}}`,
		"work that takes a minute": `{arrive: {rate: 30/h}, serve: {command: [x]}, lose: manual}, simulate: {transitions: {serve: {delay: {exponential: 1m}}}}}}`,
		"a request by hand":        `{arrive: {rate: 30/h}, serve: manual, lose: manual}, simulate: {transitions: {serve: {delay: {exponential: 1m}}}}}}`,
		"a pool":                   `{arrive: {rate: 30/h}, serve: {delay: {exponential: 1m}}, lose: manual}, simulate: {pools: {c: 1}, transitions: {serve: {pool: c}}}}}`,
	} {
		s := simulatedFor(t, tablesOf(t, queueNet()), "nets: {q: {transitions: "+text)
		if stay := s.Places[0].Stay; stay.Low > 120 || stay.High < 120 || stay.Half() > 15 {
			t.Errorf("%s: a token stays %.4g s, from %.4g to %.4g; exactly 120", name, stay.Mean, stay.Low, stay.High)
		}
	}
}

func TestASimulationSaysWhatItLeavesOut(t *testing.T) {
	n := queueNet()
	n.Transitions[2].Trigger = petri.Trigger{Kind: petri.TriggerWork}
	b, err := engine.ReadBindings(strings.NewReader("nets: {q: {transitions: {arrive: {rate: 30/h}, serve: manual}}}"), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := engine.Simulation(b, tablesOf(t, n), 1, nil)
	if err != nil || len(m.Notes) != 2 || !strings.Contains(m.Notes[0], `never: ["serve"]`) || !strings.Contains(m.Notes[1], `no time: ["lose"]`) {
		t.Errorf("%v, %q", err, m.Notes)
	}
}

func TestFaultsOfWhatIsSimulated(t *testing.T) {
	for text, want := range map[string]string{
		"arrivals: 5/d":                                    `b.yaml:3:24: found "5/d"; expected a rate such as 5/s, 30/m or 2/h, above 0 and at most a million`,
		"arrivals: 0s":                                     `b.yaml:3:24: found "0s"; expected a rate such as 5/h, or a time above 0 between two arrivals`,
		"pools: {c: 0}":                                    `b.yaml:3:25: found "0"; expected a whole number of 1 or more`,
		"pools: {c: 10001}":                                `b.yaml:3:22: pool "c" has 10001 members; expected at most 10000`,
		"people: 3":                                        `b.yaml:3:14: unknown key "people"; expected arrivals, pools or transitions`,
		"transitions: {x: {delay: 1s}}":                    `b.yaml:3:28: net "q" has no transition "x"; expected the id of one of its 3 transitions`,
		"transitions: {serve: {pool: c}}":                  `b.yaml:3:42: unknown pool "c"; expected one of []`,
		"transitions: {serve: {weight: 0}}":                `b.yaml:3:44: found "0"; expected a number above 0, at most 1000000000`,
		"transitions: {serve: {chance: 1}}":                `b.yaml:3:36: unknown key "chance"; expected delay, pool or weight`,
		"{pools: {c: 1}, transitions: {serve: {pool: c}}}": `b.yaml:3:43: transition "serve" has a pool, and no delay; expected how long a member works for it`,
		"{pools: {c: 1}, transitions: {arrive: {pool: c, delay: 1s}}}": `b.yaml:3:43: transition "arrive" has a pool, but takes no token of its scope; expected one, which waits for a member`,
	} {
		if !strings.HasPrefix(text, "{") {
			text = "{" + text + "}"
		}
		b, err := engine.ReadBindings(strings.NewReader("nets:\n q:\n  simulate: "+text+"\n"), "b.yaml")
		if err == nil {
			_, err = engine.Simulation(b, tablesOf(t, queueNet()), 1, nil)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// A case that takes too long leaves: an interrupting timer ends the wait for a clerk, and the
// work of a clerk. So at most two minutes pass, and the clerk is free for the next.
func TestABoundaryTimerEndsTheWaitForAPool(t *testing.T) {
	const process = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">
<startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="u"/><userTask id="u"/><sequenceFlow id="b" sourceRef="u" targetRef="e"/><endEvent id="e"/>
<boundaryEvent id="late" attachedToRef="u"><timerEventDefinition><timeDuration>PT2M</timeDuration></timerEventDefinition></boundaryEvent>
<sequenceFlow id="c" sourceRef="late" targetRef="gone"/><endEvent id="gone"/></process></definitions>`
	s := simulatedFor(t, processOf(t, process), "nets: {p: {simulate: {arrivals: 60/h, pools: {clerks: 1}, transitions: {u: {delay: {exponential: 1m}, pool: clerks}}}}}")
	firings := map[string]simulate.Estimate{}
	for _, tr := range s.Transitions {
		firings[tr.ID] = tr.Firings
	}
	// The clerk could not do more than 60 an hour without those who leave; all come to one of the two ends.
	done, lost := firings["u"].Mean, firings["late"].Mean
	if d := done + lost - s.Cases.In.Mean; d < -0.1 || d > 0.1 || lost < 5 || done < 30 {
		t.Errorf("%g are done and %g leave, of %g an hour", done, lost, s.Cases.In.Mean)
	}
	p := s.Pools[0]
	if s.Cases.Growing || s.Cases.High.Mean > 126 || p.Busy.Mean > 0.99 || p.High.Mean > 126 {
		t.Errorf("cases take up to %g s and wait up to %g s, busy %g", s.Cases.High.Mean, p.High.Mean, p.Busy.Mean)
	}
}

// The weight of one branch replaces the conditions of all of the gateway.
func TestWeightsReplaceConditions(t *testing.T) {
	text, err := os.ReadFile("../../examples/claim.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := os.ReadFile("../../examples/claim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := simulatedFor(t, processOf(t, string(text)), string(bindings))
	var large, small float64
	for _, tr := range s.Transitions {
		switch tr.ID {
		case "howMuch/large":
			large = tr.Firings.Mean
		case "howMuch/small":
			small = tr.Firings.Mean
		}
	}
	if large < 1.8 || large > 2.2 || small < 7.6 || small > 8.4 || s.Instances.Failed.Mean > 0 || len(s.Notes) > 0 {
		t.Errorf("large %g, small %g an hour; %q", large, small, s.Notes)
	}
}

// A log has how long the activities of a process take, how often cases arrive and which branch they
// take: then the bindings need no more than who does the work.
func TestAProcessLearnsFromALog(t *testing.T) {
	text, err := os.ReadFile("../../examples/claim.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	event := func(name, phase string, second int) {
		fmt.Fprintf(&log, `<event><string key="concept:name" value=%q/><date key="time:timestamp" value=%q/><string key="lifecycle:transition" value=%q/></event>`, name,
			time.Unix(int64(second), 0).UTC().Format(time.RFC3339), phase)
	}
	log.WriteString("<log>")
	for k := range 50 {
		at := 600 * k
		log.WriteString("<trace>")
		event("assess", "start", at)
		event("assess", "complete", at+300)
		if k%5 == 0 {
			event("approve", "start", at+400)
			event("approve", "complete", at+1000)
		}
		for _, name := range []string{"Pay", "write"} { // a name, and an id
			event(name, "start", at+1100)
			event(name, "complete", at+1101)
		}
		log.WriteString("</trace>")
	}
	log.WriteString("</log>")
	l, err := simulate.ReadLog(strings.NewReader(log.String()), "l.xes")
	if err != nil {
		t.Fatal(err)
	}
	const bindings = "nets: {claim: {simulate: {pools: {clerks: 1}, transitions: {assess: {pool: clerks}, approve: {pool: clerks}, remind: {delay: 1s}}}}}"
	b, err := engine.ReadBindings(strings.NewReader(bindings), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := engine.Simulation(b, processOf(t, string(text)), 1, l)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"learned from l.xes: 50 cases, 320 events, of which 320 fit the net"}; !slices.Equal(m.Notes, want) {
		t.Errorf("%q", m.Notes)
	}
	s, err := simulate.Study(m, simulate.Options{Start: 1e15, For: 100 * hours, Runs: 5, Seed: 1, Confidence: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	// A claim each 10 minutes: 5 minutes of a clerk, and 10 more for one of five.
	if busy := s.Pools[0].Busy.Mean; busy < 0.66 || busy > 0.74 || s.Cases.In.Mean < 5.9 || s.Cases.In.Mean > 6.1 {
		t.Errorf("busy %g, %g cases an hour", busy, s.Cases.In.Mean)
	}
}
