// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/draw"
)

// svg returns the picture of a diagram, which must be XML.
func svg(t *testing.T, d *Diagram, o Overlay) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.SVG(&b, o); err != nil {
		t.Fatal(err)
	}
	for x := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := x.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("%v in %s", err, b.String())
		}
	}
}

func TestEachElementHasATitle(t *testing.T) {
	for _, path := range paths(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := read(t, string(content))
		for _, d := range append(f.Diagrams, f.Layout()...) {
			if got, want := strings.Count(svg(t, &d, nil), "<title>"), 1+len(d.Shapes)+len(d.Edges); got != want {
				t.Errorf("%s: %d titles of diagram %s; expected %d", filepath.Base(path), got, d.ID, want)
			}
		}
	}
}

// one returns the picture of one shape.
func one(t *testing.T, s Shape) string {
	t.Helper()
	s.Element, s.Bounds = "x", Bounds{0, 0, 100, 80}
	return svg(t, &Diagram{Shapes: []Shape{s}}, nil)
}

// Each kind of a shape, and each trait that shows, has a picture of its own.
func TestKindsAndTraitsCanBeToldApart(t *testing.T) {
	shapes := map[string]Shape{}
	for _, kind := range []string{"startEvent", "intermediateCatchEvent", "intermediateThrowEvent", "endEvent"} {
		for _, event := range append(eventKinds(), "none", "multiple", "parallelMultiple") {
			shapes[kind+event] = Shape{Kind: kind, Traits: Traits{Event: event}}
		}
		shapes[kind+" continues"] = Shape{Kind: kind, Traits: Traits{Event: "timer", Continues: kind == "startEvent" || kind == "intermediateCatchEvent"}}
	}
	delete(shapes, "intermediateThrowEvent continues")
	delete(shapes, "endEvent continues")
	delete(shapes, "intermediateThrowEventnone") // a throwing event without a definition shows nothing
	for _, kind := range []string{"task", "userTask", "serviceTask", "sendTask", "receiveTask", "scriptTask", "manualTask", "businessRuleTask", "subProcess", "callActivity", "transaction", "adHocSubProcess"} {
		for _, loop := range []string{"", "loop", "parallel", "sequential"} {
			shapes[kind+loop] = Shape{Kind: kind, Traits: Traits{Loop: loop, AdHoc: kind == "adHocSubProcess"}}
		}
		shapes[kind+" compensates"] = Shape{Kind: kind, Traits: Traits{Compensation: true, AdHoc: kind == "adHocSubProcess"}}
	}
	for name, s := range map[string]Shape{
		"exclusive": {Kind: "exclusiveGateway", Marker: true}, "exclusive, bare": {Kind: "exclusiveGateway"}, "parallel": {Kind: "parallelGateway"},
		"inclusive": {Kind: "inclusiveGateway"}, "complex": {Kind: "complexGateway"}, "events": {Kind: "eventBasedGateway"},
		"events begin": {Kind: "eventBasedGateway", Traits: Traits{Instantiates: true}}, "all events": {Kind: "eventBasedGateway", Traits: Traits{ParallelGate: true}},
		"receive begins": {Kind: "receiveTask", Traits: Traits{Instantiates: true}}, "event sub-process": {Kind: "subProcess", Traits: Traits{ByEvent: true}},
		"expanded": {Kind: "subProcess", Expanded: true}, "expanded call": {Kind: "callActivity", Expanded: true}, "calls a task": {Kind: "callActivity", Traits: Traits{CallsTask: true}},
		"pool": {Kind: "participant", Horizontal: true}, "upright pool": {Kind: "participant"}, "black box": {Kind: "participant", Traits: Traits{BlackBox: true}},
		"pools": {Kind: "participant", Traits: Traits{Several: true}}, "group": {Kind: "group"},
		"note": {Kind: "textAnnotation"}, "data": {Kind: "dataObjectReference"}, "all data": {Kind: "dataObjectReference", Traits: Traits{Several: true}},
		"store": {Kind: "dataStoreReference"}, "input": {Kind: "dataInput"}, "output": {Kind: "dataOutput"},
	} {
		shapes[name] = s
	}
	seen := map[string]string{}
	for name, s := range shapes {
		picture := one(t, s)
		before, after, _ := strings.Cut(picture, "<title>x</title>") // the kind is in the description
		_, after, _ = strings.Cut(after, " x</desc>")
		picture = before[strings.LastIndexByte(before, '<'):] + after
		if other, dup := seen[picture]; dup {
			t.Errorf("%s and %s look the same", name, other)
		}
		seen[picture] = name
	}
}

func TestEdgesHaveTheirEnds(t *testing.T) {
	for _, tt := range []struct {
		edge Edge
		want string
	}{
		{Edge{Kind: "sequenceFlow"}, `class="flow" d="M1 2L3 4" marker-end="url(#bp-flow)"/>`},
		{Edge{Kind: "sequenceFlow", Default: true}, `marker-end="url(#bp-flow)" marker-start="url(#bp-default)"/>`},
		{Edge{Kind: "sequenceFlow", Conditional: true}, `marker-end="url(#bp-flow)" marker-start="url(#bp-condition)"/>`},
		{Edge{Kind: "messageFlow"}, `class="flow dash" d="M1 2L3 4" marker-start="url(#bp-from)" marker-end="url(#bp-message)"/>`},
		{Edge{Kind: "association"}, `class="flow dot" d="M1 2L3 4"/>`},
		{Edge{Kind: "association", Direction: "One"}, `d="M1 2L3 4" marker-end="url(#bp-points)"/>`},
		{Edge{Kind: "association", Direction: "Both"}, `marker-start="url(#bp-points)" marker-end="url(#bp-points)"/>`},
		{Edge{Kind: "dataInputAssociation"}, `class="flow dot" d="M1 2L3 4" marker-end="url(#bp-points)"/>`},
	} {
		tt.edge.Points = []Point{{X: 1, Y: 2}, {X: 3, Y: 4}}
		if got := svg(t, &Diagram{Edges: []Edge{tt.edge}}, nil); !strings.Contains(got, tt.want) {
			t.Errorf("%+v: no %s in %s", tt.edge, tt.want, got)
		}
	}
}

