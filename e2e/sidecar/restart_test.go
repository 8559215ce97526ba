// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/telemetry"
)

// increase() equals the firings, also over a kill -9 of the sidecar: counters continue if
// they are kept, and otherwise begin at 0. An engine that ended before the kill still
// counts. A sidecar that has no state of it shows a slightly lower counter, which
// increase() would read as a reset and count completely.
func TestIncreaseOverARestartOfTheSidecarIsWhatWasFired(t *testing.T) {
	t.Parallel()
	const before, between, after = 5000, 3, 6
	for name, c := range map[string]struct {
		flags    []string
		end      float64 // what is shown in the end
		increase float64
		resets   float64
	}{
		"kept":     {nil, before + between + after, between + after, 0},
		"not kept": {[]string{"--state-dir", ""}, after, after, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			natsURL, dir, addr := kit.StartNATS(t), t.TempDir(), porttest.Addr(t)
			start := func() *kit.Sidecar {
				return kit.ServeAsIs(t, natsURL, append([]string{"--mib-dir", dir, "--web.listen-address", addr}, c.flags...)...)
			}
			side, nc := start(), kit.Connect(t, natsURL)
			shown := func(n uint64) {
				t.Helper()
				kit.Until(t, "all is shown", func() error {
					if got := side.View(t).Numbers().Firings[kit.Key{Net: "claims", ID: "take"}]; got != n {
						return fmt.Errorf("%d, want %d", got, n)
					}
					return nil
				})
			}
			ended := kit.RunEngine(t, natsURL, "munich", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
			shown(40)
			ended.Stop(t, syscall.SIGTERM)
			kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
			fire := func(n int) {
				kit.Request(t, nc, "inject", "claims", "berlin", fmt.Sprintf(`{"instance":0,"place":"inbox","tokens":%d}`, n))
			}
			kit.Until(t, "the engine is received", func() error {
				if side.View(t).Source("claims", "berlin") != "up" {
					return fmt.Errorf("not yet")
				}
				return nil
			})
			fire(before - 80) // each of the two has taken 40 from the start
			shown(before)
			prom := kit.StartPrometheus(t, side.Web)
			hasScraped(t, prom, before)

			side.Kill(t)
			fire(between)
			side = start()
			kit.Until(t, "the engine is received", func() error {
				if v := side.View(t); v.Source("claims", "berlin") != "up" || v.Generation < 4 {
					return fmt.Errorf("not yet")
				}
				return nil
			})
			fire(after)
			hasScraped(t, prom, c.end)
			at := time.Now()
			samples := prom.Samples(t, takes+"[10m]", at)
			increase, resets := increaseOf(samples)
			if increase != c.increase || resets != c.resets {
				t.Errorf("the increase is %v with %v resets; want %v with %v: %v", increase, resets, c.increase, c.resets, samples)
			}
			if got := prom.NumberAt(t, "resets("+takes+"[10m])", at); got != c.resets {
				t.Errorf("resets() is %v, want %v", got, c.resets)
			}
			// Of what is before the first sample and after the last one, increase() adds at
			// most 1.1 times the mean interval of the samples each.
			most := c.increase * (1 + 2.2/float64(len(samples)-1))
			if got := prom.NumberAt(t, "increase("+takes+"[10m])", at); got < c.increase || got > most {
				t.Errorf("increase() is %v, want %v to %v of %d samples", got, c.increase, most, len(samples))
			}
		})
	}
}

// increaseOf is by how much a counter grew over its samples. One that falls begins at 0.
func increaseOf(samples []float64) (increase, resets float64) {
	for i := 1; i < len(samples); i++ {
		last, now := samples[i-1], samples[i]
		if now < last {
			last, resets = 0, resets+1
		}
		increase += now - last
	}
	return increase, resets
}

// A sidecar that starts after the engines, for the first time, shows all that they
// did; without a directory nothing says that it is the first time.
func TestTheFirstStartShowsWhatRunningEnginesDidBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags   []string
		firings uint64
	}{
		"in an empty directory": {nil, 40},
		"without a directory":   {[]string{"--state-dir", ""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			natsURL := kit.StartNATS(t)
			kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
			sub, err := kit.Connect(t, natsURL).SubscribeSync(telemetry.Subjects{}.Snapshot("claims", "berlin"))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // so that the sidecar misses its first one
				if _, err := sub.NextMsg(kit.Patience); err != nil {
					t.Fatal(err)
				}
			}
			side := kit.ServeAsIs(t, natsURL, append([]string{"--mib-dir", t.TempDir()}, c.flags...)...)
			kit.Until(t, "the engine is received", func() error {
				if side.View(t).Source("claims", "berlin") != "up" {
					return fmt.Errorf("not yet")
				}
				return nil
			})
			if n := side.View(t).Numbers().Firings[kit.Key{Net: "claims", ID: "take"}]; n != c.firings {
				t.Errorf("%d firings, want %d", n, c.firings)
			}
		})
	}
}

