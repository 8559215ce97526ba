// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// fleet is a set of engines and a collector that is killed now and then. Its log has what was
// shown, and of the engines what the rounds had time for.
type fleet struct {
	t       *testing.T
	r       *rand.Rand
	now     int64
	rows    int
	m       *Merger
	log     keptLog
	last    *stats.Rows // that were shown
	engines []*engine
	past    stats.Rows // what processes of engines did that have ended
}

func newFleet(t *testing.T, seed uint64, engines int) *fleet {
	f := &fleet{t: t, r: rand.New(rand.NewPCG(seed, 14)), now: t0, rows: 3, past: *stats.NewRows(3, 3)}
	f.m = f.merger()
	for i := range engines {
		e := &engine{}
		e.start(fmt.Sprint("e", i), f.now+1, f.rows)
		e.msg.Rows.Columns |= stats.ColDwell
		f.engines = append(f.engines, e)
	}
	return f
}

func (f *fleet) merger() *Merger {
	m := NewMerger(Rules{}, f.now)
	if _, err := m.Define("d", lineNet("n", f.rows, f.rows), f.now); err != nil {
		f.t.Fatal(err)
	}
	return m
}

// second makes the engines fire, and passes their messages to the collector if
// there is one.
func (f *fleet) second(received bool) {
	f.now += 1e6
	for _, e := range f.engines {
		e.play(f.r)
		p := &e.msg.Rows.Places[f.r.IntN(f.rows)]
		p.Dwell.Observe(f.r.Int64N(1e8))
		if !received {
			e.msg.Seq++
			continue
		}
		if _, err := f.m.Take(e.all(f.now), 0, f.now); err != nil {
			f.t.Fatal(err)
		}
	}
}

// view makes a View, and keeps all or only what a frame has to have.
func (f *fleet) view(whole bool) *stats.Rows {
	f.t.Helper()
	view, _ := f.m.Tick(f.now)
	f.log.keep(f.t, f.m, whole)
	rows := view.Net("n").Rows
	f.noLess(rows)
	f.last = rows
	return rows
}

// noLess fails where a counter is less than it was shown.
func (f *fleet) noLess(rows *stats.Rows) {
	f.t.Helper()
	if f.last == nil {
		return
	}
	least := *rows
	least.Places, least.Transitions = append([]stats.Place{}, rows.Places...), append([]stats.Transition{}, rows.Transitions...)
	if least.Raise(f.last) {
		f.t.Fatalf("(-shown +now)\n%s", cmp.Diff(countersOf(f.last), countersOf(rows)))
	}
}

// kill starts another process from what was kept.
func (f *fleet) kill() {
	f.m = NewMerger(Rules{}, f.now)
	cfg := Admission{PNML: pnmlLimits()}
	if err := f.m.Restore(f.log.frames, cfg, f.now); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.m.Define("d", lineNet("n", f.rows, f.rows), f.now); err != nil {
		f.t.Fatal(err)
	}
	f.m.Begin(f.now)
	f.log = keptLog{}
	view, _ := f.m.Tick(f.now)
	f.noLess(view.Net("n").Rows)
	if n := view.Net("n").Recalled; n != len(f.engines) {
		f.t.Fatalf("%d engines are recalled, of %d", n, len(f.engines))
	}
}

// truth is what all engines did.
func (f *fleet) truth() *stats.Rows {
	sum := stats.NewRows(f.rows, f.rows)
	sum.Merge(&f.past)
	for _, e := range f.engines {
		sum.Merge(&e.msg.Rows)
	}
	return countersOf(sum)
}

// No counter falls over a kill, whenever the last whole state was made; and all
// that running engines did is counted, once, in any number of kills.
//
//promise:counters kill none
func TestKilledCollectorContinuesFromWhatItShowed(t *testing.T) {
	for seed := range uint64(60) {
		f := newFleet(t, seed, 3)
		f.second(true)
		f.view(true)
		f.view(false)
		for range 12 {
			for range 1 + f.r.IntN(4) {
				f.second(true)
				f.view(f.r.IntN(4) == 0)
			}
			f.view(false)
			if f.r.IntN(2) == 0 {
				f.second(false)
			}
			f.kill()
			if f.r.IntN(2) == 0 { // before any engine is received
				f.view(f.r.IntN(2) == 0)
			}
		}
		f.second(true)
		got, want := countersOf(f.view(false)), f.truth()
		want.Columns = got.Columns
		for i := range want.Places {
			want.Places[i].LastInjection, got.Places[i].LastInjection = 0, 0
		}
		equalRows(t, seed, want, got)
	}
}

// An engine that ends together with the collector may take with it what it did
// since the last whole state; what was shown stays, and nothing counts twice.
func TestWhatWasShownOfAnEngineThatEndedStays(t *testing.T) {
	for seed := range uint64(40) {
		f := newFleet(t, seed, 2)
		f.second(true)
		f.view(true)
		f.view(false)
		for range 3 {
			f.second(true)
			f.view(false)
		}
		shown := *f.last
		f.kill()
		e := f.engines[0] // restarts, and the other engine sends nothing more
		f.past.Merge(&e.msg.Rows)
		e.start("e0", f.now, f.rows)
		e.msg.Rows.Columns |= stats.ColDwell
		f.past.Merge(&f.engines[1].msg.Rows)
		f.engines = f.engines[:1]
		for range 20 {
			f.second(true)
			f.view(f.r.IntN(3) == 0)
		}
		truth := f.truth()
		if least := *truth; least.Raise(countersOf(f.last)) {
			t.Fatalf("seed %d: shown is\n%+v\nbut done was\n%+v", seed, countersOf(f.last), truth)
		}
		if f.last.Transitions[0].Firings < shown.Transitions[0].Firings {
			t.Fatalf("seed %d: firings fell", seed)
		}
		if f.m.nets["n"].floor != nil && f.last.Transitions[0].Firings > shown.Transitions[0].Firings+100 {
			t.Fatalf("seed %d: the floor is not passed", seed)
		}
	}
}

