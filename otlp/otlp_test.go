// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/pnagent/pnagent/otlp"
)

func TestAnEndpointIsAnAddressWithoutSecrets(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                               "",
		"http://127.0.0.1:4318":          "",
		"https://otel.example/base":      "",
		"127.0.0.1:4318":                 "--otlp.endpoint: ",
		"grpc://127.0.0.1:4317":          `--otlp.endpoint: "grpc://127.0.0.1:4317"; expected http://HOST:PORT or https://HOST:PORT`,
		"http://":                        `--otlp.endpoint: "http:"; expected http://HOST:PORT`,
		"https://me:secret@otel.example": "OTEL_EXPORTER_OTLP_HEADERS",
	} {
		err := otlp.Flags{Endpoint: endpoint}.Check()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v; expected %q", endpoint, err, want)
		}
	}
}

// A log has one line when exports begin to fail, and one when they work again.
func TestCountsSayWhenExportsTurn(t *testing.T) {
	var c otlp.Counts
	down := errors.New("refused")
	for i, step := range []struct {
		signal otlp.Signal
		err    error
		turned bool
	}{{otlp.Metrics, nil, false}, {otlp.Metrics, down, true}, {otlp.Traces, down, true}, {otlp.Metrics, down, false}, {otlp.Metrics, nil, true}} {
		if turned := c.Sent(step.signal, step.err, time.Unix(int64(i), 0)); turned != step.turned {
			t.Errorf("export %d: turned is %v", i, turned)
		}
	}
	c.Lost(3)
	if err := testutil.CollectAndCompare(otlp.Collector(&c), strings.NewReader(`
# HELP pnagent_otlp_exports_total Exports to --otlp.endpoint, of metrics or traces (spans of instances): accepted, or failed after all attempts. Absent without --otlp.endpoint.
# TYPE pnagent_otlp_exports_total counter
pnagent_otlp_exports_total{result="accepted",signal="metrics"} 2
pnagent_otlp_exports_total{result="accepted",signal="traces"} 0
pnagent_otlp_exports_total{result="failed",signal="metrics"} 2
pnagent_otlp_exports_total{result="failed",signal="traces"} 1
# HELP pnagent_otlp_last_export_timestamp_seconds When the receiver at --otlp.endpoint last accepted an export, in seconds since the Unix epoch. Absent before the first.
# TYPE pnagent_otlp_last_export_timestamp_seconds gauge
pnagent_otlp_last_export_timestamp_seconds{signal="metrics"} 4
# HELP pnagent_otlp_spans_lost_total Spans of instances that were not sent to --otlp.endpoint, because too many ended between two exports, or because an export failed. Absent before the first export of spans.
# TYPE pnagent_otlp_spans_lost_total counter
pnagent_otlp_spans_lost_total 3
`)); err != nil {
		t.Error(err)
	}
}
