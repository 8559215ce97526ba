// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// restoredFrom returns a Merger that continues from the state of another one.
func restoredFrom(t *testing.T, m *Merger, share Share, before, now int64) *Merger {
	t.Helper()
	m.Tick(now)
	state, err := new(Saver).save(m)
	if err != nil {
		t.Fatal(err)
	}
	next := NewMerger(Rules{CountedBefore: before}, now)
	if err := next.Restore([][]byte{state}, Admission{Share: share, PNML: pnmlLimits()}, now); err != nil {
		t.Fatal(err)
	}
	return next
}

// save returns the whole state as of the last tick: the first frame of a log.
func (k *Saver) save(m *Merger) ([]byte, error) {
	k.nets = nil
	f, err := k.frame(m, true)
	return f.Records, err
}

// frame returns the next frame.
func (k *Saver) frame(m *Merger, all bool) (Frame, error) {
	v := k.Begin(m, all)
	if v == nil {
		return Frame{}, nil
	}
	for v.Piece() {
	}
	return v.Frame()
}

// keptLog is a log as a process keeps it.
type keptLog struct {
	saver  Saver
	frames [][]byte
	bytes  int // of all frames ever
}

// keep adds the next frame to the log. It has room for the rows of a few sources.
func (l *keptLog) keep(t *testing.T, m *Merger, all bool) {
	t.Helper()
	l.saver.few = 1
	f, err := l.saver.frame(m, all)
	if err != nil {
		t.Fatal(err)
	}
	if f.First {
		l.frames = nil
	}
	if len(f.Records) > 0 {
		l.frames, l.bytes = append(l.frames, f.Records), l.bytes+len(f.Records)
	}
}

// restart continues the collector of a world in another process, while the network
// continues to deliver. The reference drops rows that were not shown yet.
func (w *world) restart() {
	w.compare() // as of now: what is silent for too long has left
	w.m = restoredFrom(w.t, w.m, Share{}, 0, w.now)
	if _, err := w.m.Define("d", lineNet("n", worldRows, worldRows), w.now); err != nil {
		w.t.Fatal(err)
	}
	w.ref.dropped = 0
	for _, s := range w.ref.sources {
		for _, p := range s.processes {
			p.received = map[int]bool{}
		}
	}
}

