// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// An hour of the demo. After the first minute one or two alarms are active at any time, each
// scene is played in each engine, and the nets never stop.
func TestTheDemoSticksAndHealsForAnHour(t *testing.T) {
	t.Parallel()
	long := time.Hour
	if racetest.UnderRace {
		long = 12 * time.Minute
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), long)
		defer stop()
		w, g := watchDemo(t), errgroup.Group{}
		for _, b := range w.branches {
			g.Go(func() error { return b.engine.Run(ctx) })
			g.Go(func() error { return b.run(ctx) })
		}
		g.Go(func() error { return w.run(ctx) })
		w.watch(ctx, t)
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		w.claims(t, long)
		text := w.said.String()
		for _, c := range scenes {
			for _, b := range w.branches {
				if racetest.UnderRace && strings.Contains(text, c.heals) {
					continue // each scene once
				}
				name := strings.Split(b.engine.InstanceName(0), "/")[0]
				for _, line := range []string{" stuck .*, " + name + "/.*: " + c.sticks, " healed .*, " + name + "/.*: " + c.heals} {
					if !regexp.MustCompile(line).MatchString(text) {
						t.Errorf("the demo never printed %q", line)
					}
				}
			}
		}
	})
}

// half is how many instances of each net an engine has: half of the default.
const half = 25

// watched is a demo whose alarms are judged as its sidecar judges them.
type watched struct {
	story
	said    bytes.Buffer
	machine *alarm.Machine
	sums    []*merge.NetView // of both engines, by net
}

func watchDemo(t *testing.T) *watched {
	t.Helper()
	tables, err := exampleNets()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := alarm.ReadRules(strings.NewReader(demoAlarms), "alarms of the demo")
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{machine: alarm.NewMachine(rules, alarm.Saved{}, time.Hour), sums: make([]*merge.NetView, len(tables))}
	w.story = story{tables: tables, out: &w.said, nats: "nats://127.0.0.1:4222"}
	for i, source := range demoSources {
		b, err := newBranch(source, tables, half, uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		w.branches = append(w.branches, b)
	}
	return w
}

// watch judges the demo each second until ctx ends.
func (w *watched) watch(ctx context.Context, t *testing.T) {
	t.Helper()
	begun, fired := time.Now(), make([]uint64, len(w.tables))
	for tick := time.Tick(time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick:
			w.add(t, now)
			w.machine.Step(&merge.View{At: now.UnixMicro(), Nets: w.sums}, now.UnixMicro())
			after := now.Sub(begun)
			active := w.machine.State(0).Active
			if n := len(active); after > time.Minute && (n < 1 || n > 2) || n > 2 {
				var all []string
				for _, a := range active {
					all = append(all, a.Text)
				}
				t.Errorf("after %v: %d alarms; want 1 or 2: %q", after, n, all)
			}
			if after%(10*time.Minute) != 0 {
				continue
			}
			for i, n := range w.sums {
				firings := uint64(0)
				for _, row := range n.Rows.Transitions {
					firings += row.Firings
				}
				if firings <= fired[i] {
					t.Errorf("after %v: nothing fired in net %q for ten minutes", after, n.Name)
				}
				fired[i] = firings
			}
		}
	}
}

// add adds up the rows of the engines.
func (w *watched) add(t *testing.T, now time.Time) {
	t.Helper()
	for i, n := range w.tables {
		rows := stats.NewRows(n.Places(), n.Transitions())
		for _, b := range w.branches {
			if err := b.engine.Rows(context.Background(), i, now.UnixMicro(), rows); err != nil {
				t.Fatal(err)
			}
		}
		w.sums[i] = &merge.NetView{Name: n.Net.ID, Def: n.Net, Final: n.Net.FinalPlaces(), Rows: rows, Up: len(w.branches)}
	}
}

// claims checks that they begin and end all the time, and that some need a reminder or a clerk.
func (w *watched) claims(t *testing.T, long time.Duration) {
	t.Helper()
	w.add(t, time.Now())
	i := slices.IndexFunc(w.tables, func(t *petri.Tables) bool { return t.Net.ID == claimNet })
	row := func(transition string) *stats.Transition {
		at, ok := w.tables[i].TransitionIndex(transition)
		if !ok {
			t.Fatalf("no transition %q", transition)
		}
		return &w.sums[i].Rows.Transitions[at]
	}
	seconds, net := uint64(long.Seconds()), w.sums[i].Rows.Net
	if begun := net.Created - uint64(half*len(w.branches)); begun < seconds*9/10 || begun > seconds*11/10 {
		t.Errorf("%d claims began in %v; expected about one a second", begun, long)
	}
	if net.Finished < net.Created*95/100 || net.Deadlocked > 0 || net.Failed < seconds/200 {
		t.Errorf("%+v; expected that nearly all finish, and that some wait for a clerk as incidents", net)
	}
	if remind, pay := row("remind"), row(pay); remind.Firings < seconds/20 || pay.Failures < seconds/20 || pay.Retries < seconds/20 {
		t.Errorf("%d reminders, %d failed payments, %d of them tried again; expected some", remind.Firings, pay.Failures, pay.Retries)
	}
}

// The log of the demo names the server that it has started.
func TestTheDemoNamesItsServer(t *testing.T) {
	ns, err := startNATS("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { ns.Shutdown(); ns.WaitForShutdown() }()
	link, err := inProcess(ns, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if got := link.State(); !got.Connected || got.Server != ns.ClientURL() {
		t.Errorf("connected to %q: %t; want %q", got.Server, got.Connected, ns.ClientURL())
	}
}
