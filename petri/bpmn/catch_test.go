// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// caughtBy returns the event that catches what is thrown at the end of a sub-process,
// or "" if none does, and the warnings. Attributes are those of the root elements
// that the throwing and the catching event refer to.
func caughtBy(t *testing.T, kind, thrown, caught string) (string, []string) {
	t.Helper()
	def := func(id, code string) string { return `<` + kind + ` id="` + id + `"` + code + `/>` }
	xml := begun(`<subProcess id="u"><startEvent id="us"/><endEvent id="ue"><` + kind + `EventDefinition ` + kind + `Ref="thrown"/></endEvent>` +
		`<sequenceFlow id="y" sourceRef="us" targetRef="ue"/></subProcess>` +
		`<boundaryEvent id="b" attachedToRef="u"><` + kind + `EventDefinition ` + kind + `Ref="caught"/></boundaryEvent>` +
		path("s u e") + `<sequenceFlow id="z" sourceRef="b" targetRef="e"/>`)
	f := read(t, strings.Replace(xml, `<process`, def("thrown", thrown)+def("caught", caught)+`<process`, 1))
	for _, e := range f.Elements[0] {
		if e.ID == "ue" && strings.Contains(e.Text, `caught by `+kind+` boundary event "b"`) {
			return "b", warningsOf(f)
		}
	}
	return "", warningsOf(f)
}

// BPMN 2.0, 10.5: a catching event without a code catches all of its kind.
func TestCodes(t *testing.T) {
	tests := []struct{ rule, thrown, caught, want string }{
		{"the same code is caught", ` errorCode="a" escalationCode="a"`, ` errorCode="a" escalationCode="a"`, "b"},
		{"another code is not", ` errorCode="a" escalationCode="a"`, ` errorCode="c" escalationCode="c"`, ""},
		{"an event without a code catches every code", ` errorCode="a" escalationCode="a"`, ` name="c"`, "b"},
		{"so does one with an empty code", ` errorCode="a" escalationCode="a"`, ` errorCode="" escalationCode=""`, "b"},
		{"what has no code is caught by one that catches all", ` name="a"`, ``, "b"},
		{"what has no code is not caught by one with a code", ``, ` errorCode="a" escalationCode="a"`, ""},
		{"a name is no code", ` name="a"`, ` errorCode="a" escalationCode="a"`, ""},
	}
	for _, tt := range tests {
		for _, kind := range []string{"error", "escalation"} {
			got, warnings := caughtBy(t, kind, tt.thrown, tt.caught)
			if got != tt.want {
				t.Errorf("%s: an %s is caught by %q, want %q", tt.rule, kind, got, tt.want)
			}
			var want []string
			if kind == "error" && got == "" {
				want = []string{`f:2:44: error end event "ue" is not caught by any event around it: it ends the instance, as a terminate end event does`}
			}
			if diff := cmp.Diff(want, warnings, cmp.Transformer("place", func(s string) string { return s[strings.Index(s, " "):] })); diff != "" {
				t.Errorf("%s: warnings of an %s: -want +got\n%s", tt.rule, kind, diff)
			}
		}
	}
}

func TestNodesThatInstantiateAreSources(t *testing.T) {
	const events = `<intermediateCatchEvent id="m"><messageEventDefinition messageRef="order"/></intermediateCatchEvent><receiveTask id="r"/>` +
		`<endEvent id="e"/><sequenceFlow id="y1" sourceRef="g" targetRef="m"/><sequenceFlow id="y2" sourceRef="g" targetRef="r"/>` +
		`<sequenceFlow id="y3" sourceRef="m" targetRef="e"/><sequenceFlow id="y4" sourceRef="r" targetRef="e"/>`
	tests := []struct {
		rule, xml string
		want      map[string][]string // arcs by transition
	}{
		{"each event after an instantiating event gateway begins an instance", process(`<eventBasedGateway id="g" instantiate="true"/>` + events),
			map[string][]string{"m": {"normal m → y3"}, "r": {"normal r → y4"}}},
		{"beside a start event, too", process(`<startEvent id="s"/><endEvent id="d"/>` + path("s d") + `<eventBasedGateway id="g" instantiate="true"/>` + events),
			map[string][]string{"m": {"normal m → y3"}, "r": {"normal r → y4"}}},
		{"an instantiating receive task begins an instance", process(`<receiveTask id="t" instantiate="true"/><endEvent id="e"/>` + path("t e")),
			map[string][]string{"t": {"normal t → x1"}}},
	}
	for _, tt := range tests {
		n := read(t, tt.xml).Nets[0]
		for id, want := range tt.want {
			if diff := cmp.Diff(want, arcs(n, id)); diff != "" {
				t.Errorf("%s: %s: -want +got\n%s", tt.rule, id, diff)
			}
			if k := transition(t, n, id).Trigger.Kind; k != petri.TriggerEvent {
				t.Errorf("%s: %s has the trigger %s", tt.rule, id, k)
			}
		}
	}
}

