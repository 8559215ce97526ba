// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	ledger.Status
	coverage
	Calls  map[string]uint64    // by method
	Errors map[[2]string]uint64 // by method and gRPC code
	RPS    float64              // the budget
}

// coverage is how many executions were read.
type coverage struct {
	Listed int64 // when the last complete list of those that run began; 0 before the first one
	Open   int   // executions that run
	Read   int   // of these, whose history was read once or more
	Oldest int64 // the reading that is the longest ago, of those that run
	Closed int   // executions that closed, whose end was not read yet
}

// Status returns the present state. Any goroutine may call it.
func (s *Adapter) Status() Status {
	out := Status{Status: s.Source.Status(), RPS: s.cfg.Server.rps}
	out.Calls, out.Errors = s.cfg.Server.counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	out.coverage = s.coverage
	return out
}

// ratio returns the part of the running executions that were read; 0 while not all
// are known.
func (c coverage) ratio() float64 {
	if c.Listed == 0 {
		return 0
	}
	if c.Open == 0 {
		return 1
	}
	return float64(c.Read) / float64(c.Open)
}

var families = append(ledger.Families("pnagent_temporal", "net, place, workflow, closed, reading", func(s Status) ledger.Status { return s.Status }),
	selfmetrics.ByLabel("pnagent_temporal_calls_total", "method", "Calls of the server, by method.", func(s Status) map[string]uint64 { return s.Calls }),
	selfmetrics.Family[Status]{Name: "pnagent_temporal_call_errors_total", Help: "Calls that failed, by method and gRPC code.", Labels: []string{"method", "code"},
		Read: func(s Status, emit selfmetrics.Emit) {
			for of, n := range s.Errors {
				emit(float64(n), of[0], of[1])
			}
		}},
	selfmetrics.Number("pnagent_temporal_budget_calls_per_second", "The largest number of calls a second.", func(s Status) float64 { return s.RPS }),
	selfmetrics.Number("pnagent_temporal_open_workflows", "Workflow executions that run.", func(s Status) int { return s.Open }),
	selfmetrics.Family[Status]{Name: "pnagent_temporal_list_age_seconds", Help: "Time since the last complete list of running workflow executions began; those that started later may be absent. No value before the first one is complete.",
		Read: func(s Status, emit selfmetrics.Emit) {
			if s.Listed != 0 {
				emit(float64(time.Now().UnixMicro()-s.Listed) / 1e6)
			}
		}},
	selfmetrics.Number("pnagent_temporal_coverage_ratio", "Part of the running workflow executions that were read once or more; 0 before all are listed.", func(s Status) float64 { return s.ratio() }),
	selfmetrics.Number("pnagent_temporal_oldest_reading_age_seconds", "Age of the reading that is the longest ago, among those of running workflow executions.",
		func(s Status) float64 {
			if s.Open == 0 || s.Listed == 0 {
				return 0
			}
			return float64(time.Now().UnixMicro()-s.Oldest) / 1e6
		}),
	selfmetrics.Number("pnagent_temporal_closed_unread_workflows", "Workflow executions that closed, and whose last events are not counted yet.", func(s Status) int { return s.Closed }),
)

// Metrics returns the metrics of the adapter.
func (s *Adapter) Metrics() *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return s.Status(), true })
}
