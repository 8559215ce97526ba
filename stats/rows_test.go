// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func randomTime(r *rand.Rand) int64 {
	if r.IntN(4) == 0 {
		return 0
	}
	return now0 - randomAge(r)
}

func randomRows(r *rand.Rand) *Rows {
	rows := NewRows(3, 2)
	rows.Net = NetRow{r.Uint64N(9), r.Uint64N(9), r.Uint64N(9), r.Uint64N(9), r.Uint64N(9)}
	rows.Columns = Columns(r.Uint32()) & AllColumns
	for i := range rows.Places {
		p := Place{Tokens: r.Uint64N(9), Arrivals: r.Uint64N(9), Departures: r.Uint64N(9), Instances: r.Uint64N(9),
			Oldest: randomTime(r), LastInjection: randomTime(r), Ages: randomLadder(r, now0), Dwell: randomHistogram(r, 20, 30), Slowest: randomSlowest(r)}
		for range r.IntN(4) {
			p.Injected.Add(now0 - randomAge(r))
		}
		for range r.IntN(8) {
			p.Stuck = append(p.Stuck, Token{Instance: fmt.Sprint(r.IntN(50)), Injected: now0 - r.Int64N(20),
				Waits: []Wait{{Transition: r.Int32N(2), Reason: Reason(r.IntN(8)), Place: NoPlace}}})
		}
		slices.SortFunc(p.Stuck, func(a, b Token) int { return a.Compare(&b) })
		for reason := ReasonEnabled; reason <= LastReason; reason++ {
			if r.IntN(4) == 0 {
				injected := now0 - r.Int64N(20)
				p.Groups = append(p.Groups, Group{Reason: reason, Tokens: 1 + r.Uint64N(5), Due: injected + r.Int64N(9),
					Oldest: Token{Instance: fmt.Sprint(r.IntN(50)), Injected: injected, Waits: []Wait{{Transition: r.Int32N(2), Reason: reason, Place: NoPlace}}}})
			}
		}
		rows.Places[i] = p
	}
	for i := range rows.Transitions {
		rows.Transitions[i] = Transition{r.Uint64N(9), r.Uint64N(9), r.Uint64N(9), r.Uint64N(9), r.Uint64N(9), r.Uint64N(9),
			r.Uint64N(9), r.Uint64N(9), randomTime(r), randomTime(r), randomTime(r), randomTime(r), randomHistogram(r, 20, 30), randomSlowest(r)}
	}
	rows.Waiting = r.Uint64N(9)
	for p := range uint8(Priorities) {
		if r.IntN(3) == 0 {
			rows.Queues = append(rows.Queues, Queue{r.Uint64N(9), r.Uint64N(9), r.Uint64N(9), randomTime(r), randomTime(r), p})
		}
	}
	for t := range int32(2) {
		for p := NoPlace; p < 3; p++ {
			if r.IntN(2) == 0 {
				rows.Blocks = append(rows.Blocks, Block{t, p, ReasonMissing, 1 + r.Uint64N(5)})
			}
		}
	}
	return rows
}

func sumRows(rows ...*Rows) *Rows {
	s := NewRows(3, 2)
	for _, r := range rows {
		s.Merge(r)
	}
	return s
}

// Any order, any grouping, the same result.
func TestRowsMergeIsACommutativeMonoid(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		a, b, c, zero := randomRows(r), randomRows(r), randomRows(r), NewRows(3, 2)
		want := sumRows(a, b, c)
		for name, got := range map[string]*Rows{
			"reversed": sumRows(c, b, a), "rotated": sumRows(b, c, a), "grouped": sumRows(sumRows(a, b), c),
			"grouped right": sumRows(a, sumRows(b, c)), "with zero": sumRows(zero, a, zero, b, c),
		} {
			if !reflect.DeepEqual(want, got) { // cmp is for people, and slow
				t.Fatalf("%s (-want +got):\n%s", name, cmp.Diff(want, got))
			}
		}
	}
}

// A sum must not change when a part of it is used again.
func TestMergeKeepsNothingOfItsArgument(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		a, b := randomRows(r), randomRows(r)
		want := sumRows(b, a)
		sum := sumRows(a)
		sum.Merge(b)
		b.Merge(a)
		b.Places[0].Shift(5e6)
		if !reflect.DeepEqual(want, sum) {
			t.Fatal(cmp.Diff(want, sum))
		}
	}
}

func TestTimeSumIsExactBeyond64BitsOfMicroseconds(t *testing.T) {
	var s TimeSum
	for range 100_000 {
		s.Add(now0 + 999_999)
	}
	if got := s.Mean(100_000); got != now0+999_999 {
		t.Errorf("mean %d, want %d", got, now0+999_999)
	}
	if (TimeSum{}).Mean(0) != 0 {
		t.Error("mean of nothing")
	}
}

func TestShiftMovesEveryTime(t *testing.T) {
	for _, d := range []int64{0, 1, -1, 1_500_000, -1_500_000, 3600e6, -3600e6} {
		var p, want Place
		for _, at := range []int64{now0 - 10e6, now0 - 20e6, now0 - 20e6 - 1} {
			p.Injected.Add(at)
			want.Injected.Add(at + d)
		}
		p.Tokens, p.Oldest, p.LastInjection = 3, now0-20e6-1, now0-10e6
		p.Slowest, want.Slowest = Slowest{"a", 7, now0}, Slowest{"a", 7, now0 + d}
		want.Tokens, want.Oldest, want.LastInjection = 3, p.Oldest+d, p.LastInjection+d
		p.Stuck = []Token{{Instance: "a", Injected: now0, Waits: []Wait{{Until: now0}, {Until: 0}}}}
		want.Stuck = []Token{{Instance: "a", Injected: now0 + d, Waits: []Wait{{Until: now0 + d}, {Until: 0}}}}
		p.Shift(d)
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("by %d (-want +got):\n%s", d, diff)
		}
	}
	tr := Transition{EnabledSince: 100, LastFiring: 200, Slowest: Slowest{"a", 60, 300}}
	tr.Shift(50)
	if tr.EnabledSince != 150 || tr.RunningSince != 0 || tr.LastFiring != 250 || tr.Slowest != (Slowest{"a", 60, 350}) {
		t.Errorf("transition shifted to %+v", tr)
	}
}

func TestRecorderAddsUpWhatItSaw(t *testing.T) {
	rec := NewRecorder(2, 2)
	rec.Arrived(1, 500)
	rec.Left(1, 0, 100, 300)
	rec.Left(1, 0, 200, 200)
	rec.LeftMany(0, 0, 100, 101, 3)
	rec.Fired(0, 700)
	rec.Fired(0, 900)
	rec.Failed(1)
	rec.Net.Created = 4
	rows := NewRows(2, 2)
	rec.AddTo(rows)
	var dwell Histogram
	dwell.Observe(200)
	dwell.Observe(0)
	want := NewRows(2, 2)
	want.Net.Created = 4
	want.Places[0] = Place{Arrivals: 3, Departures: 3, Dwell: Histogram{Schema: 3, Sum: 3, Buckets: []Bucket{{Index: -159, N: 3}}}}
	want.Places[1] = Place{Arrivals: 2, Departures: 2, LastInjection: 500, Dwell: dwell}
	want.Transitions[0] = Transition{Firings: 2, LastFiring: 900}
	want.Transitions[1] = Transition{Failures: 1}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
}
