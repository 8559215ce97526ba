// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// fleet is sources of one net, each of which sends a message a second, and a collector that keeps
// them in a directory.
type fleet struct {
	t    testing.TB
	r    *rand.Rand
	dir  *Dir
	m    *merge.Merger
	k    merge.Saver
	now  int64
	msgs []*telemetry.Snapshot
	disk counting
}

// counting counts the bytes that are written.
type counting struct {
	system
	written int64
	writes  int
}

func (c *counting) replace(path string, content []byte) error {
	c.written, c.writes = c.written+int64(len(content)), c.writes+1
	return c.system.replace(path, content)
}

func (c *counting) appendTo(path string) (file, error) {
	f, err := c.system.appendTo(path)
	return &countingFile{f, c}, err
}

type countingFile struct {
	file
	of *counting
}

func (f *countingFile) Write(p []byte) (int, error) {
	f.of.written, f.of.writes = f.of.written+int64(len(p)), f.of.writes+1
	return f.file.Write(p)
}

const rowsOfEach = 50 // places, and transitions

func newFleet(t testing.TB, sources int) *fleet {
	f := &fleet{t: t, r: rand.New(rand.NewPCG(1, 2)), now: first, m: merge.NewMerger(merge.Rules{}, first)}
	def := &petri.Net{ID: "orders"}
	for i := range rowsOfEach {
		def.Places = append(def.Places, petri.Place{ID: fmt.Sprint("p", i)})
		def.Transitions = append(def.Transitions, petri.Transition{ID: fmt.Sprint("t", i)})
	}
	var text bytes.Buffer
	if err := pnml.Write(&text, def); err != nil {
		t.Fatal(err)
	}
	if _, err := f.m.Define(telemetry.Digest(text.Bytes()), def, f.now); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.dir, err = Open(Config{Path: t.TempDir(), Log: slog.New(slog.DiscardHandler)}, first); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.dir.Close)
	f.dir.log.files = &f.disk
	for i := range sources {
		msg := &telemetry.Snapshot{Source: fmt.Sprint("engine-", i), Net: "orders", Digest: telemetry.Digest(text.Bytes()), Epoch: first - f.r.Int64N(1e9), Interval: time.Second,
			Full: true, Rows: *stats.NewRows(rowsOfEach, rowsOfEach)}
		msg.Rows.Columns = stats.AllColumns &^ (stats.ColStuck | stats.ColBlocks | stats.ColQueues)
		for range 40 { // engines that have run for a while
			f.work(msg, rowsOfEach)
		}
		f.msgs = append(f.msgs, msg)
	}
	return f
}

// work makes tokens pass some places and transitions of a source.
func (f *fleet) work(msg *telemetry.Snapshot, rows int) {
	for range rows {
		i := f.r.IntN(rowsOfEach)
		p, tr := &msg.Rows.Places[i], &msg.Rows.Transitions[i]
		n := uint64(1 + f.r.IntN(5))
		p.Arrivals, p.Tokens = p.Arrivals+n, p.Tokens+1
		p.Ages.Add(f.now-f.r.Int64N(6e8), f.now, 1)
		if p.Tokens > 8 {
			p.Departures, p.Tokens, p.Ages = p.Departures+p.Tokens, 0, stats.Ladder{}
		}
		p.Oldest, p.LastInjection = f.now-f.r.Int64N(1e8), f.now
		p.Injected = stats.TimeSum{Sec: p.Tokens * uint64(f.now/1e6)}
		p.Dwell.Observe(f.r.Int64N(1 << (10 + f.r.IntN(20))))
		tr.Firings, tr.LastFiring = tr.Firings+n, f.now
		tr.Duration.Observe(f.r.Int64N(1 << (8 + f.r.IntN(15))))
	}
}

// second makes some sources work, in some of their rows, and all send their messages. It keeps what
// changed.
func (f *fleet) second(working, rows int) {
	f.t.Helper()
	f.now += 1e6
	for i, msg := range f.msgs {
		if i < working {
			f.work(msg, rows)
		}
		msg.Seq, msg.SentAt = msg.Seq+1, f.now
		if _, err := f.m.Take(msg, 0, f.now); err != nil {
			f.t.Fatal(err)
		}
	}
	f.keep(false)
}

// keep makes a View and keeps what changed.
func (f *fleet) keep(all bool) {
	f.m.Tick(f.now)
	v := f.k.Begin(f.m, all)
	if v == nil {
		return
	}
	for v.Piece() {
	}
	frame, err := v.Frame()
	if err != nil {
		f.t.Fatal(err)
	}
	if len(frame.Records) > 0 {
		if err := f.dir.log.add(f.dir.head, frame); err != nil {
			f.t.Fatal(err)
		}
	}
}

