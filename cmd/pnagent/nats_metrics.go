// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// natsMetrics shows as metrics whether a process is connected to NATS, for every
// command that serves metrics.
type natsMetrics struct {
	link *natslink.Link // nil without NATS: then there is no series
}

var (
	natsConnected   = desc(metrics.PnagentNATSConnected, "Whether this process is connected to NATS: 1 or 0. While it is not, what it shows of engines is what it heard before.")
	natsDisconnects = desc(metrics.PnagentNATSDisconnectsTotal, "Times that the connection to NATS ended.")
)

// Describe implements prometheus.Collector.
func (m natsMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- natsConnected
	out <- natsDisconnects
}

// Collect implements prometheus.Collector.
func (m natsMetrics) Collect(out chan<- prometheus.Metric) {
	linkMetrics(out, m.link, natsConnected, natsDisconnects)
}

// linkMetrics shows one connection; nil has no series.
func linkMetrics(out chan<- prometheus.Metric, link *natslink.Link, connected, disconnects *prometheus.Desc) {
	if link == nil {
		return
	}
	state, is := link.State(), 0.0
	if state.Connected {
		is = 1
	}
	out <- prometheus.MustNewConstMetric(connected, prometheus.GaugeValue, is)
	out <- prometheus.MustNewConstMetric(disconnects, prometheus.CounterValue, float64(state.Disconnects))
}
