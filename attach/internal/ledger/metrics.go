// SPDX-License-Identifier: Apache-2.0

package ledger

import "github.com/pnagent/pnagent/internal/selfmetrics"

// Status is the state of a Source; counts are cumulative since its start.
type Status struct {
	Connected   bool // the last poll succeeded
	Polls       uint64
	Failures    uint64            // polls that failed
	At          int64             // the last poll that succeeded, by the host's clock
	Ahead       int64             // microseconds by which the engine's clock is ahead of the host's
	StateErrors uint64            // times that the state file could not be written
	Dropped     map[string]uint64 // what was not used, by reason

	Rows    map[string]uint64  // rows of the history that were counted, by query: see Source.Counted
	Seconds map[string]float64 // the last duration, by query: see Source.Took
}

// Families returns the metrics that every adapter has, with names that begin with
// prefix, such as "pnagent_sql". dropped lists the reasons of Drop.
func Families[S any](prefix, dropped string, status func(S) Status) []selfmetrics.Family[S] {
	return []selfmetrics.Family[S]{
		selfmetrics.Bool(prefix+"_connected", "1 while the last poll succeeded.", func(s S) bool { return status(s).Connected }),
		selfmetrics.Number(prefix+"_polls_total", "Polls that succeeded.", func(s S) uint64 { return status(s).Polls }),
		selfmetrics.Number(prefix+"_poll_failures_total", "Polls that failed.", func(s S) uint64 { return status(s).Failures }),
		selfmetrics.Number(prefix+"_poll_timestamp_seconds", "Unix time of the last poll that succeeded.", func(s S) float64 { return float64(status(s).At) / 1e6 }),
		selfmetrics.Number(prefix+"_clock_ahead_seconds", "By how much the engine's clock is ahead of this host's.", func(s S) float64 { return float64(status(s).Ahead) / 1e6 }),
		selfmetrics.ByLabel(prefix+"_dropped_total", "reason", "What was not used, by reason: "+dropped+".", func(s S) map[string]uint64 { return status(s).Dropped }),
		selfmetrics.Number(prefix+"_state_errors_total", "Times that the state file could not be written.", func(s S) uint64 { return status(s).StateErrors }),
	}
}
