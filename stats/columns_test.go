// SPDX-License-Identifier: Apache-2.0

package stats

import "testing"

func TestEachColumnHasItsName(t *testing.T) {
	for name, want := range map[string]Columns{"": 0, "tokens": ColTokens, "arrivals": ColArrivals, "departures": ColDepartures, "place_instances": ColPlaceInstances,
		"oldest": ColOldest, "ages": ColAges, "dwell": ColDwell, "stuck": ColStuck, "firings": ColFirings, "failures": ColFailures, "enabled": ColEnabled,
		"running": ColRunning, "last_firing": ColLastFiring, "duration": ColDuration, "instances": ColInstances, "blocks": ColBlocks, "timeouts": ColTimeouts,
		"queues": ColQueues, "waiting": ColWaiting, "next_due": ColNextDue} {
		if got, known := ColumnsNamed(name); !known || got != want {
			t.Errorf("%q is %b, %v; want %b", name, got, known, want)
		}
	}
	if _, known := ColumnsNamed("age"); known {
		t.Error("age is a column")
	}
	if got := Columns(1<<len(columnNames) - 1); got != AllColumns {
		t.Errorf("the columns with names are %b; want %b", got, AllColumns)
	}
}
