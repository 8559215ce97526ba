// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"maps"
	"slices"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	ledger.Status
	Requests uint64             // requests that were sent, as of the last poll
	Rows     map[string]uint64  // element instances that were counted, by "started" and "ended"
	Seconds  map[string]float64 // the last duration of a search, by what it returns
}

// Status returns the present state.
func (a *Adapter) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.status
	out.Status, out.Rows, out.Seconds = a.Source.Status(), maps.Clone(out.Rows), maps.Clone(out.Seconds)
	return out
}

var families = slices.Concat(ledger.Families("pnagent_camunda8", "token, definition, net, place, time, incident, job, task, subscription, call, wait_state",
	func(s Status) ledger.Status { return s.Status }),
	[]selfmetrics.Family[Status]{
		{Name: "pnagent_camunda8_requests_total", Help: "Requests that were sent.",
			Read: selfmetrics.Number(func(s Status) uint64 { return s.Requests })},
		{Name: "pnagent_camunda8_search_duration_seconds", Help: "Time that the last run of a search took, by what it returns.", Labels: []string{"search"},
			Read: func(s Status, emit selfmetrics.Emit) {
				for name, n := range s.Seconds {
					emit(n, name)
				}
			}},
		{Name: "pnagent_camunda8_rows_total", Help: "Element instances that were counted, by whether they started or ended.", Labels: []string{"query"},
			Read: func(s Status, emit selfmetrics.Emit) {
				for name, n := range s.Rows {
					emit(float64(n), name)
				}
			}},
	})

// Metrics returns the metrics of an adapter, by its status.
func Metrics(status func() Status) *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return status(), true })
}
