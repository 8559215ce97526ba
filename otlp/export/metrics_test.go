// SPDX-License-Identifier: Apache-2.0

package export

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Each exponential histogram has the exemplars of its own series.
func TestExponentialHistogramsHaveTheirExemplars(t *testing.T) {
	registry := prometheus.NewRegistry()
	dwell := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "petrinet_dwell_seconds", Help: "h", NativeHistogramBucketFactor: 1.1, NativeHistogramMaxExemplars: 2}, []string{"place"})
	registry.MustRegister(dwell, prometheus.NewGauge(prometheus.GaugeOpts{Name: "a_gauge", Help: "g"}))
	dwell.WithLabelValues("packed").Observe(1)
	dwell.WithLabelValues("paid").(prometheus.ExemplarObserver).ObserveWithExemplar(7200, prometheus.Labels{"case": "berlin/48"})
	scopes, err := produce(t.Context(), prometheus.ToTransactionalGatherer(registry))
	if err != nil || len(scopes) != 1 || len(scopes[0].Metrics) != 2 {
		t.Fatalf("got %+v, %v; want two metrics", scopes, err)
	}
	got := map[string][]string{}
	for _, p := range scopes[0].Metrics[1].Data.(metricdata.ExponentialHistogram[float64]).DataPoints {
		place, _ := p.Attributes.Value("place")
		got[place.AsString()] = []string{}
		for _, x := range p.Exemplars {
			if x.Value != 7200 || time.Since(x.Time) > time.Hour {
				t.Errorf("got %+v; want 7200 of now", x)
			}
			for _, a := range x.FilteredAttributes {
				got[place.AsString()] = append(got[place.AsString()], string(a.Key)+"="+a.Value.AsString())
			}
		}
	}
	if d := cmp.Diff(map[string][]string{"packed": {}, "paid": {"case=berlin/48"}}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
