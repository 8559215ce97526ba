// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/history"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web"
)

// openLive makes the live page.
func (s *sidecar) openLive() (err error) {
	s.live, err = web.New(web.Config{View: s.collector.View, Alarms: s.watcher.State, Version: versionOf().Version,
		History: history.New(history.Config{Budget: int64(s.cfg.historyMemory) << 20}), Viewers: s.cfg.viewers, Log: s.cfg.log,
		Ask: func(ctx context.Context, net, source, instance string) (*telemetry.Instance, error) {
			return telemetry.AskInstance(ctx, s.cfg.link.Conn, s.cfg.subjects, net, source, instance)
		}})
	return err
}

// liveMount is the live page and its API: at / and wherever nothing else is.
func (s *sidecar) liveMount() metrics.Mount {
	return metrics.Mount{Pattern: "/", Handler: s.live.Handler(), Link: "index.html", Text: "Live", Description: "the nets as they run, and the last hour"}
}

// audience shows what the live page did as metrics.
type audience struct{ live *web.Server }

var (
	webViewers   = desc(metrics.PnagentWebViewers, "Viewers of the live page that are connected.")
	webEvents    = desc(metrics.PnagentWebEventsTotal, "Events with the state of a net that were sent to viewers, by kind: diff, or frame for a whole one.", "kind")
	webBytes     = desc(metrics.PnagentWebBytesTotal, "Bytes of events that were sent to viewers, packed if the viewer takes that.")
	webDropped   = desc(metrics.PnagentWebViewersDroppedTotal, "Viewers that took nothing for too long, or broke off in the middle.")
	webRefused   = desc(metrics.PnagentWebRequestsRefusedTotal, "Requests to the live page, and viewers, for which there was no room.")
	historyBytes = desc(metrics.PnagentHistoryBytes, "Memory of the frames of the last hour.")
	historyKept  = desc(metrics.PnagentHistoryFrames, "Frames of the last hour that are kept, over all nets.")
	historyOut   = desc(metrics.PnagentHistoryLeftOutTotal, "Frames that are not kept, by reason: passed over because the step was not over, or dropped before their hour was.", "reason")
	sightings    = desc(metrics.PnagentHistorySightings, "Times that are remembered of an instance among the oldest tokens of a place.")
	forgotten    = desc(metrics.PnagentHistorySightingsForgottenTotal, "Sightings that were forgotten before their hour was over, or never noted, for room.")
)

// Describe implements prometheus.Collector.
func (a audience) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{webViewers, webEvents, webBytes, webDropped, webRefused, historyBytes, historyKept, historyOut, sightings, forgotten} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (a audience) Collect(out chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, n float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, n, labels...)
	}
	c := a.live.Counters()
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	send(webViewers, gauge, float64(c.Viewers))
	send(webEvents, counter, float64(c.Diffs), "diff")
	send(webEvents, counter, float64(c.Frames), "frame")
	send(webBytes, counter, float64(c.Bytes))
	send(webDropped, counter, float64(c.Dropped))
	send(webRefused, counter, float64(c.Refused))
	send(historyBytes, gauge, float64(c.History.Bytes))
	send(historyKept, gauge, float64(c.History.Frames))
	send(historyOut, counter, float64(c.History.Passed), "passed")
	send(historyOut, counter, float64(c.History.Dropped), "dropped")
	send(sightings, gauge, float64(c.History.Sightings))
	send(forgotten, counter, float64(c.History.Forgotten))
}
