// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"encoding/xml"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/petritest"
)

// markup is an element of a BPMN file.
type markup struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Kids    []markup   `xml:",any"`
}

func (e *markup) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// flows are the sequence flows of a file, read by themselves: no net is involved.
type flows struct {
	kind  map[string]string    // of each element by its id
	ends  map[string][2]string // of each flow
	into  map[string][]string  // by node: its incoming flows
	from  map[string][]string  // by node: its outgoing flows
	timed map[string]bool      // start events with a timer
}

func readFlows(t *testing.T, text string) *flows {
	t.Helper()
	var root markup
	if err := xml.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	f := &flows{kind: map[string]string{}, ends: map[string][2]string{}, into: map[string][]string{}, from: map[string][]string{}, timed: map[string]bool{}}
	f.read(&root)
	return f
}

func (f *flows) read(e *markup) {
	id := e.attr("id")
	f.kind[id] = e.XMLName.Local
	targets := map[string]string{}
	f.timed[id] = e.XMLName.Local == "startEvent" && len(e.Kids) > 0 && e.Kids[0].XMLName.Local == "timerEventDefinition"
	for i := range e.Kids {
		k := &e.Kids[i]
		if k.XMLName.Local == "sequenceFlow" {
			f.add(k.attr("id"), k.attr("sourceRef"), k.attr("targetRef"))
		}
		if name := linkName(k); k.XMLName.Local == "intermediateCatchEvent" && name != "" {
			targets[name] = k.attr("id")
		}
	}
	for i := range e.Kids {
		k := &e.Kids[i]
		if name := linkName(k); k.XMLName.Local == "intermediateThrowEvent" && name != "" { // a pair is as a flow between the two
			f.add(k.attr("id")+"→"+targets[name], k.attr("id"), targets[name])
		}
		f.read(k)
	}
}

func linkName(e *markup) string {
	for i := range e.Kids {
		if e.Kids[i].XMLName.Local == "linkEventDefinition" {
			return e.Kids[i].attr("name")
		}
	}
	return ""
}

func (f *flows) add(id, from, to string) {
	f.kind[id] = "sequenceFlow"
	f.ends[id] = [2]string{from, to}
	f.into[to], f.from[from] = append(f.into[to], id), append(f.from[from], id)
}

// tokens returns the flows from which the tokens of a marking continue: one that is on a flow from
// that, one that is at a node from those out of it. Tokens of places that record what is armed,
// counted or returned are none of BPMN. Those that a complex gateway has counted are at it, so no
// path from them to its own flows avoids it.
func (f *flows) tokens(n *petri.Net, s *petri.State, gateway string) (all [][]string) {
	for p := range n.Places {
		id := n.Places[p].ID
		if s.Tokens(p) == 0 {
			continue
		}
		if f.kind[id] == "sequenceFlow" {
			all = append(all, []string{id})
			continue
		}
		node, word, _ := strings.Cut(id, "/")
		if f.timed[node] { // it waits to begin, there is no token yet
			continue
		}
		switch word {
		case "in", "out", "start", "active", "thrown", "compensating", "waiting":
			all = append(all, f.from[node])
		case "count":
			if f.kind[node] == "complexGateway" && node != gateway {
				all = append(all, f.from[node])
			}
		}
	}
	return all
}

// waits evaluates table 13.3 of BPMN 2.0: it reports whether a gateway, of whose incoming flows
// some have a token, waits for another token.
func (f *flows) waits(gateway string, full map[string]bool, tokens [][]string) bool {
	for _, from := range tokens {
		empty, also := false, false
		for _, end := range f.reachable(from, gateway) {
			empty, also = empty || !full[end], also || full[end]
		}
		if empty && !also {
			return true
		}
	}
	return false
}

