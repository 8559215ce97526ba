// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math/rand/v2"
	"testing"
)

// What engines publish while the collector itself cannot receive, as while it is
// restarted or without NATS, is not lost on the way: it is not counted. What is missing
// while it receives is counted once that is proved.
//
//promise:evidence dark
func TestOnlyMessagesThatCouldBeReceivedAreCountedAsLost(t *testing.T) {
	const second = int64(1e6)
	now := t0
	m := NewMerger(Rules{}, now)
	m.ReceivedUntil(now, true)
	if _, err := m.Define("order", lineNet("order", 2, 1), now); err != nil {
		t.Fatal(err)
	}
	take := func(seq uint64, bye bool) {
		t.Helper()
		msg := randomSource(rand.New(rand.NewPCG(1, 1)), "one", 2, 1, now)
		msg.Net, msg.Digest, msg.Seq, msg.Bye = "order", "order", seq, bye
		if _, err := m.Take(msg, 0, now); err != nil {
			t.Fatal(err)
		}
	}
	lost := func(want uint64) {
		t.Helper()
		view, _ := m.Tick(now)
		for i := range view.Sources {
			if got := view.Sources[i].Gaps; got != want || view.Traffic.Lost != want {
				t.Errorf("%d messages of the source are lost, and %d of all; want %d", got, view.Traffic.Lost, want)
			}
		}
		if len(view.Sources) != 1 {
			t.Errorf("%d sources", len(view.Sources))
		}
	}
	take(1, false)
	now += 3 * second
	take(4, false)
	lost(0) // it is not proved that the collector could receive
	m.ReceivedUntil(now, true)
	lost(2)
	now += 20 * second
	take(24, false) // after a reconnection, and before a proof of it
	lost(2)
	m.ReceivedUntil(now, false)
	lost(2)
	now += second
	take(27, false)
	now += second
	m.ReceivedUntil(now, true)
	lost(4)

	m = restoredFrom(t, m, Share{}, 0, now)
	now += 40 * second
	m.Begin(now)
	lost(0) // counted since the start
	take(67, false)
	now += second
	m.ReceivedUntil(now, true)
	lost(0)
	now += second
	take(70, true) // a bye, which may overtake the messages before it
	for range 12 {
		now += second
		m.ReceivedUntil(now, true)
	}
	lost(2)
}