// A net that came after the last whole state keeps its counters too.
func TestWhatWasShownOfANewNetStays(t *testing.T) {
	f := newFleet(t, 1, 1)
	f.second(true)
	f.view(true)
	if _, err := f.m.Define("later", lineNet("later", 1, 1), f.now); err != nil {
		t.Fatal(err)
	}
	var e engine
	e.start("e", f.now, 1)
	e.msg.Net, e.msg.Digest, e.msg.Seq, e.msg.SentAt = "later", "later", 1, f.now
	e.msg.Rows.Transitions[0].Firings = 7
	if _, err := f.m.Take(&e.msg, 0, f.now); err != nil {
		t.Fatal(err)
	}
	f.view(false)
	since := f.m.view.Net("later").Since
	f.now += 60e6
	f.kill()
	n := f.m.view.Net("later")
	if n == nil || n.Rows.Transitions[0].Firings != 7 || n.Since != since {
		t.Fatalf("got %+v; want 7 firings since %d", n, since)
	}
	if _, err := f.m.Define("later", lineNet("later", 1, 1), f.now); err != nil {
		t.Fatal(err)
	}
	for i, done := range []uint64{7, 9} { // its counters are known by its epoch: all of them count
		e.msg.Seq, e.msg.SentAt = uint64(60+i), f.now
		e.msg.Rows.Transitions[0].Firings = done
		if _, err := f.m.Take(&e.msg, 0, f.now); err != nil {
			t.Fatal(err)
		}
		if view, _ := f.m.Tick(f.now); view.Net("later").Rows.Transitions[0].Firings != done {
			t.Errorf("%d firings, want %d", view.Net("later").Rows.Transitions[0].Firings, done)
		}
	}
}

// A time in which there was no process is no silence of the sources.
func TestTimeWithoutAProcessIsNoSilence(t *testing.T) {
	f := newFleet(t, 1, 2)
	f.second(true)
	f.now += 2e6 // of silence
	f.view(true)
	f.view(false)
	f.now += 3600e6
	f.kill()
	look := func(want SourceState, what string) {
		t.Helper()
		view, _ := f.m.Tick(f.now)
		for _, s := range view.Sources {
			if s.State != want {
				t.Errorf("%s: %s is %v, want %v", what, s.Name, s.State, want)
			}
		}
	}
	receives := func(until int64) {
		f.now = until
		f.m.ReceivedUntil(until, true)
	}
	began := f.now
	look(Up, "at once")
	receives(began + 3e6 + settle)
	look(Up, "while its connection may come back")
	receives(began + 3e6 + settle + 1)
	look(Stale, "after more")
	f.second(true)
	view, _ := f.m.Tick(f.now)
	if n := view.Net("n").Recalled; n != 0 {
		t.Errorf("%d are recalled once all are received", n)
	}
}

// The first message ever of a process has not been counted by any collector, whatever
// its clock says; of others only what comes after counts.
func TestOnlyProcessesThatRanBeforeCountFromHere(t *testing.T) {
	const began = t0 + 3600e6
	for _, c := range []struct {
		what       string
		epoch      int64
		seq        uint64
		first, all uint64 // that count of 10 firings, and of 15 then
	}{
		{"ran before", began - 5e6, 8, 0, 5},
		{"ran before, and is received from its first message on", began - 5e6, 1, 10, 15},
		{"started later, first received later", began + 5e6, 8, 10, 15},
		{"started later with a clock that is behind", began - 1800e6, 1, 10, 15},
	} {
		m := NewMerger(Rules{CountedBefore: began}, began)
		if _, err := m.Define("d", lineNet("n", 1, 1), began); err != nil {
			t.Fatal(err)
		}
		var e engine
		e.start("e", c.epoch, 1)
		for i, want := range []uint64{c.first, c.all} {
			e.msg.Seq, e.msg.SentAt = c.seq+uint64(i), began+6e6
			e.msg.Rows.Transitions[0].Firings = uint64(10 + 5*i)
			if _, err := m.Take(&e.msg, 0, began+6e6); err != nil {
				t.Fatal(err)
			}
			if view, _ := m.Tick(began + 6e6); view.Net("n").Rows.Transitions[0].Firings != want {
				t.Errorf("%s: %d firings, want %d", c.what, view.Net("n").Rows.Transitions[0].Firings, want)
			}
		}
	}
}

// all is a full message.
func (e *engine) all(now int64) *telemetry.Snapshot {
	e.msg.Seq++
	e.msg.SentAt = now
	return clone(&e.msg)
}

// A source that was silent for too long before the restart is so after it.
func TestStaleSourceStaysStale(t *testing.T) {
	f := newFleet(t, 1, 2)
	f.second(true)
	received := f.engines
	f.engines = f.engines[:1]
	for range 5 {
		f.second(true)
	}
	f.view(true)
	f.view(false)
	f.engines = received
	f.now += 60e6
	f.m = NewMerger(Rules{}, f.now)
	if err := f.m.Restore(f.log.frames, Admission{PNML: pnmlLimits()}, f.now); err != nil {
		t.Fatal(err)
	}
	f.m.Begin(f.now)
	view, _ := f.m.Tick(f.now)
	if got := states(view); got != "e0=up e1=stale" {
		t.Error(got)
	}
	if n := view.Net("n"); n.Recalled != 1 || n.Up != 1 || n.Stale != 1 {
		t.Errorf("%d recalled, %d up, %d stale", n.Recalled, n.Up, n.Stale)
	}
}
