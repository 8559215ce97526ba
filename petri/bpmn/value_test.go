// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/iso8601"
)

func TestTimersAreConstantsOfISO8601(t *testing.T) {
	delay := func(d time.Duration) petri.Trigger {
		return petri.Trigger{Kind: petri.TriggerDelay, Micros: d.Microseconds()}
	}
	months := func(s string) petri.Trigger { return petri.Trigger{Kind: petri.TriggerTimer, Name: `"` + s + `"`} }
	at := func(s string) petri.Trigger {
		d, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return petri.Trigger{Kind: petri.TriggerTime, Micros: d.UnixMicro()}
	}
	tests := []struct {
		kind, text string
		want       petri.Trigger
		err        error
	}{
		{"timeDuration", "PT5M", delay(5 * time.Minute), nil},
		{"timeDuration", " P1DT2H3M4.5S ", delay(26*time.Hour + 3*time.Minute + 4500*time.Millisecond), nil},
		{"timeDuration", "P2W", delay(14 * 24 * time.Hour), nil},
		{"timeDuration", "PT0S", delay(0), nil},
		{"timeDuration", "P0Y0M1D", delay(24 * time.Hour), nil},
		{"timeDuration", "P1M", months("P1M"), nil},
		{"timeDuration", "P1Y", months("P1Y"), nil},
		{"timeDuration", "P", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "P1DT", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "P1H", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "PT1D", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "PT1S1M", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "PT1.1.1S", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "PT5", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "PTT5S", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "-PT5S", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "${delay}", petri.Trigger{}, iso8601.ErrForm},
		{"timeDuration", "P99999999999W", petri.Trigger{}, iso8601.ErrTooLong},
		{"timeCycle", "R1/P5D", delay(5 * 24 * time.Hour), nil},
		{"timeCycle", "R3/PT10H", delay(10 * time.Hour), nil},
		{"timeCycle", "R/PT10S", delay(10 * time.Second), nil},
		{"timeCycle", "R0/PT10H", petri.Trigger{}, iso8601.ErrCycle},
		{"timeCycle", "R1001/PT10H", petri.Trigger{}, iso8601.ErrCycle},
		{"timeCycle", "R/PT0S", petri.Trigger{}, iso8601.ErrCycle},
		{"timeCycle", "R2/2030-01-01/PT1S", petri.Trigger{}, iso8601.ErrCycle},
		{"timeCycle", "R/P1M", months("P1M"), nil},
		{"timeCycle", "0 0 * * *", petri.Trigger{}, iso8601.ErrCycle},
		{"timeDate", "2030-01-01T08:00:00Z", at("2030-01-01T08:00:00Z"), nil},
		{"timeDate", "2030-01-01T08:00:00.25+02:00", at("2030-01-01T06:00:00.25Z"), nil},
		{"timeDate", "2030-01-01T08:00", at("2030-01-01T08:00:00Z"), nil},
		{"timeDate", "2030-01-01", at("2030-01-01T00:00:00Z"), nil},
		{"timeDate", "tomorrow", petri.Trigger{}, iso8601.ErrForm},
	}
	for _, tt := range tests {
		got, _, err := parseTimer(tt.kind, tt.text)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s %q: %+v, %v; want %+v, %v", tt.kind, tt.text, got, err, tt.want, tt.err)
		}
	}
}

func TestExpressionsKeepTheirTextAndSayTheirLanguage(t *testing.T) {
	const xpath, feel = "http://www.w3.org/1999/XPath", "https://www.omg.org/spec/DMN/20191111/FEEL/"
	tests := []struct{ text, language, of, want, warning string }{ // of: of the whole file
		{"amount > 5", "", "", "amount > 5", ""},
		{" ${amount gt 5}\n", "", "", "${amount gt 5}", ""},
		{"#{ a eq 'x  y' and\n\t b.empty }", "", xpath, "#{ a eq 'x  y' and b.empty }", ""},
		{"= a = b // and c\n and d", "", "", "= a = b and d", ""},
		{"= a = \"//\"", "", "", "= a = \"//\"", ""},
		{"==", "", "", "==", ""},
		{"amount > 5", "", feel, "= amount > 5", ""},
		{"amount > 5", "feel", "", "= amount > 5", ""},
		{"= amount > 5", feel, "", "= amount > 5", ""},
		{"${amount > 5}", "", feel, "${amount > 5}", ""},
		{"amount > 5", "juel", "", "${amount > 5}", ""},
		{"amount > 5", "", xpath, "amount > 5", ""},
		{"amount > 5", xpath, feel, "amount > 5", ""},
		{"amount > 5", "JavaScript", feel, "javascript: amount > 5", ""},
		{"amount > 5", "https://example.org/expressions/v1", "", "example.org-expressions-v1: amount > 5", ""},
		{"amount > 5", "", "http://groovy.codehaus.org/", "groovy: amount > 5", ""},
		{"a-${b}", "", "", "a-${b}", `the expression "a-${b}" is kept as it stands: it is a text with expressions in it`},
		{"${}", "", "", "", `the condition of sequence flow "x1" has no text; read as no condition`},
		{"=", "", "", "", `the condition of sequence flow "x1" has no text; read as no condition`},
		{"${'}", "", "", "${'}", ""},
	}
	for _, tt := range tests {
		language := ""
		if tt.language != "" {
			language = ` language="` + tt.language + `"`
		}
		content := process(`<startEvent id="s"/><exclusiveGateway id="g"/><endEvent id="e"/>` +
			`<sequenceFlow id="x0" sourceRef="s" targetRef="g"/><sequenceFlow id="x1" sourceRef="g" targetRef="e"><conditionExpression` + language + `><![CDATA[` + tt.text + `]]></conditionExpression></sequenceFlow>`)
		if tt.of != "" {
			content = strings.Replace(content, "<definitions ", `<definitions expressionLanguage="`+tt.of+`" `, 1)
		}
		f := read(t, content)
		id := "g/x1"
		if tt.want == "" {
			id = "g"
		}
		if got := transition(t, f.Nets[0], id).Guard; got != tt.want {
			t.Errorf("%s: guard %s, want %s", tt.text, got, tt.want)
		}
		var want []string
		if tt.warning != "" {
			want = []string{"f:1:247: " + tt.warning}
		}
		if diff := cmp.Diff(want, warningsOf(f)); diff != "" {
			t.Errorf("%s: warnings -want +got\n%s", tt.text, diff)
		}
	}
}

