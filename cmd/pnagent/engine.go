// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"time"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/internal/memlimit"
	"github.com/pnagent/pnagent/otlp"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

type engineCmd struct {
	NATS      cli.NATS         `embed:"" group:"NATS"`
	Source    string           `help:"Name of this process among all that publish. Default: host name and process id."`
	Instances int              `default:"1" help:"Instances of each net."`
	Spare     int              `default:"0" help:"How many of the instances, the last ones, do not begin by themselves, in a process that a message, a signal or a timer also begins. They are free for those."`
	Workers   int              `default:"0" help:"Number of goroutines that play the instances; 0 for one a processor. Nets that throw or catch messages or signals, or begin by timers, have one."`
	Bindings  string           `type:"path" help:"YAML file of bindings, which defines how transitions fire. Without it all fire at once."`
	Interval  time.Duration    `default:"1s" help:"Time between two snapshots."`
	Seed      *uint64          `help:"Seed of the random choice between enabled transitions, and of random delays. Without it transitions take turns, and delays differ from run to run."`
	Journal   string           `placeholder:"DIR|jetstream" help:"Keep what the engine does in this directory, and continue from there; or in JetStream, where several processes run parts of a net and take over from each other. Without it instances end with the process."`
	Sync      journal.SyncMode `name:"journal.sync" default:"interval" help:"When the journal in a directory is safe from a power loss: always (before anything is answered or published), interval (100 ms later) or none. A process that is killed loses nothing in any mode."`
	Firings   int              `default:"0" help:"Stop after this number of firings and print the final marking; 0 for no end."`
	Dispatch  string           `default:"turn" enum:"turn,fifo,strict,quoted,dedicated" help:"Which ready instance a worker plays next: turn (one net after another, nothing counted, fastest), fifo (first come, first served), strict (the highest priority first), quoted (from p7 down, a fixed number of each), dedicated (a worker for each priority). Priorities are in the bindings."`
	Quotes    []uint32         `name:"dispatch.quotes" default:"4" help:"For --dispatch=quoted: visits to ready instances of each priority before the next lower, one number for all or eight, p0 first."`
	Actions   int              `default:"1024" help:"Maximum number of actions that run at once. Others wait; the wait counts in their time limits."`
	ShowData  []string         `name:"show-data" placeholder:"FIELD" help:"Names of fields of tokens' data to publish in answers to requests about instances, at most 16 and each once, so that people find the instance of an order by its number. They may be about persons. Default: none."`
	Audit     string           `name:"audit-log" type:"path" placeholder:"FILE" help:"Append each request from NATS to inject, fire, send a message or a signal to this file, as a line of JSON: when, by whom (as the request claims), what, and its result. It is on disk before the request is answered. Only the owner may read the file; it can be renamed at any time, to begin another one."`
	Inject    injectFlags      `embed:"" prefix:"inject."`
	Trace     bool             `help:"Play one instance in the cursor mode, flow by flow, and print each step as CSV: step,edge,threads,pointer,parent,who,when. --firings bounds the steps."`
	Files     []string         `arg:"" name:"net" help:"Net files: PNML, BPMN, Tina's .net or LoLA; and DMN files with the decisions that they call; - is standard input."`
	Web       cli.Web          `embed:""`
	Parts     partFlags        `embed:"" group:"Parts"`
	OTLP      spanFlags        `embed:"" prefix:"otlp." group:"OpenTelemetry"`
	Limit     cli.Limits       `embed:""`

	bindings *engine.Bindings
	spans    *otlp.Counts // nil without --otlp.endpoint
}

// injectFlags bound what requests may inject.
type injectFlags struct {
	Tokens uint32 `default:"10000" help:"Maximum number of tokens that one request injects."`
	Place  uint32 `default:"1000000" help:"Maximum number of tokens in a place of an instance after an injection. The initial marking and firings may put more."`
}

