// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package poll

import (
	"context"
	"log/slog"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/selfmetrics"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// Adapter is an adapter that can run.
type Adapter interface {
	Run(ctx context.Context) error
	Metrics() *selfmetrics.Collector
}

// Poll connects to NATS, and runs the adapter that open returns until ctx ends. name is the
// adapter's on the command line.
func (f *Flags) Poll(ctx context.Context, name string, log *slog.Logger, open func(ledger.Polling) (Adapter, error)) error {
	source, err := cli.SourceName("source", f.Source, "-"+name)
	if err != nil {
		return err
	}
	link, subjects, err := f.NATS.Connect("pnagent attach "+name+" "+source, log, cli.WithoutBuffer())
	if err != nil {
		return err
	}
	defer link.Close()
	a, err := open(ledger.Polling{Conn: link.Conn, Subjects: subjects, Source: source, State: f.State, Interval: f.Interval, Timeout: f.Timeout, Log: log})
	if err != nil {
		return cli.UsageIf(err, ledger.ErrConfig)
	}
	return f.Web.Beside(ctx, log, cli.Registry(a.Metrics(), natsmetrics.Of(link)), a.Run)
}