func TestGraphHasTheTopLevel(t *testing.T) {
	g := readFile(t, filepath.Join("testdata", "graph-x.bpmn")).Graphs[0]
	var edges []string
	for _, e := range g.Edges {
		edges = append(edges, e.ID+" "+g.Nodes[e.From].ID+g.Nodes[e.To].ID)
	}
	want := []string{"1 ab", "2 bc", "3 bd", "4 ce", "5 cf", "6 dg", "7 eh", "8 hj", "9 fi", "10 ij", "11 fg", "12 gj", "13 jk"}
	if diff := cmp.Diff(want, edges); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]int{0}, g.Starts); diff != "" {
		t.Errorf("starts: -want +got\n%s", diff)
	}
	b := readFile(t, filepath.Join("testdata", "boundary-sub.bpmn")).Graphs[0]
	if diff := cmp.Diff(Graph{
		Nodes: []GraphNode{{"s", "", "none start event"}, {"sub", "", "sub-process"}, {"cancel", "", "message boundary event"}, {"e", "", "none end event"}, {"e1", "", "none end event"}},
		Edges: []GraphEdge{{"f0", 0, 1}, {"f1", 1, 3}, {"f2", 2, 4}, {"cancel/attached", 1, 2}}, Starts: []int{0},
	}, b); diff != "" {
		t.Errorf("a sub-process and a boundary event: -want +got\n%s", diff)
	}
}

func TestDrawingIsKept(t *testing.T) {
	f := read(t, `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:di="http://www.omg.org/spec/DD/20100524/DI"
 xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:x="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:n="urn:n">
<process id="p"><startEvent id="s"/><endEvent id="e"/><sequenceFlow id="x1" sourceRef="s" targetRef="e"/></process>
<x:BPMNDiagram><x:BPMNPlane bpmnElement="p"><x:BPMNShape bpmnElement="n:s"><dc:Bounds x="10" y="20" width="36" height="36"/></x:BPMNShape>
<x:BPMNShape bpmnElement="e"><dc:Bounds x="NaN" y="20" width="1" height="1"/></x:BPMNShape>
<x:BPMNEdge bpmnElement="x1"><di:waypoint x="0" y="0"/><di:waypoint x="10" y="0"/><di:waypoint x="10" y="8"/><di:waypoint x="20" y="8"/></x:BPMNEdge>
</x:BPMNPlane></x:BPMNDiagram></definitions>`)
	at := map[string]petri.Point{}
	for _, p := range f.Nets[0].Places {
		if p.At != nil {
			at[p.ID] = *p.At
		}
	}
	for _, tr := range f.Nets[0].Transitions {
		if tr.At != nil {
			at[tr.ID] = *tr.At
		}
	}
	want := map[string]petri.Point{"s": {X: 28, Y: 38}, "s/start": {X: 28, Y: 38}, "x1": {X: 10, Y: 4}}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Cron is not played: the warning says where it is, and which form would be.
func TestCronIsNamedInAWarning(t *testing.T) {
	f, err := Read(strings.NewReader(`<definitions xmlns="`+model+`"><process id="p">
<startEvent id="s"><timerEventDefinition>
  <timeCycle>0 0/5 * * * ?</timeCycle>
</timerEventDefinition></startEvent><endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="e"/></process></definitions>`), "f.bpmn", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`f.bpmn:3:3: timer start event "s": "0 0/5 * * * ?" is not a cycle of the form R/PT1H or R3/PT1H, with at most 1,000 repetitions; it waits for an event of that name`}
	if diff := cmp.Diff(want, warningsOf(f)); diff != "" {
		t.Errorf("warnings: -want +got\n%s", diff)
	}
}
