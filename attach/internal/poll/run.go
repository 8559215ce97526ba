// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package poll

import (
	"context"
	"io"
	"log/slog"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/selfmetrics"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// Adapter is an adapter that can run.
type Adapter interface {
	Run(ctx context.Context) error
	Look(ctx context.Context, most int) ([]ledger.Standing, error)
	Metrics() *selfmetrics.Collector
}

// Run connects to NATS, and runs the adapter that open returns until ctx ends. With --once it looks
// instead, without NATS. name is the adapter's on the command line.
func Run[A Adapter](ctx context.Context, f *Flags, name string, out io.Writer, log *slog.Logger, open func(ledger.Polling) (A, error)) error {
	p := ledger.Polling{Source: "once", State: f.State, Interval: f.Interval, Timeout: f.Timeout, Log: log}
	if f.Once {
		a, err := open(p)
		if err != nil {
			return cli.UsageIf(err, ledger.ErrConfig)
		}
		return look(ctx, a, f.JSON, out)
	}
	var err error
	p.Source, err = cli.SourceName("source", f.Source, "-"+name)
	if err != nil {
		return err
	}
	link, subjects, err := f.NATS.Connect("pnagent attach "+name+" "+p.Source, log, cli.WithoutBuffer())
	if err != nil {
		return err
	}
	defer link.Close()
	p.Conn, p.Subjects = link.Conn, subjects
	a, err := open(p)
	if err != nil {
		return cli.UsageIf(err, ledger.ErrConfig)
	}
	return f.Web.Beside(ctx, log, cli.Registry(a.Metrics(), natsmetrics.Of(link)), a.Run)
}
