// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// restoredFrom returns a Merger that goes on where another one is.
func restoredFrom(t *testing.T, m *Merger, share Share, before, now int64) *Merger {
	t.Helper()
	m.Tick(now)
	state, err := new(saver).save(m)
	if err != nil {
		t.Fatal(err)
	}
	next := NewMerger(Rules{CountedBefore: before}, now)
	if err := next.restore(state, &Config{Share: share, PNML: pnmlLimits()}, now); err != nil {
		t.Fatal(err)
	}
	return next
}

// restart has the collector of a world go on in another process, while the
// network goes on. The reference forgets what it knew of rows that were not
// shown yet.
func (w *world) restart() {
	w.compare() // as of now: what is silent for too long has left
	w.m = restoredFrom(w.t, w.m, Share{}, 0, w.now)
	if _, err := w.m.Define("d", lineNet("n", worldRows, worldRows), w.now); err != nil {
		w.t.Fatal(err)
	}
	w.ref.dropped = 0
	for _, s := range w.ref.sources {
		for _, p := range s.processes {
			p.heard = map[int]bool{}
		}
	}
}

// A collector that starts again at any moment shows what it would have shown,
// had it run on.
func TestMergerThatStartsAgainAgreesWithTheReference(t *testing.T) {
	worlds := 100
	if testing.Short() {
		worlds = 20
	}
	for seed := range uint64(worlds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			w.plain = true
			for range 400 {
				if w.r.IntN(20) == 0 {
					w.restart()
				}
				w.step()
			}
		})
	}
}

// Where a source has several processes, a collector that starts again may have
// forgotten what the older ones counted. It counts nothing twice, and no counter
// falls.
func TestMergerThatStartsAgainCountsNothingTwice(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			w.unchecked = true
			for range 400 {
				if w.r.IntN(20) == 0 {
					w.m = restoredFrom(t, w.m, Share{}, 0, w.now)
					if _, err := w.m.Define("d", lineNet("n", worldRows, worldRows), w.now); err != nil {
						t.Fatal(err)
					}
				}
				w.step()
				w.neverTwice()
			}
		})
	}
}

// Everything of the rows is kept, whatever the clocks of the sources.
func TestStateKeepsAllRows(t *testing.T) {
	const places, transitions, now = 4, 3, t0 + 5e6
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 8))
		var all []*telemetry.Snapshot
		for i := range 1 + r.IntN(8) {
			skew := []int64{0, r.Int64N(1e5), -7200e6, 40 * stats.SlotWidth}[r.IntN(4)]
			msg := wired(t, randomSource(r, fmt.Sprint("engine", i), places, transitions, now-r.Int64N(2e5)+skew))
			msg.Bye = r.IntN(5) == 0
			all = append(all, msg)
		}
		m := NewMerger(Rules{}, now)
		if _, err := m.Define(benchDigest, lineNet("n", places, transitions), now); err != nil {
			t.Fatal(err)
		}
		for _, msg := range all {
			if _, err := m.Take(msg, 0, now); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := m.Tick(now)
		after, _ := restoredFrom(t, m, Share{}, 0, now).Tick(now)
		want := *before.Nets[0].Rows // but who was slowest: that was told
		for i := range want.Places {
			want.Places[i].Slowest = stats.Slowest{}
		}
		for i := range want.Transitions {
			want.Transitions[i].Slowest = stats.Slowest{}
		}
		equalRows(t, seed, &want, after.Nets[0].Rows)
		if d := cmp.Diff(before.Nets[0].Since, after.Nets[0].Since); d != "" {
			t.Errorf("since (-before +after):\n%s", d)
		}
		if d := cmp.Diff(before.Nets[0].Up, after.Nets[0].Up); d != "" {
			t.Errorf("sources up (-before +after):\n%s", d)
		}
	}
}

// Rows that do not fit one message are kept in parts.
func TestStateOfALargeNet(t *testing.T) {
	const places, transitions = 6000, 10
	r := rand.New(rand.NewPCG(1, 1))
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", places, transitions), t0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Take(randomSource(r, "a", places, transitions, t0), 0, t0); err != nil {
		t.Fatal(err)
	}
	before, _ := m.Tick(t0)
	after, _ := restoredFrom(t, m, Share{}, 0, t0).Tick(t0)
	want, got := before.Nets[0].Rows, after.Nets[0].Rows
	for i := range want.Places {
		want.Places[i].Slowest = stats.Slowest{}
		if !want.Places[i].Equal(&got.Places[i]) {
			t.Fatalf("place %d: %+v, want %+v", i, got.Places[i], want.Places[i])
		}
	}
}