// state returns the bytes of the whole state that an earlier release wrote a second: all of them, or
// 4 MiB.
func (f *fleet) state() int64 { return min(f.records(), 4<<20) }

// records returns the bytes of the whole state.
func (f *fleet) records() int64 {
	v := new(merge.Saver).Begin(f.m, true)
	for v.Piece() {
	}
	frame, err := v.Frame()
	if err != nil {
		f.t.Fatal(err)
	}
	return int64(len(frame.Records))
}

// cases are how many sources of a hundred work, in how many rows a second.
var cases = []struct {
	what          string
	working, rows int
	part          int64 // of the state is written at most each second; 0 for nothing at all
}{
	{"most rows of every source", 100, rowsOfEach, 20},
	{"a few rows of every source", 100, 2, 20},
	{"most rows of a few sources", 2, rowsOfEach, 80},
	{"no row", 0, 0, 0},
}

// What is written is a small part of the state, whichever rows change, also over the times at
// which a log begins again. Nothing is written while no row changes, although messages arrive, and
// nothing at rest.
func TestWhatIsWrittenIsWhatChanged(t *testing.T) {
	if racetest.UnderRace {
		t.Skip("counts bytes, for minutes with the race detector")
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			f := newFleet(t, 100)
			for range 75 { // until the net is settled, and all that began is kept
				f.second(c.working, c.rows)
			}
			f.disk.written, f.disk.writes = 0, 0
			const seconds = 36 // three rounds
			for range seconds {
				f.second(c.working, c.rows)
			}
			state, now := f.state(), f.disk.written/seconds
			t.Logf("%d bytes a second in %d writes; the state has %d", now, f.disk.writes, state)
			if c.part == 0 && f.disk.writes != 0 || c.part != 0 && now*c.part > state {
				t.Errorf("%d bytes a second in %d writes; want at most 1/%d of %d", now, f.disk.writes, c.part, state)
			}
			f.rests()
			f.restarts()
		})
	}
}

// rests lets all sources fall silent, which is kept. Then nothing is.
func (f *fleet) rests() {
	f.t.Helper()
	silence := func(seconds int) {
		for range seconds {
			f.now += 1e6
			f.keep(false)
		}
	}
	silence(40)
	f.disk.writes = 0
	silence(300)
	if f.disk.writes != 0 {
		f.t.Errorf("%d writes at rest", f.disk.writes)
	}
}

// restarts checks that the next process has the firings of all.
func (f *fleet) restarts() {
	f.t.Helper()
	k, err := readFile(f.dir.path(stateFile))
	if err != nil {
		f.t.Fatal(err)
	}
	next := merge.NewMerger(merge.Rules{}, f.now)
	if err := next.Restore(k.frames, merge.Admission{}, f.now); err != nil {
		f.t.Fatal(err)
	}
	view, _ := next.Tick(f.now)
	var firings, want uint64
	for i := range rowsOfEach {
		firings += view.Nets[0].Rows.Transitions[i].Firings
		for _, msg := range f.msgs {
			want += msg.Rows.Transitions[i].Firings
		}
	}
	if firings != want {
		f.t.Errorf("%d firings after a restart; want %d", firings, want)
	}
}

// BenchmarkWritten measures the bytes that 1,000 sources make a collector write in a second, beside
// those of an earlier release: at most 4 MiB.
func BenchmarkWritten(b *testing.B) {
	for _, c := range cases {
		b.Run(c.what, func(b *testing.B) {
			f := newFleet(b, 1000)
			for range 14 {
				f.second(10*c.working, c.rows)
			}
			f.disk.written = 0
			seconds := int64(0)
			for b.Loop() {
				f.second(10*c.working, c.rows)
				seconds++
			}
			b.ReportMetric(float64(f.disk.written/seconds), "bytes/s")
			b.ReportMetric(float64(f.state()), "bytes/s-before")
		})
	}
}

// beginsAgain makes a log begin again, and returns the bytes that this allocated.
func (f *fleet) beginsAgain() uint64 {
	f.k.Failed()
	f.now += 1e9
	f.m.Tick(f.now)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f.keep(false)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A log that begins again has the records of all sources in memory once, and once more as they are in
// the file; what is noted of each source is of one size.
func TestALogThatBeginsAgainCopiesNothing(t *testing.T) {
	if racetest.UnderRace {
		t.Skip("counts bytes")
	}
	const sources = 1000
	f := newFleet(t, sources)
	for range 3 {
		f.second(100, rowsOfEach)
	}
	f.beginsAgain() // from here on, its size is known
	records, file := f.records(), f.dir.log.size
	got := f.beginsAgain()
	most := uint64(1.2*float64(records+file)) + 1000*sources
	t.Logf("%d bytes for %d of records, %d in the file", got, records, file)
	if got > most {
		t.Errorf("%d bytes for %d of records, %d in the file; want at most %d", got, records, file, most)
	}
}
