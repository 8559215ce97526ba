// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"slices"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	ledger.Status
	Ageless uint64 // times that a token had no time
}

// Status returns the present state.
func (s *Adapter) Status() Status { return Status{s.Source.Status(), s.ageless.Load()} }

var families = slices.Concat(ledger.Families("pnagent_sql", "token, why, schedule, definition, net, place, time", func(s Status) ledger.Status { return s.Status }),
	[]selfmetrics.Family[Status]{
		selfmetrics.ByLabel("pnagent_sql_query_duration_seconds", "query", "Time that the last run of a query took.", func(s Status) map[string]float64 { return s.Seconds }),
		selfmetrics.ByLabel("pnagent_sql_rows_total", "query", "Rows of the history that were counted, by query.", func(s Status) map[string]uint64 { return s.Rows }),
		selfmetrics.Number("pnagent_sql_without_time_total", "Times that a token had no time; its age counts from when it was first seen.", func(s Status) uint64 { return s.Ageless }),
	})

// Metrics returns the metrics of the adapter.
func (s *Adapter) Metrics() *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return s.Status(), true })
}
