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

// Config is what to scrape, and where to say what was found.
type Config struct {
	Conn     *nats.Conn // not closed by Run
	Subjects telemetry.Subjects
	Mapping  *Mapping
	Targets  []Target
	Interval time.Duration // between two scrapes of a target, and two snapshots
	Timeout  time.Duration // of one scrape, at most Interval
	Log      *slog.Logger
	Registry prometheus.Registerer // gets what Run says of itself
}

// Target is one endpoint. Each is a source of its own.
type Target struct {
	URL    string
	Source string
	Client *http.Client
}

// ErrConfig says that a Config cannot be run.
var ErrConfig = errors.New("scrape")

// closing is how long the last words to NATS may take.
const closing = 5 * time.Second

// Run scrapes all targets until ctx ends, and says goodbye for them. The error
// is about the configuration (ErrConfig) or the registry; whatever a target does is in the log and in the
// metrics.
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
			return fmt.Errorf("two targets are the source %q; expected a name for each", t.Source)
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
	good  time.Time // of the last scrape that was read

	publishers map[string]*telemetry.Publisher // by net; of the goroutine
	sizes      map[string][2]int               // of their definitions
	failing    string                          // result of the last scrape, if it was not read
	refused    error                           // why a net was not published, said once
}

// errSilent keeps a source silent while its target is.
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

// scrape scrapes once. A scrape that cannot be read changes nothing but its
// count: the source falls silent, and its rows grow stale with the collector.
func (w *worker) scrape(ctx context.Context) {
	start := time.Now()
	once, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	all, at, err := fetch(once, w.target.Client, w.target.URL)
	if ctx.Err() != nil {
		return
	}
	result := resultOf(err)
	w.meters.scraped(result, time.Since(start))
	if err != nil {
		if result != w.failing {
			w.log.Error("scrape failed", "error", err)
		}
		w.failing = result
		return
	}
	if w.failing != "" {
		w.log.Info("scrape works again")
	}
	w.failing = ""
	w.mu.Lock()
	w.state.apply(all, at.UnixMicro())
	w.good = start
	w.meters.read(w.state, all, at)
	w.mu.Unlock()
	w.publish()
}

// publish starts a publisher for each net that is new, and gives those that
// grew their new definitions.
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
		w.log.Error("a net cannot be published", "error", refused)
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
		Nets: []telemetry.Net{{ID: n.id, PNML: pnml, Places: size[places], Transitions: size[transitions]}},
		Rows: func(_ int, _ int64, into *stats.Rows) error { return w.rows(n, into) },
	})
	if err != nil {
		return err
	}
	w.publishers[n.id], w.sizes[n.id] = p, size
	w.log.Info("net found", "net", n.id, "places", size[places], "transitions", size[transitions])
	return nil
}

// rows gives a publisher the rows of the last scrape, unless that is too long
// ago to be told as news.
func (w *worker) rows(n *netState, into *stats.Rows) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since := time.Since(w.good); since > 2*w.cfg.Interval {
		return fmt.Errorf("%w for %v", errSilent, since.Round(time.Millisecond))
	}
	n.fill(into)
	return nil
}

// close says goodbye: the target may live on, but nobody looks at it.
func (w *worker) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closing)
	defer cancel()
	for net, p := range w.publishers {
		if err := p.Close(ctx); err != nil {
			w.log.Warn("last snapshot", "net", net, "error", err)
		}
	}
}
