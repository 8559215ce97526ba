// SPDX-License-Identifier: Apache-2.0

// Package selfmetricstest compares the series of a part's metrics in tests.
package selfmetricstest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Series returns the series that a scrape of the collector shows, sorted. Each is
// written as "name value", or "name label=value … value" with its labels by name.
func Series(t *testing.T, c *selfmetrics.Collector) []string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			series := f.GetName()
			for _, l := range m.GetLabel() {
				series += " " + l.GetName() + "=" + l.GetValue()
			}
			// Of a counter and a gauge one is absent, and 0.
			all = append(all, fmt.Sprintf("%s %v", series, m.GetCounter().GetValue()+m.GetGauge().GetValue()))
		}
	}
	slices.Sort(all)
	return all
}

// Show compares the series that families read from a value with those wanted, in
// any order.
func Show[T any](t *testing.T, families []selfmetrics.Family[T], from T, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, Series(t, selfmetrics.New(families, func() (T, bool) { return from, true }))); diff != "" {
		t.Errorf("-want +shown\n%s", diff)
	}
}
