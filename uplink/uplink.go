// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config is where an Uplink publishes, and as what.
type Config struct {
	Conn     *nats.Conn         // of the root; not closed by the Uplink
	Subjects telemetry.Subjects // of the root
	Source   string             // unique among those that publish to the root
	Interval time.Duration      // between two snapshots of a net; 0 is telemetry.DefaultInterval

	Since int64  // when the counters of the collector began, microseconds since the Unix epoch
	Epoch int64  // later than that of the process before
	Fence uint64 // higher than that of the process before

	Log *slog.Logger
}

const (
	// closeTimeout is how long the last words to the root may take.
	closeTimeout = 5 * time.Second
	// askTimeout is how long the sources of a collector may take to answer what
	// the root was asked.
	askTimeout = 2 * time.Second
	// lookEvery is how often Run looks for a new View.
	lookEvery = 50 * time.Millisecond
)

// Uplink publishes the View of one collector as sources of another.
type Uplink struct {
	cfg   Config
	below *collector.Collector

	nets map[string]*uplinkNet // of the goroutine of Run

	mu   sync.Mutex
	live []*telemetry.Publisher
}

// New returns the Uplink of a collector.
func New(cfg Config, below *collector.Collector) (*Uplink, error) {
	if err := telemetry.CheckName(cfg.Source); err != nil {
		return nil, fmt.Errorf("uplink as source %q: %w", cfg.Source, err)
	}
	return &Uplink{cfg: cfg, below: below, nets: make(map[string]*uplinkNet)}, nil
}

// Run publishes what the collector shows until the context ends, and says bye.
func (u *Uplink) Run(ctx context.Context) error {
	tick := time.NewTicker(min(lookEvery, cmp.Or(u.cfg.Interval, lookEvery)))
	defer tick.Stop()
	var shown *collector.View
	for {
		if view := u.below.View(); view != shown {
			shown = view
			u.show(view)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return u.close(context.WithoutCancel(ctx))
		}
	}
}

// show publishes the nets of a View of which anything is known.
func (u *Uplink) show(view *collector.View) {
	for _, n := range view.Nets {
		if n.Rows.Columns == 0 {
			continue
		}
		up := u.nets[n.Name]
		if up == nil {
			up = &uplinkNet{name: n.Name}
			u.nets[n.Name] = up
		}
		if err := up.show(u, view, n); err != nil {
			if up.said != err.Error() {
				u.cfg.Log.Error("publish to the collector above", "net", n.Name, "err", err)
			}
			up.said = err.Error()
		}
	}
}

// uplinkNet is one net that is published.
type uplinkNet struct {
	name      string
	publisher *telemetry.Publisher // nil before the first success
	def       *petri.Net           // the definition that was published last
	said      string               // what was logged last

	mu         sync.Mutex
	view, last *collector.View // last is the one before view: of the definition before, if that grew
}

// show makes a View the one that is published.
func (n *uplinkNet) show(u *Uplink, view *collector.View, shown *collector.Net) error {
	n.mu.Lock()
	n.last, n.view = n.view, view
	n.mu.Unlock()
	if n.def == shown.Def {
		return nil
	}
	published, err := shown.Published()
	if err != nil {
		return err
	}
	if n.publisher != nil {
		err = n.publisher.Redefine(0, published.Places, published.Transitions, published.PNML)
	} else {
		n.publisher, err = u.start(n, published)
	}
	if err == nil {
		n.def = shown.Def
	}
	return err
}

// start starts to publish a net.
func (u *Uplink) start(n *uplinkNet, net telemetry.Net) (*telemetry.Publisher, error) {
	net.Region, net.Fence, net.Since = "up/"+u.cfg.Source, u.cfg.Fence, u.cfg.Since
	p, err := telemetry.Start(telemetry.Config{
		Conn: u.cfg.Conn, Subjects: u.cfg.Subjects, Source: u.cfg.Source, Interval: u.cfg.Interval, Log: u.cfg.Log,
		Nets: []telemetry.Net{net}, LastEpoch: u.cfg.Epoch - 1,
		Rows: func(_ int, _ int64, into *stats.Rows) error { return n.fill(into) },
		Oldest: func(_, place, limit int) ([]stats.Token, error) {
			ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
			defer cancel()
			return u.below.Oldest(ctx, n.name, place, limit)
		},
		Instance: func(_ int, name string) (*telemetry.Instance, error) {
			ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
			defer cancel()
			return u.below.Instance(ctx, n.name, name)
		},
	})
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.live = append(u.live, p)
	u.mu.Unlock()
	return p, nil
}

// fill fills in the sums of the net. While the definition that is published
// grows they are those from before.
func (n *uplinkNet) fill(into *stats.Rows) error {
	n.mu.Lock()
	view, last := n.view, n.last
	n.mu.Unlock()
	err := view.FillRows(n.name, into)
	if errors.Is(err, collector.ErrOtherSize) && last != nil {
		return last.FillRows(n.name, into)
	}
	return err
}

// close says bye for all nets.
func (u *Uplink) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	u.mu.Lock()
	live := u.live
	u.mu.Unlock()
	for _, p := range live {
		if err := p.Close(ctx); err != nil { // the root takes it for silent instead of gone
			u.cfg.Log.Warn("last words to the collector above", "err", err)
		}
	}
	return nil
}

// Stats is what an Uplink did, cumulative since its start.
type Stats struct {
	telemetry.PublisherStats     // of all nets
	Nets                     int // published
}

// Stats returns what was done so far.
func (u *Uplink) Stats() Stats {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := Stats{Nets: len(u.live)}
	for _, p := range u.live {
		one := p.Stats()
		s.Messages, s.Bytes = s.Messages+one.Messages, s.Bytes+one.Bytes
		s.Errors, s.Missed = s.Errors+one.Errors, s.Missed+one.Missed
	}
	return s
}
