// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// String shows a part in one line: its element after the calls around it, the places
// with * at those that show tokens, and the transitions with * at those that count.
func (p Part) String() string {
	mark := func(all, marked []string) (out string) {
		for _, id := range all {
			out += " " + id
			if slices.Contains(marked, id) {
				out += "*"
			}
		}
		return out
	}
	tokens := slices.DeleteFunc(slices.Clone(p.Tokens), func(id string) bool { return slices.Contains(p.Places, id) })
	return strings.TrimSpace(fmt.Sprintf("%s:%s%s |%s", strings.Join(append(slices.Clone(p.Calls), p.Element), " > "),
		mark(p.Places, p.Tokens), mark(tokens, tokens), mark(p.Transitions, p.Fires)))
}

// TestParts has the part of each kind of element.
func TestParts(t *testing.T) {
	const begins, ends = `<startEvent id="s"/>`, `<endEvent id="e"/>`
	for _, tt := range []struct {
		name, content string
		want          []string
	}{
		{"a task has the token before it", begins + `<userTask id="t"/>` + ends + flows("s>t", "t>e"), []string{
			"s: s/start* | s*", "t: s-t* | t*", "e: e/end* t-e* | e*", "s-t: s-t |", "t-e: t-e |"}},
		{"a task with boundary events has those of its scope too", begins + `<userTask id="t"/><boundaryEvent id="x" attachedToRef="t" cancelActivity="false"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>` + ends + flows("s>t", "t>e", "x>e"), []string{
			"s: s/start* | s*", "t: t/active* s-t* | t/begin t*", "x: x/armed | x*", "e: e/in* e/end* t-e* x-e* | e/t-e e/x-e e*", "s-t: s-t |", "t-e: t-e |", "x-e: x-e |"}},
		{"a choice and a merge count each of their firings", begins + `<exclusiveGateway id="g" default="b"/><exclusiveGateway id="m"/>` + ends +
			`<sequenceFlow id="a" sourceRef="g" targetRef="m"><conditionExpression>x</conditionExpression></sequenceFlow><sequenceFlow id="b" sourceRef="g" targetRef="m"/>` + flows("s>g", "m>e"), []string{
			"s: s/start* | s*", "g: | g/a* g/b*", "m: | m/a* m/b*", "e: e/end* m-e* | e*", "a: a* |", "b: b* |", "s-g: s-g* |", "m-e: m-e |"}},
		{"a gateway that merges and chooses counts the choices", begins + `<task id="r"/><exclusiveGateway id="g"/>` + ends + `<endEvent id="x"/>` + flows("s>r", "r>g", "s>g", "g>e", "g>x"), []string{
			"s: s/start* | s*", "r: s-r* | r*", "g: g/in* | g/r-g g/s-g g/g-e* g/g-x*", "e: e/end* g-e* | e*", "x: x/end* g-x* | x*",
			"s-r: s-r |", "r-g: r-g* |", "s-g: s-g* |", "g-e: g-e |", "g-x: g-x |"}},
		{"tokens wait on the flows before a join", begins + `<task id="t"/><parallelGateway id="g"/><parallelGateway id="m"/>` + ends + flows("s>g", "g>t", "t>m", "g>m", "m>e"), []string{
			"s: s/start* | s*", "t: g-t* | t*", "g: | g*", "m: | m*", "e: e/end* m-e* | e*", "s-g: s-g* |", "g-t: g-t |", "t-m: t-m* |", "g-m: g-m* |", "m-e: m-e |"}},
		{"an event gateway has the token, its events the firings", begins + `<eventBasedGateway id="g"/><intermediateCatchEvent id="a"><messageEventDefinition/></intermediateCatchEvent><intermediateCatchEvent id="b"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>` + ends + flows("s>g", "g>a", "g>b", "a>e", "b>e"), []string{
			"s: s/start* | s*", "g: s-g* |", "a: | a*", "b: | b*", "e: e/in* e/end* a-e* b-e* | e/a-e e/b-e e*", "s-g: s-g |", "a-e: a-e |", "b-e: b-e |"}},
		{"a sub-process has one token, and its content its own", begins + `<subProcess id="u"><startEvent id="us"/><task id="ut"/>` + flows("us>ut") + `</subProcess>` + ends + flows("s>u", "u>e"), []string{
			"s: s/start* | s*", "u: u/active* s-u* | u/begin u*", "e: e/end* u-e* | e*", "s-u: s-u |", "u-e: u-e |", "us: us/start* | us*", "ut: us-ut* | ut*", "us-ut: us-ut |"}},
		{"the runs of a loop count", begins + `<task id="t"><standardLoopCharacteristics loopMaximum="3"/></task>` + ends + flows("s>t", "t>e"), []string{
			"s: s/start* | s*", "t: t/run* s-t* | t/begin t*", "e: e/end* t-e* | e*", "s-t: s-t |", "t-e: t-e |"}},
		{"a task with inputs counts once", begins + `<userTask id="t"><extensionElements><c:inputOutput xmlns:c="http://camunda.org/schema/1.0/bpmn"><c:inputParameter name="x">1</c:inputParameter></c:inputOutput></extensionElements></userTask>` + ends + flows("s>t", "t>e"), []string{
			"s: s/start* | s*", "t: t/run* s-t* | t/begin t*", "e: e/end* t-e* | e*", "s-t: s-t |", "t-e: t-e |"}},
		{"an error is caught by the boundary event", begins + `<subProcess id="u"><startEvent id="us"/><endEvent id="ue"><errorEventDefinition errorRef="x"/></endEvent>` + flows("us>ue") + `</subProcess><boundaryEvent id="b" attachedToRef="u"><errorEventDefinition errorRef="x"/></boundaryEvent>` + ends + flows("s>u", "b>e"), []string{
			"s: s/start* | s*", "u: u/active* u/end s-u* | u/begin u*", "b: b/thrown* | b* b/caught*", "e: e/end* b-e* | e*", "s-u: s-u |", "b-e: b-e |", "us: us/start* | us*", "ue: us-ue* | ue*", "us-ue: us-ue |"}},
		{"a compensation event counts the handlers that begin", begins + `<task id="t"/><boundaryEvent id="b" attachedToRef="t"><compensateEventDefinition/></boundaryEvent><task id="h" isForCompensation="true"/><association sourceRef="b" targetRef="h"/><endEvent id="e"><compensateEventDefinition/></endEvent>` + flows("s>t", "t>e"), []string{
			"p: p/active p/end* | p/done", "s: s/start* | s*", "t: t/done s-t* | t*", "b: | b/e*", "h: h/in* | h*", "e: e/compensating* e/end* t-e* | e* e/compensated", "s-t: s-t |", "t-e: t-e |"}},
		{"a called process is apart, after the call", begins + `<callActivity id="c" calledElement="q"/>` + ends + flows("s>c", "c>e") + `</process><process id="q"><startEvent id="qs"/><task id="qt"/>` + flows("qs>qt"), []string{
			"s: s/start* | s*", "c: c/active* s-c* | c/begin c*", "e: e/end* c-e* | e*", "s-c: s-c |", "c-e: c-e |",
			"c > qs: c:qs/start* | c:qs*", "c > qt: c:qs-qt* | c:qt*", "c > qs-qt: c:qs-qt |"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range read(t, process(tt.content)).Parts[0] {
				got = append(got, p.String())
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A call by an expression waits in work: where the process is chosen, if the expression has no value,
// and where a process begins.
func TestACallByAnExpressionWaitsInWork(t *testing.T) {
	f := read(t, process(`<startEvent id="s"/><callActivity id="c" calledElement="${x}"/>`+flows("s>c")+`</process><process id="q"><startEvent id="qs"/><task id="qt"/>`+flows("qs>qt")))
	var got []string
	for _, p := range f.Nets[0].Places {
		if strings.HasPrefix(p.ID, "c/") && !strings.Contains(p.ID, ":") && p.Role == petri.RoleWork {
			got = append(got, p.ID)
		}
	}
	if want := []string{"c/call q/called", "c/call other/called", "c/which/start"}; !slices.Equal(got, want) {
		t.Errorf("work is %q, want %q", got, want)
	}
}

// The elements of a process are those of its file: none is called after what the builder adds, and
// nothing is called left out that has a meaning.
func TestElementsAreThoseOfTheFile(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		want    []string // kind, id and text, of all but sequence flows and events without a text of interest
	}{
		"a call by an expression": {`<startEvent id="s"/><callActivity id="c" calledElement="${x}"/>` + flows("s>c") + `</process><process id="q"><startEvent id="qs"/><task id="qt"/>` + flows("qs>qt"), []string{
			"call activity c: place c/call other/called", "call activity c: place c/call q/called", "call activity c: place c/which/start", "call activity c: transition c",
			`call activity c: transition c/call other (work "${x}"); calls "${x}", which is not a process of the files with flow nodes: one piece of work`,
			"call activity c: the called process is inside, with ids that begin with c/call q:"}},
		"compensation": {`<startEvent id="s"/><task id="a"/>` + flows("s>a") + `<boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent><task id="h" isForCompensation="true"/>
			<association id="x" sourceRef="b" targetRef="h"/><textAnnotation id="t"/><association id="y" sourceRef="t" targetRef="a"/>`, []string{
			`process p: has compensation: it ends when no other tokens are left in it`, "task a: transition a (work)", "task h: place h/in, transition h (work)", `compensate boundary event b: leads to task "h"`,
			"text annotation : left out", "association : left out"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range read(t, process(tt.content)).Elements[0] {
				if e.Kind != "sequence flow" && e.Kind != "none start event" {
					got = append(got, e.Kind+" "+e.ID+": "+e.Text)
				}
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// flows returns sequence flows without ids, each "from>to".
func flows(pairs ...string) (out string) {
	for _, pair := range pairs {
		from, to, _ := strings.Cut(pair, ">")
		out += `<sequenceFlow sourceRef="` + from + `" targetRef="` + to + `"/>`
	}
	return out
}

// TestEachPlaceAndTransitionHasOnePart reads all files that the tests have.
func TestEachPlaceAndTransitionHasOnePart(t *testing.T) {
	files := corpusFiles(t)
	for _, pattern := range []string{"testdata/*.bpmn", "../../examples/*.bpmn"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, more...)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := readFile(t, path)
			for i, n := range f.Nets {
				haveOnePart(t, n, f.Parts[i])
				for _, p := range f.Parts[i] {
					if p.Element == n.ID && slices.ContainsFunc(append(p.Places, p.Transitions...), func(id string) bool { return !strings.HasPrefix(id, n.ID+"/") }) {
						t.Errorf("the process has %v", p)
					}
				}
			}
		})
	}
}

// haveOnePart checks that each place and each transition is of one part, and that each place
// shows its tokens at most once.
func haveOnePart(t *testing.T, n *petri.Net, parts []Part) {
	t.Helper()
	var places, transitions, wantPlaces, wantTransitions, tokens []string
	for _, p := range parts {
		places, transitions, tokens = append(places, p.Places...), append(transitions, p.Transitions...), append(tokens, p.Tokens...)
		if slices.ContainsFunc(p.Fires, func(id string) bool { return !slices.Contains(p.Transitions, id) }) {
			t.Errorf("part %v counts firings of another", p)
		}
	}
	for _, p := range n.Places {
		wantPlaces = append(wantPlaces, p.ID)
	}
	for _, tr := range n.Transitions {
		wantTransitions = append(wantTransitions, tr.ID)
	}
	for _, all := range [][]string{places, transitions, tokens, wantPlaces, wantTransitions} {
		slices.Sort(all)
	}
	if diff := cmp.Diff([][]string{wantPlaces, wantTransitions, slices.Compact(slices.Clone(tokens))}, [][]string{places, transitions, tokens}); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
