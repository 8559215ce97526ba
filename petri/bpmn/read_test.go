// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/pnml"
)

// process returns a file with one process on line 1; its content begins at
// column 82.
func process(content string) string {
	return `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">` + content + `</process></definitions>`
}

func read(t *testing.T, xml string) *File {
	t.Helper()
	f, err := Read(strings.NewReader(xml), "f", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func warningsOf(f *File) []string {
	var out []string
	for i := range f.Warnings {
		out = append(out, f.Warnings[i].Error())
	}
	return out
}

func transition(t *testing.T, n *petri.Net, id string) petri.Transition {
	t.Helper()
	for _, tr := range n.Transitions {
		if tr.ID == id {
			return tr
		}
	}
	t.Fatalf("no transition %q", id)
	return petri.Transition{}
}

// arcs lists the arcs at a transition, in words.
func arcs(n *petri.Net, id string) []string {
	var out []string
	for _, a := range n.Arcs {
		if a.Source != id && a.Target != id {
			continue
		}
		s := a.Kind.String() + " " + a.Source + " → " + a.Target
		if a.Weight != 1 {
			s += " ×" + itoa(int(a.Weight))
		}
		if a.Guard != "" {
			s += " if " + a.Guard
		}
		if a.Default {
			s += " default"
		}
		out = append(out, s)
	}
	return out
}

func TestElementsListWhatEachElementBecame(t *testing.T) {
	tests := []struct {
		file  string
		want  []string
		aside map[string]string // by element: what its author did not draw
	}{
		{"exclusive", []string{
			`4:5: none start event "s": place s/start, transition s`,
			`5:5: exclusive gateway "split" (which?): transitions split/f1 (if ${x gt 1 and y eq 'a and b'}), split/f2 (unless ${x gt 1 and y eq 'a and b'}, unless = z = "="), split/f3 (unless ${x gt 1 and y eq 'a and b'}, if = z = "=")`,
			`6:5: task "t1": transition t1 (work)`,
		}, nil},
		{"boundary-task", []string{
			`5:5: none start event "s": place s/start, transition s`,
			`6:5: user task "t": place t/active, transition t (waits for "t")`,
			`7:5: timer boundary event "late": transition late (timer PT1H)`,
			`8:5: timer boundary event "remind": transition remind (timer PT10M)`,
			`9:5: message boundary event "asked": transition asked (waits for "question")`,
		}, map[string]string{"t": "transition t/begin", "remind": "place remind/armed", "asked": "place asked/armed"}},
		{"tasks", []string{
			`5:5: none start event "s": place s/start, transition s`,
			`6:5: service task "service": transition service (work "invoices"); not followed: asyncBefore`,
			`7:5: service task "class": transition class (work "archiver")`,
			`8:5: send task "send": transition send (work "order")`,
			`9:5: business rule task "rule": transition rule (work)`,
			`10:5: script task "script": transition script (work)`,
			`11:5: user task "user" (Check the invoice): transition user (waits for "Check the invoice")`,
			`12:5: manual task "manual": transition manual (waits for "manual")`,
			`13:5: receive task "receive": transition receive (waits for "order")`,
			`14:5: service task "zeebe": transition zeebe (work "ship")`,
			`21:5: message end event "e": place e/end, transition e (work "order")`,
		}, nil},
		{"error", []string{
			`6:5: none start event "s": place s/start, transition s`,
			`7:5: sub-process "outer": transition outer`,
			`8:7: none start event "os": place os/start, transition os`,
			`9:7: sub-process "sub": transition sub`,
			`10:9: none start event "ss": place ss/start, transition ss`,
			`11:9: parallel gateway "fork": transition fork`,
			`12:9: user task "t": transition t (waits for "t")`,
			`13:9: exclusive gateway "which": transitions which/sf3, which/sf4, which/sf5; no conditions: its flows are chosen in turn`,
			`14:9: error end event "known": transitions known, catch1/caught; caught by error boundary event "catch1"`,
			`15:9: error end event "other": transitions other, any/caught; caught by error boundary event "any"`,
		}, map[string]string{
			"outer": "place outer/active, transition outer/begin", "sub": "place sub/active, transition sub/begin", "known": "place catch1/thrown", "other": "place any/thrown",
		}},
		{"inclusive", []string{
			`4:5: none start event "s": place s/start, transition s`,
			`5:5: inclusive gateway "split": transition split`,
			`6:5: task "t1": transition t1 (work)`,
			`7:5: task "t2": transition t2 (work)`,
			`8:5: task "t3": transition t3 (work)`,
			`9:5: inclusive gateway "join": transition join`,
		}, nil},
		{"call", []string{
			`4:5: none start event "s": place s/start, transition s`,
			`5:5: call activity "c1": transition c1; the called process is inside, with ids that begin with c1:`,
			`6:5: call activity "c2": transition c2; the called process is inside, with ids that begin with c2:`,
			`7:5: call activity "away": transition away (work "elsewhere"); calls "elsewhere", which is not a process of the files with flow nodes: one piece of work`,
			`8:5: none end event "e": place e/end, transition e`,
			`9:5: sequence flow "f0": place f0`,
		}, map[string]string{"c1": "place c1/active, transition c1/begin", "c2": "place c2/active, transition c2/begin"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			var got []string
			aside := map[string]string{}
			for k, e := range readFile(t, filepath.Join("testdata", tt.file+".bpmn")).Elements[0] {
				got = append(got, e.String())
				if e.Aside != "" && k < len(tt.want) {
					aside[e.ID] = e.Aside
				}
			}
			if diff := cmp.Diff(tt.want, got[:min(len(tt.want), len(got))]); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if !maps.Equal(tt.aside, aside) {
				t.Errorf("not drawn: %q, want %q", aside, tt.aside)
			}
		})
	}
}

// Names, guards and triggers are kept in PNML.
func TestNetsSurvivePNML(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bpmn")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	examples, err := filepath.Glob("../../examples/*.bpmn")
	if err != nil || len(examples) == 0 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, path := range append(files, examples...) {
		for _, n := range readFile(t, path).Nets {
			samePNML(t, n)
		}
	}
}

// samePNML checks that PNML preserves a net.
func samePNML(t *testing.T, n *petri.Net) {
	t.Helper()
	var first, second bytes.Buffer
	if err := pnml.Write(&first, n); err != nil {
		t.Fatal(err)
	}
	f, err := pnml.Read(bytes.NewReader(first.Bytes()), "written", pnml.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(n, f.Nets[0], cmpopts.IgnoreTypes(petri.Pos{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(petri.Net{}, "File", "FinalMarkings"), cmpopts.IgnoreFields(petri.Transition{}, "Silent"),
		cmp.FilterPath(isLabel, cmp.Comparer(func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }))); diff != "" {
		t.Errorf("-net +read\n%s", diff)
	}
	if err := pnml.Write(&second, f.Nets[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Errorf("-written +written again\n%s", diff)
	}
}

// isLabel reports whether a field is a text for people, around which PNML keeps no white space.
func isLabel(p cmp.Path) bool {
	return p.Last().String() == ".Name" && p.Index(-2).Type() != reflect.TypeFor[petri.Trigger]() && p.Index(-2).Type() != reflect.TypeFor[petri.Event]() ||
		p.Last().String() == ".Doc"
}

func TestStartEvents(t *testing.T) {
	f := readFile(t, filepath.Join("testdata", "starts.bpmn"))
	n := f.Nets[0]
	event := func(name string) petri.Trigger { return petri.Trigger{Kind: petri.TriggerEvent, Name: name} }
	caught := func(kind petri.EventKind, name string) petri.Trigger {
		return petri.Trigger{Kind: petri.TriggerEvent, Name: name, Event: petri.Event{Kind: kind, Name: name}}
	}
	for id, want := range map[string]petri.Trigger{
		"ordered": caught(petri.EventMessage, "order"),
		"daily":   {Kind: petri.TriggerDelay, Micros: 24 * 3600e6, Name: "R/P1D", Begins: true},
		"opening": {Kind: petri.TriggerTime, Micros: 1893484800_000_000, Name: "2030-01-01T08:00:00Z", Begins: true, Times: 1},
		"hot":     event("temperature gt 30"),
		"alarm":   caught(petri.EventSignal, "fire"),
	} {
		if got := transition(t, n, id).Trigger; got != want {
			t.Errorf("%s: trigger %+v, want %+v", id, got, want)
		}
	}
	if diff := cmp.Diff([]string{"normal ordered → f1"}, arcs(n, "ordered")); diff != "" {
		t.Errorf("the message start is not a source transition: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"normal opening → f3"}, arcs(n, "opening")); diff != "" {
		t.Errorf("the timer start is not a source transition: -want +got\n%s", diff)
	}
	if m := show(petritest.Compile(t, n), petritest.Compile(t, n).Initial); m != "" {
		t.Errorf("begins with %s", m)
	}
	want := []string{
		`starts.bpmn:9:54: conditional start event "hot": its condition is not evaluated; it waits for an event of that name`,
	}
	if diff := cmp.Diff(want, warningsOf(f)); diff != "" {
		t.Errorf("warnings: -want +got\n%s", diff)
	}
}

func TestTransitionsThatInterruptPreempt(t *testing.T) {
	for file, ids := range map[string]map[string]bool{
		"boundary-task":         {"late": true, "remind": false, "asked": false, "t": false},
		"boundary-sub":          {"cancel": true, "poke": false, "sub": false},
		"terminate":             {"stop": true, "se1": true, "e": false},
		"error":                 {"known": false, "catch1": true, "catch1/caught": true, "any": true, "any/caught": true, "fine": false},
		"escalation":            {"tell": false, "give-up": false, "stop/caught": true, "told/caught": false},
		"event-sub-process-top": {"slow": false, "cancelled": true},
	} {
		n := readFile(t, filepath.Join("testdata", file+".bpmn")).Nets[0]
		for id, want := range ids {
			if got := transition(t, n, id).Preempts; got != want {
				t.Errorf("%s: %s preempts: %t", file, id, got)
			}
		}
	}
}

// play fires transitions by id, with _ for a space; each must be enabled.
func play(t *testing.T, s *petri.State, tables *petri.Tables, ids string) {
	t.Helper()
	for _, id := range strings.Fields(ids) {
		id = strings.NewReplacer("flow_", "flow ", "leaves_", "leaves ").Replace(id)
		tr, ok := tables.TransitionIndex(id)
		if !ok {
			t.Fatalf("no transition %q", id)
		}
		if err := s.Fire(tr); err != nil {
			t.Fatalf("%v at %s", err, show(tables, s.Marking()))
		}
	}
}

func TestScenarios(t *testing.T) {
	tests := []struct{ rule, file, fired, want string }{
		{"a message that does not interrupt comes as often as it is said", "boundary-task", "s t/begin asked asked", "asked/armed q×2 remind/armed t/active"},
		{"a timer that does not interrupt comes once", "boundary-task", "s t/begin remind t e", "e/end r"},
		{"an event sub-process runs beside, and its end is awaited", "event-sub-process", "s sub/begin ss logged lt logged t which/sf2 se", "broken/armed lf1 lf2 logged/armed sub/active"},
		{"then the sub-process ends and stops waiting", "event-sub-process", "s sub/begin ss logged t which/sf2 se lt le sub", "f1"},
		{"an error ends what runs beside, even in another event sub-process", "event-sub-process", "s sub/begin ss logged t which/sf3 bad broken/caught", "rf1 sub/active"},
		{"terminate inside ends the sub-process only", "terminate", "s sub/begin ss fork t1 se1 sub both", "f2 f3"},
		{"an interruption empties what is nested and disarms it", "boundary-sub", "s sub/begin ss fork inner/begin is it/begin cancel", "f2"},
		{"an escalation goes on beside what it began", "escalation", "s sub/begin ss tell told/caught", "f2 sf1 sub/active told/armed"},
		{"the first k of n fire a complex gateway", "complex", "s split t1 gw/j1 t2 gw/j2 gw", "f3 gw/got j1 gw/got j2 gw/resetting out"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			tables := petritest.Compile(t, readFile(t, filepath.Join("testdata", tt.file+".bpmn")).Nets[0])
			s := tables.NewState()
			play(t, s, tables, tt.fired)
			if got := show(tables, s.Marking()); got != tt.want {
				t.Errorf("after %s: %s, want %s", tt.fired, got, tt.want)
			}
		})
	}
}

func TestScenariosOfProcessesInLine(t *testing.T) {
	message := func(kind, id, attrs string) string {
		return `<` + kind + ` id="` + id + `" ` + attrs + `><messageEventDefinition/></` + kind + `>`
	}
	const logging = `<subProcess id="log" triggeredByEvent="true"><startEvent id="note" isInterrupting="false"><messageEventDefinition/></startEvent></subProcess>`
	tests := []struct {
		rule, xml   string
		fired, want string
		not         string // a transition that must not be enabled then
	}{
		{"a process with event sub-processes that a message starts waits for it", process(message("startEvent", "s", "") + `<userTask id="t"/>` + path("s t") + logging),
			"", "", "note"},
		{"and then runs once at a time", process(message("startEvent", "s", "") + `<userTask id="t"/>` + path("s t") + logging),
			"s note", "note/armed p/active x1", "s"},
		{"and can begin again when it has ended", process(message("startEvent", "s", "") + `<userTask id="t"/>` + path("s t") + logging),
			"s t p/done s", "note/armed p/active p/end t/end x1", "p/done"},
		{"a terminate end event stops waiting for events, too", process(`<startEvent id="s"/><userTask id="t"/><endEvent id="e"><terminateEventDefinition/></endEvent>` + path("s t e") + logging),
			"s t e", "e/end", "note"},
		{"several flows into an event gateway merge before it", begun(`<eventBasedGateway id="g"/><parallelGateway id="f"/>` + message("intermediateCatchEvent", "c", "") + path("s f g c e") + `<sequenceFlow id="y" sourceRef="f" targetRef="g"/>`),
			"s f g/y c", "x2 x4", "c"},
		{"an event gateway can begin a process", process(`<eventBasedGateway id="g"/>` + message("intermediateCatchEvent", "c", "") + path("g c")),
			"c", "c/end", "c"},
		{"a parallel gateway can begin a process", process(`<parallelGateway id="g"/><task id="t"/><task id="u"/>` + path("g t") + `<sequenceFlow id="y" sourceRef="g" targetRef="u"/>`),
			"g t u", "t/end u/end", "g"},
		{"a link target may have flows, too", begun(`<intermediateThrowEvent id="l"><linkEventDefinition name="a"/></intermediateThrowEvent><intermediateCatchEvent id="c"><linkEventDefinition name="a"/></intermediateCatchEvent>` + path("s c e") + `<sequenceFlow id="y" sourceRef="s" targetRef="l"/>`),
			"s l c c/x1 c e e", "e/end×2", "c"},
		{"an escalation that interrupts begins an event sub-process", begun(`<subProcess id="u"><startEvent id="us"/><endEvent id="ue"><escalationEventDefinition/></endEvent><sequenceFlow id="y" sourceRef="us" targetRef="ue"/>` +
			`<subProcess id="v" triggeredByEvent="true"><startEvent id="vs"><escalationEventDefinition/></startEvent><userTask id="vt"/><sequenceFlow id="z" sourceRef="vs" targetRef="vt"/></subProcess></subProcess>` + path("s u e")),
			"s u/begin us ue vs/caught vt u e", "e/end", "vs"},
		{"what an event sub-process throws goes to the boundary", begun(`<subProcess id="u"><startEvent id="us"/><userTask id="ut"/><sequenceFlow id="y" sourceRef="us" targetRef="ut"/>` +
			`<subProcess id="v" triggeredByEvent="true"><startEvent id="vs"><errorEventDefinition/></startEvent><endEvent id="ve"><errorEventDefinition/></endEvent><sequenceFlow id="z" sourceRef="vs" targetRef="ve"/></subProcess></subProcess>` +
			`<boundaryEvent id="b" attachedToRef="u"><errorEventDefinition/></boundaryEvent>` + path("s u e") + `<sequenceFlow id="w" sourceRef="b" targetRef="e"/>`),
			"s u/begin us vs ve b/caught", "w", "u"},
		{"flows may be called like parts of a node", process(`<startEvent id="s"/><parallelGateway id="f"/><userTask id="t"/><endEvent id="e"/><sequenceFlow id="out" sourceRef="s" targetRef="f"/>` +
			`<sequenceFlow id="in" sourceRef="f" targetRef="t"/><sequenceFlow id="start" sourceRef="f" targetRef="t"/><sequenceFlow id="end" sourceRef="t" targetRef="e"/>`),
			"s f t/flow_in t/flow_start t e", "e/end t/in", "f"},
		{"an error leaves a called process", `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><callActivity id="c" calledElement="n:q"/><boundaryEvent id="b" attachedToRef="c"><errorEventDefinition/></boundaryEvent><task id="t"/>` +
			`<sequenceFlow id="w" sourceRef="b" targetRef="t"/></process><process id="q"><startEvent id="qs"/><endEvent id="qe"><errorEventDefinition errorRef="x"/></endEvent><sequenceFlow id="qf" sourceRef="qs" targetRef="qe"/></process></definitions>`,
			"c/begin c:qs c:qe b/caught t", "t/end", "c"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			tables := petritest.Compile(t, read(t, tt.xml).Nets[0])
			s := tables.NewState()
			play(t, s, tables, tt.fired)
			if got := show(tables, s.Marking()); got != tt.want {
				t.Errorf("after %s: %s, want %s", tt.fired, got, tt.want)
			}
			if tr, ok := tables.TransitionIndex(tt.not); !ok || s.Enabled(tr) {
				t.Errorf("%s exists: %t, and is enabled", tt.not, ok)
			}
		})
	}
}

// The text of a file goes along with each of its nets, as it is.
func TestNetsHaveTheirFile(t *testing.T) {
	text, err := os.ReadFile("testdata/call.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(bytes.NewReader(text), "call.bpmn", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range f.Nets {
		if n.Model == nil || n.Model.Kind != petri.ModelBPMN || n.Model != f.Nets[0].Model {
			t.Fatalf("net %s has the model %+v; want one for all nets", n.ID, n.Model)
		}
		if got, err := n.Model.Texts(); err != nil || len(got) != 1 || !bytes.Equal(got[0], text) {
			t.Errorf("net %s: %v, texts\n%s", n.ID, err, got)
		}
	}
}

// caller is a file of one process, which calls others.
func caller(id string, called ...string) string {
	var b strings.Builder
	for _, c := range called {
		fmt.Fprintf(&b, `<callActivity id="%s-%s" calledElement="%[2]s"/>`, id, c)
	}
	return strings.Replace(process(`<task id="`+id+`-t"/>`+b.String()), `"p"`, `"`+id+`"`, 1)
}

// The files of called processes go along with a net, in the order of the sources, if they
// fit together.
func TestNetsHaveTheFilesOfTheProcessesThatTheyCall(t *testing.T) {
	var sources []Source
	long := strings.Replace(caller("long", "e"), "<process", strings.Repeat("<!--"+strings.Repeat("x", petri.MaxModelText/8-38)+"-->", 8)+"<process", 1)
	files := map[string]string{"e": caller("e"), "d": caller("d", "e"), "a": caller("a", "c", "d"), "c": caller("c"), "b": caller("b"), "long": long}
	for _, name := range []string{"e", "d", "a", "c", "b", "long"} {
		sources = append(sources, Source{name, strings.NewReader(files[name])})
	}
	read, err := ReadAll(sources, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"e", "e d", "e d a c", "c", "b", "long"} {
		texts, err := read[i].Nets[0].Model.Texts()
		var got []string
		for _, text := range texts {
			for name, f := range files {
				if f == string(text) {
					got = append(got, name)
				}
			}
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s has the files %q, %v; want %s", sources[i].Name, got, err, want)
		}
	}
}

// A browser reads the text of a file as UTF-8, whatever its encoding is.
func TestTheTextOfAFileIsInUTF8(t *testing.T) {
	const utf8 = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><task id="t" name="prüfen"/></process></definitions>`
	latin1 := strings.NewReplacer("UTF-8", "ISO-8859-1", "ü", "\xfc").Replace(utf8)
	wide := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(strings.Replace(utf8, "UTF-8", "UTF-16", 1))) {
		wide = binary.LittleEndian.AppendUint16(wide, c)
	}
	for encoding, text := range map[string]string{"UTF-8": utf8, "UTF-8 with a mark": "\xef\xbb\xbf" + utf8, "Latin 1": latin1, "UTF-16": string(wide)} {
		net := read(t, text).Nets[0]
		if got, err := net.Model.Texts(); err != nil || string(got[0]) != utf8 || net.Transitions[0].Name != "prüfen" {
			t.Errorf("%s: %v, %q, transition %q; want %q", encoding, err, got, net.Transitions[0].Name, utf8)
		}
	}
}

// A long file is read, and its text is left out.
func TestTheTextOfALongFileIsLeftOut(t *testing.T) {
	text, err := os.ReadFile("testdata/call.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	long := io.MultiReader(bytes.NewReader(text), strings.NewReader(strings.Repeat("<!--"+strings.Repeat(" ", 1<<18)+"-->", petri.MaxModelText>>17)))
	f, err := Read(long, "call.bpmn", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if m := f.Nets[0].Model; m == nil || m.Packed != nil || m.Missing == "" {
		t.Errorf("model %+v; want one that is missing", m)
	}
}

// For whom a user task is, is in the documentation of its transition.
func TestADocumentationHasTheAssigneesOfAUserTask(t *testing.T) {
	const camunda = `xmlns:c="http://camunda.org/schema/1.0/bpmn" xmlns:z="http://camunda.org/schema/zeebe/1.0"`
	for task, want := range map[string]string{
		`<userTask id="u"/>`: "",
		`<userTask id="u" ` + camunda + ` c:assignee="anna" c:candidateGroups="accounting,  sales"><documentation>check it</documentation></userTask>`:        "check it\nAssignee: anna. Candidate groups: accounting, sales.",
		`<userTask id="u" ` + camunda + `><extensionElements><z:assignmentDefinition assignee="=owner" candidateUsers="kim"/></extensionElements></userTask>`: "Assignee: =owner. Candidate users: kim.",
		`<serviceTask id="u" ` + camunda + ` c:assignee="anna"/>`: "",
		`<userTask id="u"><humanPerformer><resourceAssignmentExpression><formalExpression>=
			owner</formalExpression></resourceAssignmentExpression></humanPerformer></userTask>`: "Performer: = owner.",
		`<userTask id="u"><potentialOwner id="o"><resourceRef>t:team</resourceRef></potentialOwner>
			<potentialOwner><resourceRef>nobody</resourceRef></potentialOwner><potentialOwner name="of nothing"/></userTask>`: "Potential owners: The accountants, nobody.",
		`<serviceTask id="u"><potentialOwner><resourceRef>team</resourceRef></potentialOwner></serviceTask>`: "",
	} {
		text := process(`<startEvent id="s"/>` + task + `<sequenceFlow id="f" sourceRef="s" targetRef="u"/>`)
		net := read(t, strings.Replace(text, "<process ", `<resource id="team" name="The accountants"/><process `, 1)).Nets[0]
		i := slices.IndexFunc(net.Transitions, func(t petri.Transition) bool { return t.ID == "u" })
		if i < 0 || net.Transitions[i].Doc != want {
			t.Errorf("%s: transition %d of %+v; want the documentation %q", task, i, net.Transitions, want)
		}
	}
}
