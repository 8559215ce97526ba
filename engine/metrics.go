// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// metered is what the metrics of an engine are read from.
type metered struct {
	EventReport
	requests map[string]uint64
}

// families describe what becomes of messages, signals and requests.
var families = []selfmetrics.Family[metered]{
	selfmetrics.Number("pnagent_engine_messages_caught_total", "Messages that a transition caught, from inside and outside.", func(r metered) uint64 { return r.Messages }),
	selfmetrics.Number("pnagent_engine_signals_total", "Signals that were thrown or came from outside, also those that nothing caught.", func(r metered) uint64 { return r.Signals }),
	selfmetrics.Number("pnagent_engine_events_caught_total", "Firings of transitions that caught a message or a signal.", func(r metered) uint64 { return r.Caught }),
	selfmetrics.ByLabel("pnagent_engine_events_refused_total", "reason", "Messages and beginnings by a signal that were refused, and signals not sent to other engines, by reason.", func(r metered) map[string]uint64 { return r.Refused }),
	selfmetrics.ByLabel("pnagent_engine_requests_refused_total", "reason", "Requests that exceeded a bound, by reason.", func(r metered) map[string]uint64 { return r.requests }),
}

// Metrics returns the counters of messages, signals and refused requests of this
// Run, as a prometheus.Collector.
func (e *Engine) Metrics() *selfmetrics.Collector {
	return selfmetrics.New(families, func() (metered, bool) {
		from := metered{requests: e.refusals.report()}
		if r := e.eventCounts.report(); r != nil {
			from.EventReport = *r
		}
		return from, true
	})
}

// Workers returns the number of workers: one for nets that throw or catch messages or
// signals, otherwise what the Config or the dispatcher asks for.
func (e *Engine) Workers() int { return len(e.workers) }
