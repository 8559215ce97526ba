// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

// A net that grows keeps its epoch and its sequence numbers. It sends all of
// its rows at once under the new digest, and requests for both definitions are
// answered.
func TestANetThatGrowsContinuesInTheSameEpoch(t *testing.T) {
	s := startServer(t, anyPort)
	nc := connect(t, s.ClientURL())
	sub := listen(t, nc, "petrinet.v1.snapshot.>")
	p := start(t, Config{
		Conn: nc, Source: "s", Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Nets: []SourceNet{{ID: "n", PNML: []byte("one"), Places: 1}},
		Rows: func(_ int, _ int64, into *stats.Rows) error {
			into.Columns = stats.ColArrivals
			for i := range into.Places {
				into.Places[i].Arrivals = uint64(7 + i)
			}
			return nil
		},
	})
	first := nextSnapshot(t, sub)
	if err := p.Redefine(0, 2, 0, []byte("two")); err != nil {
		t.Fatal(err)
	}
	grown := nextSnapshot(t, sub)
	for grown.Digest == first.Digest {
		grown = nextSnapshot(t, sub)
	}
	if grown.Epoch != first.Epoch || !grown.Full || grown.Digest != Digest([]byte("two")) || len(grown.Rows.Places) != 2 {
		t.Errorf("%+v", grown)
	}
	for _, text := range []string{"one", "two"} {
		def, err := RequestDefinition(t.Context(), nc, Subjects{}, "n", Digest([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(text, string(def.PNML)); d != "" {
			t.Error(d)
		}
	}
}

func TestANetMayNotShrinkNorOutgrowTheWire(t *testing.T) {
	p, err := newPublisher(Config{Source: "s", Log: slog.New(slog.DiscardHandler), Nets: []SourceNet{{ID: "n", PNML: []byte("x"), Places: 2}},
		Rows: func(int, int64, *stats.Rows) error { return nil }}, &fakeLink{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Redefine(0, 1, 5, []byte("y")); err == nil {
		t.Error("a definition with fewer places is accepted")
	}
	if err := p.Redefine(0, MaxRows+1, 0, []byte("y")); !errors.Is(err, TooMany) {
		t.Errorf("%v, want TooMany", err)
	}
	if err := p.Redefine(0, 3, 0, nil); err == nil {
		t.Error("an empty definition is accepted")
	}
	if err := p.Redefine(0, 2, 0, []byte("x")); err != nil || p.redefined.nets != nil {
		t.Errorf("%v: the same definition is published again", err)
	}
	if err := p.Redefine(0, 2, 0, []byte("another")); err != nil || p.defined(0).Places != 2 || string(p.defined(0).PNML) != "another" {
		t.Errorf("%v: a definition with other arcs did not replace the old one", err)
	}
}
