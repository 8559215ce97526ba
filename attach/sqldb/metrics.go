// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"maps"

	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	Connected   bool // the last poll succeeded
	Polls       uint64
	Failures    uint64 // polls that failed
	At          int64  // the last poll that succeeded
	Ahead       int64  // microseconds by which the database's clock is ahead of the host's
	StateErrors uint64 // times that the state file could not be written
	Ageless     uint64 // times that a token had no time

	Rows    map[string]uint64  // rows of started and ended that were counted, by query
	Dropped map[string]uint64  // what was not used, by reason
	Seconds map[string]float64 // the last duration, by query
}

// Status returns the present state.
func (s *source) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	out.Rows, out.Dropped, out.Seconds = maps.Clone(out.Rows), maps.Clone(out.Dropped), maps.Clone(out.Seconds)
	return out
}

var families = []selfmetrics.Family[Status]{
	{Name: "pnagent_sql_connected", Help: "1 while the last poll of the database succeeded.",
		Read: selfmetrics.Bool(func(s Status) bool { return s.Connected })},
	{Name: "pnagent_sql_polls_total", Help: "Polls that succeeded.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Polls })},
	{Name: "pnagent_sql_poll_failures_total", Help: "Polls that failed.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Failures })},
	{Name: "pnagent_sql_poll_timestamp_seconds", Help: "Unix time of the last poll that succeeded.",
		Read: selfmetrics.Number(func(s Status) float64 { return float64(s.At) / 1e6 })},
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
	{Name: "pnagent_sql_clock_ahead_seconds", Help: "By how much the database's clock is ahead of this host's.",
		Read: selfmetrics.Number(func(s Status) float64 { return float64(s.Ahead) / 1e6 })},
	{Name: "pnagent_sql_without_time_total", Help: "Times that a token had no time; its age counts from when it was first seen.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.Ageless })},
	{Name: "pnagent_sql_dropped_total", Help: "What was not used, by reason: token, why, definition, net, time.", Labels: []string{"reason"},
		Read: func(s Status, emit selfmetrics.Emit) {
			for reason, n := range s.Dropped {
				emit(float64(n), reason)
			}
		}},
	{Name: "pnagent_sql_state_errors_total", Help: "Times that the state file could not be written.",
		Read: selfmetrics.Number(func(s Status) uint64 { return s.StateErrors })},
}

// Metrics returns the metrics of an attachment, by its status.
func Metrics(status func() Status) *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return status(), true })
}
