// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/journal"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

type engineCmd struct {
	NATS      natsFlags        `embed:"" group:"NATS"`
	Source    string           `help:"Name of this process among all that publish. Default: host name and process id."`
	Instances int              `default:"1" help:"Instances of each net."`
	Workers   int              `default:"0" help:"Goroutines that play them; 0 for one a processor."`
	Bindings  string           `type:"path" help:"YAML file that says how transitions fire. Without it all fire at once."`
	Interval  time.Duration    `default:"1s" help:"Time between two snapshots."`
	Seed      *uint64          `help:"Choose at random between enabled transitions, and draw delays, from this seed. Without it transitions take turns and delays differ from run to run."`
	Journal   string           `type:"path" placeholder:"DIR" help:"Keep what the engine does in this directory, and go on from there. Without it instances end with the process."`
	Sync      journal.SyncMode `name:"journal.sync" default:"interval" help:"When the journal is safe from a power loss: always (before anything is answered or published), interval (100 ms later) or none. A process that is killed loses nothing in any mode."`
	Firings   int              `default:"0" help:"Stop after so many firings and print the final marking; 0 for no end."`
	Files     []string         `arg:"" name:"net" help:"PNML files; - is standard input."`
	Limit     limitFlags       `embed:""`
}

// withoutBuffer drops what is published while there is no connection: the next
// snapshot makes up for it.
var withoutBuffer = nats.ReconnectBufSize(-1)

// closeTimeout is how long the last words to NATS may take.
const closeTimeout = 5 * time.Second

// Run runs the engine until ctx ends or the firings are done, and prints one
// JSON line of what it did.
func (c *engineCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	cfg, err := c.config(s, log)
	if err != nil {
		return err
	}
	if c.Journal == "" {
		return c.run(ctx, cfg, s, log)
	}
	f, err := c.openJournal(log)
	if err != nil {
		return err
	}
	cfg.Journal = f
	return errors.Join(c.run(ctx, cfg, s, log), f.Close())
}

func (c *engineCmd) run(ctx context.Context, cfg engine.Config, s streams, log *slog.Logger) error {
	e, err := engine.New(cfg)
	if errors.Is(err, engine.ErrConfig) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	end := func(context.Context) error { return nil }
	if c.NATS.URL != "" {
		nc, subjects, err := c.NATS.connect("pnagent engine "+cfg.Source, log, withoutBuffer)
		if err != nil {
			return err
		}
		defer nc.Close()
		if end, err = engine.Serve(e, nc, subjects, c.Interval, log); err != nil {
			return err
		}
	}
	log.Info("engine runs", "source", cfg.Source, "nets", len(cfg.Nets), "instances", cfg.Instances, "workers", cfg.Workers)
	notify(log, notifyReady)
	failed := e.Run(ctx)
	notify(log, notifyStopping)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return errors.Join(failed, end(last), printReport(last, s, e))
}

// openJournal opens the journal and says what was lost of it.
func (c *engineCmd) openJournal(log *slog.Logger) (*journal.File, error) {
	f, warnings, err := journal.Open(c.Journal, journal.Options{Mode: c.Sync})
	if err != nil {
		return nil, fmt.Errorf("opening the journal %s: %w", c.Journal, err)
	}
	for _, w := range warnings {
		log.Warn("journal", "warning", w.String())
	}
	log.Info("journal opened", "directory", c.Journal, "commits", f.Last(), "sync", c.Sync.String())
	return f, nil
}

func printReport(ctx context.Context, s streams, e *engine.Engine) error {
	r, err := e.Report(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(s.out).Encode(r)
}

func (c *engineCmd) config(s streams, log *slog.Logger) (engine.Config, error) {
	tables, err := compileNets(c.Files, s, c.Limit.limits())
	if err != nil {
		return engine.Config{}, err
	}
	nets, err := c.bind(tables, log)
	if err != nil {
		return engine.Config{}, err
	}
	cfg := engine.Config{Source: c.Source, Nets: nets, Instances: c.Instances, Workers: c.Workers, Firings: c.Firings}
	if cfg.Workers == 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	if cfg.Source == "" {
		host, err := os.Hostname()
		if err != nil {
			return cfg, fmt.Errorf("naming this source after its host: %w", err)
		}
		cfg.Source = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if err := telemetry.CheckName(cfg.Source); err != nil {
		return cfg, usageError{fmt.Errorf("--source: %w", err)}
	}
	cfg.Seed = uint64(time.Now().UnixNano())
	if c.Seed != nil {
		cfg.Seed, cfg.Shuffle = *c.Seed, true
	}
	return cfg, nil
}

// bind joins each net with its part of the bindings file.
func (c *engineCmd) bind(tables []*petri.Tables, log *slog.Logger) ([]engine.Net, error) {
	var b *engine.Bindings
	if c.Bindings != "" {
		f, err := os.Open(c.Bindings)
		if err != nil {
			return nil, fmt.Errorf("reading bindings: %w", err)
		}
		defer f.Close()
		if b, err = engine.ReadBindings(f, c.Bindings); err != nil {
			return nil, err
		}
		for _, unused := range b.Unused(netsOf(tables)) {
			log.Warn("bindings not used", "fault", unused)
		}
	}
	return bindAll(tables, b)
}

func bindAll(tables []*petri.Tables, b *engine.Bindings) ([]engine.Net, error) {
	var nets []engine.Net
	var errs []error
	for _, t := range tables {
		modes, err := b.Modes(t)
		errs = append(errs, err)
		n := engine.Net{Tables: t, Transitions: make([]engine.Transition, len(modes))}
		for i, m := range modes {
			n.Transitions[i].Mode = m
		}
		nets = append(nets, n)
	}
	return nets, errors.Join(errs...)
}
