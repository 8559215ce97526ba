// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// A streak of refused messages is steady with its third message, if they came over an
// interval or more, and until it is over.
func TestAStreakIsSteadyOverAnInterval(t *testing.T) {
	const interval = int64(1e6)
	for _, c := range []struct {
		at   []int64
		now  int64
		want bool
	}{
		{[]int64{0, interval}, interval, false},
		{[]int64{0, interval / 2, interval}, interval, true},
		{[]int64{0, interval / 2, interval - 1}, interval, false},
		{[]int64{0, interval / 2, interval}, interval + patienceOf(interval), true},
		{[]int64{0, interval / 2, interval}, interval + patienceOf(interval) + 1, false},
		{[]int64{0, interval, interval + patienceOf(interval) + 1}, interval + patienceOf(interval) + 1, false}, // two streaks
	} {
		var s streak
		for _, at := range c.at {
			s.add(interval, t0+at)
		}
		if got := s.steady(t0 + c.now); got != c.want {
			t.Errorf("messages at %v: steady at %d is %v", c.at, c.now, got)
		}
	}
}

// A sum of injection times that tokens of that time or before can have stays; one
// beyond that is taken for the largest one.
func TestSumsOfTimesAreBoundedByTheLatest(t *testing.T) {
	latest := t0 / 1e6 * 1e6
	seconds := uint64(latest / 1e6)
	for _, c := range []struct{ tokens, sec, want uint64 }{
		{1, seconds, seconds}, {3, 3 * seconds, 3 * seconds}, {3, 3*seconds + 3, 3*seconds + 3},
		{3, 3*seconds + 4, 3*seconds + 3}, {0, 1, 0}, {1, 1 << 62, seconds + 1},
	} {
		if got := plausible(stats.TimeSum{Sec: c.sec}, c.tokens, latest); got != (stats.TimeSum{Sec: c.want}) {
			t.Errorf("%d tokens of %d s: %+v, want %d s", c.tokens, c.sec, got, c.want)
		}
	}
}

// Blocked instances and queues are bounded as all counts are, and the View that has
// them too is not changed.
func TestCountsOfListsAreBounded(t *testing.T) {
	const more = telemetry.MaxCount + 1
	blocks, queues := []stats.Block{{Instances: 3}, {Instances: more}}, []stats.Queue{{Ready: more, Served: more, QuoteSwitches: more}}
	rows := stats.Rows{Waiting: more, Blocks: blocks, Queues: queues}
	boundRows(&rows)
	if b, q := rows.Blocks, rows.Queues[0]; rows.Waiting != telemetry.MaxCount || b[0].Instances != 3 || b[1].Instances != telemetry.MaxCount ||
		q.Ready != telemetry.MaxCount || q.Served != telemetry.MaxCount || q.QuoteSwitches != telemetry.MaxCount {
		t.Errorf("got %+v; want every count at telemetry.MaxCount", rows)
	}
	if blocks[1].Instances != more || queues[0].Ready != more {
		t.Error("the rows that were bounded share lists with those of before, and changed them")
	}
}

// Times of another collector are moved by what its clock differs, and never beyond
// now nor before all time.
func TestTimesOfAnotherCollectorAreMoved(t *testing.T) {
	hour := time.Hour.Microseconds()
	for _, c := range []struct{ at, ahead, want int64 }{
		{t0 - 5, 0, t0 - 5}, {t0 - 5, clockSlack, t0 - 5}, {t0 - 5, hour, t0}, {t0 - 2*hour, hour, t0 - hour},
		{t0, -hour, t0 - hour}, {hour, -hour, 1}, {1, -hour, 1}, {0, 0, 1},
	} {
		h := restoredSource{savedSource: savedSource{received: c.at, messageAt: c.at, rowsAt: c.at}}
		h.by(c.ahead, t0)
		if h.received != c.want || h.messageAt != c.want || h.rowsAt != c.want {
			t.Errorf("%d, %d ahead: %+v, want %d", c.at, c.ahead, h.savedSource, c.want)
		}
	}
}

// The last injection of a source that said bye is still shown by the process that goes
// on from the state, and by the one after that.
func TestTheLastInjectionOfASourceThatLeftIsKept(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(2) {
		rows := stats.NewRows(1, 1)
		rows.Columns = stats.ColTokens | stats.ColArrivals | stats.ColOldest | stats.ColFirings
		rows.Places[0] = stats.Place{Arrivals: 3, LastInjection: t0 - 7e6}
		msg := &telemetry.Snapshot{Source: "a", Net: "n", Digest: "d", Epoch: t0, Seq: seq + 1, SentAt: t0, Interval: time.Second, Full: true, Bye: seq == 1, Rows: *rows}
		if _, err := m.Take(msg, 0, t0); err != nil {
			t.Fatal(err)
		}
	}
	for generation := range 3 {
		view, _ := m.Tick(t0 + int64(generation))
		if p := view.Nets[0].Rows.Places[0]; states(view) != "a=gone" || p.LastInjection != t0-7e6 || p.Arrivals != 3 {
			t.Errorf("process %d: %s, %+v", generation, states(view), p)
		}
		m = restoredFrom(t, m, Share{}, 0, t0+int64(generation))
	}
}

// A limit that is not set is the one that DefaultLimits documents.
func TestLimitsThatAreNotSetAreTheDocumentedOnes(t *testing.T) {
	documented := Limits{Sources: 10_000, Nets: 1000, Rows: 100_000, AllRows: 10_000_000, Definitions: 256, GoneRows: 200_000, Past: 65_536, WaitingBytes: 256 << 20}
	own := Limits{Sources: 1, Nets: 2, Rows: 3, AllRows: 4, Definitions: 5, GoneRows: 6, Past: 7, WaitingBytes: 8}
	for _, c := range []struct{ set, want Limits }{
		{Limits{}, documented}, {own, own},
		{Limits{Nets: 2}, Limits{Sources: 10_000, Nets: 2, Rows: 100_000, AllRows: 10_000_000, Definitions: 256, GoneRows: 200_000, Past: 65_536, WaitingBytes: 256 << 20}},
	} {
		if got := NewMerger(Rules{Limits: c.set}, t0).limits; got != c.want {
			t.Errorf("of %+v: %+v; want %+v", c.set, got, c.want)
		}
	}
}

// Of the sources that find no room, as many are watched as the bound allows; those that
// are watched already are counted further.
//
//promise:dropped load
func TestTheNumberOfSourcesWithoutRoomIsBounded(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	m.limits.Sources = 1
	if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	send := func(i int, seq uint64) {
		msg := fired(fmt.Sprint("e", i), t0, t0, seq, 1, 0)
		_, _ = m.Take(msg, 0, t0+int64(seq)*1e6) // all but the first one find no room
	}
	for i := range maxRefused + 3 {
		send(i, 1)
	}
	for seq := range uint64(3) {
		send(1, 2+seq)
		send(maxRefused+1, 2+seq) // beyond the bound
	}
	view, _ := m.Tick(t0 + 4e6)
	if n := len(m.refusedSources); n != maxRefused {
		t.Errorf("%d are watched, want %d", n, maxRefused)
	}
	var names []string
	for _, s := range view.Sources {
		names = append(names, s.Name+" "+s.State.String())
	}
	if want := []string{"e0 up", "e1 refused"}; !slices.Equal(names, want) {
		t.Errorf("%q are shown, want %q", names, want)
	}
}
