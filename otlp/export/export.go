// SPDX-License-Identifier: Apache-2.0

// Package export sends by the OpenTelemetry protocol, with OpenTelemetry's own exporters: the
// metrics of a sidecar, and instances of an engine as traces. What failed is counted in otlp.Counts,
// and logged when it begins and ends. Alarm events are of package notify.
package export

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"

	"github.com/pnagent/pnagent/otlp"
)

// scope is the instrumentation scope of everything that is sent.
const scope = "github.com/pnagent/pnagent"

// lastWithin bounds the last export of a process that ends.
const lastWithin = 5 * time.Second

// Config is the configuration of an Exporter.
type Config struct {
	Flags    otlp.Flags
	Instance string       // service.instance.id: of the processes of one service, which this is
	Version  string       // service.version
	Counts   *otlp.Counts // counts exports
	Log      *slog.Logger
}

// Exporter sends to one receiver.
type Exporter struct {
	cfg      Config
	resource *resource.Resource
}

// New returns an Exporter. The variables of OpenTelemetry's own override what it says of the
// process. It connects at the first export.
func New(ctx context.Context, cfg Config) (*Exporter, error) {
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(semconv.ServiceName("pnagent"), semconv.ServiceVersion(cfg.Version), semconv.ServiceInstanceID(cfg.Instance)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Exporter{cfg: cfg, resource: about}, nil
}

// address returns where a signal is sent. By HTTP each signal has a path below the endpoint.
func (e *Exporter) address(signal otlp.Signal) (string, error) {
	if e.cfg.Flags.Protocol == "grpc" {
		return e.cfg.Flags.Endpoint, nil
	}
	return url.JoinPath(e.cfg.Flags.Endpoint, "v1", string(signal))
}

// metrics returns OpenTelemetry's exporter of metrics.
func (e *Exporter) metrics(ctx context.Context) (metric.Exporter, error) {
	to, err := e.address(otlp.Metrics)
	if err != nil {
		return nil, err
	}
	if e.cfg.Flags.Protocol == "grpc" {
		return otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpointURL(to))
	}
	return otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(to))
}

// traces returns OpenTelemetry's exporter of spans.
func (e *Exporter) traces(ctx context.Context) (sdktrace.SpanExporter, error) {
	to, err := e.address(otlp.Traces)
	if err != nil {
		return nil, err
	}
	if e.cfg.Flags.Protocol == "grpc" {
		return otlptrace.New(ctx, otlptracegrpc.NewClient(otlptracegrpc.WithEndpointURL(to)))
	}
	return otlptrace.New(ctx, otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(to)))
}

// sent counts an export, and logs it where exports begin to fail or work again.
func (e *Exporter) sent(signal otlp.Signal, err error) {
	turned := e.cfg.Counts.Sent(signal, err, time.Now())
	switch {
	case turned && err != nil:
		e.cfg.Log.Warn("the receiver of OpenTelemetry takes nothing", "signal", signal, "endpoint", e.cfg.Flags.Endpoint, "err", err)
	case turned:
		e.cfg.Log.Info("the receiver of OpenTelemetry takes it again", "signal", signal, "endpoint", e.cfg.Flags.Endpoint)
	}
}
