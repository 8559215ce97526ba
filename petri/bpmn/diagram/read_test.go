// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri/bpmn"
)

// head declares the namespaces of a file.
const head = `<definitions xmlns="` + modelSpace + `" xmlns:b="` + diagramSpace + `" xmlns:c="` + dcSpace + `" xmlns:d="` + diSpace + `">`

func read(t *testing.T, xml string) *File {
	t.Helper()
	f, err := Read(strings.NewReader(xml), "f", bpmn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// paths returns the files of the corpus, if it is there, the tests of petri/bpmn and the
// examples.
func paths(t testing.TB) (all []string) {
	t.Helper()
	for _, pattern := range []string{"../../../../shared/corpus/bpmn/*.bpmn", "../testdata/*.bpmn", "../../../examples/*.bpmn"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

func TestReadJoinsADiagramWithItsModel(t *testing.T) {
	f := read(t, head+`<process id="p">
<boundaryEvent id="x" attachedToRef="t" cancelActivity="false"><timerEventDefinition/></boundaryEvent>
<userTask id="t" name=" Ask
 twice" default="b"><multiInstanceLoopCharacteristics isSequential="true"/></userTask>
<sequenceFlow id="a" sourceRef="t" targetRef="g"><conditionExpression>x</conditionExpression></sequenceFlow>
<sequenceFlow id="b" name="else" sourceRef="t" targetRef="g"/><exclusiveGateway id="g"/>
<subProcess id="s" triggeredByEvent="true"><task id="in"/></subProcess><textAnnotation id="n"><text>why</text></textAnnotation>
</process><b:BPMNDiagram id="d" name="D"><b:BPMNPlane bpmnElement="q:p">
<b:BPMNShape bpmnElement="x"><c:Bounds x="10" y="-5" width="36" height="36"/><b:BPMNLabel><c:Bounds x="1" y="2" width="3" height="4"/></b:BPMNLabel></b:BPMNShape>
<b:BPMNShape bpmnElement="t"><c:Bounds x="1" y="2" width="100" height="80"/></b:BPMNShape>
<b:BPMNShape bpmnElement="g" isMarkerVisible="true"><c:Bounds x="1" y="2" width="50" height="50"/></b:BPMNShape>
<b:BPMNShape bpmnElement="s"><c:Bounds x="1" y="2" width="50" height="50"/></b:BPMNShape><b:BPMNShape bpmnElement="in"><c:Bounds x="1" y="2" width="5" height="5"/></b:BPMNShape>
<b:BPMNShape bpmnElement="n"><c:Bounds x="1" y="2" width="5" height="5"/></b:BPMNShape>
<b:BPMNShape bpmnElement="t"><c:Bounds x="NaN" y="2" width="5" height="5"/></b:BPMNShape>
<b:BPMNShape bpmnElement="t"><c:Bounds x="1e10" y="2" width="5" height="5"/></b:BPMNShape>
<b:BPMNShape bpmnElement="elsewhere"><c:Bounds x="1" y="2" width="5" height="5"/></b:BPMNShape>
<b:BPMNEdge bpmnElement="a"><d:waypoint x="1" y="2"/><d:waypoint x="3" y="4"/></b:BPMNEdge>
<b:BPMNEdge bpmnElement="b"><d:waypoint x="1" y="2"/><d:waypoint x="3" y="2"/></b:BPMNEdge>
<b:BPMNEdge bpmnElement="b"><d:waypoint x="1" y="2"/></b:BPMNEdge>
</b:BPMNPlane></b:BPMNDiagram></definitions>`)
	want := []Diagram{{ID: "d", Name: "D", Plane: "p", Shapes: []Shape{
		{Element: "x", Kind: "boundaryEvent", Bounds: Bounds{10, -5, 36, 36}, Label: &Bounds{1, 2, 3, 4}, Horizontal: true, Traits: Traits{Event: "timer", Continues: true}},
		{Element: "t", Kind: "userTask", Name: "Ask twice", Bounds: Bounds{1, 2, 100, 80}, Horizontal: true, Traits: Traits{Loop: "sequential"}},
		{Element: "g", Kind: "exclusiveGateway", Bounds: Bounds{1, 2, 50, 50}, Horizontal: true, Marker: true},
		{Element: "s", Kind: "subProcess", Bounds: Bounds{1, 2, 50, 50}, Horizontal: true, Expanded: true, Traits: Traits{ByEvent: true}},
		{Element: "in", Kind: "task", Bounds: Bounds{1, 2, 5, 5}, Horizontal: true},
		{Element: "n", Kind: "textAnnotation", Name: "why", Bounds: Bounds{1, 2, 5, 5}, Horizontal: true},
	}, Edges: []Edge{
		{Element: "a", Kind: "sequenceFlow", Points: []Point{{X: 1, Y: 2}, {X: 3, Y: 4}}, Source: "t", Target: "g", Conditional: true},
		{Element: "b", Kind: "sequenceFlow", Name: "else", Points: []Point{{X: 1, Y: 2}, {X: 3, Y: 2}}, Source: "t", Target: "g", Default: true},
	}}}
	if diff := cmp.Diff(want, f.Diagrams); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestEventsHaveTheKindsOfTheirDefinitions(t *testing.T) {
	for content, want := range map[string]string{
		``:                          "none",
		`<messageEventDefinition/>`: "message",
		`<eventDefinitionRef>q:r</eventDefinitionRef>`:           "signal",
		`<timerEventDefinition/><errorEventDefinition/>`:         "multiple",
		`<strangeEventDefinition/><conditionalEventDefinition/>`: "conditional",
	} {
		f := read(t, head+`<signalEventDefinition id="r"/><process id="p"><startEvent id="s">`+content+`</startEvent></process></definitions>`)
		if got := f.traits(f.byID["s"].elem).Event; got != want {
			t.Errorf("%s: %s; expected %s", content, got, want)
		}
	}
}

func TestWhatIsNotBPMNIsRefused(t *testing.T) {
	for xml, want := range map[string]string{
		``:                     "f:1:1: the file has no root element; expected an XML document with the root <definitions>",
		`<a/>`:                 "f:1:1: the root element is <a> in the namespace \"\"; expected <definitions> in " + modelSpace,
		head + `<process></a>`: "f:1:",
	} {
		if _, err := Read(strings.NewReader(xml), "f", bpmn.Limits{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; expected %s", xml, err, want)
		}
	}
	if _, err := Read(strings.NewReader(head+`<process/><process/></definitions>`), "f", bpmn.Limits{Elements: 2}); err == nil {
		t.Error("three elements are within a limit of two")
	}
}

// For any bytes, Read returns diagrams that can be drawn, and Complete a file that is complete
// but for what has no id, or an error.
func FuzzRead(f *testing.F) {
	for _, path := range paths(f) {
		if content, err := os.ReadFile(path); err == nil && len(content) < 16<<10 {
			f.Add(content)
		}
	}
	f.Add([]byte(crossProcess))
	f.Fuzz(func(t *testing.T, content []byte) {
		lim := bpmn.Limits{Bytes: 1 << 20, Elements: 2000}
		file, err := Read(bytes.NewReader(content), "f", lim)
		if err != nil {
			return
		}
		for _, d := range append(file.Diagrams, file.Layout()...) {
			for _, s := range d.Shapes {
				if file.byID[s.Element] == nil || !finite(s.X, s.Y, s.W, s.H) {
					t.Errorf("shape %+v", s)
				}
			}
			for _, g := range d.Edges {
				for _, p := range g.Points {
					if len(g.Points) < 2 || !finite(p.X, p.Y) {
						t.Errorf("edge %+v", g)
					}
				}
			}
			svg(t, &d, nil)
		}
		got, err := file.Complete(content)
		if err != nil {
			return
		}
		if _, err := Read(bytes.NewReader(got), "f", bpmn.Limits{}); err != nil {
			t.Errorf("a completed file: %v", err)
		}
	})
}

func finite(all ...float64) bool {
	for _, x := range all {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return false
		}
	}
	return true
}

func TestAProcessHasItsNodesAndFlowsAlsoIfNoNetCanBeMade(t *testing.T) {
	f := read(t, head+`<process id="other"><task id="o"/></process><process id="p" name="P"><laneSet id="l"/>
<subProcess id="s" name="S"><startEvent id="a"/><transaction id="u"><userTask id="b"/></transaction></subProcess>
<boundaryEvent id="x" attachedToRef="s"><extensionElements/><timerEventDefinition/><messageEventDefinition/></boundaryEvent>
<task id="s"/><task/><sequenceFlow id="f" sourceRef="s" targetRef="gone"/></process>
<b:BPMNDiagram><b:BPMNPlane><b:BPMNShape bpmnElement="b"><c:Bounds x="10" y="20" width="4" height="6"/></b:BPMNShape></b:BPMNPlane></b:BPMNDiagram></definitions>`)
	want := &Process{Name: "P", Nodes: []Node{{ID: "s", Name: "S", Kind: "subProcess", Within: -1}, {ID: "a", Kind: "startEvent"}, {ID: "u", Kind: "transaction"},
		{ID: "b", Kind: "userTask", Within: 2, At: &Point{X: 12, Y: 23}}, {ID: "x", Kind: "boundaryEvent", Host: "s", Event: "message", Within: -1}}, Flows: []Flow{{"f", "s", "gone"}}}
	if d := cmp.Diff(want, f.Process("p")); d != "" {
		t.Error(d)
	}
	for _, id := range []string{"o", "gone"} {
		if p := f.Process(id); p != nil {
			t.Errorf("%s is %+v; expected no process", id, p)
		}
	}
}
