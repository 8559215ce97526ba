// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// randomSource returns a full snapshot of a source in which every column
// holds something.
func randomSource(r *rand.Rand, name string, places, transitions int, now int64) *telemetry.Snapshot {
	age := func() int64 { return 1 + r.Int64N(int64(1)<<r.IntN(40)) }
	msg := &telemetry.Snapshot{Source: name, Net: "n", Digest: benchDigest, Epoch: 1, Seq: 1, SentAt: now, Interval: time.Second,
		Full: true, Rows: *stats.NewRows(places, transitions)}
	msg.Rows.Columns = stats.AllColumns
	msg.Rows.Net = stats.NetRow{Created: r.Uint64N(100), Finished: r.Uint64N(50), Failed: r.Uint64N(9), Active: r.Uint64N(50)}
	for i := range msg.Rows.Places {
		p := &msg.Rows.Places[i]
		for range 1 + r.IntN(5) {
			injected := now - age()
			p.Tokens++
			p.Oldest = stats.Earlier(p.Oldest, injected)
			p.LastInjection = max(p.LastInjection, injected)
			p.Injected.Add(injected)
			p.Ages.Add(injected, now, 1)
			p.Stuck = stats.MergeStuck(p.Stuck, []stats.Token{{Instance: fmt.Sprint("i", r.IntN(999)), Injected: injected,
				Waits: []stats.Wait{{Transition: r.Int32N(int32(transitions)), Reason: stats.ReasonMissing, Place: r.Int32N(int32(places)), Count: 1}}}})
		}
		for range r.IntN(20) {
			p.Departures++
			p.Dwell.Observe(age())
			p.Slowest.Merge(stats.Slowest{Instance: fmt.Sprint("i", r.IntN(999)), Micros: age(), At: now - r.Int64N(300e6)})
		}
		p.Arrivals, p.Instances = p.Tokens+p.Departures, r.Uint64N(p.Tokens+1)
	}
	msg.Rows.Waiting = r.Uint64N(9)
	for p := range uint8(stats.Priorities) {
		if p == 0 || r.IntN(3) == 0 {
			msg.Rows.Queues = append(msg.Rows.Queues, stats.Queue{Priority: p, Ready: r.Uint64N(9), OldestSince: now - age(), UnservedSince: now - age(),
				Served: r.Uint64N(99), QuoteSwitches: r.Uint64N(9)})
		}
	}
	for i := range msg.Rows.Transitions {
		t := &msg.Rows.Transitions[i]
		for range r.IntN(20) {
			t.Firings++
			t.Duration.Observe(age())
			t.Slowest.Merge(stats.Slowest{Instance: fmt.Sprint("i", r.IntN(999)), Micros: age(), At: now - r.Int64N(300e6)})
		}
		t.LastFiring, t.Enabled, t.EnabledSince, t.Running, t.RunningSince = now-age(), 1, now-age(), 1, now-age()
		t.Failures, t.Retries, t.Cancels = r.Uint64N(3), r.Uint64N(3), r.Uint64N(3)
		t.Timeouts, t.Late = r.Uint64N(3), r.Uint64N(3)
		msg.Rows.Blocks = append(msg.Rows.Blocks, stats.Block{Transition: int32(i), Place: r.Int32N(int32(places)), Reason: stats.ReasonMissing, Instances: 1 + r.Uint64N(5)})
	}
	return msg
}

