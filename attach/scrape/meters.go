// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// meters are the metrics of the adapter; those of one source are curried with its name.
type meters struct {
	scrapes  *prometheus.CounterVec
	duration *prometheus.GaugeVec
	series   *prometheus.GaugeVec
	readAt   *prometheus.GaugeVec
	dropped  *prometheus.CounterVec
	missing  *prometheus.GaugeVec
	refusals *prometheus.CounterVec
	refused  prometheus.Counter // of one source

	dropSeen [numReasons]uint64 // state.dropped as of the last scrape
}

func newMeters(r prometheus.Registerer) (meters, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "pnagent", Subsystem: "scrape", Name: name, Help: help}, append([]string{"source"}, labels...))
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "pnagent", Subsystem: "scrape", Name: name, Help: help}, append([]string{"source"}, labels...))
	}
	m := meters{
		scrapes:  counter("attempts_total", "Scrapes of the target, by result; only those with the result ok are used, as a whole.", "result"),
		duration: gauge("duration_seconds", "Time that the last scrape took."),
		series:   gauge("series", "Series in the last scrape that was read."),
		readAt:   gauge("timestamp_seconds", "Unix time of the last scrape that was read."),
		dropped:  counter("series_dropped_total", "Times that a series of the mapping could not be used, by reason.", "reason"),
		missing:  gauge("rows_missing", "Rows without a series for a column of the mapping; with any, the net does not have the column.", "net", "column"),
		refusals: counter("definitions_refused_total", "Times that a net or its larger definition could not be published."),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.scrapes, m.duration, m.series, m.readAt, m.dropped, m.missing, m.refusals} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}

// of returns the meters of one source, with each counter at 0.
func (m meters) of(source string) meters {
	is := prometheus.Labels{"source": source}
	m.scrapes, m.dropped, m.missing = m.scrapes.MustCurryWith(is), m.dropped.MustCurryWith(is), m.missing.MustCurryWith(is)
	m.duration, m.series, m.readAt = m.duration.MustCurryWith(is), m.series.MustCurryWith(is), m.readAt.MustCurryWith(is)
	m.refused = m.refusals.With(is)
	for _, result := range results() {
		m.scrapes.WithLabelValues(result)
	}
	for r := range numReasons {
		m.dropped.WithLabelValues(r.String())
	}
	return m
}

func (m *meters) scraped(result string, took time.Duration) {
	m.scrapes.WithLabelValues(result).Inc()
	m.duration.WithLabelValues().Set(took.Seconds())
}

// read updates the metrics after a scrape, which may be used or not.
func (m *meters) read(s *state, all families, at time.Time, used bool) {
	m.series.WithLabelValues().Set(float64(seriesOf(all)))
	if used {
		m.readAt.WithLabelValues().Set(float64(at.UnixMicro()) / 1e6)
	}
	for r := range numReasons {
		m.dropped.WithLabelValues(r.String()).Add(float64(s.dropped[r] - m.dropSeen[r]))
		m.dropSeen[r] = s.dropped[r]
	}
	for _, n := range s.nets {
		for column, rows := range n.missing(all) {
			m.missing.WithLabelValues(n.id, column).Set(float64(rows))
		}
	}
}