func TestAnOverlayShowsTokensHeatAndRates(t *testing.T) {
	d := &Diagram{Shapes: []Shape{{Element: "a", Kind: "task", Bounds: Bounds{0, 0, 100, 80}}}, Edges: []Edge{{Element: "f", Kind: "sequenceFlow", Points: []Point{{X: 1, Y: 2}, {X: 3, Y: 4}}}}}
	got := svg(t, d, Overlay{"a": {Tokens: 1234, Heat: 9, Rate: 0.5, Enabled: true}, "f": {Tokens: 2, Rate: -1}})
	for _, want := range []string{
		`<g class="node enabled heat4"><title>a</title><desc>task a, tokens: 1234, enabled, heat: 4 of 4, rate: 0.5/s</desc>`, `>1.2k</text>`, `>0.5/s</text>`,
		`<desc>sequence flow f, tokens: 2</desc>`, `x="1.5" y="2.5">2</text>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(svg(t, d, nil), "badge\"") {
		t.Error("a picture without an overlay shows tokens")
	}
}

func TestShowAddsUpThePartsOfAnElement(t *testing.T) {
	n := &petri.Net{
		Places:      []petri.Place{{ID: "f"}, {ID: "t/active"}, {ID: "b"}},
		Transitions: []petri.Transition{{ID: "s"}, {ID: "t/begin"}, {ID: "t"}, {ID: "g"}},
		Arcs: []petri.Arc{
			{Source: "s", Target: "f"}, {Source: "f", Target: "t/begin"}, {Source: "t/begin", Target: "t/active"}, {Source: "t/active", Target: "t"},
			{Source: "g", Target: "b", Kind: petri.Branch},
		},
	}
	parts := []bpmn.Part{
		{Element: "s", Transitions: []string{"s"}, Fires: []string{"s"}},
		{Element: "f", Places: []string{"f"}},
		{Element: "b", Places: []string{"b"}, Tokens: []string{"b"}},
		{Element: "t", Places: []string{"t/active"}, Tokens: []string{"f", "t/active"}, Transitions: []string{"t/begin", "t"}, Fires: []string{"t"}},
		{Element: "t", Calls: []string{"c"}, Places: []string{"t/active"}, Tokens: []string{"t/active"}},
	}
	got := Show(parts, n, &draw.Overlay{Tokens: []uint64{2, 3, 1}, Heat: []uint8{1, 4}, Rates: []float64{0.5, 7, 0.25, 1}, Enabled: []bool{false, true, false, false}})
	want := Overlay{
		"s": {Rate: 0.5},
		"f": {Rate: 0.5},
		"b": {Tokens: 1, Rate: -1},
		"t": {Tokens: 5, Heat: 4, Rate: 0.25, Enabled: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := Show(parts, n, &draw.Overlay{}); got["t"] != (State{Rate: -1}) {
		t.Errorf("without a state: %+v", got["t"])
	}
}

func TestWhatEnclosesOthersIsBehindThem(t *testing.T) {
	sub := func(id string, size float64) Shape {
		return Shape{Element: id, Kind: "subProcess", Expanded: true, Bounds: Bounds{0, 0, size, size}}
	}
	got := svg(t, &Diagram{
		Shapes: []Shape{{Element: "event", Kind: "boundaryEvent"}, {Element: "task", Kind: "task"}, sub("inner", 50), sub("outer", 90), {Element: "pool", Kind: "participant"}},
		Edges:  []Edge{{Element: "flow", Kind: "sequenceFlow", Points: []Point{{X: 1, Y: 2}, {X: 3, Y: 4}}}},
	}, nil)
	last := 0
	for _, id := range []string{"pool", "outer", "inner", "flow", "task", "event"} {
		at := strings.Index(got, "<title>"+id+"</title>")
		if at <= last {
			t.Errorf("%s is behind the one before it", id)
		}
		last = at
	}
}

// failing refuses to write.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestSVGReturnsTheErrorOfItsWriter(t *testing.T) {
	if err := (&Diagram{ID: "d"}).SVG(failing{}, nil); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), `"d"`) {
		t.Error(err)
	}
}

func TestAPictureIsThatOfTheAuthorOrALayout(t *testing.T) {
	const processes = `<process id="p"><task id="a"/></process><process id="q"><task id="b"/></process>`
	const drawn = `<b:BPMNDiagram id="none"/><b:BPMNDiagram id="d"><b:BPMNPlane bpmnElement="p"><b:BPMNShape bpmnElement="a"><c:Bounds x="0" y="0" width="9" height="9"/></b:BPMNShape></b:BPMNPlane></b:BPMNDiagram>`
	f := read(t, head+processes+drawn+strings.Replace(drawn, `id="d"`, `id="again"`, 1)+`</definitions>`)
	for process, want := range map[string]string{"p": "d", "q": "pnagent_diagram_q"} {
		if d := f.Picture(process); d == nil || d.ID != want {
			t.Errorf("%s: %+v; expected %s", process, d, want)
		}
	}
	if d := f.Picture("other"); d != nil {
		t.Errorf("a process that the file lacks: %+v", d)
	}
}
