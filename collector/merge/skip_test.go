// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math/rand/v2"
	"testing"
	"time"
)

// What the collector dropped, or a later message replaced, is neither lost on the way nor a
// reason to ask for a full message. The source sends one by itself; only if it does not, the
// collector asks.
//
//promise:dropped load
func TestWhatTheCollectorDroppedIsNotAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		skipped uint32
		full    bool
		lost    uint64
		asked   bool // at once
		later   bool // after fullWithin messages
	}{
		"lost on the way":                 {0, false, 4, true, true},
		"dropped":                         {4, false, 0, false, true},
		"more than are missing":           {9, false, 0, false, true},
		"dropped, and others are lost":    {3, false, 1, true, true},
		"replaced by a full one":          {4, true, 0, false, false},
		"a full one, and others are lost": {3, true, 1, false, false},
	} {
		m, now := NewMerger(Rules{}, t0), t0
		if _, err := m.Define(benchDigest, lineNet("n", 2, 1), now); err != nil {
			t.Fatal(err)
		}
		take := func(seq uint64, full bool) (asked bool) {
			t.Helper()
			now += int64(time.Second / time.Microsecond)
			msg := randomSource(rand.New(rand.NewPCG(1, 1)), "a", 2, 1, now)
			msg.Net = "n"
			msg.Digest = benchDigest
			msg.Seq = seq
			msg.Epoch = t0
			msg.Interval = time.Second
			msg.Full = full
			if !full {
				msg.Rows.Places, msg.Rows.Transitions = nil, nil
			}
			asks, err := m.Take(msg, 100, now)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return len(asks) > 0
		}
		m.Skip("n", "a", 3) // a source that is not known
		take(1, true)
		m.Skip("n", "a", test.skipped)
		if asked := take(6, test.full); asked != test.asked {
			t.Errorf("%s: asked for a full message: %t", name, asked)
		}
		asked := false
		for i := range uint64(fullWithin + 2) {
			asked = take(7+i, false) || asked
		}
		if asked != test.later {
			t.Errorf("%s: later asked for a full message: %t", name, asked)
		}
		view, _ := m.Tick(now)
		if view.Traffic.Lost != test.lost || view.Sources[0].Gaps != test.lost {
			t.Errorf("%s: %d lost, %d gaps; want %d", name, view.Traffic.Lost, view.Sources[0].Gaps, test.lost)
		}
	}
}

// A source whose messages arrive is not silent, although they are dropped.
//
//promise:evidence load
func TestASourceThatIsHeardIsNotSilent(t *testing.T) {
	m, now := NewMerger(Rules{}, t0), t0
	if _, err := m.Define(benchDigest, lineNet("order", 2, 1), now); err != nil {
		t.Fatal(err)
	}
	msg := randomSource(rand.New(rand.NewPCG(1, 1)), "a", 2, 1, now)
	msg.Net, msg.Interval = "order", time.Second
	if _, err := m.Take(msg, 100, now); err != nil {
		t.Fatal(err)
	}
	m.Received("order", "b", now) // a source that is not known
	m.Received("other", "a", now)
	m.Received("order", "a", now+9e6)
	m.Received("order", "a", now+1e6) // earlier
	for seconds, want := range map[int64]SourceState{11: Up, 13: Stale} {
		if view, _ := m.Tick(now + seconds*1e6); view.Sources[0].State != want {
			t.Errorf("after %d s it is %s; want %s", seconds, view.Sources[0].State, want)
		}
	}
}

func TestReplacedMessagesAreCounted(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	m.Replaced(0, 0)
	m.Replaced(3, 1000)
	if view, _ := m.Tick(t0 + 1e6); view.Traffic.Messages != 3 || view.Traffic.Bytes != 1000 || view.Traffic.Bad != 0 {
		t.Errorf("got %+v; want 3 messages of 1000 bytes", view.Traffic)
	}
}
