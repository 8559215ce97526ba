// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/iso8601"
)

// For any bytes, Read returns nets that compile and that PNML preserves, with as
// many graphs, lists of elements and lists of parts, or an error that consists of faults.
func FuzzRead(f *testing.F) {
	own, err := filepath.Glob("testdata/*.bpmn")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(own, corpusFiles(f)...) {
		if content, err := os.ReadFile(path); err == nil && len(content) < 16<<10 {
			f.Add(content)
		}
	}
	for _, seed := range []string{
		process(``), process(`<laneSet><lane/></laneSet><task id=""/>`),
		begun(`<callActivity id="c" calledElement="p"/>` + path("s c e")),
		begun(`<task id="t" startQuantity="2" default="x2"/>` + path("s t e")),
		begun(`<callActivity id="c" calledElement="${p}"/>` + path("s c e") + `</process><process id="q"><task id="t"/>`),
		strings.Replace(begun(`<adHocSubProcess id="a"><extensionElements><z:adHoc activeElementsCollection="=l"/><z:ioMapping><z:input source="=x" target="y"/><z:output source="z" target="z"/></z:ioMapping></extensionElements>
<completionCondition>=ok</completionCondition><task id="t"/><task id="u"><extensionElements><z:inputOutput><z:inputParameter name="a b">${x}-${y}</z:inputParameter></z:inputOutput></extensionElements></task></adHocSubProcess>
<task id="m"><multiInstanceLoopCharacteristics><extensionElements><z:loopCharacteristics inputCollection="=l" inputElement="x" outputCollection="r" outputElement="=x+1"/></extensionElements></multiInstanceLoopCharacteristics></task>
<callActivity id="c" calledElement="q"><extensionElements><z:in source="a" target="b"/><z:out variables="all"/></extensionElements></callActivity>`+
			path("s a m c e")+`</process><process id="q"><task id="v"/><task id="w"/>`), "<definitions ", `<definitions xmlns:z="http://camunda.org/schema/zeebe/1.0" `, 1),
		"<!DOCTYPE a><a/>", "\ufeff" + process(`<exclusiveGateway id="g" default="y"/>`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Read(bytes.NewReader(content), "fuzz", Limits{Depth: 50, Elements: 1000, Nodes: 20_000})
		if err != nil {
			var fault *petri.Fault
			if file != nil || !errors.As(err, &fault) {
				t.Errorf("file %v, error %v", file, err)
			}
			return
		}
		if len(file.Nets) != len(file.Elements) || len(file.Nets) != len(file.Graphs) || len(file.Nets) != len(file.Parts) {
			t.Errorf("%d nets, %d lists of elements, %d graphs, %d lists of parts", len(file.Nets), len(file.Elements), len(file.Graphs), len(file.Parts))
		}
		for i, n := range file.Nets {
			if _, err := petri.Compile(n); err != nil {
				t.Errorf("read a net that does not compile: %v", err)
			}
			samePNML(t, n)
			haveOnePart(t, n, file.Parts[i])
			for _, e := range file.Graphs[i].Edges {
				if max(e.From, e.To) >= len(file.Graphs[i].Nodes) {
					t.Errorf("edge %+v between %d nodes", e, len(file.Graphs[i].Nodes))
				}
			}
		}
	})
}

func FuzzParseTimer(f *testing.F) {
	for _, s := range []string{"P1DT2H3M4.5S", "P2W", "PT0S", "R1/PT5M", "R/PT5M", "R7/PT0S", "P1Y", "PT", "P1S", "2030-01-01T00:00:00Z", "P9999999999999W"} {
		f.Add("timeDuration", s)
		f.Add("timeCycle", s)
		f.Add("timeDate", s)
	}
	f.Fuzz(func(t *testing.T, kind, s string) {
		got, times, err := parseTimer(kind, s)
		if err != nil {
			return
		}
		if got.Kind == petri.TriggerDelay && got.Micros < 0 || got.Kind != petri.TriggerDelay && got.Kind != petri.TriggerTime && got.Kind != petri.TriggerTimer ||
			times == 0 && got.Micros == 0 && got.Kind != petri.TriggerTimer || times > iso8601.MaxTimes {
			t.Errorf("%q: %+v", s, got)
		}
	})
}
