// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// Frames and differences are written as encoding/json writes them.
func TestAppendJSONAgreesWithEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	count := func() *uint64 {
		v := r.Uint64() >> r.IntN(64)
		return []*uint64{nil, &v}[r.IntN(2)]
	}
	rate := func() *float64 {
		v := []float64{0, 1, 12.5, 1e-7, 1.0 / 3, 1e21, 1e300, -2, r.ExpFloat64()}[r.IntN(9)]
		return []*float64{nil, &v}[r.IntN(2)]
	}
	at := func() Time { return []Time{0, 1, -1, Time(r.Int64N(2e15)), Time(r.Int64N(4e15)) - 2e15}[r.IntN(5)] }
	place := func() PlaceNow {
		return PlaceNow{Tokens: count(), Instances: count(), OldestSince: at(), ArrivalRate: rate()}
	}
	transition := func() TransitionNow {
		return TransitionNow{Rate: rate(), Enabled: count(), EnabledSince: at(), Running: count(), Blocked: count(), Failures: count()}
	}
	same := func(got []byte, document any) {
		t.Helper()
		if want, err := json.Marshal(document); err != nil || string(got) != string(want) {
			t.Fatalf("got %s; want %s, %v", got, want, err)
		}
	}
	for n := range 2000 {
		f := Frame{Net: []string{"n", "a\"<\u2028é\xff"}[r.IntN(2)], Drawing: "d", Generation: r.Uint64(), At: at(), Archive: n%2 == 0, Places: []PlaceNow{}, Transitions: []TransitionNow{}, Resting: [][]int{nil, {}, {0, 7}}[r.IntN(3)]}
		d := Diff{Generation: r.Uint64(), At: at(), Places: []PlaceDiff{}, Transitions: []TransitionDiff{}}
		for i := range r.IntN(1 + n%5) {
			f.Places, f.Transitions = append(f.Places, place()), append(f.Transitions, transition())
			d.Places, d.Transitions = append(d.Places, PlaceDiff{i, place()}), append(d.Transitions, TransitionDiff{2 * i, transition()})
		}
		same(f.AppendJSON([]byte{}), &f)
		same(d.AppendJSON([]byte{}), &d)
	}
}
