// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri/bpmn"
)

// crossProcess has what a layout must place: pools, lanes, a loop to itself and back, events on
// borders, nested sub-processes and message flows.
const crossProcess = head + `<collaboration id="c"><participant id="pa" name="A" processRef="p"/><participant id="pb" name="B" processRef="q"/><participant id="pc" name="Outside"/>
<messageFlow id="m1" sourceRef="t1" targetRef="u"/><messageFlow id="m2" sourceRef="u" targetRef="pc"/><messageFlow id="m3" sourceRef="pc" targetRef="t2"/></collaboration>
<process id="p"><laneSet><lane id="l1" name="One"><flowNodeRef>s</flowNodeRef><flowNodeRef>t1</flowNodeRef><childLaneSet><lane id="l11"><flowNodeRef>s</flowNodeRef></lane><lane id="l12"><flowNodeRef>t1</flowNodeRef></lane></childLaneSet></lane>
<lane id="empty"/><lane id="l2"><flowNodeRef>t2</flowNodeRef><flowNodeRef>g</flowNodeRef><flowNodeRef>sub</flowNodeRef></lane></laneSet>
<startEvent id="s" name="Begin"/><task id="t1"/><task id="t2"/><exclusiveGateway id="g" name="Which one?"/><endEvent id="e"/><endEvent id="e2"/><endEvent id="e3"/>
<boundaryEvent id="b1" name="Too late" attachedToRef="t1"><timerEventDefinition/></boundaryEvent><boundaryEvent id="b2" attachedToRef="t1"><errorEventDefinition/></boundaryEvent>
<boundaryEvent id="b3" attachedToRef="sub"><errorEventDefinition/></boundaryEvent>
<subProcess id="sub" name="Inside"><task id="i1"/><subProcess id="deep"><task id="d1"/><task id="d2"/><sequenceFlow id="di" sourceRef="d1" targetRef="d2"/></subProcess><sequenceFlow id="ii" sourceRef="i1" targetRef="deep"/><task id="i2"/></subProcess>
<sequenceFlow id="f1" sourceRef="s" targetRef="t1"/><sequenceFlow id="f2" name="yes" sourceRef="t1" targetRef="g"/><sequenceFlow id="f3" sourceRef="g" targetRef="sub"/><sequenceFlow id="f4" sourceRef="sub" targetRef="t2"/>
<sequenceFlow id="f5" sourceRef="g" targetRef="t1"/><sequenceFlow id="f6" sourceRef="t2" targetRef="t2"/><sequenceFlow id="f7" sourceRef="t2" targetRef="e"/><sequenceFlow id="f8" sourceRef="b1" targetRef="e2"/>
<sequenceFlow id="f9" sourceRef="b2" targetRef="t1"/><sequenceFlow id="f10" sourceRef="b3" targetRef="e3"/><sequenceFlow id="f11" sourceRef="g" targetRef="e"/></process>
<process id="q"><receiveTask id="u"/><task id="v"/><sequenceFlow id="uv" sourceRef="u" targetRef="v"/></process></definitions>`

func TestLayoutsAreClear(t *testing.T) {
	clear(t, "pools and lanes", read(t, crossProcess))
	for _, path := range paths(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		clear(t, filepath.Base(path), read(t, string(content)))
	}
}

// clear checks that shapes do not overlap, and that flows are level or upright, end on
// borders and touch no other shape.
func clear(t *testing.T, name string, f *File) {
	t.Helper()
	drawn := map[string]bool{}
	for _, d := range f.Layout() {
		byID := map[string]*Shape{}
		for i := range d.Shapes {
			s := &d.Shapes[i]
			byID[s.Element], drawn[s.Element] = s, true
			for k := range d.Shapes[:i] {
				apart(t, name, f, &d.Shapes[k], s)
			}
		}
		for i := range d.Edges {
			g := &d.Edges[i]
			drawn[g.Element] = true
			from, to := byID[g.Source], byID[g.Target]
			if !onBorder(from, g.Points[0]) || !onBorder(to, g.Points[len(g.Points)-1]) {
				t.Errorf("%s: flow %s %v is not from border to border: %v, %v", name, g.Element, g.Points, from, to)
			}
			for k := 1; k < len(g.Points); k++ {
				p, q := g.Points[k-1], g.Points[k]
				if math.Abs(p.X-q.X) > 0.11 && math.Abs(p.Y-q.Y) > 0.11 {
					t.Errorf("%s: flow %s is inclined: %v", name, g.Element, g.Points)
				}
				for id, s := range byID {
					if g.Kind == "sequenceFlow" && s.Kind != "lane" && !s.encloses(&from.Bounds) && !s.encloses(&to.Bounds) && s.crossed(p, q) {
						t.Errorf("%s: flow %s %v passes through %s %v", name, g.Element, g.Points, id, s.Bounds)
					}
				}
			}
		}
	}
	for id, of := range f.byID {
		if (isNode(of.Name.Local) || of.Name.Local == "sequenceFlow") && !drawn[id] {
			t.Errorf("%s: %s %s is not drawn", name, of.Name.Local, id)
		}
	}
}

