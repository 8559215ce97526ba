// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
)

// The work of a multi-instance activity grows with the number of its instances, not with its
// square: a variable of one instance is not looked for in the tokens of the others.
func TestInstancesOfAnActivityAreIndependentWork(t *testing.T) {
	allocations := func(task string, n int) (mallocs uint64) {
		synctest.Test(t, func(t *testing.T) {
			nets := eventNets(t, processes(t, `<process id="p"><startEvent id="s"/>flow(s,give)<userTask id="give"/>flow(give,n)
<`+task+` id="n"><multiInstanceLoopCharacteristics><loopCardinality>${n}</loopCardinality></multiInstanceLoopCharacteristics></`+task+`></process>`)...)
			e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1})
			defer start(t, e)()
			synctest.Wait()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := e.FireData(t.Context(), "p", 0, "give", fmt.Appendf(nil, `{"n":%d}`, n)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			runtime.ReadMemStats(&after)
			run, _ := nets[0].Tables.PlaceIndex("n/run")
			if begun := rowsOf(t, e, 0).Places[run].Arrivals; begun != uint64(n) {
				t.Fatalf("%d instances, expected %d", begun, n)
			}
			mallocs = after.Mallocs - before.Mallocs
		})
		return mallocs
	}
	for _, task := range []string{"userTask", "serviceTask"} {
		if few, many := allocations(task, 300), allocations(task, 1200); many > 6*few {
			t.Errorf("%s: %d allocations for 300 instances, %d for 1200; expected about 4 times as many", task, few, many)
		}
	}
}