func TestOneSidecarHasAStateDirectory(t *testing.T) {
	t.Parallel()
	natsURL, dir := kit.StartNATS(t), t.TempDir()
	kit.Serve(t, natsURL, "--mib-dir", dir)
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", natsURL, "--mib-dir", dir, "--web.listen-address", "127.0.0.1:0"), 1,
		"another process holds this directory; expected a --state-dir of its own for each sidecar")
	kit.Serve(t, natsURL, "--mib-dir", dir, "--alarm-state", filepath.Join(dir, "second.state"))
	kit.Until(t, "the second one keeps its counters", func() error {
		_, err := os.Stat(filepath.Join(dir, "second.counters", "counters.state"))
		return err
	})
}

// observe reads the counters of a sidecar's net again and again, in /metrics and in
// JSON, whichever sidecar answers, until ctx ends. It returns the first that fell, or "".
func observe(ctx context.Context, w kit.Web, reads *atomic.Int64) string {
	last := map[string]float64{}
	next := time.NewTicker(kit.PollEvery)
	defer next.Stop()
	for ctx.Err() == nil {
		<-next.C
		now := map[string]float64{}
		if s, err := w.ReadMetrics(); err == nil {
			for name, family := range s.Families {
				for _, m := range family.GetMetric() {
					series := fmt.Sprint("/metrics: ", name, m.GetLabel())
					if strings.HasPrefix(name, "petrinet_") && family.GetType() == dto.MetricType_COUNTER && !strings.HasPrefix(name, "petrinet_source_") {
						now[series] = m.GetCounter().GetValue()
					}
					if h := m.GetHistogram(); h != nil {
						now[series+" sum"] = h.GetSampleSum()
						for _, b := range h.GetBucket() {
							now[series+fmt.Sprint(" up to ", b.GetUpperBound())] = float64(b.GetCumulativeCount())
						}
					}
				}
			}
		}
		if status, body, err := w.Get("/api/v1/view"); err == nil && status == http.StatusOK {
			if v, err := kit.ParseView(body); err == nil {
				for k, n := range v.Numbers().Firings {
					now[fmt.Sprint("JSON: firings of ", k)] = float64(n)
				}
			}
		}
		for series, v := range now {
			if v < last[series] {
				return fmt.Sprintf("%s fell from %v to %v", series, last[series], v)
			}
			last[series] = v
		}
		if len(now) > 0 {
			reads.Add(1)
		}
	}
	return ""
}

// A sidecar is killed at any moment, an engine now and then with it: what /metrics
// and JSON showed once never falls, buckets of histograms included. In the end all
// is shown that the engine that was never killed did, and of the other no more than
// it did.
//
//promise:counters kill
func TestNothingThatWasShownFallsWhenTheSidecarIsKilled(t *testing.T) {
	t.Parallel()
	natsURL, dir, addr := kit.StartNATS(t), t.TempDir(), porttest.Addr(t)
	net := kit.Write(t, "ticker.pnml", kit.TickingNet)
	bindings := kit.Write(t, "ticker.yaml", "nets: {ticker: {transitions: {tick: {rate: 500/s}}}}")
	start := func() *kit.Sidecar {
		return kit.ServeAsIs(t, natsURL, "--mib-dir", dir, "--web.listen-address", addr, net)
	}
	side := start()
	ctx, stop := context.WithCancel(t.Context())
	var reads atomic.Int64
	fell := make(chan string, 1)
	go func() { fell <- observe(ctx, side.Web, &reads) }()
	run := func(name string) *kit.Engine { return kit.RunEngine(t, natsURL, name, "--bindings", bindings, net) }
	steady, other := run("steady"), run("other")
	firings := func() (sum uint64) {
		for _, n := range side.View(t).Numbers().Firings {
			sum += n
		}
		return sum
	}
	moves := func() {
		t.Helper()
		before := firings()
		kit.Until(t, "counters move", func() error {
			if n := firings(); n < before+200 {
				return fmt.Errorf("%d after %d", n, before)
			}
			return nil
		})
	}
	for i := range 6 {
		moves()
		time.Sleep(time.Duration(i) * 170 * time.Millisecond) // at another moment of a second each time
		side.Kill(t)
		if i%3 == 2 {
			other.Kill(t)
			other = run("other")
		}
		side = start()
	}
	moves()
	other.Kill(t)
	did := stopped(t, steady)
	kit.Until(t, "no less is shown than the steady engine did", func() error {
		if n := firings(); n < did {
			return fmt.Errorf("%d, of %d", n, did)
		}
		return nil
	})
	stop()
	if what := <-fell; what != "" {
		t.Error(what)
	}
	if reads.Load() < 20 {
		t.Errorf("got %d reads; want at least 20", reads.Load())
	}
}

// takes is the counter of the transition that takes up a claim of stuckNet.
const takes = `petrinet_transition_firings_total{net="claims",transition="take"}`

// hasScraped waits until Prometheus has scraped this value of takes.
func hasScraped(t *testing.T, p kit.Prometheus, want float64) {
	t.Helper()
	kit.Until(t, fmt.Sprint("Prometheus has scraped ", want), func() error {
		if got := p.Number(t, takes); got != want {
			return fmt.Errorf("it has %v", got)
		}
		return nil
	})
}

// stopped ends an engine and returns how often it fired.
func stopped(t *testing.T, e *kit.Engine) uint64 {
	t.Helper()
	e.Signal(t, syscall.SIGTERM)
	return e.End(t).Firings
}
