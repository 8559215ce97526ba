// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A new member of a lower priority number takes the duty once it has the silent sources
// of the member on duty, as of Silent after its start; without an answer, after Patience.
func TestANewMemberTakesTheDutyOnceItHasTheSilentSources(t *testing.T) {
	for what, c := range map[string]struct {
		shares  bool          // the one on duty does
		answers time.Duration // after the start; negative: never
		ready   time.Duration
		asks    []time.Duration
	}{
		"answers at once":        {true, 0, Settle, []time.Duration{stepEvery, Silent}},
		"answers late":           {true, 9 * time.Second, 9 * time.Second, []time.Duration{stepEvery, Silent, Silent + AskEvery}},
		"of an earlier version":  {false, 0, Settle, nil},
		"shares and never does ": {true, -1, Settle + Patience, nil},
	} {
		began := time.Unix(1e9, 0)
		now := began
		r := New(Message{ID: "me", Priority: 1, Sources: true}, 0, now)
		var asked []time.Duration
		for !r.self.Ready && now.Sub(began) < time.Hour {
			now = now.Add(stepEvery)
			for _, m := range []Message{{ID: "me"}, {ID: "old", Priority: 100, Up: true, Ready: true, OnDuty: true, Sources: c.shares}} {
				if _, err := r.Receive(m, now); err != nil {
					t.Fatal(err)
				}
			}
			if r.Awaits("old") && c.answers >= 0 && now.Sub(began) >= c.answers {
				r.Fetched("old")
			}
			r.Step(true, now)
			if id := r.Fetch(now); id != "" {
				asked = append(asked, now.Sub(began))
			}
		}
		if took := now.Sub(began); took != c.ready {
			t.Errorf("one that %s: ready after %v, want %v", what, took, c.ready)
		}
		if d := cmp.Diff(c.asks, asked); d != "" && c.asks != nil {
			t.Errorf("one that %s is asked: %s", what, d)
		}
		if n := len(asked); !c.shares && n > 0 || n > 2+int((Settle+Patience)/AskEvery) {
			t.Errorf("one that %s is asked %d times", what, n)
		}
		for range 100 { // and then never again
			now = now.Add(time.Second)
			r.Fetched("old")
			if id := r.Fetch(now); id != "" {
				t.Errorf("one that %s is asked after %v", what, now.Sub(began))
			}
		}
	}
}

// A break of two Intervals leads to new requests, although it is too short to change
// anything else.
func TestSilentSourcesAreAskedForAfterABreak(t *testing.T) {
	for missed, want := range map[time.Duration]int{2*Interval - stepEvery: 0, 2 * Interval: 2, 2 * Silent: 2} {
		now := time.Unix(1e9, 0)
		r := New(Message{ID: "me", Sources: true}, 0, now)
		asks := 0
		pass := func(d time.Duration) {
			for range d / stepEvery {
				now = now.Add(stepEvery)
				for _, m := range []Message{{ID: "me"}, {ID: "other", Priority: 100, Up: true, Sources: true}} {
					if _, err := r.Receive(m, now); err != nil {
						t.Fatal(err)
					}
				}
				r.Step(true, now)
				if id := r.Fetch(now); id != "" {
					asks++
					r.Fetched(id)
				}
			}
		}
		pass(2 * Settle)
		asks = 0
		for range missed/stepEvery - 1 {
			now = now.Add(stepEvery)
			r.Step(true, now)
		}
		pass(2 * Settle)
		if asks != want {
			t.Errorf("after a break of %v it asks %d times, want %d", missed, asks, want)
		}
	}
}
