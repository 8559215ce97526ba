// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// largest returns rows in which every count is n.
func largest(n uint64) *stats.Rows {
	rows := stats.NewRows(1, 1)
	rows.Columns = stats.AllColumns
	dwell := stats.Histogram{Zero: n, Buckets: []stats.Bucket{{Index: 3, N: n}, {Index: 4, N: 1}}}
	rows.Places[0] = stats.Place{Tokens: n, Arrivals: n, Departures: n, Instances: n, Dwell: dwell, Ages: stats.Ladder{Slots: []stats.Slot{{N: n}}}}
	rows.Transitions[0] = stats.Transition{Firings: n, Failures: n, Retries: n, Cancels: n, Timeouts: n, Late: n, Enabled: n, Running: n, Duration: dwell}
	rows.Net = stats.NetRow{Created: n, Finished: n, Failed: n, Active: n, Deadlocked: n}
	rows.Blocks = []stats.Block{{Instances: n}, {Transition: 1, Instances: 2}}
	rows.Queues = []stats.Queue{{Ready: n, Served: n, QuoteSwitches: n}, {Priority: 1, Served: 2}}
	rows.Waiting = n
	return rows
}

// A sum may be larger than what a message holds: to a collector above it is said as
// the largest count, so that it is not refused, and never falls. The View itself
// keeps what it is.
func TestWhatIsSaidToACollectorAboveFitsAMessage(t *testing.T) {
	for _, n := range []uint64{5, telemetry.MaxCount, telemetry.MaxCount + 1, stats.MaxSum} {
		view := &View{Nets: []*NetView{{Name: "n", Rows: largest(n)}}}
		into := stats.NewRows(1, 1)
		if err := view.FillRows("n", into); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(largest(min(n, telemetry.MaxCount)), into); d != "" {
			t.Errorf("of %d (-expected +said):\n%s", n, d)
		}
		if d := cmp.Diff(largest(n), view.Nets[0].Rows); d != "" {
			t.Errorf("the View of %d changed:\n%s", n, d)
		}
	}
}

// Each kind of saturated sum is found among the rows that changed.
func TestEverySaturatedSumIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*stats.Rows)
		want string
	}{
		"none":           {func(r *stats.Rows) { r.Places[0].Arrivals = stats.MaxSum - 1 }, ""},
		"a debt is none": {func(r *stats.Rows) { r.Places[0].Arrivals = stats.MaxSum + 1 }, ""},
		"arrivals":       {func(r *stats.Rows) { r.Places[0].Arrivals = stats.MaxSum }, `place "p0"`},
		"firings":        {func(r *stats.Rows) { r.Transitions[0].Firings = stats.MaxSum }, `transition "t0"`},
		"durations":      {func(r *stats.Rows) { r.Transitions[0].Duration.Sum = stats.MaxSum }, `transition "t0"`},
		"created":        {func(r *stats.Rows) { r.Net.Created = stats.MaxSum }, "instances"},
		"served":         {func(r *stats.Rows) { r.Queues = []stats.Queue{{Priority: 3, Served: stats.MaxSum}} }, "queue 3"},
	} {
		n := newNet("n", &workspace{})
		if err := n.define("d", lineNet("n", 1, 1), true, true, &Limits{Rows: 9, Definitions: 9}, t0); err != nil {
			t.Fatal(err)
		}
		n.union.def.Places[0].ID, n.union.def.Transitions[0].ID = "p0", "t0"
		n.live.Places.Add(0)
		n.live.Transitions.Add(0)
		rows := stats.NewRows(1, 1)
		test.set(rows)
		n.noteSaturated(rows)
		if n.saturated.of != test.want {
			t.Errorf("%s: found %q, expected %q", name, n.saturated.of, test.want)
		}
	}
}

// A sum that exceeds what an engine may send, or that is saturated, survives a
// restart of the collector, from its state and from what was shown.
func TestLargeSumsContinueOverARestart(t *testing.T) {
	for _, sources := range []uint64{2, 1100, 2300} {
		m := NewMerger(Rules{}, t0)
		if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
			t.Fatal(err)
		}
		for i := range sources {
			rows := largest(telemetry.MaxCount)
			rows.Columns = counterColumns
			rows.Places[0].Ages, rows.Blocks = stats.Ladder{}, nil
			msg := &telemetry.Snapshot{Source: fmt.Sprint("e", i), Net: "n", Digest: "d", Epoch: 1, Seq: 1, SentAt: t0, Interval: time.Second, Full: true, Rows: *rows}
			if _, err := m.Take(msg, 0, t0); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := m.Tick(t0)
		want := countersOf(before.Nets[0].Rows)
		if f := want.Transitions[0].Firings; f != min(sources<<53, stats.MaxSum) && sources < 1024 || f != stats.MaxSum && sources >= 1024 {
			t.Fatalf("%d firings of %d sources", f, sources)
		}
		next := NewMerger(Rules{}, t0)
		if err := next.Restore([][]byte{keptBy(t, m)}, Admission{PNML: pnmlLimits()}, t0); err != nil {
			t.Errorf("%d sources: %v", sources, err)
			continue
		}
		after, _ := next.Tick(t0)
		if d := cmp.Diff(want, countersOf(after.Nets[0].Rows)); d != "" {
			t.Errorf("%d sources (-before +after):\n%s", sources, d)
		}
	}
}
