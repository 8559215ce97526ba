// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A sum of ladders is the ladder of all their tokens, counted one by one.
func TestALadderSumCountsEveryToken(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for range 500 {
		var sum Ladder
		type token struct {
			injected int64 // in slot widths
			n        uint64
		}
		var all []token
		for range 1 + r.IntN(4) {
			seen := now0 + r.Int64N(1e10)
			var part Ladder
			for range r.IntN(30) {
				at, n := seen-randomAge(r), 1+r.Uint64N(5)
				part.Add(at, seen, n)
				all = append(all, token{at / SlotWidth, n})
			}
			sum.Merge(&part)
		}
		want := map[int64]uint64{}
		for _, k := range all {
			want[slotStart(k.injected, sum.At)] += k.n
		}
		got := map[int64]uint64{}
		for _, s := range sum.Slots {
			got[s.Start] += s.N
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
}

// A sum of histograms is the one of all durations, in the finest schema that
// has room for them: by the definition of a bucket, one by one.
func TestAHistogramSumCountsEveryDuration(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	coarse := 0
	for range 100 {
		var sum, want Histogram
		n := map[int32]uint64{} // by index of the finest schema
		for range 1 + r.IntN(3) {
			var part Histogram
			spread := 1 + r.IntN(50)
			for range r.IntN(500) {
				d := r.Int64N(int64(1) << r.IntN(spread))
				part.Observe(d)
				want.Sum += uint64(d)
				if d == 0 {
					want.Zero++
				} else {
					n[slowIndex(d)]++
				}
			}
			sum.Merge(&part)
		}
		for want.Schema = MaxSchema; ; want.Schema-- {
			coarser := map[int32]uint64{}
			for i, k := range n {
				width := int32(1) << (MaxSchema - want.Schema)
				for i%width != 0 {
					i++ // the next bound that is one of the coarser schema too
				}
				coarser[i/width] += k
			}
			if len(coarser) > MaxBuckets {
				continue
			}
			for i := int32(firstIndex); i <= lastIndex; i++ {
				if coarser[i] > 0 {
					want.Buckets = append(want.Buckets, Bucket{i, coarser[i]})
				}
			}
			break
		}
		if len(want.Buckets) == 0 {
			want.Schema = 0
		} else if want.Schema < MaxSchema {
			coarse++
		}
		if d := cmp.Diff(want, sum); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
	if coarse < 10 {
		t.Errorf("only %d sums were coarser", coarse)
	}
}

// Half a slot is rounded away from where it was.
func TestALadderIsShiftedByTheNearestSlots(t *testing.T) {
	for d, want := range map[int64]int64{
		0: 0, SlotWidth/2 - 1: 0, SlotWidth / 2: 1, SlotWidth: 1, SlotWidth * 3 / 2: 2,
		1 - SlotWidth/2: 0, -SlotWidth / 2: -1, -SlotWidth: -1, -SlotWidth * 3 / 2: -2,
	} {
		l := Ladder{At: 100, Slots: []Slot{{Start: 99, N: 2}, {Start: 100, N: 1}}}
		l.Shift(d)
		if diff := cmp.Diff(Ladder{At: 100 + want, Slots: []Slot{{99 + want, 2}, {100 + want, 1}}}, l); diff != "" {
			t.Errorf("by %d µs (-want +got):\n%s", d, diff)
		}
	}
}

func TestASingleTokenOrRunIsRecorded(t *testing.T) {
	rec, rows := NewRecorder(2, 1), NewRows(2, 1)
	rec.Left(0, 0, 100, 400)
	rec.LeftMany(1, 0, 100, 500, 1)
	rec.Ran(0, 0, 100, 600)
	rec.AddTo(rows)
	rec.Fired(0, 1)
	if rec.Firings() != 1 {
		t.Errorf("%d firings", rec.Firings())
	}
	for name, h := range map[string]*Histogram{"300": &rows.Places[0].Dwell, "400": &rows.Places[1].Dwell, "500": &rows.Transitions[0].Duration} {
		if h.Count() != 1 || strconv.FormatUint(h.Sum, 10) != name {
			t.Errorf("one duration of %s µs is %+v", name, *h)
		}
	}
}

// Sources and collectors of other versions cut the same slots, so where they
// are cut is not to be changed.
//
//promise:versions version
func TestSlotsAreCutWhereTheWireSays(t *testing.T) {
	for level, want := range []int64{984, 968, 936, 864, 736, 448, 0, 0} {
		if got := boundary(level, 1000); got != want {
			t.Errorf("level %d ends at %d, want %d", level, got, want)
		}
	}
	var l Ladder
	for start := range int64(101) {
		l.Merge(&Ladder{At: 100, Slots: []Slot{{Start: slotStart(start, 100), N: 1}}})
	}
	var widths []uint64
	for _, s := range l.Slots {
		widths = append(widths, s.N)
	}
	want := []uint64{8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	if d := cmp.Diff(want, widths); d != "" {
		t.Errorf("tokens of each width of a slot (-want +got):\n%s", d)
	}
}

func TestAgeStepsAreWhatTheirLabelsSay(t *testing.T) {
	var before int64
	for _, s := range AgeSteps() {
		label, days := strings.CutSuffix(s.Label, "d")
		if days {
			label += "h"
		}
		age, err := time.ParseDuration(label)
		if err != nil {
			t.Fatal(err)
		}
		if days {
			age *= 24
		}
		if s.Age != age.Microseconds() || s.Age <= before {
			t.Errorf("%s is %d µs", s.Label, s.Age)
		}
		before = s.Age
	}
}

func TestRaiseOfHistogramsIsInTheCoarserSchema(t *testing.T) {
	fine := Histogram{Schema: 3, Zero: 1, Sum: 40, Buckets: []Bucket{{-7, 2}, {1, 3}, {8, 1}, {9, 5}}}
	coarse := Histogram{Schema: 0, Sum: 50, Buckets: []Bucket{{-1, 4}, {1, 6}, {2, 1}}}
	want := Histogram{Schema: 0, Zero: 1, Sum: 50, Buckets: []Bucket{{-1, 4}, {0, 2}, {1, 6}, {2, 5}}}
	for name, both := range map[string][2]Histogram{"a coarser floor": {fine, coarse}, "a finer floor": {coarse, fine}} {
		a, b := clone(both[0]), clone(both[1])
		if !a.raise(&b) {
			t.Errorf("%s: nothing was raised", name)
		}
		if d := cmp.Diff(want, a); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(both[1], b); d != "" {
			t.Errorf("%s is changed:\n%s", name, d)
		}
	}
	var none Histogram
	if !none.raise(&fine) || cmp.Diff(fine, none) != "" {
		t.Errorf("from nothing: %+v", none)
	}
	if low := (Histogram{Schema: 0, Buckets: []Bucket{{1, 4}}}); fine.raise(&low) || fine.Schema != 3 {
		t.Errorf("raised to less: %+v", fine)
	}
}

// The tokens of a slot count as injected in its middle.
func TestASlotIsAsOldAsItsMiddle(t *testing.T) {
	l := Ladder{At: 100, Slots: []Slot{{Start: slotStart(0, 100), N: 7}}}
	width := int64(1) << level(0, 100)
	if middle := width * SlotWidth / 2; width < 8 || l.InjectedBefore(middle-1) != 0 || l.InjectedBefore(middle) != 7 {
		t.Errorf("a slot of %d widths: %d before its middle, %d then", width, l.InjectedBefore(middle-1), l.InjectedBefore(middle))
	}
}

func TestRaiseAddsPrioritiesThatWereServed(t *testing.T) {
	queues := func(all ...Queue) Rows { return Rows{Queues: all} }
	rows, floor := queues(Queue{Priority: 3, Ready: 1, Served: 5}), queues(Queue{Priority: 1, Ready: 9, Served: 4, QuoteSwitches: 2}, Queue{Priority: 3, Served: 5})
	want := queues(Queue{Priority: 1, Served: 4, QuoteSwitches: 2}, Queue{Priority: 3, Ready: 1, Served: 5})
	if !rows.Raise(&floor) {
		t.Error("nothing was raised")
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if rows.Raise(&floor) {
		t.Error("raised again")
	}
}

// The sum of times that were shifted is the shifted sum, back and forth, as
// long as no time is before the epoch.
func TestATimeSumIsShiftedAsEachOfItsTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	for range 2000 {
		var sum, want TimeSum
		d, n := r.Int64N(1<<r.IntN(40))-r.Int64N(1<<r.IntN(40)), 1+r.Uint64N(5)
		for range n {
			at := now0 + r.Int64N(1e7)
			sum.Add(at)
			want.Add(at + d)
		}
		if got := sum.shift(d, n); got != want {
			t.Fatalf("%d times by %d: %+v, want %+v", n, d, got, want)
		}
	}
	if got := (TimeSum{Sec: 5}).shift(-6e6, 1); got != (TimeSum{}) {
		t.Errorf("before the epoch: %+v", got)
	}
}
