// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
)

// BenchmarkMultiInstance begins a user task for each element of a list, and completes all.
func BenchmarkMultiInstance(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, err := bpmn.Read(strings.NewReader(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p" isExecutable="true">
<startEvent id="s"/><userTask id="u"><multiInstanceLoopCharacteristics><loopDataInputRef>list</loopDataInputRef><inputDataItem name="x"/></multiInstanceLoopCharacteristics></userTask><endEvent id="e"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="u"/><sequenceFlow id="f1" sourceRef="u" targetRef="e"/></process></definitions>`), "f", bpmn.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			for k := range f.Nets[0].Places {
				f.Nets[0].Places[k].Initial = 0
			}
			tables, err := petri.Compile(f.Nets[0])
			if err != nil {
				b.Fatal(err)
			}
			transitions, err := Declared(tables)
			if err != nil {
				b.Fatal(err)
			}
			bindings := make([]coloured.Binding, len(transitions))
			for k := range transitions {
				bindings[k] = transitions[k].binding()
			}
			place, _ := tables.PlaceIndex("s/start")
			u, _ := tables.TransitionIndex("u")
			list := strings.TrimSuffix(strings.Repeat("12345,", n), ",")
			data := []byte(`{"list":[` + list + `]}`)
			for b.Loop() {
				s, err := coloured.New(coloured.Config{Tables: tables, Bindings: bindings, Stride: 1, Count: 1, Merge: guard.Merge}, 0)
				if err != nil {
					b.Fatal(err)
				}
				step := func(now int64) {
					for s.Step(4096, now) == 4096 {
					}
				}
				if err := s.Inject(0, place, data, 1, 1); err != nil {
					b.Fatal(err)
				}
				step(1)
				for k := range n {
					if err := s.Fire(0, u, nil, int64(k+2)); err != nil {
						b.Fatal(err)
					}
					step(int64(k + 2))
				}
				end, _ := tables.PlaceIndex("e/end")
				if s.Marking(0)[end] != 1 {
					b.Fatal(s.Marking(0))
				}
			}
		})
	}
}
