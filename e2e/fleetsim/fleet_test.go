// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// enough is far more than any step takes.
const enough = 3 * time.Minute

// above is the subject space of the root.
func above(t *testing.T) telemetry.Subjects {
	t.Helper()
	s, err := telemetry.NewSubjects("petrinet.root")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	nc, err := nats.Connect(url, nats.Timeout(enough), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); <-closed })
	return nc
}

// listen runs a collector, with an uplink to the root for one of a share.
func listen(t *testing.T, url string, cfg collector.Config) *collector.Collector {
	t.Helper()
	cfg.Conn, cfg.Log, cfg.PNML, cfg.Interval = connect(t, url), slog.New(slog.DiscardHandler), pnml.DefaultLimits(), 100*time.Millisecond
	c, err := collector.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var up *uplink.Uplink
	if now := time.Now().UnixMicro(); cfg.Share.Count > 0 {
		up, err = uplink.New(uplink.Config{Conn: cfg.Conn, Subjects: above(t), Source: fmt.Sprint("below-", cfg.Share.Index),
			Interval: cfg.Interval, Since: now, Epoch: now, Fence: uint64(now / 1e6), Log: cfg.Log}, c)
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	if up != nil {
		running.Go(func() {
			if err := up.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	return c
}

// shown returns what the API would serve.
func shown(t *testing.T, c *collector.Collector) (v view, now time.Time) {
	t.Helper()
	var text bytes.Buffer
	now = time.Now()
	if err := api.Encode(&text, web.ViewDocument(c.View(), nil, now.UnixMicro())); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	return v, now
}

// until waits until a check has no faults.
func until(t *testing.T, what string, check func() []string) {
	t.Helper()
	deadline := time.After(enough)
	for {
		faults := check()
		if len(faults) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("waiting until %s: %.4000s", what, strings.Join(faults, "\n"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// sameRows compares every bucket, slot and token, but not the time of the last
// event. On a busy machine all messages of a source may be more than a quarter of a
// second late; then a collector corrects the times of that source, as if its clock
// were off. It undoes that for tokens once messages arrive in time, but not for a
// process that has ended meanwhile.
func sameRows(flat, root *stats.Rows) (faults []string) {
	for i := range flat.Places {
		a, b := flat.Places[i], root.Places[i]
		a.LastInjection, b.LastInjection, a.Slowest.At, b.Slowest.At = 0, 0, 0, 0
		if !a.Equal(&b) {
			faults = append(faults, cmp.Diff(a, b))
		}
	}
	for i := range flat.Transitions {
		a, b := flat.Transitions[i], root.Transitions[i]
		a.LastFiring, b.LastFiring, a.Slowest.At, b.Slowest.At = 0, 0, 0, 0
		if !a.Equal(&b) {
			faults = append(faults, cmp.Diff(a, b))
		}
	}
	return faults
}

// One collector and a tree receive from a small fleet, of which many sources
// restart or become silent. Both show the truth, and the same in every bucket.
//
//promise:faces stop messages
//promise:counters stop messages
func TestFlatAndTreeShowTheTruthOfTheFleet(t *testing.T) {
	t.Parallel()
	ns, err := startNATS(t.TempDir(), 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	url := ns.ClientURL()
	f, err := newFleet(fleetConfig{sources: 50, interval: 100 * time.Millisecond, churn: 0.02, seed: 1}, url, time.Now().UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	// Collectors have the nets from the start, as sidecars with files: they lose part
	// of the last snapshots of a process that ends before its definition arrives.
	nets := []*petri.Net{line(), pulse()}
	flat, root := listen(t, url, collector.Config{Nets: nets}), listen(t, url, collector.Config{Subjects: above(t), Nets: nets})
	all := []*collector.Collector{flat, root}
	for i := range 4 {
		all = append(all, listen(t, url, collector.Config{Nets: nets, Share: merge.Share{Index: i + 1, Count: 4}}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := f.awaitCollectors(ctx, 5); err != nil { // the flat one and the four below
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait(); f.close() })

	until(t, "every source has published thirty times, some after a restart or a silence", func() []string {
		if f.counts.messages.Load() < 30*50 || f.counts.restarts.Load() == 0 || f.counts.silences.Load() == 0 {
			return []string{fmt.Sprint(f.counts.messages.Load(), " messages")}
		}
		return nil
	})
	want, err := f.stop(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want.sources != 50 || want.active == 0 || want.finished == 0 {
		t.Errorf("%d sources, %d instances active, %d finished", want.sources, want.active, want.finished)
	}
	for what, c := range map[string]*collector.Collector{"flat": flat, "root": root} {
		until(t, what+" shows the truth", func() []string {
			v, now := shown(t, c)
			return want.differs(v.orders(), now)
		})
	}
	until(t, "flat and root show the same", func() []string {
		a, _ := shown(t, flat)
		b, _ := shown(t, root)
		return same(a.orders(), b.orders())
	})
	until(t, "flat and root have the same rows", func() []string {
		return sameRows(flat.View().Net(fleetNet).Rows, root.View().Net(fleetNet).Rows)
	})
	for i, c := range all {
		traffic := c.View().Traffic
		for reason, n := range traffic.Rejected {
			if n+traffic.Lost > 0 {
				t.Errorf("collector %d: %d rejected as %s, %d lost", i, n, reason, traffic.Lost)
			}
		}
	}
}

// Hundreds of sources start at once, and publish far more than a collector with little room for
// what waits can process. It drops nothing, and shows the truth.
//
//promise:bounds load
func TestAStartAtOnceLosesNothing(t *testing.T) {
	t.Parallel()
	ns, err := startNATS(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	sources := 400
	if kit.UnderRace {
		sources = 100
	}
	f, err := newFleet(fleetConfig{sources: sources, interval: 10 * time.Millisecond, churn: 0.001, seed: 1}, ns.ClientURL(), time.Now().UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	// Room for two full messages of each source, and for those between.
	c := listen(t, ns.ClientURL(), collector.Config{Nets: []*petri.Net{line()}, Rules: merge.Rules{Limits: merge.Limits{WaitingBytes: sources << 15}}})
	ctx, cancel := context.WithCancel(t.Context())
	if err := f.awaitCollectors(ctx, 1); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait(); f.close() })
	until(t, "it asks for rarer messages, unless it could process them all, and all sources are shown", func() []string {
		v := c.View()
		if v.Pace == 0 && f.counts.messages.Load() < uint64(1000*sources) || v.Net(fleetNet).Up != sources {
			return []string{fmt.Sprint(v.Pace, v.Net(fleetNet).Up)}
		}
		return nil
	})
	want, err := f.stop(ctx)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "it shows the truth", func() []string {
		v, now := shown(t, c)
		return want.differs(v.orders(), now)
	})
	v := c.View()
	for _, s := range v.Sources {
		if s.Gaps+s.Duplicates > 0 {
			t.Errorf("%s has %d gaps and %d duplicates", s.Name, s.Gaps, s.Duplicates)
		}
	}
	for reason, n := range v.Traffic.Rejected {
		if n+v.Traffic.Lost > 0 {
			t.Errorf("%d messages are rejected as %s, %d are lost", n, reason, v.Traffic.Lost)
		}
	}
}
