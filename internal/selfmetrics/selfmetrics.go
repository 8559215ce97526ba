// SPDX-License-Identifier: Apache-2.0

// Package selfmetrics shows the counters of a part of pnagent as Prometheus
// metrics. The part describes its families in one table; the reference in
// docs/reference/metrics.md is made from the same tables.
package selfmetrics

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Family is one metric family, read from T: the counters of a part.
type Family[T any] struct {
	Name   string // a counter if it ends in _total, else a gauge
	Help   string
	Labels []string
	Read   func(from T, emit Emit)
}

// Emit adds a series with the values of the family's labels, in their order.
type Emit func(value float64, labels ...string)

// Number is a family of one series without labels.
func Number[T any, N int | int64 | uint64 | float64](name, help string, read func(T) N) Family[T] {
	return Family[T]{Name: name, Help: help, Read: func(from T, emit Emit) { emit(float64(read(from))) }}
}

// ByLabel is a family of one label: a series for each key of a map.
func ByLabel[T any, K comparable, N int | int64 | uint64 | float64](name, label, help string, read func(T) map[K]N) Family[T] {
	return Family[T]{Name: name, Help: help, Labels: []string{label}, Read: func(from T, emit Emit) {
		for value, n := range read(from) {
			emit(float64(n), fmt.Sprint(value))
		}
	}}
}

// Bool is a family of one series without labels: 1 for true, 0 for false.
func Bool[T any](name, help string, read func(T) bool) Family[T] {
	return Number(name, help, func(from T) int {
		if read(from) {
			return 1
		}
		return 0
	})
}

// Description is what a reference page shows of a family.
type Description struct {
	Name, Help, Type string
	Labels           []string
}

// Collector is the families of one part, as a prometheus.Collector.
type Collector struct {
	families []Description
	describe []*prometheus.Desc
	collect  func(out chan<- prometheus.Metric)
}

// New returns the collector of families. It calls read once a scrape, and has
// no series when read returns false.
func New[T any](families []Family[T], read func() (T, bool)) *Collector {
	c := &Collector{}
	types := make([]prometheus.ValueType, len(families))
	for i, f := range families {
		d := Description{Name: f.Name, Help: f.Help, Type: "gauge", Labels: f.Labels}
		types[i] = prometheus.GaugeValue
		if strings.HasSuffix(f.Name, "_total") {
			d.Type, types[i] = "counter", prometheus.CounterValue
		}
		c.families = append(c.families, d)
		c.describe = append(c.describe, prometheus.NewDesc(f.Name, f.Help, f.Labels, nil))
	}
	c.collect = func(out chan<- prometheus.Metric) {
		from, ok := read()
		if !ok {
			return
		}
		for i, f := range families {
			f.Read(from, func(value float64, labels ...string) {
				out <- prometheus.MustNewConstMetric(c.describe[i], types[i], value, labels...)
			})
		}
	}
	return c
}

// Of returns the collector of a part's families, which read reads from it. nil
// has descriptions and no series.
func Of[P, T any](families []Family[T], part *P, read func(*P) T) *Collector {
	return New(families, func() (from T, ok bool) {
		if part == nil {
			return from, false
		}
		return read(part), true
	})
}

// Families describes what the collector shows, in its order.
func (c *Collector) Families() []Description { return c.families }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.describe {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) { c.collect(out) }
