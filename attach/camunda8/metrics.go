// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"slices"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	ledger.Status
	Requests uint64 // requests that were sent, as of the last poll
}

// Status returns the present state.
func (a *Adapter) Status() Status { return Status{a.Source.Status(), a.requests.Load()} }

var families = slices.Concat(ledger.Families("pnagent_camunda8", "token, definition, net, place, time, incident, job, task, subscription, call, wait_state",
	func(s Status) ledger.Status { return s.Status }),
	[]selfmetrics.Family[Status]{
		selfmetrics.Number("pnagent_camunda8_requests_total", "Requests that were sent.", func(s Status) uint64 { return s.Requests }),
		selfmetrics.ByLabel("pnagent_camunda8_search_duration_seconds", "search", "Time that the last run of a search took, by what it returns.", func(s Status) map[string]float64 { return s.Seconds }),
		selfmetrics.ByLabel("pnagent_camunda8_rows_total", "query", "Element instances that were counted, by whether they started or ended.", func(s Status) map[string]uint64 { return s.Rows }),
	})

// Metrics returns the metrics of the adapter.
func (a *Adapter) Metrics() *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return a.Status(), true })
}
