// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"log/slog"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/otlp"
	"github.com/pnagent/pnagent/otlp/export"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/sidecar"
)

// send sends the metrics of a sidecar until ctx ends.
func (f *metricFlags) send(ctx context.Context, side *sidecar.Sidecar, counts *otlp.Counts, log *slog.Logger) error {
	to, err := exporter(ctx, f.Flags, side.WebAddress(), counts, log)
	if err != nil {
		return err
	}
	return to.Metrics(ctx, side.Gatherer(), f.Interval)
}

// send sends what the instances of an engine do until ctx ends.
func (f *spanFlags) send(ctx context.Context, e *engine.Engine, cfg engine.Config, counts *otlp.Counts, log *slog.Logger) error {
	to, err := exporter(ctx, f.Flags, cfg.Source, counts, log)
	if err != nil {
		return err
	}
	var nets []*petri.Net
	for _, n := range cfg.Nets {
		nets = append(nets, n.Tables.Net)
	}
	return to.Traces(ctx, export.Followed{Nets: nets, Name: e.InstanceName, Stays: e.Stays})
}

// exporter returns what sends to the receiver of the flags. instance is the name of this process.
func exporter(ctx context.Context, f otlp.Flags, instance string, counts *otlp.Counts, log *slog.Logger) (*export.Exporter, error) {
	return export.New(ctx, export.Config{Flags: f, Instance: instance, Version: cli.VersionOf().Version, Counts: counts, Log: log})
}
