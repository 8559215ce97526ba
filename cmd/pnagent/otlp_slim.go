// SPDX-License-Identifier: Apache-2.0

//go:build slim

package main

import (
	"context"
	"log/slog"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/otlp"
	"github.com/pnagent/pnagent/sidecar"
)

// Neither is called: cli.NeedsFull has run pnagent-full.

func (*metricFlags) send(context.Context, *sidecar.Sidecar, *otlp.Counts, *slog.Logger) error {
	return nil
}

func (*spanFlags) send(context.Context, *engine.Engine, engine.Config, *otlp.Counts, *slog.Logger) error {
	return nil
}
