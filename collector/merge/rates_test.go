// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// firing is a net with one transition, and what its rates become.
type firing struct {
	net    *NetView
	speed  speed
	rates  *Rates
	at     int64
	window int64
}

func stopped() *firing {
	return &firing{net: &NetView{Def: lineNet("n", 0, 1), Rows: stats.NewRows(0, 1), Since: t0}, at: t0, window: minWindow}
}

// see shows the net some time later. Rows that differ are others, as a Merger makes them.
func (f *firing) see(later time.Duration, firings uint64) {
	f.at += later.Microseconds()
	if firings != f.net.Rows.Transitions[0].Firings {
		rows := *f.net.Rows
		rows.Transitions = slices.Clone(rows.Transitions)
		rows.Transitions[0].Firings = firings
		f.net.Rows = &rows
	}
	f.rates = f.speed.update(f.net, f.at, f.window)
}

func (f *firing) firings() uint64 { return f.net.Rows.Transitions[0].Firings }

func newFiring() *firing {
	f := stopped()
	f.see(0, f.net.Rows.Transitions[0].Firings)
	return f
}

// run fires steadily for a time, seen every step.
func (f *firing) run(perSecond float64, step, d time.Duration) {
	start := f.net.Rows.Transitions[0].Firings
	for t := step; t <= d; t += step {
		f.see(step, start+uint64(math.Round(perSecond*t.Seconds())))
	}
}

func (f *firing) want(t *testing.T, what string, want [3]float64) {
	t.Helper()
	r := f.rates.Transitions[0]
	for i, got := range []float64{r.Min1, r.Min5, r.Min15} {
		if math.Abs(got-want[i]) > 0.01*math.Max(1, want[i]) {
			t.Errorf("%s: rate %d is %.3f, want %.3f", what, i, got, want[i])
		}
	}
	if f.rates.Firings != r {
		t.Errorf("%s: the net's rates are %v", what, f.rates.Firings)
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
		f.see(0, f.firings())
	}
	f.want(t, "read again", steady(100, time.Minute))
}

func TestACounterThatRestartsIsNoRate(t *testing.T) {
	for name, restart := range map[string]func(f *firing){
		"it fell":                  func(f *firing) { f.see(time.Second, 5) },
		"it began at another time": func(f *firing) { f.net.Since = f.at; f.see(time.Second, 1<<60) },
	} {
		f := newFiring()
		f.run(100, time.Second, 2*time.Hour)
		before := f.rates.Transitions[0]
		restart(f)
		before.Now = UnknownRate
		if f.rates.Transitions[0] != before {
			t.Errorf("%s: %v became %v", name, before, f.rates.Transitions[0])
		}
		f.run(100, time.Second, time.Hour)
		if got := f.rates.Transitions[0].Min1; math.Abs(got-100) > 1 {
			t.Errorf("%s: an hour later %v", name, got)
		}
	}
}

// What sources did while no sidecar ran is added to the counters as their messages
// arrive one after the other. It was not done in that second.
func TestWhatWasDoneBeforeTheStartIsNoRate(t *testing.T) {
	f := stopped()
	for _, recalled := range []int{2, 1, 0} {
		f.net.Recalled = recalled
		f.see(time.Second, f.firings()+1_000_000)
		if got := f.rates.Transitions[0].Now; got != UnknownRate {
			t.Errorf("with %d recalled: %v", recalled, got)
		}
	}
	f.want(t, "once all are received", [3]float64{})
	f.run(100, time.Second, time.Minute)
	f.want(t, "a minute later", steady(100, time.Minute))
	if got := f.rates.Transitions[0].Now; got != 100 {
		t.Errorf("a minute later: %v now, want 100", got)
	}
}

func TestATransitionThatJoinsStartsAtNothing(t *testing.T) {
	f := newFiring()
	f.run(10, time.Second, time.Minute)
	rows := *f.net.Rows
	rows.Transitions = append(slices.Clone(rows.Transitions), stats.Transition{Firings: 1 << 50})
	f.net.Rows = &rows
	f.see(time.Second, f.firings())
	if got := f.rates.Transitions[1]; got != (Rate{Now: UnknownRate}) {
		t.Errorf("rates %v", got)
	}
}

// A net without changes costs nothing and keeps its rates, and a net that
// continues after that has the same rates as before.
func TestANetWithoutFiringsKeepsItsRates(t *testing.T) {
	f := newFiring()
	f.run(1, time.Second, time.Minute)
	f.run(0, time.Second, 4*time.Hour)
	before := f.rates
	f.run(0, time.Second, time.Hour)
	if f.rates != before || f.rates.Transitions[0] != (Rate{}) {
		t.Errorf("%+v became %+v", before, f.rates)
	}
	f.see(time.Second, f.firings()+60)
	if r := f.rates.Transitions[0]; r.Now != 12 || math.Abs(r.Min1-60*(1-math.Exp(-1.0/60))) > 1e-3 {
		t.Errorf("after 60 firings in a second: %+v, want 12 a second over five seconds", r)
	}
}

