// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// poller is an adapter that can run.
type poller struct {
	run     func(ctx context.Context) error
	metrics prometheus.Collector
}

// poll connects to NATS, and runs what open returns until ctx ends. adapter is the
// adapter's name on the command line.
func (f *pollFlags) poll(ctx context.Context, adapter string, log *slog.Logger,
	open func(conn *nats.Conn, subjects telemetry.Subjects, source string) (poller, error)) error {
	source, err := sourceName("source", f.Source, "-"+adapter)
	if err != nil {
		return err
	}
	link, subjects, err := f.NATS.connect("pnagent attach "+adapter+" "+source, log, withoutBuffer)
	if err != nil {
		return err
	}
	defer link.Close()
	p, err := open(link.Conn, subjects, source)
	if err != nil {
		return err
	}
	return f.Web.beside(ctx, log, registryOf(p.metrics, natsmetrics.Of(link)), p.run)
}