// Run runs the engine until ctx ends or the firings are done, and prints one
// JSON line of what it did, or a trace.
func (c *engineCmd) Run(ctx context.Context, s streams, args cli.Arguments, log *slog.Logger) error {
	if c.OTLP.Endpoint != "" {
		if err := cli.NeedsFull("--otlp.endpoint", args); err != nil {
			return err
		}
	}
	if err := c.checkNumbers(); err != nil {
		return cli.Usage(err)
	}
	if c.Trace {
		return c.trace(s, log)
	}
	if c.Web.Listen != "" && c.Journal == inJetStream {
		return cli.Usage(errors.New("--web.listen-address with --journal=jetstream; expected a whole engine, because parts of a net deliver no events"))
	}
	if c.OTLP.Endpoint != "" && c.Journal == inJetStream {
		return cli.Usage(errors.New("--otlp.endpoint with --journal=jetstream; expected a whole engine, because parts of a net send no spans"))
	}
	if err := c.checkParts(); err != nil {
		return cli.Usage(err)
	}
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	tables, err := cli.CompileNets(c.Files, s.in, c.Limit, log)
	if err != nil {
		return err
	}
	link, subjects, err := c.connect(cfg.Source, log)
	if err != nil {
		return err
	}
	var nc *nats.Conn
	if link != nil {
		defer link.Close()
		nc = link.Conn
	}
	if cfg.Nets, err = c.bind(tables, nc, log); err != nil {
		return err
	}
	if c.Journal == inJetStream {
		return c.runParts(ctx, cfg, nc, subjects, s, log)
	}
	if c.Journal == "" {
		return c.run(ctx, cfg, link, subjects, s, log)
	}
	f, err := c.openJournal(log)
	if err != nil {
		return err
	}
	cfg.Journal = f
	return errors.Join(c.run(ctx, cfg, link, subjects, s, log), f.Close())
}

// connect returns the connection to NATS; nil where none is asked for.
func (c *engineCmd) connect(source string, log *slog.Logger) (*natslink.Link, telemetry.Subjects, error) {
	if c.NATS.URL == "" {
		return nil, telemetry.Subjects{}, nil
	}
	return c.NATS.Connect("pnagent engine "+source, log, cli.WithoutBuffer())
}

// run plays all instances of the nets in this process. link is nil without NATS.
func (c *engineCmd) run(ctx context.Context, cfg engine.Config, link *natslink.Link, subjects telemetry.Subjects, s streams, log *slog.Logger) error {
	e, err := engine.New(cfg)
	if err != nil {
		return cli.UsageIf(err, engine.ErrConfig)
	}
	end := func(context.Context) error { return nil }
	if link != nil {
		leave, err := engine.Serve(e, link.Conn, subjects, c.Interval, log)
		if err != nil {
			return err
		}
		end = func(ctx context.Context) error {
			if err := leave(ctx); err != nil {
				return fmt.Errorf("the last snapshots may not have been published: %w", c.NATS.Unreachable(link, err))
			}
			return nil
		}
	}
	log.Info("engine runs", "source", cfg.Source, "nets", len(cfg.Nets), "instances", cfg.Instances, "workers", e.Workers())
	memlimit.Trim()
	failed := c.Web.Beside(ctx, log, cli.Registry(e.Metrics(), otlp.Collector(c.spans)), func(ctx context.Context) error { return c.play(ctx, e, cfg, log) })
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cli.CloseTimeout)
	defer cancel()
	return errors.Join(failed, end(last), printReport(last, s, e))
}

// play runs the engine. If instances are followed, what they did is sent until it ends.
func (c *engineCmd) play(ctx context.Context, e *engine.Engine, cfg engine.Config, log *slog.Logger) error {
	if c.spans == nil {
		return e.Run(ctx)
	}
	following, stop := context.WithCancel(ctx)
	g, following := errgroup.WithContext(following)
	g.Go(func() error { return c.OTLP.send(following, e, cfg, c.spans, log) })
	err := e.Run(ctx)
	stop()
	return errors.Join(err, g.Wait())
}

