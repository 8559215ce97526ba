// SPDX-License-Identifier: Apache-2.0

package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pnagent/pnagent/otlp"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// spansEvery is how often spans are sent, and batch how many at most at once: as OpenTelemetry's
// own processor does.
const (
	spansEvery = 5 * time.Second
	batch      = 512
)

// Followed is an engine whose instances are followed.
type Followed struct {
	Nets  []*petri.Net
	Name  func(instance int) string
	Stays func(ctx context.Context, net int, to []stats.Stay) (_ []stats.Stay, lost uint64, err error) // engine.Engine.Stays
}

// Traces sends what instances did as spans until ctx ends, and the rest then: a run of an instance
// is a trace, and each time that a token waited in a place, or a transition worked, a span in it.
// Places and transitions by which pnagent only keeps books have none.
// The span of the run itself is sent when it ends.
func (e *Exporter) Traces(ctx context.Context, of Followed) error {
	to, err := e.traces(ctx)
	if err != nil {
		return err
	}
	due := time.NewTicker(spansEvery)
	defer due.Stop()
	for {
		select {
		case <-due.C:
			if err := e.sendStays(ctx, to, of); err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWithin)
			defer cancel()
			if err := e.sendStays(ctx, to, of); err != nil {
				return err
			}
			return to.Shutdown(ctx)
		}
	}
}

// sendStays sends the stays of all nets since the last call. What is not accepted is lost.
func (e *Exporter) sendStays(ctx context.Context, to sdktrace.SpanExporter, of Followed) error {
	for k, net := range of.Nets {
		stays, lost, err := of.Stays(ctx, k, nil)
		e.cfg.Counts.Lost(lost)
		if err != nil {
			return err
		}
		stays = slices.DeleteFunc(stays, func(s stats.Stay) bool {
			return s.Kind == stats.StayInPlace && net.Places[s.Node].Role != petri.RoleWork || s.Kind == stats.StayWork && net.Transitions[s.Node].Role != petri.RoleWork
		})
		for some := range slices.Chunk(stays, batch) {
			spans := make(tracetest.SpanStubs, len(some))
			for i, s := range some {
				spans[i] = e.span(net, of.Name(s.Instance), s)
			}
			err := to.ExportSpans(ctx, spans.Snapshots())
			if err != nil {
				e.cfg.Counts.Lost(uint64(len(some)))
			}
			e.sent(otlp.Traces, err)
		}
	}
	return nil
}

// span returns the span of a stay.
func (e *Exporter) span(net *petri.Net, instance string, s stats.Stay) tracetest.SpanStub {
	run := runOf(net.ID, instance, s.Begun)
	span := tracetest.SpanStub{
		SpanContext: run, SpanKind: trace.SpanKindInternal,
		StartTime: time.UnixMicro(s.From), EndTime: time.UnixMicro(s.To),
		Attributes: []attribute.KeyValue{attribute.String("petrinet.net", net.ID), attribute.String("petrinet.instance", instance)},
		Resource:   e.resource, InstrumentationScope: instrumentation.Scope{Name: scope},
	}
	switch s.Kind {
	case stats.StayInPlace:
		p := &net.Places[s.Node]
		span.Name = "wait: " + p.Label()
		span.Attributes = append(span.Attributes, attribute.String("petrinet.place", p.ID))
	case stats.StayWork:
		t := &net.Transitions[s.Node]
		span.Name = "work: " + t.Label()
		span.Attributes = append(span.Attributes, attribute.String("petrinet.transition", t.ID))
	case stats.StayFailed:
		span.Name = cmp.Or(net.Name, net.ID)
		span.Status = sdktrace.Status{Code: codes.Error, Description: "a firing failed permanently"}
		return span
	default:
		span.Name = cmp.Or(net.Name, net.ID)
		return span
	}
	span.Parent = run
	var id trace.SpanID
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1) // 0 is no id
	span.SpanContext = run.WithSpanID(id)
	return span
}

// runOf returns the trace of a run of an instance, and the span of the whole of it. They follow from
// what names the run, so spans can be sent before that of the whole.
func runOf(net, instance string, begun int64) trace.SpanContext {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", net, instance, begun))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]), TraceFlags: trace.FlagsSampled})
}
