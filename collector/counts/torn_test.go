// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
)

// promise is what a log of that many bytes has to have: the numbers of rows of the net, added up by
// hand over all sources, and of those that have ended.
type promise struct {
	bytes int
	rows  *stats.Rows
}

// truth adds up what all processes did: counters of those that ended, all of the others.
func truth(ended *stats.Rows, f *fleet) *stats.Rows {
	sum := stats.NewRows(rowsOfEach, rowsOfEach)
	sum.Merge(ended)
	for _, msg := range f.msgs {
		if !msg.Bye {
			sum.Merge(&msg.Rows)
		}
	}
	sum.Columns = 0
	return sum
}

// end adds the counters of a process to those that ended, with its last message. Another process
// follows with the next message, and begins at zero.
func (f *fleet) end(i int, ended *stats.Rows) {
	f.t.Helper()
	msg := f.msgs[i]
	msg.Seq, msg.SentAt, msg.Bye = msg.Seq+1, f.now, true
	if _, err := f.m.Take(msg, 0, f.now); err != nil {
		f.t.Fatal(err)
	}
	for j := range rowsOfEach {
		p, tr := &msg.Rows.Places[j], &msg.Rows.Transitions[j]
		ended.Places[j].Merge(&stats.Place{Arrivals: p.Arrivals, Departures: p.Departures, LastInjection: p.LastInjection, Dwell: p.Dwell})
		ended.Transitions[j].Merge(&stats.Transition{Firings: tr.Firings, LastFiring: tr.LastFiring, Duration: tr.Duration})
	}
	next := *msg
	next.Epoch, next.Seq, next.Bye = f.now, 0, false
	next.Rows = *stats.NewRows(rowsOfEach, rowsOfEach)
	next.Rows.Columns = msg.Rows.Columns
	f.msgs[i] = &next
}

// sameRows compares rows as wholes: by their fields it takes ten times as long as all else here.
var sameRows = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b stats.Place) bool { return a.Equal(&b) }),
	cmp.Comparer(func(a, b stats.Transition) bool { return a.Equal(&b) })}

// A log that ends at any byte has exactly what was kept by the last whole frame: rows of sources that
// change, rest, end or begin again, whether their changes are kept as differences or as a whole.
//
//promise:damage power
//promise:counters power
func TestALogCutAnywhereHasWhatWasPromised(t *testing.T) {
	for seed := range seeds.Of(3, 60) {
		f := newFleet(t, 1+int(seed%4))
		f.r = rand.New(rand.NewPCG(seed, 5))
		ended := stats.NewRows(rowsOfEach, rowsOfEach)
		var promises []promise
		for range 30 {
			f.now += 1e6
			for i := range f.msgs {
				switch f.r.IntN(12) {
				case 0:
					f.end(i, ended)
					fallthrough // its next process sends its first message
				case 1, 2, 3, 4, 5:
					f.work(f.msgs[i], f.r.IntN(rowsOfEach))
				case 6, 7, 8, 9:
					f.work(f.msgs[i], f.r.IntN(3))
				}
				msg := f.msgs[i]
				msg.Seq, msg.SentAt = msg.Seq+1, f.now
				if _, err := f.m.Take(msg, 0, f.now); err != nil {
					t.Fatal(err)
				}
			}
			f.keep(false)
			promises = append(promises, promise{int(f.dir.log.size), truth(ended, f)})
		}
		text, err := os.ReadFile(f.dir.path(stateFile))
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(text)) != f.dir.log.size {
			t.Fatalf("%d bytes; want %d", len(text), f.dir.log.size)
		}
		for range 40 {
			n := promises[0].bytes + f.r.IntN(len(text)-promises[0].bytes+1)
			last := promises[0]
			for _, p := range promises {
				if p.bytes <= n {
					last = p
				}
			}
			if d := cmp.Diff(last.rows, f.restored(text[:n]), sameRows); d != "" {
				t.Fatalf("seed %d, %d bytes of %d (-promised +restored):\n%s", seed, n, len(text), d)
			}
		}
	}
}

// restored returns the rows that the next process shows from the file, without columns.
func (f *fleet) restored(text []byte) *stats.Rows {
	f.t.Helper()
	k, _, err := parse(text)
	if err != nil {
		f.t.Fatal(err)
	}
	m := merge.NewMerger(merge.Rules{}, f.now)
	if err := m.Restore(k.frames, merge.Admission{}, f.now); err != nil {
		f.t.Fatal(err)
	}
	m.Begin(f.now)
	view, _ := m.Tick(f.now)
	rows := *view.Nets[0].Rows
	rows.Columns = 0
	for i := range rows.Places {
		rows.Places[i].Slowest = stats.Slowest{}
	}
	for i := range rows.Transitions {
		rows.Transitions[i].Slowest = stats.Slowest{}
	}
	return &rows
}
