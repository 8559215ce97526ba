// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"maps"
	"slices"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	ledger.Status
	Ageless uint64 // times that a token had no time

	Rows    map[string]uint64  // rows of started and ended that were counted, by query
	Seconds map[string]float64 // the last duration, by query
}

// Status returns the present state.
func (s *Adapter) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	out.Status, out.Rows, out.Seconds = s.Source.Status(), maps.Clone(out.Rows), maps.Clone(out.Seconds)
	return out
}

var families = slices.Concat(ledger.Families("pnagent_sql", "token, why, definition, net, place, time", func(s Status) ledger.Status { return s.Status }),
	[]selfmetrics.Family[Status]{
		{Name: "pnagent_sql_query_duration_seconds", Help: "Time that the last run of a query took.", Labels: []string{"query"},
			Read: func(s Status, emit selfmetrics.Emit) {
				for query, n := range s.Seconds {
					emit(n, query)
				}
			}},
		{Name: "pnagent_sql_rows_total", Help: "Rows of the history that were counted, by query.", Labels: []string{"query"},
			Read: func(s Status, emit selfmetrics.Emit) {
				for query, n := range s.Rows {
					emit(float64(n), query)
				}
			}},
		{Name: "pnagent_sql_without_time_total", Help: "Times that a token had no time; its age counts from when it was first seen.",
			Read: selfmetrics.Number(func(s Status) uint64 { return s.Ageless })},
	})

// Metrics returns the metrics of an attachment, by its status.
func Metrics(status func() Status) *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return status(), true })
}
