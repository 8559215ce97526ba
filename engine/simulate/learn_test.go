// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// xesOf returns a log: each case is a list of "activity minute" or "activity minute phase".
func xesOf(cases ...string) string {
	var b strings.Builder
	b.WriteString("<log>")
	for _, c := range cases {
		b.WriteString("<trace>")
		for e := range strings.SplitSeq(c, ", ") {
			f := append(strings.Fields(e), "complete")
			var minutes float64
			fmt.Sscan(f[1], &minutes)
			at := time.Unix(0, 0).UTC().Add(time.Duration(minutes * float64(time.Minute)))
			fmt.Fprintf(&b, `<event><string key="concept:name" value=%q/><date key="time:timestamp" value=%q/><string key="lifecycle:transition" value=%q/></event>`, f[0], at.Format(time.RFC3339Nano), f[2])
		}
		b.WriteString("</trace>")
	}
	return b.String() + "</log>"
}

func logOf(t *testing.T, cases ...string) *Log {
	t.Helper()
	l, err := ReadLog(strings.NewReader(xesOf(cases...)), "l.xes")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// choiceModel is a case that is checked, then by a gateway repaired or thrown away, or neither.
func choiceModel(t *testing.T) *Model {
	t.Helper()
	n := &petri.Net{ID: "choice", Places: []petri.Place{{ID: "open", Initial: 1}, {ID: "checked"}, {ID: "toRepair"}, {ID: "toThrow"}, {ID: "end"}}}
	m := &Model{Instances: 1}
	for _, a := range []string{"open check checked", "checked yes toRepair", "checked no toThrow", "checked neither end", "toRepair repair end", "toThrow throw end"} {
		f := strings.Fields(a)
		n.Transitions = append(n.Transitions, petri.Transition{ID: f[1]})
		n.Arcs = append(n.Arcs, petri.Arc{Source: f[0], Target: f[1], Weight: 1}, petri.Arc{Source: f[1], Target: f[2], Weight: 1})
		m.Transitions = append(m.Transitions, Transition{Pool: NoPool})
	}
	n.Transitions[5].Name = "throw away" // its activity has the id
	var err error
	m.Tables, err = petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAModelLearnsFromALog(t *testing.T) {
	m := choiceModel(t)
	m.Transitions[5].Delay, m.Transitions[5].Given = plain.Delay{A: 7}, true
	m.Learn(logOf(t, "check 0 start, check 5, repair 6 start, repair 8", "check 10 start, check 11, throw 14", "check 30 start, check 33, repair 40 start, repair 41, paint 50", "check 31 start, check 34"))
	var weights []float64
	for _, tr := range m.Transitions {
		weights = append(weights, tr.Weight)
	}
	if want := []float64{0, 2, 1, 1, 0, 0}; !slices.Equal(weights, want) {
		t.Errorf("weights %v; want %v", weights, want)
	}
	for k, want := range map[int]Sample{0: {1 * minute, 3 * minute, 3 * minute, 5 * minute}, 4: {1 * minute, 2 * minute}} {
		if got := m.Transitions[k].Delay; !slices.Equal(got.(Sample), want) {
			t.Errorf("transition %d takes %v; want %v", k, got, want)
		}
	}
	if got := m.Arrivals.(Sample); !slices.Equal(got, Sample{1 * minute, 10 * minute, 20 * minute}) {
		t.Errorf("arrivals after %v", got)
	}
	if m.Transitions[5].Delay != Sampler(plain.Delay{A: 7}) {
		t.Error("a delay that was given is not kept")
	}
	want := []string{`learned from l.xes: 4 cases, 14 events, of which 13 fit the net`, `l.xes: the net has no transition for ["paint"]`}
	if !slices.Equal(m.Notes, want) {
		t.Errorf("%q\nwant %q", m.Notes, want)
	}
}

// Without starts there is only the time since the previous event, which has the wait in it: a pool
// does not get that.
func TestAPoolDoesNotLearnWaits(t *testing.T) {
	l := logOf(t, "check 0, repair 8", "check 10, repair 14")
	m := choiceModel(t)
	m.Learn(l)
	if got, ok := m.Transitions[4].Delay.(Sample); !ok || !slices.Equal(got, Sample{4 * minute, 8 * minute}) || !strings.Contains(m.Notes[1], `no start of ["check" "repair"]`) {
		t.Errorf("%v, %q", got, m.Notes)
	}
	m = choiceModel(t)
	m.Pools, m.Transitions[4].Pool = []Pool{{"p", 1}}, 0
	m.Learn(l)
	if m.Transitions[4].Delay != nil {
		t.Errorf("the pool works for %v", m.Transitions[4].Delay)
	}
}

// What is learned from a simulated process simulates that process.
func TestWhatIsLearnedSimulatesTheProcess(t *testing.T) {
	var cases []string
	for k := range 200 {
		at := float64(10 * k)
		c := fmt.Sprintf("check %g start, check %g", at, at+1+float64(k%5))
		if k%4 == 0 {
			c += fmt.Sprintf(", repair %g start, repair %g", at+6, at+9)
		}
		cases = append(cases, c)
	}
	m := choiceModel(t)
	m.Learn(logOf(t, cases...))
	o := options()
	o.Stuck = hour
	s := played(t, m, o)
	// 3 minutes of a check, 3 of a repair in one of 4 cases; 6 cases an hour, at equal times.
	holds(t, "time of a case", s.Cases.Stay, 3*60+0.25*3*60, 0.02)
	if s.Cases.In.Mean < 5.9 || s.Cases.In.Mean > 6.1 || s.Transitions[5].Firings.Mean > 0.01 {
		t.Errorf("%g cases an hour, %g are thrown away", s.Cases.In.Mean, s.Transitions[5].Firings.Mean)
	}
}

func TestLogsThatAreRefused(t *testing.T) {
	const text = `<log><trace><event><string key="concept:name" value="a"/><date key="time:timestamp" value="soon"/></event></trace></log>`
	if _, err := ReadLog(strings.NewReader(text), "l.xes"); err == nil || !strings.HasPrefix(err.Error(), `l.xes:1:`) || !strings.Contains(err.Error(), `the time "soon" of an event; expected one such as `) {
		t.Errorf("%v", err)
	}
}

// The example that comes with pm4py has 6 cases and 42 events.
func TestALogOfAnotherProgram(t *testing.T) {
	f, err := os.Open("../../../shared/corpus/xes/running-example.xes")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if l, err := ReadLog(f, "running-example.xes"); err != nil || len(l.cases) != 6 || l.events != 42 || l.leftOut != 0 {
		t.Errorf("%v, %+v", err, l)
	}
}

// Ten machines run for an hour on average; three of ten times one breaks, and one repairer needs 1.5
// hours. The exact values are those of the closed form, and JMT's are published in the tests of the
// solver LINE (example_closedModel_1, JSIM with 10,000 samples and seed 23000): 2.1909 machines
// run, 7.7331 are broken, the repairer is busy for 0.99977 of the time, a repair takes 11.573 hours.
func TestTheRepairmanModelIsAsItsFormulaAndAsJMT(t *testing.T) {
	n := &petri.Net{ID: "repair", Places: []petri.Place{{ID: "runs", Initial: 10}, {ID: "stopped"}, {ID: "broken"}}}
	for _, a := range []string{"runs run stopped", "stopped again runs", "stopped break broken", "broken repair runs"} {
		f := strings.Fields(a)
		n.Transitions = append(n.Transitions, petri.Transition{ID: f[1]})
		n.Arcs = append(n.Arcs, petri.Arc{Source: f[0], Target: f[1], Weight: 1}, petri.Arc{Source: f[1], Target: f[2], Weight: 1})
	}
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Tables: tables, Instances: 1, Pools: []Pool{{"machines", 10}, {"repairer", 1}}, Transitions: []Transition{
		{Delay: exponential(hour), Pool: 0}, {Weight: 0.7, Pool: NoPool}, {Weight: 0.3, Pool: NoPool}, {Delay: exponential(1.5 * hour), Pool: 1}}}
	o := options()
	o.For = 1000 * hour
	s := played(t, m, o)
	norm, running, busy := 0.0, 0.0, 0.0
	for k := range 11 { // k of 10 run: the demands are 1 and 0.45 hours
		p := math.Pow(0.45, float64(10-k)) / factorial(k)
		norm += p
		running += float64(k) * p
		if k < 10 {
			busy += p
		}
	}
	running, busy = running/norm, busy/norm
	repair := (10 - running) / (busy / 1.5)
	holds(t, "run", s.Places[0].Held, running, 0.05)
	holds(t, "broken", s.Places[2].Held, 10-running, 0.05)
	holds(t, "busy", s.Pools[1].Busy, busy, 0.002)
	holds(t, "time of a repair", s.Places[2].Stay, repair*3600, 0.05)
	for what, pair := range map[string][2]float64{"run": {s.Places[0].Held.Mean, 2.1909}, "broken": {s.Places[2].Held.Mean, 7.7331}, "busy": {s.Pools[1].Busy.Mean, 0.99977}, "repair": {s.Places[2].Stay.Mean / 3600, 11.573}} {
		if d := pair[0]/pair[1] - 1; math.Abs(d) > 0.03 {
			t.Errorf("%s: %.5g; JMT has %.5g", what, pair[0], pair[1])
		}
	}
}

func factorial(n int) float64 {
	f := 1.0
	for k := range n {
		f *= float64(k + 1)
	}
	return f
}