// wired returns what arrives at the other end of a message.
func wired(t *testing.T, msg *telemetry.Snapshot) *telemetry.Snapshot {
	var enc telemetry.Encoder
	var dec telemetry.Decoder
	payload, err := enc.Append(nil, msg)
	if err != nil {
		t.Fatal(err)
	}
	var out telemetry.Snapshot
	if err := dec.Decode(payload, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// viewOf returns the View of a collector that receives these messages.
func viewOf(t *testing.T, def string, places, transitions int, now int64, messages ...*telemetry.Snapshot) *View {
	m := NewMerger(Rules{}, now)
	if _, err := m.Define(def, lineNet("n", places, transitions), now); err != nil {
		t.Fatal(err)
	}
	for _, msg := range messages {
		if _, err := m.Take(msg, 0, now); err != nil {
			t.Fatal(err)
		}
	}
	view, _ := m.Tick(now)
	return view
}

// A root that receives collectors shows what it would show if it received every
// engine itself, however the engines are divided.
func TestRootOfATreeEqualsFlat(t *testing.T) {
	const places, transitions, now = 4, 3, t0 + 5e6
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		collectors := make([][]*telemetry.Snapshot, 1+r.IntN(4))
		var all []*telemetry.Snapshot
		for i := range 1 + r.IntN(8) {
			// Clocks are a little off, or far, or right.
			skew := []int64{0, r.Int64N(1e5), -7200e6, 40 * stats.SlotWidth}[r.IntN(4)]
			msg := wired(t, randomSource(r, fmt.Sprint("engine", i), places, transitions, now-r.Int64N(2e5)+skew))
			all = append(all, msg)
			c := r.IntN(len(collectors))
			collectors[c] = append(collectors[c], msg)
		}
		flat := viewOf(t, benchDigest, places, transitions, now, all...)
		var sums []*telemetry.Snapshot
		for c, messages := range collectors {
			view := viewOf(t, benchDigest, places, transitions, now, messages...)
			sum := &telemetry.Snapshot{Source: fmt.Sprint("collector", c), Net: "n", Digest: benchDigest, Epoch: 1, Seq: 1,
				SentAt: now, Interval: time.Second, Full: true, Rows: *stats.NewRows(places, transitions)}
			if err := view.FillRows("n", &sum.Rows); err != nil {
				t.Fatal(err)
			}
			for i := range sum.Rows.Places { // as a Publisher does: a ladder that was moved may be cut for a slot ahead
				sum.SentAt = max(sum.SentAt, sum.Rows.Places[i].Ages.At*stats.SlotWidth)
			}
			if len(messages) > 0 {
				sums = append(sums, wired(t, sum))
			}
		}
		root := viewOf(t, benchDigest, places, transitions, now, sums...)
		equalRows(t, seed, flat.Nets[0].Rows, root.Nets[0].Rows)
	}
}

func equalRows(t *testing.T, seed uint64, want, got *stats.Rows) {
	t.Helper()
	equal := cmp.Options{cmp.Comparer(func(a, b stats.Place) bool { return a.Equal(&b) }),
		cmp.Comparer(func(a, b stats.Transition) bool { return a.Equal(&b) })}
	if d := cmp.Diff(want, got, equal); d != "" {
		t.Fatalf("seed %d (-flat +root):\n%s", seed, d)
	}
}

func TestFillRowsWantsTheSizeOfTheNet(t *testing.T) {
	view := viewOf(t, benchDigest, 2, 2, t0)
	for name, rows := range map[string]*stats.Rows{"n": stats.NewRows(3, 2), "other": stats.NewRows(2, 2)} {
		if err := view.FillRows(name, rows); !errors.Is(err, ErrOtherSize) {
			t.Errorf("net %q with %d places: %v", name, len(rows.Places), err)
		}
	}
}

// What a collector publishes is read back by the one above as the same net.
func TestPublishedDefinitionIsTheUnion(t *testing.T) {
	view := viewOf(t, benchDigest, 2, 1, t0)
	published, err := view.Nets[0].Published()
	if err != nil {
		t.Fatal(err)
	}
	def := telemetry.Definition{Net: "n", Digest: telemetry.Digest(published.PNML), PNML: published.PNML}
	net, err := ReadDefinition(def, pnmlLimits())
	if err != nil {
		t.Fatal(err)
	}
	if len(net.Places) != published.Places || net.Places[1].ID != "p1" || len(net.Transitions) != 1 {
		t.Errorf("got %+v; want the %d published places and one transition", net, published.Places)
	}
}
