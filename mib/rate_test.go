// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/smi"
	"github.com/pnagent/pnagent/stats"
)

// firing is a net with one transition, and what its rates become.
type firing struct {
	net   *collector.Net
	rates netRates
	at    int64
}

func newFiring() *firing {
	f := &firing{net: netOf(sizedNet("n", 0, 1), stats.NewRows(0, 1)), at: now0}
	f.rates.update(f.net, f.at)
	return f
}

// run fires steadily for a time, seen every step.
func (f *firing) run(perSecond float64, step, d time.Duration) {
	start := f.net.Rows.Transitions[0].Firings
	for t := step; t <= d; t += step {
		f.net.Rows.Transitions[0].Firings = start + uint64(math.Round(perSecond*t.Seconds()))
		f.at += step.Microseconds()
		f.rates.update(f.net, f.at)
	}
}

func (f *firing) want(t *testing.T, what string, want [3]float64) {
	t.Helper()
	for i, got := range f.rates.transitions[0] {
		if math.Abs(got-want[i]) > 0.01*math.Max(1, want[i]) {
			t.Errorf("%s: rate %d is %.3f, want %.3f", what, i, got, want[i])
		}
	}
	if f.rates.total != f.rates.transitions[0] {
		t.Errorf("%s: the net's rates are %v", what, f.rates.total)
	}
}

// steady is what a load average shows of a steady rate after a time.
func steady(rate float64, d time.Duration) (want [3]float64) {
	for i, minutes := range [3]float64{1, 5, 15} {
		want[i] = rate * (1 - math.Exp(-d.Minutes()/minutes))
	}
	return want
}

func TestRatesAreDampedLikeALoadAverage(t *testing.T) {
	for name, step := range map[string]time.Duration{"every second": time.Second, "every 5 s": 5 * time.Second, "once": 2 * time.Minute} {
		f := newFiring()
		f.run(100, step, 2*time.Minute)
		f.want(t, name, steady(100, 2*time.Minute))
	}
	f := newFiring()
	f.run(100, time.Second, 2*time.Hour)
	f.want(t, "for long", [3]float64{100, 100, 100})
	f.run(0, time.Second, time.Minute)
	f.want(t, "a minute after the last", [3]float64{100 * math.Exp(-1), 100 * math.Exp(-0.2), 100 * math.Exp(-1.0/15)})
}

func TestReadingTheSameViewAgainChangesNoRate(t *testing.T) {
	f := newFiring()
	f.run(100, time.Second, time.Minute)
	for range 100 {
		f.rates.update(f.net, f.at)
	}
	f.want(t, "read again", steady(100, time.Minute))
}

func TestACounterThatBeginsAnewIsNoRate(t *testing.T) {
	for name, restart := range map[string]func(f *firing){
		"it fell":                  func(f *firing) { f.net.Rows.Transitions[0].Firings = 5 },
		"it began at another time": func(f *firing) { f.net.Since, f.net.Rows.Transitions[0].Firings = f.at, 1<<60 },
	} {
		f := newFiring()
		f.run(100, time.Second, 2*time.Hour)
		before := f.rates.transitions[0]
		restart(f)
		f.at += 1e6
		f.rates.update(f.net, f.at)
		if f.rates.transitions[0] != before {
			t.Errorf("%s: %v became %v", name, before, f.rates.transitions[0])
		}
		f.run(100, time.Second, time.Hour)
		if got := f.rates.transitions[0][0]; math.Abs(got-100) > 1 {
			t.Errorf("%s: an hour later %v", name, got)
		}
	}
}

// What sources did while there was no agent comes into the counters as they are
// heard again, one after the other, and is not done in that second.
func TestWhatWasDoneBeforeTheStartIsNoRate(t *testing.T) {
	f := &firing{net: netOf(sizedNet("n", 0, 1), stats.NewRows(0, 1)), at: now0}
	for _, recalled := range []int{2, 1, 0} {
		f.net.Recalled = recalled
		f.net.Rows.Transitions[0].Firings += 1_000_000
		f.at += 1e6
		f.rates.update(f.net, f.at)
	}
	f.want(t, "once all are heard", [3]float64{})
	f.run(100, time.Second, time.Minute)
	f.want(t, "a minute later", steady(100, time.Minute))
}

func TestATransitionThatJoinsStartsAtNothing(t *testing.T) {
	f := newFiring()
	f.run(10, time.Second, time.Minute)
	def := *f.net.Def
	def.Transitions = append(def.Transitions, petri.Transition{ID: "late"})
	f.net.Def = &def
	f.net.Rows.Transitions = append(f.net.Rows.Transitions, stats.Transition{Firings: 1 << 50})
	f.at += 1e6
	f.rates.update(f.net, f.at)
	if got := f.rates.transitions[1]; got != (rate{}) {
		t.Errorf("rates %v", got)
	}
}

func TestRatesOutliveANewDefinition(t *testing.T) {
	b, view, names := newBuilder(t, ""), orderView(), petrinetOIDs(testRoot(t))
	build(t, b, view, now0)
	view.Nets[0].Rows.Transitions[1].Firings += 60_000
	view.At += 60e6
	def := *view.Nets[0].Def
	view.Nets[0].Def = &def
	table := build(t, b, view, view.At)
	if got := get(t, table, names, "transitionRate1", 1, 2); got != smi.Gauge32(632121) {
		t.Errorf("rate is %v, want 1000/s damped over a minute: 632.121", got)
	}
}

func TestARateLatchesAtTheLargestGauge(t *testing.T) {
	r := rate{1e12, math.Inf(1), 0}
	if r.value(0) != smi.Gauge32(math.MaxUint32) || r.value(1) != smi.Gauge32(math.MaxUint32) || r.value(2) != smi.Gauge32(0) {
		t.Error(r.value(0), r.value(1), r.value(2))
	}
}

func TestTextsAreCutAtACharacter(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("a", 255), strings.Repeat("a", 256), strings.Repeat("中", 200), strings.Repeat("\xff", 300)} {
		got := text(s).Str
		if len(got) > 255 || !strings.HasPrefix(s, got) || utf8.ValidString(s) && !utf8.ValidString(got) || len(s) > 255 && len(got) < 252 {
			t.Errorf("%.20q… of %d octets became %d octets", s, len(s), len(got))
		}
	}
}

func TestDateAndTime(t *testing.T) {
	var c clock
	for _, want := range []time.Time{
		time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(2024, 2, 29, 23, 59, 59, 900_000_000, time.UTC), time.Date(2026, 11, 20, 8, 15, 0, 0, time.UTC),
	} {
		d := c.date(want.UnixMicro()).Str
		got := time.Date(int(d[0])<<8|int(d[1]), time.Month(d[2]), int(d[3]), int(d[4]), int(d[5]), int(d[6]), int(d[7])*1e8, time.UTC)
		if len(d) != 11 || !got.Equal(want) || d[8:] != "+\x00\x00" {
			t.Errorf("%v became %q", want, d)
		}
	}
	for range 3000 {
		if got := c.date(now0).Str; got != "\x07\xea\x0b\x14\x08\x0f\x00\x00+\x00\x00" {
			t.Fatalf("%q", got)
		}
	}
}
