// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pnagent/pnagent/attach/lines"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/telemetry"
)

var (
	linesRead      = desc("pnagent_lines_read_total", "Lines read from all inputs.")
	linesBytes     = desc("pnagent_lines_read_bytes_total", "Bytes of lines read from all inputs.")
	linesDropped   = desc("pnagent_lines_dropped_total", "Lines, or parts of lines, that are no event, by reason.", "reason")
	linesLost      = desc("pnagent_lines_messages_lost_total", "Messages or datagrams that were lost before they were read, as far as the system or the client tells.", "input")
	linesUnwritten = desc("pnagent_lines_writer_dropped", "The highest number of events that a writer says it has dropped.")
	linesFuture    = desc("pnagent_lines_future_total", "Events more than a minute ahead of the clock, taken as of now.")
	linesUndated   = desc("pnagent_lines_undated_total", "Events without a time, taken as of now.")
	linesHurried   = desc("pnagent_lines_window_overflows_total", "Events that left the reordering window early because it was full.")
	linesHeld      = desc("pnagent_lines_window_events", "Events in the reordering window.")
	linesRotated   = desc("pnagent_lines_files_rotated_total", "Times that a followed file was replaced or truncated.")
	linesSave      = desc("pnagent_lines_state_save_failures_total", "Times that the state file could not be written.")
	linesSnapshots = desc("pnagent_lines_snapshots_total", "Snapshots published.")
	linesMissed    = desc("pnagent_lines_snapshots_missed_total", "Times that a net's snapshot was due while NATS was away.")
	linesErrors    = desc("pnagent_lines_snapshot_errors_total", "Times that a net's snapshot could not be made or published.")

	replayFitness = desc("pnagent_replay_fitness", "Fitness of the token replay since its beginning: 1 if every event fitted.", "net")
	replayEvents  = desc("pnagent_replay_events_total", "Events replayed.", "net")
	replayUnfit   = desc("pnagent_replay_unfit_events_total", "Events that the marking did not allow, repaired.", "net")
	replaySilent  = desc("pnagent_replay_silent_firings_total", "Firings of silent transitions that events needed.", "net")
	replayLate    = desc("pnagent_replay_late_events_total", "Events older than the last one of their instance, taken as of the time of that.", "net")
	replayRefused = desc("pnagent_replay_refused_events_total", "Events that would overflow a place, or end an instance that is not open; not taken.", "net")
	replayTokens  = desc("pnagent_replay_tokens_total", "Tokens of the replay: produced, consumed, missing (added as a repair), remaining (in instances that ended).", "net", "kind")
	replayOpen    = desc("pnagent_replay_open_instances", "Instances that have begun and not come to their end.", "net")
	replayEvicted = desc("pnagent_replay_evicted_instances_total", "Open instances that were forgotten to make room for others.", "net")
	replayBlurred = desc("pnagent_replay_blurred_arrivals_total", "Arrivals that got the time of an earlier one, because their instance holds too many tokens.", "net")
)

// linesMetrics shows what an attachment did.
type linesMetrics struct {
	a         *lines.Attachment
	publisher *telemetry.Publisher // nil without NATS
	in        inputs
}

// Describe implements prometheus.Collector.
func (m linesMetrics) Describe(out chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(m, out)
}

// Collect implements prometheus.Collector.
func (m linesMetrics) Collect(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	c := m.a.Counters()
	counter(linesRead, c.Lines)
	counter(linesBytes, c.Bytes)
	for _, why := range lines.Reasons() {
		counter(linesDropped, c.Dropped[why], why.String())
	}
	gauge(linesUnwritten, float64(c.Unwritten))
	counter(linesFuture, c.Future)
	counter(linesUndated, c.Undated)
	counter(linesHurried, c.Hurried)
	gauge(linesHeld, float64(c.Held))
	counter(linesRotated, c.Rotated)
	counter(linesSave, c.SaveFailures)
	for _, one := range m.in {
		if one.lost != nil {
			counter(linesLost, one.lost(), one.name)
		}
	}
	if m.publisher != nil {
		p := m.publisher.Stats()
		counter(linesSnapshots, p.Messages)
		counter(linesMissed, p.Missed)
		counter(linesErrors, p.Errors)
	}
	for _, n := range m.a.Nets() {
		gauge(replayFitness, n.Fitness, n.Net)
		counter(replayEvents, n.Events, n.Net)
		counter(replayUnfit, n.Unfit, n.Net)
		counter(replaySilent, n.Silent, n.Net)
		counter(replayLate, n.Late, n.Net)
		counter(replayRefused, n.Refused, n.Net)
		counter(replayTokens, n.Produced, n.Net, "produced")
		counter(replayTokens, n.Consumed, n.Net, "consumed")
		counter(replayTokens, n.Missing, n.Net, "missing")
		counter(replayTokens, n.Remaining, n.Net, "remaining")
		gauge(replayOpen, float64(n.Open), n.Net)
		counter(replayEvicted, n.Evicted, n.Net)
		counter(replayBlurred, n.Blurred, n.Net)
	}
}

// serve serves the metrics until ctx ends.
func (c *attachLinesCmd) serve(ctx context.Context, log *slog.Logger, shown ...prometheus.Collector) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(shown...)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return metrics.ListenAndServe(ctx, c.Web, c.WebConf, mux, log)
}
