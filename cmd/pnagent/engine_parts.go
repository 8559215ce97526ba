// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal/stream"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// inJetStream is the --journal that is no directory.
const inJetStream = "jetstream"

// partFlags say which parts of its nets a process plays with others.
type partFlags struct {
	Region     []string `placeholder:"NAME" help:"With --journal=jetstream: play this region of the nets; may be given several times. Default: all that the bindings name."`
	Partitions int      `default:"0" help:"With --journal=jetstream: divide the instances into this number of partitions over all processes with the same flag. Partitions move when a process starts or ends. 0 for none."`
	Standbys   int      `default:"1" help:"Processes that follow each partition besides its owner, ready to take over."`
	Replicas   int      `name:"journal.replicas" default:"1" help:"Servers that keep each log in JetStream: 1, 3 or 5."`
	Again      bool     `name:"journal.again" help:"Accept that the logs of parts have lost commits. A part continues with what its log or newest snapshot holds, or with its initial marking if there is neither. If the log of another region has lost commits with tokens for this one, it is read again from the last common commit: tokens may then arrive twice. Without this flag the part stops."`
	Group      int      `name:"journal.group" default:"0" help:"Maximum number of firings of one commit of a part; 0 for all between two readings of the clock."`
}

// check refuses flags that do not go together.
func (c *engineCmd) checkParts() error {
	p := &c.Parts
	switch {
	case c.Journal != inJetStream && (len(p.Region) > 0 || p.Partitions != 0):
		return errors.New("--region and --partitions need --journal=jetstream")
	case c.Journal != inJetStream:
		return nil
	case c.NATS.URL == "":
		return errors.New("--journal=jetstream needs --nats")
	case len(p.Region) > 0 && p.Partitions != 0:
		return errors.New("--region and --partitions together; expected one of them")
	case p.Partitions < 0 || p.Partitions > region.MaxPartitions:
		return fmt.Errorf("--partitions: %d; expected 1 to %d, or 0 for none", p.Partitions, region.MaxPartitions)
	case p.Standbys < 0 || p.Group < 0:
		return fmt.Errorf("--standbys: %d, --journal.group: %d; expected 0 or more", p.Standbys, p.Group)
	case c.Dispatch != "turn":
		return fmt.Errorf("--dispatch=%s with --journal=jetstream; a part plays its instances in turn", c.Dispatch)
	}
	return nil
}

// runParts plays parts of the nets, with other processes, until ctx ends or the
// firings are done.
func (c *engineCmd) runParts(ctx context.Context, cfg engine.Config, nc *nats.Conn, subjects telemetry.Subjects, s streams, log *slog.Logger) error {
	var members []*region.Member
	for _, n := range cfg.Nets {
		parts, err := c.parts(n.Tables)
		if err != nil {
			return err
		}
		one := cfg
		one.Nets = []engine.NetConfig{n}
		rc := region.Config{Conn: nc, Subjects: subjects, Engine: one, Parts: parts, Balance: c.Parts.Partitions > 0, Again: c.Parts.Again,
			Interval: c.Interval, Log: log.With("net", n.Tables.Net.ID), Open: c.opener(nc, subjects, n.Tables.Net.ID, log)}
		if rc.Balance {
			rc.Standbys = c.Parts.Standbys
		}
		m, err := region.New(rc)
		if err != nil {
			return cli.Usage(err)
		}
		members = append(members, m)
	}
	log.Info("engine runs", "source", cfg.Source, "nets", len(cfg.Nets), "instances", cfg.Instances, "journal", inJetStream)
	cli.Notify(log, cli.Ready)
	errs := make([]error, len(members))
	playing, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	for i, m := range members {
		running.Go(func() {
			if errs[i] = m.Run(playing); errs[i] != nil {
				stop() // an error in one net stops all
			}
		})
	}
	running.Wait()
	cli.Notify(log, cli.Stopping)
	out := json.NewEncoder(s.out)
	for _, m := range members {
		for _, r := range m.Reports() {
			errs = append(errs, out.Encode(r))
		}
	}
	return errors.Join(errs...)
}

// opener opens the logs of a net's parts.
func (c *engineCmd) opener(nc *nats.Conn, subjects telemetry.Subjects, net string, log *slog.Logger) func(context.Context, string, bool, func() uint64) (region.Log, error) {
	servers := &stream.Servers{}
	return func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
		l, err := stream.Open(ctx, stream.Config{Conn: nc, Name: subjects.Prefix() + "/" + net + "/" + part, Replicas: c.Parts.Replicas, Existing: !create, Keep: keep,
			Servers: servers, Log: log})
		switch {
		case errors.Is(err, stream.ErrSettings):
			return nil, fmt.Errorf("%w: %w", region.ErrUnusable, err)
		case err != nil:
			return nil, err
		}
		return l, nil
	}
}

// parts returns what this process plays of a net.
func (c *engineCmd) parts(t *petri.Tables) ([]region.Part, error) {
	if c.Parts.Partitions > 0 {
		return c.grouped(region.Partitions(c.Instances, c.Parts.Partitions)), nil
	}
	plan, err := c.bindings.Split(t)
	if err != nil {
		return nil, err
	}
	all := c.grouped(region.Regions(t, plan))
	if len(c.Parts.Region) == 0 {
		return all, nil
	}
	var mine []region.Part
	for _, name := range c.Parts.Region {
		i := slices.IndexFunc(all, func(p region.Part) bool { return p.Name == name })
		if i < 0 {
			return nil, cli.Usage(fmt.Errorf("--region: net %q has no region %q; expected one of %s", t.Net.ID, name, regionNames(all)))
		}
		mine = append(mine, all[i])
	}
	return mine, nil
}

// grouped has the parts write as many firings into a commit as the flags say.
func (c *engineCmd) grouped(parts []region.Part) []region.Part {
	for i := range parts {
		parts[i].Group = c.Parts.Group
	}
	return parts
}

func regionNames(parts []region.Part) string {
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = fmt.Sprintf("%q", parts[i].Name)
	}
	return strings.Join(names, ", ")
}