// reachable returns the incoming flows of a gateway to which paths lead that do not visit it.
func (f *flows) reachable(from []string, gateway string) (ends []string) {
	seen := map[string]bool{}
	for next := slices.Clone(from); len(next) > 0; next = next[1:] {
		flow := next[0]
		if seen[flow] {
			continue
		}
		seen[flow] = true
		if f.ends[flow][1] == gateway {
			ends = append(ends, flow)
		} else {
			next = append(next, f.from[f.ends[flow][1]]...)
		}
	}
	return ends
}

// walk plays a process at random. After each firing it compares which inclusive gateways, and
// which resets of complex gateways, are enabled with what table 13.3 says of the diagram.
func walk(t *testing.T, r *rand.Rand, text string, n *petri.Net, seen map[string]int) bool {
	f, tables := readFlows(t, text), petritest.Compile(t, n)
	s := tables.NewState()
	for range 60 {
		marked := func(yield func(int32) bool) {
			for p, m := range s.Marking() {
				if m > 0 && !yield(int32(p)) {
					return
				}
			}
		}
		for tr := range n.Transitions {
			j := tables.Join(tr)
			if j == nil {
				continue
			}
			gateway, reset := strings.CutSuffix(n.Transitions[tr].ID, "/reset")
			full := map[string]bool{}
			for _, in := range f.into[gateway] {
				place := in
				if reset {
					place = gateway + "/got " + in
				}
				p, ok := tables.PlaceIndex(place)
				if !ok {
					t.Fatalf("no place %q", place)
				}
				if s.Tokens(p) > 0 {
					full[in] = true
				}
			}
			if len(full) == 0 {
				continue
			}
			want := !f.waits(gateway, full, f.tokens(n, s, gateway))
			if got := j.Ready(marked); got != want {
				t.Errorf("%s, whose flows %v have tokens, is ready: %v; by the diagram %v\n%s\n%s", n.Transitions[tr].ID, full, got, want, named(n, s), text)
				return false
			}
			note(seen, f.kind[gateway], want)
		}
		if !fireAny(r, tables, s) {
			break
		}
	}
	return true
}

func note(seen map[string]int, kind string, ready bool) {
	if ready {
		seen[kind+" ready"]++
	} else {
		seen[kind+" waits"]++
	}
}

func named(n *petri.Net, s *petri.State) (marking string) {
	for p := range n.Places {
		if s.Tokens(p) > 0 {
			marking += n.Places[p].ID + " "
		}
	}
	return marking
}

// fireAny fires an enabled transition, of the urgent ones if there are some, with branches at
// random, and reports whether there was one.
func fireAny(r *rand.Rand, tables *petri.Tables, s *petri.State) bool {
	var enabled, urgent []int
	for tr := range tables.Transitions() {
		if !s.Enabled(tr) || tables.Source(tr) {
			continue
		}
		enabled = append(enabled, tr)
		if tables.Urgent(tr) {
			urgent = append(urgent, tr)
		}
	}
	if len(urgent) > 0 {
		enabled = urgent
	}
	if len(enabled) == 0 {
		return false
	}
	return s.FireBranches(enabled[r.IntN(len(enabled))], 1+r.Uint64N(7)) == nil
}

// An inclusive gateway is activated as table 13.3 of BPMN 2.0 says. Its paths are made of
// sequence flows: none leads into a boundary event, into an event sub-process, or to what catches
// what a node throws. A link leads like a flow.
func TestInclusiveGatewaysFollowTheDiagram(t *testing.T) {
	seen, all, read, why := map[string]int{}, 0, 0, error(nil)
	for seed := range seeds.Of(5, 200, 90, 89, 66, 51, 36, 42, 56, 29, 85, 12, 55, 59, 62, 67, 72) {
		all++
		r := rand.New(rand.NewPCG(13, seed))
		text := (&diagrams{Rand: r}).process()
		f, err := bpmn.Read(strings.NewReader(text), "f", bpmn.Limits{})
		if err != nil {
			seen["refused"]++ // mostly a complex gateway with too few flows
			why = err
			continue
		}
		read++
		for range 3 {
			if !walk(t, r, text, f.Nets[0], seen) {
				return
			}
		}
	}
	if least := min(seen["inclusiveGateway waits"], seen["inclusiveGateway ready"], 4*seen["complexGateway waits"], 8*seen["complexGateway ready"]); all > 1 && (read < all/2 || least < 10*all) {
		t.Errorf("%d of %d diagrams read (%.300v), and gateways seen %v: too few to tell", read, all, why, seen)
	}
}

