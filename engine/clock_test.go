// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// The time of a part never goes back, whatever its owners' clocks do, and runs
// at their pace.
//
//promise:durable clock
func TestTimeRunsAtThePaceOfTheClock(t *testing.T) {
	for _, c := range []struct {
		name   string
		last   int64   // the latest time in the log
		clock  []int64 // what it shows, look by look
		want   []int64
		settle int64 // how far ahead of the clock time is then
	}{
		{"a clock that is right", 100, []int64{100, 110, 130}, []int64{100, 110, 130}, 0},
		{"a clock that is ahead", 100, []int64{500, 510}, []int64{500, 510}, 0},
		{"a clock that is behind", 100, []int64{40, 50, 70}, []int64{100, 110, 130}, 60},
		{"a clock that is set back", 100, []int64{110, 30, 50, 55}, []int64{110, 110, 130, 135}, 80},
		{"a clock that is set back twice", 100, []int64{110, 30, 50, 10, 15}, []int64{110, 110, 130, 130, 135}, 120},
		{"a clock that is set right again", 100, []int64{110, 30, 50, 200, 210}, []int64{110, 110, 130, 200, 210}, 0},
		{"a clock that is set to what time was then", 100, []int64{40, 50, 110, 120}, []int64{100, 110, 110, 120}, 0},
		{"a clock that stands", 100, []int64{40, 40, 40}, []int64{100, 100, 100}, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := 0
			w := &worker{last: c.last, clock: func() int64 { return c.clock[at] }}
			var got []int64
			for at = range c.clock {
				got = append(got, w.now())
			}
			if !slices.Equal(got, c.want) || w.ahead != c.settle {
				t.Errorf("times %d, %d ahead; want %d, %d", got, w.ahead, c.want, c.settle)
			}
		})
	}
}

// A delay that has started, and the age of its token, continue with the next
// owner's clock, even if that shows another time.
//
//promise:durable clock
func TestDelaysAndAgesContinueWithAnotherClock(t *testing.T) {
	for name, skew := range map[string]int64{"the same clock": 0, "one that is an hour behind": -3_600_000_000, "one that is a second ahead": 1_000_000} {
		t.Run(name, func(t *testing.T) {
			now := int64(1_700_000_000_000_000)
			cfg := Config{Source: "a", Nets: []NetConfig{{Tables: petritest.Compile(t, line(1)), Transitions: fire(plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 10_000_000}})}},
				Instances: 1, Workers: 1, Clock: func() int64 { return now }, Part: &Part{Name: "p"}}
			log, _, err := journal.Open(t.TempDir(), journal.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := log.Close(); err != nil {
					t.Error(err)
				}
			}()
			cfg.Journal = log
			first := newEngine(t, cfg)
			if err := first.Lead(t.Context()); err != nil {
				t.Fatal(err)
			}
			now += 4_000_000
			if err := first.Turn(); err != nil { // it waits
				t.Fatal(err)
			}
			if err := first.Release(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			cfg.Source, cfg.Clock = "b", func() int64 { return now + skew }
			second := newEngine(t, cfg)
			if err := second.Lead(t.Context()); err != nil {
				t.Fatal(err)
			}
			left := int64(6_000_000) - max(skew, 0)
			for _, step := range []struct {
				after int64
				fired uint64
			}{{left - 1, 0}, {1, 1}} {
				now += step.after
				if err := second.Turn(); err != nil {
					t.Fatal(err)
				}
				rows := stats.NewRows(1, 1)
				second.Followed(second.Latest(), rows)
				if rows.Transitions[0].Firings != step.fired {
					t.Errorf("%d firings %d µs before it is due; want %d", rows.Transitions[0].Firings, left-step.after, step.fired)
				}
				if dwell := rows.Places[0].Dwell.Sum; step.fired > 0 && dwell != 10_000_000 {
					t.Errorf("the token was there for %v µs; want 10 s", dwell)
				}
			}
		})
	}
}

// A reader's clock may be behind the time of the part: tokens have the ages of
// the part's time.
func TestTokensAgeThoughTheClockIsBehind(t *testing.T) {
	now := int64(1_700_000_000_000_000)
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, line(1)), Transitions: fire(plain.Mode{Kind: plain.Manual})}},
		Instances: 1, Workers: 1, Clock: func() int64 { return now }})
	now -= 3_600_000_000 // it is set back,
	e.workers[0].now()
	now += 600_000_000 // and ten minutes pass
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	want, got := stats.NewRows(1, 1), stats.NewRows(1, 1)
	if err := errors.Join(e.Rows(t.Context(), 0, now+3_600_000_000, want), e.Rows(t.Context(), 0, now, got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Places[0].Stuck) == 0 {
		t.Errorf("(-at the time of the part +asked with the clock):\n%s", diff)
	}
}
