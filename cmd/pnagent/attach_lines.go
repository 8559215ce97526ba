// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/lines"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// Run attaches until ctx ends, or the inputs if that is asked for.
func (c *attachLinesCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	cfg, err := c.config(s, log)
	if err != nil {
		return err
	}
	source, err := sourceName("source", c.Source, "-lines")
	if err != nil {
		return err
	}
	a, err := lines.New(cfg)
	if err != nil {
		return err
	}
	var link *natslink.Link // nil without NATS
	var nc *nats.Conn
	var subjects telemetry.Subjects
	if c.NATS.URL != "" {
		if link, subjects, err = c.NATS.connect("pnagent attach lines "+source, log, withoutBuffer); err != nil {
			return err
		}
		defer link.Close()
		nc = link.Conn
	}
	in, err := c.inputs(a, nc, s, log)
	if err != nil {
		return err
	}
	return c.attach(ctx, a, in, link, func() (*telemetry.Publisher, error) {
		if nc == nil {
			return nil, nil
		}
		return a.Publish(telemetry.Config{Conn: nc, Subjects: subjects, Source: source, Interval: c.Interval, Log: log,
			Tool: "the program that writes the log"})
	}, s, log)
}

// attach runs the inputs and the tasks beside them.
func (c *attachLinesCmd) attach(ctx context.Context, a *lines.Attachment, in inputs, link *natslink.Link, publish func() (*telemetry.Publisher, error), s streams, log *slog.Logger) error {
	publisher, err := publish()
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var beside sync.WaitGroup
	failed := make(chan error, 2)
	beside.Go(func() { failed <- a.Run(running, c.Interval) })
	if c.Web.Listen != "" {
		shown := registryOf(lines.Metrics(a, publisher, in.lost()), natsmetrics.Of(link))
		beside.Go(func() {
			if err := c.Web.serve(running, cancel, log, shown); err != nil {
				failed <- err
			}
		})
	}
	log.Info("attached", "nets", len(a.Nets()), "inputs", len(in))
	notify(log, notifyReady)
	introduced := time.Now().Add(introduction)
	err = in.run(running)
	if err == nil && ctx.Err() == nil {
		log.Info("the inputs have ended")
		if nothing := a.Replayed(); nothing != nil && !c.Exit {
			log.Error("the inputs have ended", "err", nothing)
		}
		c.stay(running, introduced, publisher != nil)
	}
	cancel()
	notify(log, notifyStopping)
	beside.Wait()
	a.Flush()
	a.Save()
	err = errors.Join(err, drain(failed))
	if publisher != nil {
		last, done := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer done()
		err = errors.Join(err, publisher.Close(last))
	}
	if c.Exit {
		if err == nil {
			err = a.Replayed()
		}
		err = errors.Join(err, json.NewEncoder(s.out).Encode(a.Summary()))
	}
	return err
}

// introduction is the least time for which a source answers: a collector that receives the
// first snapshot of a net requests its definition.
const introduction = time.Second

// stay waits after the end of the inputs: until ctx ends or, with --exit, for an introduction.
func (c *attachLinesCmd) stay(ctx context.Context, introduced time.Time, published bool) {
	if !c.Exit {
		<-ctx.Done()
		return
	}
	if !published {
		return
	}
	select {
	case <-time.After(time.Until(introduced)):
	case <-ctx.Done():
	}
}

func drain(failed chan error) (err error) {
	for {
		select {
		case e := <-failed:
			err = errors.Join(err, e)
		default:
			return err
		}
	}
}

func (c *attachLinesCmd) config(s streams, log *slog.Logger) (lines.Config, error) {
	cfg := lines.Config{
		Net: c.Net, Pattern: c.Pattern, Window: c.Window, Held: c.Held, EndsByEvent: c.Told || len(c.XES)+len(c.OCEL) > 0, Instances: c.Instances,
		Search: c.Search, AsNow: c.AsNow, State: c.State, Late: c.HTTP != "" || c.UDP != "" || c.Subject != "" || c.From == "end" && len(c.Follow) > 0, Log: log, Fields: lines.Fields(c.Fields),
		Times: lines.Times{Layout: c.Layout, Unit: map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}[c.Unit]},
	}
	var err error
	for flag, d := range map[string]time.Duration{"interval": c.Interval, "poll": c.Poll} {
		if d < time.Millisecond {
			return cfg, usageError{fmt.Errorf("--%s: %v; expected a millisecond or more", flag, d)}
		}
	}
	if len(c.OCEL) > 0 && c.Object == "" {
		return cfg, usageError{errors.New("--ocel needs --ocel.type, the type of the objects that are instances of the net")}
	}
	if cfg.Times.Zone, err = time.LoadLocation(c.Zone); err != nil {
		return cfg, usageError{fmt.Errorf("--time.zone: %w", err)}
	}
	if c.Speed != "max" {
		if cfg.Speed, err = strconv.ParseFloat(c.Speed, 64); err != nil || !(cfg.Speed > 0 && cfg.Speed <= 1e6) {
			return cfg, usageError{fmt.Errorf("--speed: %q; expected max, or a number above 0 and up to a million", c.Speed)}
		}
	}
	if cfg.Nets, err = compileNets(c.Files, s, c.Limit, log); err != nil {
		return cfg, err
	}
	if c.Table != "" {
		cfg.Table, err = readFile(c.Table, "the table", lines.ReadTable)
	}
	return cfg, err
}
