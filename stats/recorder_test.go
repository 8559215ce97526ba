// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// record has the recorders record the same random things.
func record(r *rand.Rand, n int, all ...*Recorder) {
	for range n {
		place, instance, now := r.IntN(2), r.IntN(9), now0+r.Int64N(1e6)
		what, took, many := r.IntN(9), r.Int64N(int64(1)<<(1+r.IntN(50))), r.Uint64N(4)
		for _, rec := range all {
			switch what {
			case 0:
				rec.Left(place, instance, now-took, now)
			case 1:
				rec.LeftMany(place, instance, now-took, now, many)
			case 2:
				rec.Arrived(place, now)
			case 3:
				rec.Fired(place, now)
			case 4:
				rec.Failed(place)
			case 5:
				rec.Retried(place)
			case 6:
				rec.TimedOut(place)
			case 7:
				rec.Late(place)
			case 8:
				rec.Ran(place, instance, now-took, now)
			}
			rec.Net.Created++
		}
	}
}

func added(rec *Recorder) *Rows {
	rows := NewRows(2, 2)
	rec.AddTo(rows)
	return rows
}

// A recorder that was set to the counters of another one counts the same from then
// on, even if a histogram has too many buckets and is written coarser.
func TestARecorderContinuesWhereAnotherWas(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	coarse := 0
	for round := range 200 {
		first, second := NewRecorder(2, 2), NewRecorder(2, 2)
		second.Failed(1) // it forgets that
		record(r, 50*(1+round), first)
		for range 3 {
			rows := added(first)
			if s := rows.Places[0].Dwell.Schema; s < MaxSchema && s != 0 {
				coarse++
			}
			if err := second.Set(rows); err != nil {
				t.Fatal(err)
			}
			if again := added(second); !reflect.DeepEqual(rows, again) {
				t.Fatalf("set (-want +got):\n%s", cmp.Diff(rows, again))
			}
			record(r, 1+r.IntN(500), first, second)
			if one, two := added(first), added(second); !reflect.DeepEqual(one, two) {
				t.Fatalf("recording continued (-want +got):\n%s", cmp.Diff(one, two))
			}
			first.ForgetSlowest()
			second.ForgetSlowest()
			rows = NewRows(2, 2)
			first.TakeSlowest(func(int) string { return "x" }, rows)
			if d := cmp.Diff(NewRows(2, 2), rows); d != "" {
				t.Fatalf("slowest was not forgotten:\n%s", d)
			}
		}
	}
	if coarse < 100 {
		t.Errorf("got %d coarser histograms; want at least 100", coarse)
	}
}

func TestARecorderIsNotSetToWhatCannotBe(t *testing.T) {
	rec := NewRecorder(2, 2)
	record(rand.New(rand.NewPCG(1, 1)), 100, rec)
	want := added(rec)
	bad := Histogram{Schema: 3, Buckets: []Bucket{{Index: 1 << 20, N: 1}}}
	dwell, duration := NewRows(2, 2), NewRows(2, 2)
	dwell.Places[1].Dwell, duration.Transitions[1].Duration = bad, bad
	for name, rows := range map[string]*Rows{"another net": NewRows(2, 3), "no dwell": dwell, "no duration": duration} {
		if rec.Set(rows) == nil {
			t.Errorf("%s: no error", name)
		}
		if d := cmp.Diff(want, added(rec)); d != "" {
			t.Errorf("%s changed it:\n%s", name, d)
		}
	}
}
