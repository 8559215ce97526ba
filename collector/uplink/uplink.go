// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config configures an Uplink.
type Config struct {
	Conn     *nats.Conn         // of the root; not closed by the Uplink
	Subjects telemetry.Subjects // of the root
	Source   string             // unique among the sources of the root
	Interval time.Duration      // between two snapshots of a net; 0 is telemetry.DefaultInterval

	Since int64  // when the counters of the collector began, microseconds since the Unix epoch
	Epoch int64  // larger than that of the previous process
	Fence uint64 // larger than that of the previous process

	Log *slog.Logger
}

const (
	// closeTimeout is how long the last messages to the root may take.
	closeTimeout = 5 * time.Second
	// askTimeout is how long the sources may take to answer a request of the root.
	askTimeout = 2 * time.Second
)

// Uplink publishes the View of one collector as sources of another.
type Uplink struct {
	cfg   Config
	below *collector.Collector

	nets map[string]*uplinkNet // of the goroutine of Run

	mu    sync.Mutex
	live  []*telemetry.Publisher
	ended Stats // of publishers that were closed because their nets left
}

// CheckSpace refuses the subject space up of the root if a collector that receives the
// space own would receive what its Uplink publishes there.
func CheckSpace(up, own string) error {
	if up == own || strings.HasPrefix(up+".", own+".shared.") {
		return fmt.Errorf("this sidecar receives %s, so it would receive what it publishes; expected another subject space", own)
	}
	return nil
}

// New returns the Uplink of a collector.
func New(cfg Config, below *collector.Collector) (*Uplink, error) {
	if err := telemetry.CheckName(cfg.Source); err != nil {
		return nil, fmt.Errorf("uplink as source %q: %w", cfg.Source, err)
	}
	return &Uplink{cfg: cfg, below: below, nets: make(map[string]*uplinkNet)}, nil
}

// Run publishes the Views of the collector until the context ends, and then closes its sources.
func (u *Uplink) Run(ctx context.Context) error {
	views := u.below.Subscribe()
	for {
		select {
		case view := <-views:
			u.show(view)
		case <-ctx.Done():
			return u.close(context.WithoutCancel(ctx))
		}
	}
}

// show publishes the nets of a View that have a column. A net that is no longer in
// the View is closed: if it returns, its counters begin again.
func (u *Uplink) show(view *merge.View) {
	shown := make(map[string]bool, len(view.Nets))
	for _, n := range view.Nets {
		shown[n.Name] = true
	}
	for name, up := range u.nets {
		if !shown[name] {
			delete(u.nets, name)
			u.end(up)
		}
	}
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
			if up.lastErr != err.Error() {
				u.cfg.Log.Error("cannot publish to the collector above", "net", n.Name, "err", err)
			}
			up.lastErr = err.Error()
		}
	}
}

// uplinkNet is one published net.
type uplinkNet struct {
	name      string
	publisher *telemetry.Publisher // nil before the first success
	def       *petri.Net           // the last published definition
	lastErr   string

	mu         sync.Mutex
	view, last *merge.View // last is the previous View, which may have the previous definition

	filled *merge.View // whose rows are published; of the publisher's goroutine
}

// show publishes a View.
func (n *uplinkNet) show(u *Uplink, view *merge.View, shown *merge.NetView) error {
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
func (u *Uplink) start(n *uplinkNet, net telemetry.SourceNet) (*telemetry.Publisher, error) {
	net.Region, net.Fence, net.Since = merge.BelowRegion+u.cfg.Source, u.cfg.Fence, u.cfg.Since
	p, err := telemetry.Start(telemetry.Config{
		Conn: u.cfg.Conn, Subjects: u.cfg.Subjects, Source: u.cfg.Source, Interval: u.cfg.Interval, Log: u.cfg.Log,
		Nets: []telemetry.SourceNet{net}, LastEpoch: u.cfg.Epoch - 1,
		Rows:     func(_ int, _ int64, into *stats.Rows) error { return n.fill(into) },
		Refused:  func(int) *stats.RefusedRequests { return n.refused() },
		Remnants: func(_, room int) *telemetry.Remnants { return n.filled.Remnants(n.name, room) },
		Oldest: func(_, place int, q *stats.Query) (stats.Found, error) {
			ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
			defer cancel()
			return u.below.Oldest(ctx, n.name, place, q)
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

// fill fills in the sums of the net. If the new definition is not published yet, it takes
// them from the previous View.
func (n *uplinkNet) fill(into *stats.Rows) error {
	n.mu.Lock()
	view, last := n.view, n.last
	n.mu.Unlock()
	err := view.FillRows(n.name, into)
	if errors.Is(err, merge.ErrOtherSize) && last != nil {
		view, err = last, last.FillRows(n.name, into)
	}
	n.filled = view
	return err
}

// refused returns the requests that sources of the net refused. Those of this process
// are counted since its start, as those of any source.
func (n *uplinkNet) refused() *stats.RefusedRequests {
	n.mu.Lock()
	defer n.mu.Unlock()
	if shown := n.view.Net(n.name); shown != nil {
		return shown.Requests
	}
	return nil
}

// end closes the source of a net.
func (u *Uplink) end(n *uplinkNet) {
	if n.publisher == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := n.publisher.Close(ctx); err != nil {
		u.cfg.Log.Warn("cannot send the last message to the collector above", "net", n.name, "err", err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.live = slices.DeleteFunc(u.live, func(p *telemetry.Publisher) bool { return p == n.publisher })
	u.ended.add(n.publisher.Stats())
}

// close closes the sources of all nets.
func (u *Uplink) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	u.mu.Lock()
	live := u.live
	u.mu.Unlock()
	for _, p := range live {
		if err := p.Close(ctx); err != nil { // the root shows the source as stale, and not as gone
			u.cfg.Log.Warn("cannot send the last message to the collector above", "err", err)
		}
	}
	return nil
}

// Stats counts the work of an Uplink.
type Stats struct {
	telemetry.PublisherStats     // of all nets
	Nets                     int // published
}

// Stats returns the statistics. It is safe for concurrent use.
func (u *Uplink) Stats() Stats {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.ended
	s.Nets = len(u.live)
	for _, p := range u.live {
		s.add(p.Stats())
	}
	return s
}

// add adds the statistics of one publisher.
func (s *Stats) add(one telemetry.PublisherStats) {
	s.Messages, s.Bytes = s.Messages+one.Messages, s.Bytes+one.Bytes
	s.Errors, s.Missed = s.Errors+one.Errors, s.Missed+one.Missed
}