// A collector that starts again at any moment shows what it would have shown,
// had it run on.
func TestMergerThatStartsAgainAgreesWithTheReference(t *testing.T) {
	for seed := range seeds.Of(10, 100, 71, 33, 88, 37, 17, 13, 39, 55) {
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
// falls: neither from a whole state, nor from a log with what its frames had time for.
//
//promise:counters stop none
func TestMergerThatStartsAgainCountsNothingTwice(t *testing.T) {
	for seed := range seeds.Of(10, 60, 27, 33, 31, 15, 19, 54, 13, 17) {
		for _, rounds := range []bool{false, true} {
			t.Run(fmt.Sprint("seed ", seed, " from a log ", rounds), func(t *testing.T) {
				w := newWorld(t, seed)
				w.unchecked = true
				var log keptLog
				for range 400 {
					if rounds {
						w.m.Tick(w.now)
						log.keep(t, w.m, false)
					}
					if w.r.IntN(20) == 0 {
						w.m.Tick(w.now)
						if !rounds {
							log = keptLog{}
						}
						log.keep(t, w.m, !rounds)
						if len(log.frames) == 0 {
							t.Fatal("no frame")
						}
						w.m = restoredFromLog(t, log.frames, w.now)
						log = keptLog{}
					}
					w.step()
					w.neverTwice()
				}
			})
		}
	}
}

// restoredFromLog returns a Merger that continues from a log.
func restoredFromLog(t *testing.T, frames [][]byte, now int64) *Merger {
	t.Helper()
	m := NewMerger(Rules{}, now)
	if err := m.Restore(frames, Admission{PNML: pnmlLimits()}, now); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Define("d", lineNet("n", worldRows, worldRows), now); err != nil {
		t.Fatal(err)
	}
	return m
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
		want := *before.Nets[0].Rows // except the slowest instances, which a state does not hold
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

// Rows that do not fit one message are kept in parts: as many as are needed, of
// places and of transitions, of sums and of sources that others come behind.
func TestStateOfALargeNet(t *testing.T) {
	const places, transitions, now = 9000, 9000, t0 + 1e6
	r := rand.New(rand.NewPCG(1, 1))
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", places, transitions), t0); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "gone", "z"} {
		msg := randomSource(r, name, places, transitions, now)
		msg.Bye = name == "gone"
		if _, err := m.Take(msg, 0, now); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := m.Tick(now)
	state, err := new(Saver).save(m)
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for rest := ofEarlier(t, state); len(rest) > 0; { // as the head of save.go says
		record := rest[0]
		rest = rest[1:]
		if record == recordMore {
			parts++
			continue
		}
		size, n := binary.Uvarint(rest)
		if record != recordNet && size > telemetry.MaxMessage+1024 {
			t.Errorf("a record of %d bytes", size)
		}
		rest = rest[n+int(size):]
	}
	if parts < 4 {
		t.Errorf("%d records are followed by others of the same, which is too few to prove anything", parts)
	}
	next := restoredFrom(t, m, Share{}, 0, now)
	after, _ := next.Tick(now)
	want, got := before.Nets[0].Rows, after.Nets[0].Rows
	for i := range want.Places {
		want.Places[i].Slowest = stats.Slowest{}
		if !want.Places[i].Equal(&got.Places[i]) {
			t.Fatalf("place %d: %+v, want %+v", i, got.Places[i], want.Places[i])
		}
	}
	for i := range want.Transitions {
		want.Transitions[i].Slowest = stats.Slowest{}
		if !want.Transitions[i].Equal(&got.Transitions[i]) {
			t.Fatalf("transition %d: %+v, want %+v", i, got.Transitions[i], want.Transitions[i])
		}
	}
	if d := cmp.Diff(states(before), states(after)); d != "" {
		t.Errorf("(-before +after)\n%s", d)
	}
	for _, s := range next.nets["n"].order { // each has what is its own
		if d := cmp.Diff(m.nets["n"].sources[s.name].rows.Rest().Net, s.rows.Rest().Net); d != "" {
			t.Errorf("%s (-before +after)\n%s", s.name, d)
		}
	}
}

// A row that fits no message cannot be kept: its net is left out and named, and
// the others are kept.
func TestRowThatCannotBeKept(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	for _, name := range []string{"n", "other"} {
		if _, err := m.Define(name, lineNet(name, 1, 1), t0); err != nil {
			t.Fatal(err)
		}
		var e engine
		e.start("e", t0, 1)
		e.msg.Net, e.msg.Digest, e.msg.Seq, e.msg.SentAt = name, name, 1, t0
		if _, err := m.Take(&e.msg, 0, t0); err != nil {
			t.Fatal(err)
		}
	}
	m.Tick(t0)
	long := strings.Repeat("x", telemetry.MaxMessage)
	s := m.nets["n"].sources["e"]
	s.rows.SetPlace(0, &stats.Place{Stuck: []stats.Token{{Instance: long, Injected: t0}}})
	s.columns |= stats.ColStuck
	state, err := new(Saver).save(m)
	if err == nil || !strings.Contains(err.Error(), `net "n"`) || !strings.Contains(err.Error(), `row 0 of source "e"`) {
		t.Errorf("got error %v; want one that names the net, the row and the source", err)
	}
	nets, err := readState(state)
	if err != nil || len(nets) != 1 || nets[0].ID != "other" || len(nets[0].sources) != 1 {
		t.Errorf("%d nets, %v", len(nets), err)
	}
}

// The same holds for rows of a process that another one of its source follows.
func TestRowOfAnEarlierProcessThatCannotBeKept(t *testing.T) {
	m := firedBy(t, "a")
	if _, err := m.Take(fired("a", t0+1, t0, 1, 1, 0), 0, t0); err != nil {
		t.Fatal(err)
	}
	m.Tick(t0)
	aside := m.nets["n"].aside[0]
	aside.rows.SetPlace(0, &stats.Place{Stuck: []stats.Token{{Instance: strings.Repeat("x", telemetry.MaxMessage), Injected: t0}}})
	aside.columns |= stats.ColStuck
	state, err := new(Saver).save(m)
	if err == nil || !strings.Contains(err.Error(), `net "n"`) || !strings.Contains(err.Error(), `row 0 of source "a"`) {
		t.Errorf("%v; want why the net is left out", err)
	}
	if nets, err := readState(state); err != nil || len(nets) != 0 {
		t.Errorf("%d nets, %v; want that the net is left out", len(nets), err)
	}
}

// A source that leaves the share keeps its counters and loses its tokens. A source
// that joins counts from its first message here, and in full after its restart.
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

// record is one of a state, for tests that put them together.
type record struct {
	kind    byte
	payload []byte
}

// BenchmarkState measures a collector of sources with 50 + 50 rows that all change each second:
// taking a message of each and making the View (the base), making the whole state, and making the
// frame of a second. A frame is made in pieces, between which messages are processed.
func BenchmarkState(b *testing.B) {
	for _, sources := range []int{100, 10_000} {
		messages, merger := benchFleet(b, sources)
		seq := uint64(2)
		second := func() {
			now := t0 + int64(seq)*1e6
			for i := range messages {
				messages[i].Seq, messages[i].SentAt = seq, now
				messages[i].Rows.Transitions[0].Firings = seq * 1000
				if _, err := merger.Take(&messages[i], 0, now); err != nil {
					b.Fatal(err)
				}
			}
			merger.Tick(now)
			seq++
		}
		b.Run(fmt.Sprintf("%d_sources/take_and_view", sources), func(b *testing.B) {
			for b.Loop() {
				second()
			}
		})
		var k Saver
		pieces := func(b *testing.B, begin func() *Saving) {
			var bytes int
			var pieces []time.Duration // for which nothing is taken in
			for b.Loop() {
				v := begin()
				for more := true; more; {
					begun := time.Now()
					more = v.Piece()
					pieces = append(pieces, time.Since(begun))
				}
				f, err := v.Frame()
				if err != nil {
					b.Fatal(err)
				}
				bytes = len(f.Records)
			}
			b.ReportMetric(float64(bytes), "bytes")
			slices.Sort(pieces)
			for _, q := range []int{50, 99} {
				b.ReportMetric(float64(pieces[(len(pieces)-1)*q/100].Microseconds())/1e3, fmt.Sprintf("ms/piece%d%%", q))
			}
			b.ReportMetric(float64(len(pieces))/float64(b.N), "pieces")
		}
		b.Run(fmt.Sprintf("%d_sources/state", sources), func(b *testing.B) {
			pieces(b, func() *Saving { k.nets = nil; return k.Begin(merger, true) })
		})
		b.Run(fmt.Sprintf("%d_sources/second", sources), func(b *testing.B) {
			pieces(b, func() *Saving {
				b.StopTimer()
				defer b.StartTimer()
				second()
				k.size = 0 // never begin again
				return k.Begin(merger, false)
			})
		})
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

// fired is a message of a source of the net "n" that fired so often.
func fired(name string, epoch, now int64, seq, firings uint64, columns stats.Columns) *telemetry.Snapshot {
	var e engine
	e.start(name, epoch, 1)
	e.msg.Seq, e.msg.SentAt = seq, now
	e.msg.Rows.Columns |= columns
	e.msg.Rows.Transitions[0].Firings = firings
	if columns.Has(stats.ColFailures) {
		e.msg.Rows.Transitions[0].Failures = 1
	}
	return &e.msg
}

// firedBy returns a Merger that received sources with 10 firings each; only the
// first one reports failures.
func firedBy(t *testing.T, names ...string) *Merger {
	t.Helper()
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		columns := stats.Columns(0)
		if i == 0 {
			columns = stats.ColFailures
		}
		if _, err := m.Take(fired(name, t0, t0, 1, 10, columns), 0, t0); err != nil {
			t.Fatal(err)
		}
	}
	m.Tick(t0)
	return m
}

func keptBy(t *testing.T, m *Merger) []byte {
	t.Helper()
	state, err := new(Saver).save(m)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// Columns of counters stay known when the only source that knew them has left the
// share, or finds no room; so do the counters, and what it does next counts once.
func TestSourceThatCannotBeTakenKeepsItsCounters(t *testing.T) {
	share := Share{Index: 1, Count: 2}
	var names []string // the first one is not in the share
	for i := 0; len(names) < 2; i++ {
		if name := fmt.Sprint("e", i); share.Has("n", name) == (len(names) == 1) {
			names = append(names, name)
		}
	}
	state := keptBy(t, firedBy(t, names...))
	for what, c := range map[string]struct {
		rules Rules
		share Share
	}{
		"it left the share": {Rules{}, share},
		"there is no room":  {Rules{Limits: Limits{Sources: 1}}, Share{}},
	} {
		m := NewMerger(c.rules, t0)
		if err := m.Restore([][]byte{state}, Admission{PNML: pnmlLimits(), Share: c.share}, t0); err != nil {
			t.Fatal(err)
		}
		view, _ := m.Tick(t0)
		rows := view.Net("n").Rows
		if len(view.Sources) != 1 || rows.Transitions[0].Firings != 20 || !rows.Columns.Has(stats.ColFailures|stats.ColFirings) || rows.Transitions[0].Failures != 1 {
			t.Errorf("%s: %d sources, %+v", what, len(view.Sources), rows)
		}
	}
	// The one without room has room in the next process.
	m := NewMerger(Rules{Limits: Limits{Sources: 1}}, t0)
	if err := m.Restore([][]byte{state}, Admission{PNML: pnmlLimits()}, t0); err != nil {
		t.Fatal(err)
	}
	m.Tick(t0)
	m = restoredFrom(t, m, Share{}, 0, t0)
	if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		for seq, done := range []uint64{13, 14} { // the 3 since are lost where its rows were
			if _, err := m.Take(fired(name, t0, t0+1e6, uint64(5+seq), done, 0), 0, t0+1e6); err != nil {
				t.Fatal(i, err)
			}
		}
	}
	if view, _ := m.Tick(t0 + 1e6); view.Net("n").Rows.Transitions[0].Firings != 20+4+1 {
		t.Errorf("%d firings", view.Net("n").Rows.Transitions[0].Firings)
	}
}

// A process that began while other collectors may have counted its source counts
// from its first message here, also if the source is known from before.
func TestKnownSourceOfAnotherShareCountsFromHere(t *testing.T) {
	const before = t0 + 60e6
	for epoch, want := range map[int64]uint64{before: 10, before + 1: 17} {
		m := restoredFrom(t, firedBy(t, "a"), Share{}, before, before)
		if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Take(fired("a", epoch, before+2e6, 9, 7, 0), 0, before+2e6); err != nil {
			t.Fatal(err)
		}
		if view, _ := m.Tick(before + 2e6); view.Net("n").Rows.Transitions[0].Firings != want {
			t.Errorf("%d firings, want %d", view.Net("n").Rows.Transitions[0].Firings, want)
		}
	}
}

// A net for which there is no room by the limits of now makes the state unusable.
func TestStateBeyondTheLimitsIsRefused(t *testing.T) {
	state := keptBy(t, firedBy(t, "a"))
	m := NewMerger(Rules{Limits: Limits{Rows: 1}}, t0)
	if err := m.Restore([][]byte{state}, Admission{PNML: pnmlLimits()}, t0); !errors.Is(err, ErrState) {
		t.Errorf("got error %v; want ErrState", err)
	}
}