// The clock of the machine may be set back.
func TestRatesContinueWhenTheClockIsSetBack(t *testing.T) {
	f := newFiring()
	f.run(100, time.Second, time.Minute)
	f.see(-time.Hour, f.firings()+100)
	if got := f.rates.Transitions[0]; got.Now != UnknownRate || got.Min1 < 50 {
		t.Errorf("got %+v; want an unknown rate now, and at least 50 over a minute", got)
	}
	f.run(100, time.Second, time.Hour)
	f.want(t, "an hour later", [3]float64{100, 100, 100 * (1 - math.Exp(-61.0/15))})
}

func TestAWindowIsAsLongAsItsSourcesNeed(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("order", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	firings, now := uint64(0), t0
	for seq := range uint64(9) { // every 10 seconds, so 5 seconds have either no message or the firings of ten seconds
		firings += 10
		msg := &telemetry.Snapshot{Source: "s", Net: "order", Digest: benchDigest, Epoch: t0, Seq: seq + 1, SentAt: now, Interval: 10 * time.Second,
			Full: true, Rows: *stats.NewRows(1, 1)}
		msg.Rows.Columns = stats.ColFirings | stats.ColArrivals
		msg.Rows.Transitions[0].Firings, msg.Rows.Places[0].Arrivals = firings, 2*firings
		if _, err := m.Take(msg, 1, now); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			now += 1e6
			view, _ := m.Tick(now)
			r := view.Nets[0].Rates
			if seq > 2 && (r.Transitions[0].Now < 0.8 || r.Transitions[0].Now > 1.5 || r.Arrivals[0] < 1.6 || r.Firings.Now != r.Transitions[0].Now) {
				t.Errorf("after %d messages: %+v, want about one firing and two arrivals a second", seq+1, r)
			}
			if seq > 0 && (view.MessageRate < 0 || view.MessageRate > 0.21) {
				t.Errorf("%v messages a second", view.MessageRate)
			}
		}
	}
}

func TestRatesAreOverTheLastSeconds(t *testing.T) {
	f := newFiring()
	for i := range 20 {
		n := uint64(10)
		if i >= 10 {
			n = 2
		}
		f.see(time.Second, f.firings()+n)
		want := map[int]float64{0: 10, 9: 10, 10: 8.4, 12: 5.2, 14: 2, 19: 2}[i]
		if got := f.rates.Transitions[0].Now; want != 0 && got != want {
			t.Errorf("after %d s the rate is %v, want %v", i+1, got, want)
		}
	}
	if len(f.speed.samples) > windowSamples+2 {
		t.Errorf("%d samples", len(f.speed.samples))
	}
}

// Two or three snapshots are in the window; with one of five seconds the rate
// would be 0 and twice too high by turns.
func TestTheWindowHoldsTwoIntervalsOfSlowSources(t *testing.T) {
	f := newFiring()
	f.window = 20e6
	for i := range 100 {
		n := uint64(0)
		if i%10 == 0 {
			n = 50
		}
		f.see(time.Second, f.firings()+n)
		if got := f.rates.Transitions[0].Now; i > 40 && (got < 4 || got > 7.5) {
			t.Errorf("after %d s the rate is %v, want about 5", i+1, got)
		}
		if len(f.speed.samples) > windowSamples+2 {
			t.Fatalf("%d samples", len(f.speed.samples))
		}
	}
}

// A counter that falls has no rate until the window is past it.
func TestACounterThatFallsHasNoRate(t *testing.T) {
	f := stopped()
	f.see(0, 100)
	f.see(time.Second, 3)
	for i := range 8 {
		want := float64(UnknownRate)
		if i >= 5 {
			want = 2
		}
		if got := f.rates.Transitions[0].Now; got != want {
			t.Errorf("%d s after it the rate is %v, want %v", i, got, want)
		}
		f.see(time.Second, f.firings()+2)
	}
	if got := RateBetween(100, 3, 1e6); got != UnknownRate {
		t.Errorf("between two moments it is %v", got)
	}
}

func TestRatesKeepFourDigits(t *testing.T) {
	for r, want := range map[float64]float64{0: 0, -1: 0, 0.123456: 0.1235, 1.00004: 1, 12345.6: 12350, 99999: 100000, 1e-7: 1e-7, 0.3: 0.3} {
		if got := rounded(r); got != want {
			t.Errorf("%v is rounded to %v, want %v", r, got, want)
		}
	}
}
