// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"

	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// metered is what the metrics of an engine are read from.
type metered struct {
	EventReport
	requests map[string]uint64
}

// families describe what becomes of messages, signals and requests.
var families = []selfmetrics.Family[metered]{
	{Name: "pnagent_engine_messages_caught_total", Help: "Messages that a transition caught, from inside and outside.",
		Read: selfmetrics.Number(func(r metered) uint64 { return r.Messages })},
	{Name: "pnagent_engine_signals_total", Help: "Signals that were thrown or came from outside, also those that nothing caught.",
		Read: selfmetrics.Number(func(r metered) uint64 { return r.Signals })},
	{Name: "pnagent_engine_events_caught_total", Help: "Firings of transitions that caught a message or a signal.",
		Read: selfmetrics.Number(func(r metered) uint64 { return r.Caught })},
	{Name: "pnagent_engine_events_refused_total", Help: "Messages and beginnings by a signal that were refused, and signals not sent to other engines, by reason.", Labels: []string{"reason"},
		Read: func(r metered, emit selfmetrics.Emit) {
			for _, reason := range slices.Sorted(maps.Keys(r.Refused)) {
				emit(float64(r.Refused[reason]), reason)
			}
		}},
	{Name: "pnagent_engine_requests_refused_total", Help: "Requests that exceeded a bound, by reason.", Labels: []string{"reason"},
		Read: func(r metered, emit selfmetrics.Emit) {
			for _, reason := range slices.Sorted(maps.Keys(r.requests)) {
				emit(float64(r.requests[reason]), reason)
			}
		}},
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
