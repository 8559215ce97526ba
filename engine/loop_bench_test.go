// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
)

// ofAList are activities that are performed for each element of a list. Task t, if there is one, waits for a call.
var ofAList = map[string]string{
	"user":    `<userTask id="t">` + eachElement + `</userTask>`,
	"results": `<userTask id="t">` + strings.Replace(eachElement, "<inputDataItem", `<loopDataOutputRef>out</loopDataOutputRef><outputDataItem name="x"/><inputDataItem`, 1) + `</userTask>`,
	"timer": `<userTask id="t">` + eachElement + `</userTask><endEvent id="late"/><sequenceFlow id="f2" sourceRef="b" targetRef="late"/>
<boundaryEvent id="b" attachedToRef="t"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>`,
	"steps": `<subProcess id="u">` + eachElement + `<startEvent id="us"/><task id="v"/><task id="w"/><endEvent id="ue"/>
<sequenceFlow id="u0" sourceRef="us" targetRef="v"/><sequenceFlow id="u1" sourceRef="v" targetRef="w"/><sequenceFlow id="u2" sourceRef="w" targetRef="ue"/></subProcess>`,
	"join": `<subProcess id="u">` + eachElement + `<startEvent id="us"/><inclusiveGateway id="v"/><userTask id="t"/><task id="w"/><inclusiveGateway id="x"/><endEvent id="ue"/>
<boundaryEvent id="b" attachedToRef="t"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>
<sequenceFlow id="u0" sourceRef="us" targetRef="v"/><sequenceFlow id="u1" sourceRef="v" targetRef="t"/><sequenceFlow id="u2" sourceRef="v" targetRef="w"/>
<sequenceFlow id="u3" sourceRef="t" targetRef="x"/><sequenceFlow id="u4" sourceRef="w" targetRef="x"/><sequenceFlow id="u5" sourceRef="b" targetRef="x"/>
<sequenceFlow id="u6" sourceRef="x" targetRef="ue"/></subProcess>`,
}

const eachElement = `<multiInstanceLoopCharacteristics><loopDataInputRef>list</loopDataInputRef><inputDataItem name="x"/></multiInstanceLoopCharacteristics>`

// performForEach returns a function that performs an activity for each element of a list that has a number of them.
func performForEach(tb testing.TB, activity string) func(elements int) {
	id := "u"
	if strings.HasPrefix(activity, "<userTask") {
		id = "t"
	}
	f, err := bpmn.Read(strings.NewReader(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p" isExecutable="true">
<startEvent id="s"/>`+activity+`<endEvent id="e"/><sequenceFlow id="f0" sourceRef="s" targetRef="`+id+`"/><sequenceFlow id="f1" sourceRef="`+id+`" targetRef="e"/></process></definitions>`), "f", bpmn.Limits{})
	if err != nil {
		tb.Fatal(err)
	}
	for k := range f.Nets[0].Places {
		f.Nets[0].Places[k].Initial = 0
	}
	tables, err := petri.Compile(f.Nets[0])
	if err != nil {
		tb.Fatal(err)
	}
	transitions, err := Declared(tables)
	if err != nil {
		tb.Fatal(err)
	}
	bindings := make([]coloured.Binding, len(transitions))
	for k := range transitions {
		bindings[k] = transitions[k].binding()
	}
	start, _ := tables.PlaceIndex("s/start")
	end, _ := tables.PlaceIndex("e/end")
	waits, calls := tables.TransitionIndex("t")
	return func(elements int) {
		s, err := coloured.New(coloured.Config{Tables: tables, Bindings: bindings, Stride: 1, Count: 1, Merge: guard.Merge}, 0)
		if err != nil {
			tb.Fatal(err)
		}
		step := func(now int64) {
			for s.Step(4096, now) == 4096 {
			}
		}
		data := `{"list":[` + strings.TrimSuffix(strings.Repeat("12345,", elements), ",") + `]}`
		if err := s.Inject(0, start, []byte(data), 1, 1); err != nil {
			tb.Fatal(err)
		}
		step(1)
		for k := 0; calls && k < elements; k++ {
			if err := s.Fire(0, waits, nil, int64(k+2)); err != nil {
				tb.Fatal(err)
			}
			step(int64(k + 2))
		}
		if s.TokensIn(0, end) != 1 {
			tb.Fatal(s.Marking(0))
		}
	}
}

// BenchmarkMultiInstance performs activities for each element of a list. user is a user task, of which
// all are begun at once and then completed one by one.
func BenchmarkMultiInstance(b *testing.B) {
	for _, activity := range slices.Sorted(maps.Keys(ofAList)) {
		perform := performForEach(b, ofAList[activity])
		for _, n := range []int{10, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", activity, n), func(b *testing.B) {
				for b.Loop() {
					perform(n)
				}
			})
		}
	}
}

// An element of a list costs as much in a long list as in a short one, but for the text of what it sees: its
// own variables and those around it, in which the list is.
func TestAnElementCostsTheSameInAnyList(t *testing.T) {
	allocated := func(perform func(int), n int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		perform(n)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	for activity, text := range ofAList {
		t.Run(activity, func(t *testing.T) {
			perform := performForEach(t, text)
			perform(100) // what is made once
			sees := 0.0
			if activity == "results" {
				sees = 2 * float64(len("12345,")*2000)
			}
			if few, many := allocated(perform, 100), allocated(perform, 2000); many > 1.5*few+sees {
				t.Errorf("of 2,000 elements each allocates %.0f bytes; expected at most 1.5 times the %.0f of one of 100, and %.0f", many, few, sees)
			}
		})
	}
}
