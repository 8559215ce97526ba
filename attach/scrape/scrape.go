// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config configures Run.
type Config struct {
	Conn     *nats.Conn // not closed by Run
	Subjects telemetry.Subjects
	Mapping  *Mapping
	Targets  []Target
	Interval time.Duration // between two scrapes of a target, and two snapshots
	Timeout  time.Duration // of one scrape, at most Interval
	Log      *slog.Logger
	Registry prometheus.Registerer // gets the metrics of Run
}

// Target is one endpoint. Each is a source of its own.
type Target struct {
	URL    string
	Source string
	Client *http.Client
}

// ErrConfig is wrapped by errors about a Config.
var ErrConfig = errors.New("scrape")

// closing bounds the time for the last snapshots.
const closing = 5 * time.Second

// Run scrapes all targets until ctx ends, and then publishes the last message
// of each source. The error is about the configuration (ErrConfig) or the
// registry; failures of a target are in the log and in the metrics.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	meters, err := newMeters(cfg.Registry)
	if err != nil {
		return fmt.Errorf("scrape: %w", err)
	}
	var all sync.WaitGroup
	for _, t := range cfg.Targets {
		w := &worker{cfg: &cfg, target: t, state: newState(cfg.Mapping), publishers: map[string]*telemetry.Publisher{}, sizes: map[string][2]int{},
			meters: meters.of(t.Source), log: cfg.Log.With("source", t.Source)}
		all.Go(func() { w.run(ctx) })
	}
	all.Wait()
	return nil
}

func (c *Config) check() error {
	seen := map[string]bool{}
	for _, t := range c.Targets {
		if err := telemetry.CheckName(t.Source); err != nil {
			return fmt.Errorf("source of %s: %w", t.URL, err)
		}
		if seen[t.Source] {
			return fmt.Errorf("two targets have the source %q; expected a name for each", t.Source)
		}
		seen[t.Source] = true
	}
	switch {
	case len(c.Targets) == 0:
		return errors.New("no target to scrape")
	case c.Interval < 100*time.Millisecond || c.Interval > telemetry.MaxInterval:
		return fmt.Errorf("interval of %v; expected 100ms to %v", c.Interval, telemetry.MaxInterval)
	case c.Timeout <= 0 || c.Timeout > c.Interval:
		return fmt.Errorf("timeout of %v; expected at most the interval of %v", c.Timeout, c.Interval)
	}
	return nil
}

// worker scrapes one target. Its state is shared with the goroutines of its
// publishers, which read rows.
type worker struct {
	cfg    *Config
	target Target
	meters meters
	log    *slog.Logger

	mu    sync.Mutex
	state *state
	good  time.Time // of the last successful scrape
	lacks error     // why the last answer could not be used; nil if it could

	publishers map[string]*telemetry.Publisher // by net; of the goroutine
	sizes      map[string][2]int               // of their definitions
	failing    string                          // result of the last scrape if it failed
	refused    error                           // why a net was not published; logged once
}

// errSilent is the reason why a source publishes nothing.
var errSilent = errors.New("no scrape that could be read")

func (w *worker) run(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Interval)
	defer tick.Stop()
	for {
		w.scrape(ctx)
		select {
		case <-ctx.Done():
			w.close(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
	}
}

// scrape scrapes once. A failed scrape changes only its count: the source
// publishes nothing, and is stale in the collector.
func (w *worker) scrape(ctx context.Context) {
	start := time.Now()
	once, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	all, at, err := fetch(once, w.target.Client, w.target.URL)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = w.apply(all, at)
	}
	result := resultOf(err)
	w.meters.scraped(result, time.Since(start))
	if err != nil {
		if result != w.failing {
			w.log.Error("scrape failed", "err", err)
		}
		w.failing = result
		return
	}
	if w.failing != "" {
		w.log.Info("scrape works again")
	}
	w.failing = ""
	w.publish()
}

// apply adds a scrape to the state. An error wraps errUnmapped or errIncomplete. The state
// is then not what the target has, so nothing is published until a scrape that is whole.
func (w *worker) apply(all families, at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state.apply(all, at.UnixMicro())
	w.lacks = w.state.whole(all)
	w.meters.read(w.state, all, at, w.lacks == nil)
	if w.lacks == nil {
		w.good = time.Now()
	}
	return w.lacks
}

// publish starts a publisher for each new net, and redefines those that grew.
func (w *worker) publish() {
	var refused error
	for _, n := range w.state.nets {
		size := [2]int{len(n.rows[places]), len(n.rows[transitions])}
		if w.publishers[n.id] != nil && w.sizes[n.id] == size || size == [2]int{} {
			continue
		}
		if err := w.define(n, size); err != nil {
			refused = err
			w.meters.refused.Inc()
		}
	}
	if refused != nil && w.refused == nil {
		w.log.Error("a net cannot be published", "err", refused)
	}
	w.refused = refused
}

func (w *worker) define(n *netState, size [2]int) error {
	pnml, err := n.definition()
	if err != nil {
		return err
	}
	if p := w.publishers[n.id]; p != nil {
		if err := p.Redefine(0, size[places], size[transitions], pnml); err != nil {
			return err
		}
		w.sizes[n.id] = size
		return nil
	}
	p, err := telemetry.Start(telemetry.Config{
		Conn: w.cfg.Conn, Subjects: w.cfg.Subjects, Source: w.target.Source, Interval: w.cfg.Interval, Log: w.cfg.Log,
		Tool: "the program that has the metrics",
		Nets: []telemetry.SourceNet{{ID: n.id, PNML: pnml, Places: size[places], Transitions: size[transitions]}},
		Rows: func(_ int, _ int64, into *stats.Rows) error { return w.rows(n, into) },
	})
	if err != nil {
		return err
	}
	w.publishers[n.id], w.sizes[n.id] = p, size
	w.log.Info("net found", "net", n.id, "places", size[places], "transitions", size[transitions])
	return nil
}

// rows fills in the rows of the last scrape, unless it is older than two intervals.
func (w *worker) rows(n *netState, into *stats.Rows) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lacks != nil {
		return w.lacks
	}
	if since := time.Since(w.good); since > 2*w.cfg.Interval {
		return fmt.Errorf("%w for %v", errSilent, since.Round(time.Millisecond))
	}
	n.fill(into)
	return nil
}

// close publishes the last message of each source.
func (w *worker) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	for net, p := range w.publishers {
		if err := p.Close(ctx); err != nil {
			w.log.Warn("publish last snapshot", "net", net, "err", err)
		}
	}
}
