// SPDX-License-Identifier: Apache-2.0

package merge

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
