// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pnagent/pnagent/attach/dipen"
	"github.com/pnagent/pnagent/metrics"
)

var (
	dipenUp          = desc("pnagent_dipen_connected", "1 while etcd is watched.")
	dipenSessions    = desc("pnagent_dipen_watches_total", "Times that a watch began.")
	dipenLooks       = desc("pnagent_dipen_looks_total", "Times that the newest revision was asked for.")
	dipenChanges     = desc("pnagent_dipen_changes_total", "Changes of keys taken in.")
	dipenRevision    = desc("pnagent_dipen_revision", "Revision up to which all changes are in.")
	dipenHead        = desc("pnagent_dipen_newest_revision", "Newest revision that was seen, of all of etcd.")
	dipenSince       = desc("pnagent_dipen_counts_since_timestamp_seconds", "Since when counts hold: the attachment, or the last time that changes were missed.")
	dipenGaps        = desc("pnagent_dipen_gaps_total", "Times that changes were missed, because etcd compacted them, is another one or was set back.")
	dipenMissed      = desc("pnagent_dipen_missed_revisions_total", "Revisions of all of etcd in which changes were missed.")
	dipenDropped     = desc("pnagent_dipen_dropped_total", "What was passed over, by reason.", "reason")
	dipenInFlight    = desc("pnagent_dipen_tokens_in_flight", "Tokens that a transition has taken.", "transition")
	dipenLeader      = desc("pnagent_dipen_region_leader_since_timestamp_seconds", "Since when a region has its leader, at the latest.", "region", "node")
	dipenStandby     = desc("pnagent_dipen_region_standby", "Nodes that stand by for a region.", "region")
	dipenStateErrors = desc("pnagent_dipen_state_errors_total", "Times that the state file could not be written.")
	dipenSnapshots   = desc("pnagent_dipen_snapshots_total", "Snapshots published.")
	dipenUnsent      = desc("pnagent_dipen_snapshots_missed_total", "Times that a snapshot was due while NATS was away.")
	dipenErrors      = desc("pnagent_dipen_snapshot_errors_total", "Times that a snapshot could not be made or published.")
)

// dipenMetrics shows what an attachment did.
type dipenMetrics struct{ status func() dipen.Status }

// Describe implements prometheus.Collector.
func (m dipenMetrics) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect implements prometheus.Collector.
func (m dipenMetrics) Collect(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	s := m.status()
	up := 0.0
	if s.Connected {
		up = 1
	}
	gauge(dipenUp, up)
	counter(dipenSessions, s.Sessions)
	counter(dipenLooks, s.Looks)
	counter(dipenChanges, s.Changes)
	gauge(dipenRevision, float64(s.Revision))
	gauge(dipenHead, float64(s.Head))
	gauge(dipenSince, float64(s.Gaps.Since)/1e6)
	counter(dipenGaps, s.Gaps.Count)
	counter(dipenMissed, uint64(s.Gaps.Revisions))
	for fault, n := range s.Dropped {
		counter(dipenDropped, n, string(fault))
	}
	for _, f := range s.InFlight {
		gauge(dipenInFlight, float64(f.N), f.Name)
	}
	for _, l := range s.Leaders {
		gauge(dipenLeader, float64(l.Since)/1e6, l.Region, l.Node)
		gauge(dipenStandby, float64(l.Waiting), l.Region)
	}
	counter(dipenStateErrors, s.StateErrors)
	counter(dipenSnapshots, s.Snapshots.Messages)
	counter(dipenUnsent, s.Snapshots.Missed)
	counter(dipenErrors, s.Snapshots.Errors)
}

// serve serves the metrics of this process until ctx ends. If it cannot, it
// ends the rest too.
func (c *attachDipenCmd) serve(ctx context.Context, cancel func(), log *slog.Logger, shown ...prometheus.Collector) error {
	if c.Web == "" {
		return nil
	}
	defer cancel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(shown...)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return metrics.ListenAndServe(ctx, c.Web, c.WebConf, mux, log)
}
