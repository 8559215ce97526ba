// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/simulate"
)

// A page of a simulation has its tables, says what the numbers are, and escapes names.
func TestASimulationIsAPage(t *testing.T) {
	some := simulate.Estimate{Mean: 2, Low: 1, High: 3, Runs: 5}
	s := &simulate.Summary{Net: "n<b>", Seconds: 7200, Runs: 5, Confidence: 0.9, Notes: []string{"a note"},
		Pools: []simulate.PoolRow{{Name: "clerks", Size: 3, PoolFigures: simulate.PoolFigures[simulate.Estimate]{Flow: simulate.Flow[simulate.Estimate]{Held: simulate.Estimate{Mean: 0.2, Low: 0.1, High: 0.3, Runs: 5}}}}}}
	place := simulate.Row{ID: "queue", Role: "work"}
	place.Held, place.Stay = some, simulate.Estimate{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	s.Places = []simulate.Row{place}
	v := &simulate.Varied{Pool: "clerks", Sizes: []simulate.Sized{{Size: 2, Limit: "too many"}, {Size: 3, Summary: s}}, Stable: 3, Gone: 3}
	var page bytes.Buffer
	if err := Simulation(time.Unix(0, 0), s, v).HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5 runs of 2 h, of which the first 0 s do not count; ± is half the interval of 90 % confidence.", "a note", "n&lt;b&gt;",
		"What the runs with 3 of clerks had in common.", "<td>queue</td>", "<td>2.0 ± 1.0</td><td>-</td>", "stopped: too many", "it is gone with 3 (less than one request"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, page.String())
		}
	}
	page.Reset()
	if err := Simulation(time.Unix(0, 0), nil, &simulate.Varied{Pool: "clerks", Sizes: v.Sizes[:1]}).HTML(&page); err != nil || !strings.Contains(page.String(), "no run reached its end") {
		t.Errorf("%v: a page without numbers that names no reason:\n%s", err, page.String())
	}
}