func apart(t *testing.T, name string, f *File, a, b *Shape) {
	t.Helper()
	if a.encloses(&b.Bounds) && !isTask(a.Kind) && !isEvent(a.Kind) || ref(f.byID[b.Element].elem, "attachedToRef") == a.Element {
		return
	}
	const edge = 0.2
	if a.X+edge < b.X+b.W && b.X+edge < a.X+a.W && a.Y+edge < b.Y+b.H && b.Y+edge < a.Y+a.H {
		t.Errorf("%s: %s %v overlaps %s %v", name, a.Element, a.Bounds, b.Element, b.Bounds)
	}
}

// onBorder reports whether a point is on the border of a shape: a circle, a diamond or a
// rectangle.
func onBorder(s *Shape, p Point) bool {
	m := s.middle()
	dx, dy := math.Abs(p.X-m.X)/(s.W/2), math.Abs(p.Y-m.Y)/(s.H/2)
	far := max(dx, dy)
	switch {
	case isEvent(s.Kind):
		far = math.Hypot(dx, dy)
	case isGateway(s.Kind):
		far = dx + dy
	}
	return math.Abs(far-1) < 0.02
}

func TestLayoutsHavePoolsAndLanes(t *testing.T) {
	d := read(t, crossProcess).Layout()
	if len(d) != 1 || d[0].Plane != "c" {
		t.Fatalf("%d diagrams; expected one of the collaboration", len(d))
	}
	in := map[string][]string{}
	for _, s := range d[0].Shapes {
		for _, o := range d[0].Shapes {
			if (o.Kind == "lane" || o.Kind == "participant") && o.encloses(&s.Bounds) && o.Element != s.Element {
				in[s.Element] = append(in[s.Element], o.Element)
			}
		}
	}
	for id, want := range map[string]string{"s": "pa l1 l11", "t1": "pa l1 l12", "g": "pa l2", "i1": "pa l2", "d2": "pa l2", "b1": "pa l1 l12", "empty": "pa", "u": "pb", "pc": ""} {
		if got := strings.Join(in[id], " "); got != want {
			t.Errorf("%s is in %q; expected %q", id, got, want)
		}
	}
}

func TestNamesOfLanesHaveRoom(t *testing.T) {
	for _, s := range read(t, crossProcess).Layout()[0].Shapes {
		if names := float64(padding + 3*bandWidth); isNode(s.Kind) && s.X < names && s.Element != "u" && s.Element != "v" {
			t.Errorf("%s is at %g, on the names of its pool and lanes, which end at %g", s.Element, s.X, names)
		}
	}
}