// What holds a join, and what does not.
func TestInclusiveGatewaysWaitForSequenceFlows(t *testing.T) {
	file, err := os.ReadFile("testdata/orjoin-boundary.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	const fork = `<startEvent id="s"/><parallelGateway id="f"/><userTask id="A"/><userTask id="B"/><inclusiveGateway id="j"/><userTask id="D"/><endEvent id="e"/>`
	beside := func(event string) string { // the flow b-j comes from the event on B only
		return process(fork+event+`<endEvent id="over"/>`, "s>f>A>j>D>e f>B>over b>j")
	}
	for _, s := range []scenario{
		{"a token before a task with an event that leads to the full flow is waited for", string(file), `{}`, "A B", "C/active a"},
		{"it arrives, and the join fires once", string(file), `{}`, "A B C D", "e/end"},
		{"after the event, nothing more can reach the empty flow", string(file), `{}`, "A B +2h", "A/in f5"},
		{"a task whose event alone leads to the join is not waited for", beside(timer("b", "B", "PT1H", "")), `{}`, "A", "B/active j-D"},
		{"nor is the event that is armed and does not interrupt", beside(timer("b", "B", "PT1H", `cancelActivity="false"`)), `{}`, "A", "B/active b/armed j-D"},
		{"nor a condition that is watched", beside(`<boundaryEvent id="b" attachedToRef="B" cancelActivity="false"><conditionalEventDefinition><condition>${x}</condition></conditionalEventDefinition></boundaryEvent>`),
			`{}`, "A", "B/active b/armed b/watched j-D"},
		{"a sub-process whose error alone leads to the join is not waited for",
			process(fork+sub("S", `<startEvent id="i"/><userTask id="u"/><endEvent id="x"><errorEventDefinition/></endEvent>`, "i>u>x")+`<boundaryEvent id="b" attachedToRef="S"><errorEventDefinition/></boundaryEvent>`,
				"s>f>A>j>D>e f>S b>j"), `{}`, "A", "S/active i-u j-D"},
		{"but its own flow is", process(fork+sub("S", `<startEvent id="i"/><userTask id="u"/><endEvent id="x"/>`, "i>u>x"), "s>f>A>j>D>e f>S>j"), `{}`, "A", "A-j S/active i-u"},
		{"a link leads like a flow", process(fork+`<intermediateThrowEvent id="t"><linkEventDefinition name="l"/></intermediateThrowEvent><intermediateCatchEvent id="c"><linkEventDefinition name="l"/></intermediateCatchEvent>`,
			"s>f>A>j>D>e f>B>t c>j"), `{}`, "A", "A-j f-B"},
		{"an activity that is offered and has not begun is not waited for",
			process(`<startEvent id="s"/><endEvent id="e"/><adHocSubProcess id="H"><userTask id="A"/><userTask id="B"/><inclusiveGateway id="j"/><userTask id="D"/>`+between2("A>j>D B>j")+`</adHocSubProcess>`, "s>H>e"),
			`{}`, "A/begins A", "H/active j-D"},
		{"what a complex gateway has counted does not hold its own reset",
			process(`<startEvent id="s"/><parallelGateway id="f"/><userTask id="A"/><userTask id="B"/><complexGateway id="g"><activationCondition>activationCount >= 1</activationCondition></complexGateway>`+
				`<exclusiveGateway id="x"/><userTask id="R"/><endEvent id="e"/>`, "s>f>A>g>x>e f>B>g x>R>g"), `{}`, "A B", "e/end"},
	} {
		s.run(t)
	}
}

// between2 returns flows a>b.
func between2(flows string) string {
	var b strings.Builder
	between(&b, flows)
	return b.String()
}
