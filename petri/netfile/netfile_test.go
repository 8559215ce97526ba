// SPDX-License-Identifier: Apache-2.0

package netfile

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	pnmlText = `<?xml version="1.0"?><pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g"><place id="p"/></page></net></pnml>`
	bpmnText = `<?xml version="1.0"?><bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"><bpmn:process id="order" isExecutable="true">
<bpmn:startEvent id="s"/><bpmn:task id="a"/><bpmn:endEvent id="e"/>
<bpmn:sequenceFlow id="f1" sourceRef="s" targetRef="a"/><bpmn:sequenceFlow id="f2" sourceRef="a" targetRef="e"/></bpmn:process></bpmn:definitions>`
)

const dmnText = `<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="rate"><literalExpression><text>1</text></literalExpression></decision></definitions>`

func TestDecisionsAreThoseOfTheProcessesThatAreReadWithThem(t *testing.T) {
	files, err := ReadAll([]Source{{Name: "a.bpmn", Reader: strings.NewReader(bpmnText)}, {Name: "stdin", Reader: strings.NewReader(dmnText)}}, limits)
	if err != nil || len(files[1].Decisions) != 1 || files[0].Nets[0].Decisions[0] != files[1].Decisions[0] {
		t.Fatalf("%+v, %v", files, err)
	}
	tables, _, err := Compile([]Source{{Name: "a.bpmn", Reader: strings.NewReader(bpmnText)}, {Name: "a.dmn", Reader: strings.NewReader(dmnText)}}, limits)
	if err != nil || len(tables) != 1 {
		t.Fatalf("%d nets, %v", len(tables), err)
	}
	_, err = ReadAll([]Source{{Name: "a.dmn", Reader: strings.NewReader(dmnText)}, {Name: "b.dmn", Reader: strings.NewReader(dmnText)}}, limits)
	if want := `b.dmn:1:67: decision "rate" was already given by a.dmn; expected decisions with different ids`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := ReadAll([]Source{{Name: "a.dmn", Reader: strings.NewReader("<a>")}}, limits); err == nil || !strings.HasPrefix(err.Error(), "a.dmn:1:1: ") {
		t.Errorf("%v", err)
	}
}

var limits = Limits{Bytes: 1 << 20, Depth: 100, Nodes: 1000}

func TestAFileIsReadByItsNameAndElseByItsRootElement(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		net              string // "" for an error
		process          bool
	}{
		{"PNML by its name", "a.pnml", pnmlText, "n", false},
		{"BPMN by its name", "a.BPMN", bpmnText, "order", true},
		{"BPMN by the other ending", "a.bpmn2", bpmnText, "order", true},
		{"PNML by its root", "stdin", pnmlText, "n", false},
		{"BPMN by its root", "stdin", bpmnText, "order", true},
		{"BPMN behind a comment", "a.xml", "<!-- <pnml> -->" + strings.TrimPrefix(bpmnText, `<?xml version="1.0"?>`), "order", true},
		{"BPMN that is called PNML", "a.pnml", bpmnText, "", false},
		{"DMN, which has no net", "a.dmn", dmnText, "", false},
		{"DMN by its root", "stdin", dmnText, "", false},
		{"no XML", "a.txt", "hello", "", false},
		{"Tina by its name", "a.net", "pl p (1)", "a", false},
		{"Tina by its first word", "stdin", "# net\n\nnet n tr t p ->", "n", false},
		{"PNML that is called net", "a.net", pnmlText, "n", false},
		{"LoLA by its name", "b.LOLA", "PLACE p; MARKING;", "b", false},
		{"LoLA by its first word", "stdin", "// a\n{ PLACE } PLACE p; MARKING;", "stdin", false},
		{"a comment that does not end", "stdin", "{ PLACE p", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Read(strings.NewReader(c.text), c.file, limits)
			if c.net == "" {
				if err == nil && len(f.Nets) > 0 {
					t.Errorf("read %d nets", len(f.Nets))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Nets) != 1 || f.Nets[0].ID != c.net || (f.Process != nil) != c.process {
				t.Errorf("%d nets, %+v", len(f.Nets), f)
			}
			if became := f.Became(0, true); (len(became) > 0) != c.process {
				t.Errorf("elements became %q", became)
			}
		})
	}
}

func TestLimitsHoldForAllKinds(t *testing.T) {
	for name, text := range map[string]string{"a.pnml": pnmlText, "a.bpmn": bpmnText, "a.net": strings.Repeat("# comment\n", 9), "a.lola": "PLACE p;" + strings.Repeat(" ", 90) + "MARKING;"} {
		if _, err := Read(strings.NewReader(text), name, Limits{Bytes: 50, Depth: 100, Nodes: 1000}); err == nil || !strings.Contains(err.Error(), "50") {
			t.Errorf("%s of more than 50 bytes: %v", name, err)
		}
	}
}

func TestCompileReportsEveryFile(t *testing.T) {
	files := map[string]string{"a": pnmlText, "b": pnmlText, "empty": `<pnml></pnml>`, "order": bpmnText}
	gone := errors.New("gone")
	sources := func(names ...string) (out []Source) {
		for _, name := range names {
			src := Source{Name: name, Reader: strings.NewReader(files[name])}
			if files[name] == "" {
				src.Reader = iotest.ErrReader(gone)
			}
			out = append(out, src)
		}
		return out
	}
	tables, _, err := Compile(sources("a", "order"), limits)
	if err != nil || len(tables) != 2 || tables[0].Net.ID != "n" || tables[1].Net.ID != "order" {
		t.Errorf("%d nets, %v", len(tables), err)
	}
	_, _, err = Compile(sources("a", "b", "empty", "none"), limits)
	if err == nil || !errors.Is(err, gone) {
		t.Fatalf("%v; want all errors, of the missing file among them", err)
	}
	for _, want := range []string{`net "n" was already given by a`, "empty: no net in the file"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestATraceFollowsSequenceFlowsOrPlaces(t *testing.T) {
	f, err := Read(strings.NewReader(bpmnText), "a.bpmn", limits)
	if err != nil {
		t.Fatal(err)
	}
	g, starts, err := f.Graph()
	if err != nil || len(g.Edges) != 2 || len(g.Nodes) != 3 || len(starts) != 1 || g.Edges[starts[0]].ID != "f1" {
		t.Errorf("%+v from %v, %v", g, starts, err)
	}
	both := strings.NewReplacer(`<bpmn:endEvent id="e"/>`, `<bpmn:endEvent id="e"/><bpmn:startEvent id="s2"/><bpmn:endEvent id="e2"/><bpmn:sequenceFlow id="f3" sourceRef="s2" targetRef="a"/><bpmn:sequenceFlow id="f4" sourceRef="a" targetRef="e2"/>`).Replace(bpmnText)
	if f, err = Read(strings.NewReader(both), "a.bpmn", limits); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Graph(); err == nil || !strings.Contains(err.Error(), `"a" merges 2 flows and splits into 2`) {
		t.Errorf("a task with two flows in and out: %v", err)
	}
}