func source(name, text string) Source { return Source{Name: name, Reader: strings.NewReader(text)} }

// readAll reads files, each given as its processes, that are called 1, 2, ….
func readAll(processes ...string) ([]*File, error) {
	var sources []Source
	for i, p := range processes {
		sources = append(sources, source(itoa(i+1), `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">`+"\n"+p+`</definitions>`))
	}
	return ReadAll(sources, Limits{})
}

func TestCallsOfOtherFiles(t *testing.T) {
	const caller = `<process id="p"><startEvent id="s"/><callActivity id="c" calledElement="q"/><endEvent id="e"/><sequenceFlow id="x1" sourceRef="s" targetRef="c"/><sequenceFlow id="x2" sourceRef="c" targetRef="e"/></process>`
	const called = `<process id="q"><startEvent id="qs"/><task id="qt"/><sequenceFlow id="y" sourceRef="qs" targetRef="qt"/></process>`
	files, err := readAll(caller, called)
	if err != nil {
		t.Fatal(err)
	}
	n := files[0].Nets[0]
	for _, tr := range n.Transitions {
		if strings.HasPrefix(tr.ID, "c:") && tr.Pos != (petri.Pos{Line: 2, Column: 37}) {
			t.Errorf("%s is at %v, not at its call", tr.ID, tr.Pos)
		}
	}
	tables := petritest.Compile(t, n)
	s := tables.NewState()
	play(t, s, tables, "s c/begin c:qs c:qt c e")
	if got := show(tables, s.Marking()); got != "e/end" {
		t.Errorf("ends at %s", got)
	}
	if id := files[1].Nets[0].ID; id != "q" {
		t.Errorf("the second file has the net %s", id)
	}

	call := func(id, called string) string {
		return `<process id="` + id + `"><callActivity id="c` + id + `" calledElement="` + called + `"/></process>`
	}
	for _, tt := range []struct {
		rule  string
		files []string
		want  string // of the error
		read  string // which files
	}{
		{"a process that is in no file is work", []string{call("p", "q"), call("r", "q")}, "", "++"},
		{"processes that call each other are refused", []string{call("p", "q"), call("q", "p")},
			`2:2:17: a process that calls itself, here by call activity "cq"; expected calls that end`, "--"},
		{"what calls a process of an invalid file is not read", []string{call("p", "q"), call("q", "r"), call("r", "") + `<choreography/>`, call("o", "")},
			`3:2:67: choreography ""; expected processes`, "---+"},
		{"the called process must have a none start", []string{call("p", "q"), `<process id="q"><startEvent id="m"><messageEventDefinition/></startEvent></process>`},
			`1:2:17: no none start event in the process that is called by call activity "cp"; expected one`, "-+"},
	} {
		files, err := readAll(tt.files...)
		got, read := "", ""
		if err != nil {
			got = err.Error()
		}
		for _, f := range files {
			if f != nil {
				read += "+"
			} else {
				read += "-"
			}
		}
		if got != tt.want || read != tt.read {
			t.Errorf("%s: read %s, %s; want %s, %s", tt.rule, read, got, tt.read, tt.want)
		}
	}
}
