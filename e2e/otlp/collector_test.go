// SPDX-License-Identifier: Apache-2.0

//go:build peers

package otlp

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// attribute is a key and a value of OTLP's JSON.
type attribute struct {
	Key   string
	Value struct{ StringValue string }
}

// point is one of any kind of metric.
type point struct {
	Attributes                      []attribute
	AsDouble                        float64
	Count                           string
	Sum                             float64
	Scale                           int
	ZeroCount                       string
	Positive                        struct{ BucketCounts []string }
	StartTimeUnixNano, TimeUnixNano string
	Exemplars                       []struct {
		AsDouble           float64
		FilteredAttributes []attribute
	}
}

type metric struct {
	Name, Unit, Description string
	Gauge                   struct{ DataPoints []point }
	Sum                     struct {
		DataPoints  []point
		IsMonotonic bool
	}
	Histogram            struct{ DataPoints []point }
	ExponentialHistogram struct{ DataPoints []point }
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []attribute
	Status                              struct {
		Code    int
		Message string
	}
}

// record is a log record.
type record struct {
	EventName      string
	SeverityNumber int
	Body           struct{ StringValue string }
	Attributes     []attribute
}

// collected is what the collector passed on.
type collected struct {
	mu       sync.Mutex
	resource map[string]string // of the last document
	metrics  map[string]metric // the last of each name
	spans    []span
	records  []record
}

// collector is an OpenTelemetry Collector that runs until the test ends.
type collector struct {
	http, grpc string // endpoints
	got        *collected
}

// startCollector runs a collector that passes everything to this test.
func startCollector(t *testing.T) collector {
	t.Helper()
	got := &collected{metrics: map[string]metric{}}
	passed := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = got.take(r.URL.Path, body)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(passed.Close)
	program := filepath.Join(t.TempDir(), "collector")
	if err := buildtest.Build(t.Context(), filepath.Join("..", "..", "otlp", "export", "collectortest"), program, "."); err != nil {
		t.Fatal(err)
	}
	c := collector{http: "http://" + porttest.Addr(t), grpc: "http://" + porttest.Addr(t), got: got}
	kit.Start(t, program, "--config", "file:"+kit.Write(t, "collector.yaml", fmt.Sprintf(`receivers:
  otlp:
    protocols:
      http: {endpoint: %s}
      grpc: {endpoint: %s}
exporters:
  otlp_http: {endpoint: %s, encoding: json, compression: none, sending_queue: {enabled: false}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    metrics: {receivers: [otlp], exporters: [otlp_http]}
    traces: {receivers: [otlp], exporters: [otlp_http]}
    logs: {receivers: [otlp], exporters: [otlp_http]}
`, strings.TrimPrefix(c.http, "http://"), strings.TrimPrefix(c.grpc, "http://"), passed.URL)))
	for _, endpoint := range []string{c.http, c.grpc} {
		kit.Until(t, "the collector listens", func() error {
			conn, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "http://"))
			if err != nil {
				return err
			}
			return conn.Close()
		})
	}
	return c
}

// take keeps a document.
func (c *collected) take(path string, body []byte) error {
	var doc struct {
		ResourceMetrics []struct {
			Resource     struct{ Attributes []attribute }
			ScopeMetrics []struct{ Metrics []metric }
		}
		ResourceLogs []struct {
			ScopeLogs []struct{ LogRecords []record }
		}
		ResourceSpans []struct {
			Resource   struct{ Attributes []attribute }
			ScopeSpans []struct{ Spans []span }
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range doc.ResourceMetrics {
		c.resource = values(r.Resource.Attributes)
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				c.metrics[m.Name] = m
			}
		}
	}
	for _, r := range doc.ResourceLogs {
		for _, s := range r.ScopeLogs {
			c.records = append(c.records, s.LogRecords...)
		}
	}
	for _, r := range doc.ResourceSpans {
		c.resource = values(r.Resource.Attributes)
		for _, s := range r.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
	return nil
}

// values returns attributes by key.
func values(of []attribute) map[string]string {
	all := map[string]string{}
	for _, a := range of {
		all[a.Key] = a.Value.StringValue
	}
	return all
}
