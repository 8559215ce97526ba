// SPDX-License-Identifier: Apache-2.0

// Package otlp says where pnagent sends by the OpenTelemetry protocol, and counts what it sent.
//
// Flags are those of a command that sends, and Counts what its exporters did. Both are small, so
// that each program has them. Package export has the exporters, which need gRPC; a program with
// the tag slim leaves them out and runs pnagent-full where Flags.Endpoint is set.
package otlp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"sync"
	"time"

	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Flags say where to send. What they leave out is read from OpenTelemetry's own variables:
// OTEL_EXPORTER_OTLP_HEADERS (credentials), _CERTIFICATE, _CLIENT_KEY, _COMPRESSION, _TIMEOUT,
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
type Flags struct {
	Endpoint string `name:"endpoint" placeholder:"URL" help:"Receiver of OpenTelemetry's protocol, such as http://127.0.0.1:4318 of a collector; https encrypts. Credentials are read from OTEL_EXPORTER_OTLP_HEADERS. See docs/otlp.md."`
	Protocol string `name:"protocol" default:"http/protobuf" enum:"grpc,http/protobuf" help:"How to send to --otlp.endpoint: http/protobuf (port 4318 of a collector) or grpc (port 4317)."`
}

// Check returns what is wrong with the endpoint.
func (f Flags) Check() error {
	if f.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(f.Endpoint)
	if err != nil {
		return fmt.Errorf("--otlp.endpoint: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("--otlp.endpoint: %q; expected http://HOST:PORT or https://HOST:PORT", u.Redacted())
	}
	if u.User != nil {
		return errors.New("--otlp.endpoint: it has a user or a password; expected them in OTEL_EXPORTER_OTLP_HEADERS, which is not in logs")
	}
	return nil
}

// Signal is what is sent.
type Signal string

// The signals.
const (
	Metrics Signal = "metrics"
	Traces  Signal = "traces" // spans of instances
)

// Counts counts the exports of a process. It is safe for concurrent use.
type Counts struct {
	mu   sync.Mutex
	sent map[Signal]sent
	lost uint64 // spans
}

// sent is what became of the exports of one signal.
type sent struct {
	accepted, failed uint64
	failing          bool  // the last one failed
	last             int64 // when one was accepted, in seconds since the Unix epoch; 0 if none was
}

// Sent records the end of an export. It reports whether exports begin to fail, or to succeed
// again, so that a log has one line of each.
func (c *Counts) Sent(s Signal, err error, now time.Time) (turned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := c.sent[s]
	turned = is.failing != (err != nil)
	is.failing = err != nil
	if err != nil {
		is.failed++
	} else {
		is.accepted++
		is.last = now.Unix()
	}
	if c.sent == nil {
		c.sent = make(map[Signal]sent)
	}
	c.sent[s] = is
	return turned
}

// Lost records spans that were not kept, or not accepted.
func (c *Counts) Lost(spans uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost += spans
}

// counted is a copy of what was counted.
type counted struct {
	sent map[Signal]sent
	lost uint64
}

func (c *Counts) read() counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return counted{maps.Clone(c.sent), c.lost}
}

// Collector returns the metrics of exports; nil has descriptions and no series.
func Collector(c *Counts) *selfmetrics.Collector {
	return selfmetrics.Of([]selfmetrics.Family[counted]{
		{Name: "pnagent_otlp_exports_total", Labels: []string{"signal", "result"},
			Help: "Exports to --otlp.endpoint, of metrics or traces (spans of instances): accepted, or failed after all attempts. Absent without --otlp.endpoint.",
			Read: func(of counted, emit selfmetrics.Emit) {
				for signal, s := range of.sent {
					emit(float64(s.accepted), string(signal), "accepted")
					emit(float64(s.failed), string(signal), "failed")
				}
			}},
		{Name: "pnagent_otlp_last_export_timestamp_seconds", Labels: []string{"signal"},
			Help: "When the receiver at --otlp.endpoint last accepted an export, in seconds since the Unix epoch. Absent before the first.",
			Read: func(of counted, emit selfmetrics.Emit) {
				for signal, s := range of.sent {
					if s.last != 0 {
						emit(float64(s.last), string(signal))
					}
				}
			}},
		{Name: "pnagent_otlp_spans_lost_total",
			Help: "Spans of instances that were not sent to --otlp.endpoint, because too many ended between two exports, or because an export failed. Absent before the first export of spans.",
			Read: func(of counted, emit selfmetrics.Emit) {
				if _, is := of.sent[Traces]; is || of.lost > 0 {
					emit(float64(of.lost))
				}
			}},
	}, c, (*Counts).read)
}
