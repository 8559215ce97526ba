// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/pnagent/pnagent/otlp"
)

// produce reads families, and returns them as OpenTelemetry's metrics. They are read while they
// are held, since the next scrape updates them in place.
func produce(ctx context.Context, of prometheus.TransactionalGatherer) ([]metricdata.ScopeMetrics, error) {
	families, done, err := of.Gather()
	defer done()
	if err != nil {
		return nil, err
	}
	held := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
	scopes, err := bridge.NewMetricProducer(bridge.WithGatherer(held)).Produce(ctx)
	for i := range scopes {
		scopes[i].Scope = instrumentation.Scope{Name: scope}
		for j := range scopes[i].Metrics {
			m := &scopes[i].Metrics[j]
			m.Unit = unitOf(m.Name)
			if h, is := m.Data.(metricdata.ExponentialHistogram[float64]); is {
				addExemplars(h.DataPoints, families, m.Name)
			}
		}
	}
	return scopes, err
}

// addExemplars adds the exemplars of a family to its data points, which are in its order. The bridge
// leaves them out of exponential histograms.
func addExemplars(points []metricdata.ExponentialHistogramDataPoint[float64], families []*dto.MetricFamily, name string) {
	i := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	if i < 0 || len(families[i].GetMetric()) != len(points) {
		return
	}
	for k, m := range families[i].GetMetric() {
		for _, x := range m.GetHistogram().GetExemplars() {
			out := metricdata.Exemplar[float64]{Value: x.GetValue(), Time: x.GetTimestamp().AsTime()}
			for _, label := range x.GetLabel() {
				out.FilteredAttributes = append(out.FilteredAttributes, attribute.String(label.GetName(), label.GetValue()))
			}
			points[k].Exemplars = append(points[k].Exemplars, out)
		}
	}
}

// unitOf returns the unit of a metric by the suffix of its Prometheus name, in the code of UCUM,
// which OpenTelemetry uses; "" for a number without one.
func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	case strings.HasSuffix(name, "_ratio"):
		return "1"
	}
	return ""
}

// Metrics sends the families each interval until ctx ends, and a last time then.
func (e *Exporter) Metrics(ctx context.Context, families prometheus.TransactionalGatherer, interval time.Duration) error {
	to, err := e.metrics(ctx)
	if err != nil {
		return err
	}
	send := func(ctx context.Context) {
		scopes, err := produce(ctx, families)
		if err == nil {
			err = to.Export(ctx, &metricdata.ResourceMetrics{Resource: e.resource, ScopeMetrics: scopes})
		}
		e.sent(otlp.Metrics, err)
	}
	due := time.NewTicker(interval)
	defer due.Stop()
	for {
		select {
		case <-due.C:
			send(ctx)
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWithin)
			defer cancel()
			send(ctx)
			return to.Shutdown(ctx)
		}
	}
}
