// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// pollFlags are what all adapters have that poll an engine.
type pollFlags struct {
	NATS     natsFlags     `embed:"" group:"NATS"`
	Source   string        `help:"Name of this source, unique among all publishers; keep it over restarts. Default: the host's name and the adapter's."`
	Interval time.Duration `default:"5s" help:"Time between two polls of the engine, and two snapshots."`
	Timeout  time.Duration `default:"30s" help:"How long a poll may take."`
	State    string        `type:"path" placeholder:"FILE" help:"File that keeps what was counted, so that after a restart no firing is lost or counted twice."`
	Web      ownWebFlags   `embed:""`
}

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