func TestFlowsDoNotLieOnEachOther(t *testing.T) {
	claim, err := os.ReadFile("../../../examples/claim.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	const events = head + `<process id="p"><task id="t"/><boundaryEvent id="a" attachedToRef="t"/><boundaryEvent id="b" attachedToRef="t"/><task id="u"/><task id="v"/>
<sequenceFlow id="au" sourceRef="a" targetRef="u"/><sequenceFlow id="bv" sourceRef="b" targetRef="v"/></process></definitions>`
	for _, xml := range []string{string(claim), events} {
		edges := read(t, xml).Layout()[0].Edges
		for i := range edges {
			for k := range edges[:i] {
				if shared(edges[i].Points, edges[k].Points) {
					t.Errorf("flows %s %v and %s %v have a line in common", edges[k].Element, edges[k].Points, edges[i].Element, edges[i].Points)
				}
			}
		}
	}
}

// shared reports whether two ways have a part of a level line in common.
func shared(a, b []Point) bool {
	for i := 1; i < len(a); i++ {
		for k := 1; k < len(b); k++ {
			p, q, r, s := a[i-1], a[i], b[k-1], b[k]
			if p.Y == q.Y && r.Y == s.Y && p.Y == r.Y && max(p.X, q.X) > min(r.X, s.X)+1 && max(r.X, s.X) > min(p.X, q.X)+1 {
				return true
			}
		}
	}
	return false
}

func TestMessageFlowsLeadAroundShapes(t *testing.T) {
	d := read(t, head+`<collaboration id="c"><participant id="x" processRef="p"/><participant id="y" processRef="q"/>
<messageFlow id="m1" sourceRef="a" targetRef="e"/><messageFlow id="m2" sourceRef="b" targetRef="e"/><messageFlow id="m3" sourceRef="c1" targetRef="e"/></collaboration>
<process id="p"><task id="a"/><task id="b"/><task id="c1"/></process><process id="q"><task id="e"/></process></definitions>`).Layout()[0]
	flows := 0
	for _, g := range d.Edges {
		for _, s := range d.Shapes {
			for k := 1; k < len(g.Points); k++ {
				if s.Kind == "task" && s.crossed(g.Points[k-1], g.Points[k]) {
					t.Errorf("%s %v passes through %s %v", g.Element, g.Points, s.Element, s.Bounds)
				}
			}
		}
		flows++
	}
	if flows != 3 {
		t.Errorf("%d message flows; expected 3", flows)
	}
}

func TestCompleteAddsADiagramAndNothingElse(t *testing.T) {
	for _, path := range append(paths(t), "") {
		content := []byte(crossProcess)
		if path != "" {
			var err error
			if content, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		got, err := completed(content)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := completed(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: a file that is complete changes: %v", path, err)
		}
		before := read(t, string(content))
		if before.covered() {
			if !bytes.Equal(content, got) {
				t.Errorf("%s: a file with its diagrams changes", path)
			}
			continue
		}
		at, err := before.end(content)
		if err != nil {
			t.Fatal(err)
		}
		if added := len(got) - len(content); !bytes.Equal(slices.Delete(slices.Clone(got), int(at), int(at)+added), content) {
			t.Errorf("%s: something else changes", path)
		}
		after := read(t, string(got)).Diagrams
		layout := before.Layout()
		for i := range layout {
			if after[i].Plane != layout[i].Plane || len(after[i].Shapes) != len(layout[i].Shapes) || len(after[i].Edges) != len(slices.DeleteFunc(layout[i].Edges, func(g Edge) bool { return before.byID[g.Element] == nil })) {
				t.Errorf("%s: diagram %d is not that of the layout", path, i)
			}
		}
	}
}

func TestWhenAFileIsComplete(t *testing.T) {
	const process = `<process id="p"><task id="a"/><subProcess id="s"><task id="in"/></subProcess><sequenceFlow id="f" sourceRef="a" targetRef="s"/><sequenceFlow id="nowhere" sourceRef="a" targetRef="in"/></process>`
	shape := func(id, more string) string {
		return `<b:BPMNShape bpmnElement="` + id + `" ` + more + `><c:Bounds x="0" y="0" width="9" height="9"/></b:BPMNShape>`
	}
	const edge = `<b:BPMNEdge bpmnElement="f"><d:waypoint x="1" y="2"/><d:waypoint x="3" y="4"/></b:BPMNEdge>`
	for _, tt := range []struct {
		shapes string
		want   bool
	}{
		{shape("a", "") + shape("s", "") + edge, true},
		{shape("a", "") + shape("s", `isExpanded="true"`) + edge, false},
		{shape("a", "") + shape("s", `isExpanded="true"`) + shape("in", "") + edge, true},
		{shape("a", "") + shape("s", ""), false},
		{shape("a", "") + edge, false},
		{"", false},
	} {
		xml := head + process + `<b:BPMNDiagram><b:BPMNPlane bpmnElement="p">` + tt.shapes + `</b:BPMNPlane></b:BPMNDiagram></definitions>`
		if got := read(t, xml).covered(); got != tt.want {
			t.Errorf("%s: %t", tt.shapes, got)
		}
	}
}

func TestCompleteFindsTheEndInAnyEncoding(t *testing.T) {
	const root = `<?xml version="1.0" encoding="ISO-8859-1"?><q:definitions xmlns:q="` + modelSpace + `"><q:process id="p"><q:task id="a" name="Gr` + "\xfc\xdf" + `e"/></q:process>`
	const rest = "<!-- </q:definitions> \xfc --></q:definitions><!-- </q:definitions> -->"
	got, err := completed([]byte(root + rest))
	if err != nil || !bytes.HasPrefix(got, []byte(root+"<!-- </q:definitions> \xfc --><bpmndi:BPMNDiagram ")) {
		t.Errorf("%s, %v", got, err)
	}
	if name := read(t, string(got)).Diagrams[0].Shapes[0].Name; name != "Grüße" {
		t.Errorf("name %q", name)
	}
	if _, err := completed([]byte("\xff\xfe" + utf16(root[len(`<?xml version="1.0" encoding="ISO-8859-1"?>`):]+"</q:definitions>"))); err == nil {
		t.Error("a file in UTF-16 has no error")
	}
}

// utf16 returns a text in ISO 8859-1 as UTF-16.
func utf16(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}

// completed reads a file and completes it.
func completed(content []byte) ([]byte, error) {
	f, err := Read(bytes.NewReader(content), "", bpmn.Limits{})
	if err != nil {
		return nil, err
	}
	return f.Complete(content)
}