// What leaves the share keeps its counters and loses its tokens; what comes
// into it counts from where it is first heard, and in full once it starts anew.
func TestSourcesThatMoveBetweenSharesCountOnce(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define("d", lineNet("n", worldRows, worldRows), t0); err != nil {
		t.Fatal(err)
	}
	var stays, leaves string
	share := Share{Index: 1, Count: 2}
	for i := 0; stays == "" || leaves == ""; i++ {
		if name := fmt.Sprint("e", i); share.Has("n", name) {
			stays = name
		} else {
			leaves = name
		}
	}
	var e engine
	say := func(m *Merger, name string, epoch, now int64, firings uint64, seq uint64) {
		t.Helper()
		e.start(name, epoch, worldRows)
		e.msg.Seq, e.msg.SentAt = seq, now
		e.msg.Rows.Transitions[0].Firings, e.msg.Rows.Places[0].Tokens = firings, 1
		if _, err := m.Take(&e.msg, 0, now); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(m *Merger, now int64, firings, tokens uint64) {
		t.Helper()
		view, _ := m.Tick(now)
		if r := view.Nets[0].Rows; r.Transitions[0].Firings != firings || r.Places[0].Tokens != tokens {
			t.Errorf("%d firings and %d tokens, want %d and %d", r.Transitions[0].Firings, r.Places[0].Tokens, firings, tokens)
		}
	}
	const later = t0 + 1e6
	say(m, stays, t0, t0, 10, 1)
	say(m, leaves, t0, t0, 100, 1)
	shows(m, t0, 110, 2)
	next := restoredFrom(t, m, share, later, later)
	if _, err := next.Define("d", lineNet("n", worldRows, worldRows), t0); err != nil {
		t.Fatal(err)
	}
	shows(next, later, 110, 1)
	say(next, stays, t0, later, 12, 5)
	shows(next, later, 112, 1)
	// It comes back after another collector had it.
	back := restoredFrom(t, next, Share{}, later+1e6, later+1e6)
	if _, err := back.Define("d", lineNet("n", worldRows, worldRows), t0); err != nil {
		t.Fatal(err)
	}
	say(back, leaves, t0, later+1e6, 170, 7)
	shows(back, later+1e6, 112, 2)
	say(back, leaves, t0, later+2e6, 171, 8)
	shows(back, later+2e6, 113, 2)
	say(back, leaves, later+3e6, later+3e6, 7, 1)
	shows(back, later+3e6, 120, 2)
	say(back, "new", later+4e6, later+4e6, 5, 1)
	shows(back, later+4e6, 125, 3)
}

func TestUnreadableStateIsRefused(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", 2, 2), t0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Take(randomSource(rand.New(rand.NewPCG(1, 1)), "a", 2, 2, t0), 0, t0); err != nil {
		t.Fatal(err)
	}
	m.Tick(t0)
	state, err := new(saver).save(m)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{
		"cut":             state[:len(state)-1],
		"unknown record":  append([]byte{'?', 0}, state...),
		"without a net":   {recordPast, 0},
		"without a sum":   state[:len(state)-len(state[indexOfSum(t, state):])],
		"ends in a part":  append(append([]byte{}, state...), recordMore),
		"length too long": {recordNet, 0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		if err := NewMerger(Rules{}, t0).restore(bad, &Config{PNML: pnmlLimits()}, t0); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// indexOfSum is where the record of the first net's sum begins.
func indexOfSum(t *testing.T, state []byte) int {
	t.Helper()
	r := stateReader{rest: state}
	if err := r.next(); err != nil {
		t.Fatal(err)
	}
	return len(state) - len(r.rest)
}

func FuzzState(f *testing.F) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", 2, 2), t0); err != nil {
		f.Fatal(err)
	}
	if _, err := m.Take(randomSource(rand.New(rand.NewPCG(1, 1)), "a", 2, 2, t0), 0, t0); err != nil {
		f.Fatal(err)
	}
	m.Tick(t0)
	state, err := new(saver).save(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(state)
	f.Fuzz(func(_ *testing.T, state []byte) {
		m := NewMerger(Rules{}, t0)
		_ = m.restore(state, &Config{Share: Share{Index: 1, Count: 2}, PNML: pnmlLimits()}, t0)
		m.Tick(t0)
		_, _ = new(saver).save(m)
	})
}

// BenchmarkState is what a collector of so many sources with 50 + 50 rows takes:
// to take a message of each and make the View (the base), and beside that to make
// the whole state, or what is shown alone. A state is made so seldom that it takes
// saveRate bytes a second: s/state is how often.
func BenchmarkState(b *testing.B) {
	for _, sources := range []int{100, 10_000} {
		messages, merger := benchFleet(b, sources)
		b.Run(fmt.Sprintf("%d_sources/take_and_view", sources), func(b *testing.B) {
			for seq := uint64(2); b.Loop(); seq++ {
				now := t0 + int64(seq)*1e6
				for i := range messages {
					messages[i].Seq, messages[i].SentAt = seq, now
					if _, err := merger.Take(&messages[i], 0, now); err != nil {
						b.Fatal(err)
					}
				}
				merger.Tick(now)
			}
		})
		var k saver
		for name, save := range map[string]func(*Merger) ([]byte, error){"state": k.save, "shown": k.shown} {
			b.Run(fmt.Sprintf("%d_sources/%s", sources, name), func(b *testing.B) {
				bytes := 0
				for b.Loop() {
					state, err := save(merger)
					if err != nil {
						b.Fatal(err)
					}
					bytes = len(state)
				}
				b.ReportMetric(float64(bytes), "bytes")
				if name == "state" {
					b.ReportMetric(max(1, float64(bytes)/saveRate), "s/state")
				}
			})
		}
	}
}

// benchFleet returns a message of each source, and a Merger that took them.
func benchFleet(b *testing.B, sources int) ([]telemetry.Snapshot, *Merger) {
	tr := newTraffic(sources, 50, 50, 4, 4)
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", 50, 50), t0); err != nil {
		b.Fatal(err)
	}
	m.limits.AllRows, m.limits.Sources = 1<<30, 1<<30
	var d telemetry.Decoder
	messages := make([]telemetry.Snapshot, sources)
	for i := range messages {
		if err := d.Decode(tr.next(), &messages[i]); err != nil {
			b.Fatal(err)
		}
		messages[i] = *clone(&messages[i])
		if _, err := m.Take(&messages[i], 0, messages[i].SentAt); err != nil {
			b.Fatal(err)
		}
	}
	m.Tick(t0 + 1e6)
	return messages, m
}