// openJournal opens the journal and says what was lost of it.
func (c *engineCmd) openJournal(log *slog.Logger) (*journal.File, error) {
	f, warnings, err := journal.Open(kong.ExpandPath(c.Journal), journal.Options{Mode: c.Sync})
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

// checkNumbers refuses flags that are too small.
func (c *engineCmd) checkNumbers() error {
	return errors.Join(atLeast(1, "instances", c.Instances), atLeast(0, "spare", c.Spare), atLeast(0, "workers", c.Workers), atLeast(0, "firings", c.Firings), atLeast(0, "actions", c.Actions))
}

// atLeast refuses a flag whose number is less than least.
func atLeast(least int, flag string, n int) error {
	if n >= least {
		return nil
	}
	return fmt.Errorf("--%s: %d %s; expected %d or more", flag, n, flag, least)
}

func (c *engineCmd) config(log *slog.Logger) (engine.Config, error) {
	cfg := engine.Config{Instances: c.Instances, Spare: c.Spare, Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), Firings: c.Firings, Actions: c.Actions, Log: log, ShowData: c.ShowData, InjectTokens: c.Inject.Tokens, InjectPlace: c.Inject.Place, ThreadTimer: true}
	var err error
	if cfg.Source, err = c.sourceName(); err != nil {
		return cfg, err
	}
	if cfg.Dispatch, err = c.dispatch(); err != nil {
		return cfg, cli.Usage(err)
	}
	if c.Audit != "" {
		kept, err := act.OpenLog(kong.ExpandPath(c.Audit))
		if err != nil {
			return cfg, err
		}
		cfg.Audit = kept.Append
	}
	if c.OTLP.Endpoint != "" {
		if err := c.OTLP.check(); err != nil {
			return cfg, cli.Usage(err)
		}
		cfg.Follow = c.OTLP.follows
		c.spans = new(otlp.Counts)
	}
	cfg.Seed = uint64(time.Now().UnixNano())
	if c.Seed != nil {
		cfg.Seed, cfg.Shuffle = *c.Seed, true
	}
	return cfg, nil
}

func (c *engineCmd) sourceName() (string, error) {
	return cli.SourceName("source", c.Source, fmt.Sprintf("-%d", os.Getpid()))
}

// dispatch returns what says which ready instance is next; nil for in turn.
func (c *engineCmd) dispatch() (*engine.Dispatch, error) {
	if c.Dispatch == "turn" {
		return nil, nil
	}
	d := &engine.Dispatch{Policy: map[string]ready.Policy{"fifo": ready.PolicyFIFO, "strict": ready.PolicyStrict,
		"quoted": ready.PolicyQuoted, "dedicated": ready.PolicyDedicated}[c.Dispatch]}
	switch len(c.Quotes) {
	case 1:
		for p := range d.Quotes {
			d.Quotes[p] = c.Quotes[0]
		}
	case ready.Priorities:
		copy(d.Quotes[:], c.Quotes)
	default:
		return nil, fmt.Errorf("--dispatch.quotes: %d numbers; expected one for all priorities or %d, p0 first", len(c.Quotes), ready.Priorities)
	}
	if _, err := ready.Quoted(d.Quotes); err != nil {
		return nil, fmt.Errorf("--dispatch.quotes: %w", err)
	}
	return d, nil
}

// bind joins each net with its part of the bindings file.
func (c *engineCmd) bind(tables []*petri.Tables, nc *nats.Conn, log *slog.Logger) ([]engine.NetConfig, error) {
	with := action.Peers{NATS: nc, HTTP: transport(c.Actions)}
	if c.Bindings != "" {
		var err error
		if c.bindings, err = cli.ReadFile(c.Bindings, "bindings", engine.ReadBindings); err != nil {
			_, more := bindAll(tables, c.bindings, with) // the other faults of the file
			return nil, errors.Join(err, more)
		}
		for _, unused := range c.bindings.Unused(cli.NetsOf(tables)) {
			log.Warn("bindings not used", "fault", unused)
		}
	}
	return bindAll(tables, c.bindings, with)
}

// transport returns the transport of HTTP actions. It keeps as many connections to a
// server as there are actions at once, for any number of servers. A limit on all
// connections could close one with an unread answer, so that a completed action would
// fail.
func transport(actions int) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, max(actions, 1)
	return t
}

func bindAll(tables []*petri.Tables, b *engine.Bindings, with action.Peers) ([]engine.NetConfig, error) {
	var nets []engine.NetConfig
	var errs []error
	for _, t := range tables {
		n, err := b.Bind(t, with)
		errs = append(errs, err)
		nets = append(nets, n)
	}
	return nets, errors.Join(errs...)
}
