// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config is where an Uplink publishes, and as whom.
type Config struct {
	Conn     *nats.Conn         // of the root; not closed by the Uplink
	Subjects telemetry.Subjects // of the root
	Source   string             // unique among those that publish to the root
	Share    collector.Share    // of the collector; the zero Share is all
	Interval time.Duration      // between two snapshots of a net; 0 is telemetry.DefaultInterval

	// Dir is the directory of the state's file, which is made if there is none.
	// "" keeps no state: each process counts anew.
	Dir string
	// FromZero counts, where there is no state, also what sources had counted
	// before they were first heard: right where nobody counted them for this
	// root before.
	FromZero bool

	Log *slog.Logger
}

// closeTimeout is how long the last words to the root may take.
const closeTimeout = 5 * time.Second

// askTimeout is how long the sources of a collector may take to answer what the
// root was asked.
const askTimeout = 2 * time.Second

// Uplink publishes the View of one collector as sources of another.
type Uplink struct {
	cfg   Config
	path  string // of the state's file; "" without one
	state State  // of this process; Counted is that of the last one
	kept  chan kept
	below *collector.Collector

	nets map[string]*uplinkNet // of the goroutine of Run

	mu   sync.Mutex
	live []*telemetry.Publisher

	saves, saveFailures, saveBytes atomic.Uint64
	failing                        bool // to save: logged already
}

// kept is a View, and what to keep of it.
type kept struct {
	view  *collector.View
	state []byte
}

// Open reads the state of the process before this one. A state that cannot be
// read is logged and not used.
func Open(cfg Config, now int64) (*Uplink, error) {
	if err := telemetry.CheckName(cfg.Source); err != nil {
		return nil, fmt.Errorf("uplink as source %q: %w", cfg.Source, err)
	}
	u := &Uplink{cfg: cfg, kept: make(chan kept, 1), nets: make(map[string]*uplinkNet)}
	old := &State{}
	if cfg.Dir != "" {
		if err := os.MkdirAll(cfg.Dir, 0o750); err != nil {
			return nil, fmt.Errorf("directory of the uplink's state: %w", err)
		}
		u.path = filepath.Join(cfg.Dir, telemetry.Escape(cfg.Source)+".state")
		read, err := readState(u.path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			cfg.Log.Error("the uplink's state is not used: what was counted before counts on at the root, and counters begin anew here", "file", u.path, "err", err)
			old.Before = now
		default:
			old = read
		}
	}
	u.state = u.begin(old, now)
	return u, nil
}

// begin returns the state of a process that begins now after one that left old.
// Its fence is in seconds, which faces have room for, and higher than that of
// any process before, also of one whose state is lost.
func (u *Uplink) begin(old *State, now int64) State {
	s := State{Source: u.cfg.Source, Up: u.cfg.Subjects.Prefix(), Share: u.cfg.Share.String(), Since: now, Before: now,
		Epoch: max(now, old.Epoch+1), Fence: max(uint64(now/1e6), old.Fence+1)}
	switch {
	case old.Since == 0 && old.Before == 0 && u.cfg.FromZero:
		s.Before = 0
	case old.Source != s.Source || old.Up != s.Up:
		u.cfg.Log.Info("counters begin anew; what runs already counts from where it is first heard", "source", s.Source)
	case old.Share != s.Share:
		u.cfg.Log.Info("counters go on; what comes into the share counts from where it is first heard",
			"source", s.Source, "from", old.Share, "to", s.Share)
		s.Since, s.Counted = old.Since, old.Counted
	default:
		u.cfg.Log.Info("counters go on", "source", s.Source, "since", time.UnixMicro(old.Since))
		s.Since, s.Before, s.Counted = old.Since, old.Before, old.Counted
	}
	return s
}

// Collect has a collector go on where the process before stopped, and tell the
// Uplink what it counts.
func (u *Uplink) Collect(cfg *collector.Config) {
	cfg.State, cfg.Keep, cfg.Rules.CountedBefore = u.state.Counted, u.keep, u.state.Before
}

// keep takes a View over for Run, in place of the one before if Run has not
// come to that.
func (u *Uplink) keep(view *collector.View, state []byte) {
	select {
	case <-u.kept:
	default:
	}
	u.kept <- kept{view, state}
}

// Run publishes what a collector keeps until the context ends, and says bye.
func (u *Uplink) Run(ctx context.Context, below *collector.Collector) error {
	u.below = below
	for {
		select {
		case k := <-u.kept:
			u.save(k.state)
			u.show(k.view)
		case <-ctx.Done():
			return u.close(context.WithoutCancel(ctx))
		}
	}
}

// save writes the state. Where that fails there is none rather than an old one:
// the next process must not begin below what the root has heard.
func (u *Uplink) save(counted []byte) {
	if u.path == "" {
		return
	}
	s := u.state
	s.Counted = counted
	text, err := s.appendTo(nil)
	if err == nil {
		err = write(u.path, text)
	}
	if err == nil {
		u.saves.Add(1)
		u.saveBytes.Store(uint64(len(text)))
		u.failing = false
		return
	}
	u.saveFailures.Add(1)
	err = errors.Join(err, os.Remove(u.path))
	if !u.failing {
		u.cfg.Log.Error("keep the uplink's state; after a restart counters would begin anew", "file", u.path, "err", err)
	}
	u.failing = true
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
	net.Region, net.Fence, net.Since = "up/"+u.cfg.Source, u.state.Fence, u.state.Since
	p, err := telemetry.Start(telemetry.Config{
		Conn: u.cfg.Conn, Subjects: u.cfg.Subjects, Source: u.cfg.Source, Interval: u.cfg.Interval, Log: u.cfg.Log,
		Nets: []telemetry.Net{net}, LastEpoch: u.state.Epoch - 1,
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
	telemetry.PublisherStats        // of all nets
	Nets                     int    // published
	Saves, SaveFailures      uint64 // of the state
	StateBytes               uint64 // of the state that was saved last
}

// Stats returns what was done so far.
func (u *Uplink) Stats() Stats {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := Stats{Nets: len(u.live), Saves: u.saves.Load(), SaveFailures: u.saveFailures.Load(), StateBytes: u.saveBytes.Load()}
	for _, p := range u.live {
		one := p.Stats()
		s.Messages, s.Bytes = s.Messages+one.Messages, s.Bytes+one.Bytes
		s.Errors, s.Missed = s.Errors+one.Errors, s.Missed+one.Missed
	}
	return s
}
