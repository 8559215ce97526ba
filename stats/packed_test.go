// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/internal/seeds"
)

// packed returns rows packed, without Slowest.
func packed(r *Rows) *Packed {
	p := NewPacked(len(r.Places), len(r.Transitions))
	for i := range r.Places {
		p.SetPlace(i, &r.Places[i])
	}
	for i := range r.Transitions {
		p.SetTransition(i, &r.Transitions[i])
	}
	p.rest = *r
	p.rest.Places, p.rest.Transitions = nil, nil
	return p
}

// Rows that are packed are what they were, in any story of rows that are replaced by larger and
// smaller ones, and of rows that are added.
func TestPackedRowsAreWhatWasSet(t *testing.T) {
	random := func(r *rand.Rand) *Rows {
		rows := quiet(r)
		for i := range rows.Places {
			if l := &rows.Places[i].Ages; len(l.Slots) == 0 {
				*l = Ladder{} // the time of a ladder without slots is not kept
			}
		}
		return rows
	}
	for seed := range seeds.Of(4, 100) {
		r := rand.New(rand.NewPCG(seed, 11))
		want := random(r)
		got := packed(want)
		var place Place
		var transition Transition
		for step := range 300 {
			other := random(r)
			switch i := r.IntN(len(want.Places)); r.IntN(6) {
			case 0, 1:
				want.Places[i] = other.Places[r.IntN(3)]
				got.SetPlace(i, &want.Places[i])
			case 2:
				want.Places[i] = Place{Tokens: r.Uint64(), Arrivals: math.MaxUint64, Oldest: math.MaxInt64, Injected: TimeSum{Sec: math.MaxUint64}}
				got.SetPlace(i, &want.Places[i])
			case 3, 4:
				j := r.IntN(len(want.Transitions))
				want.Transitions[j] = other.Transitions[r.IntN(2)]
				got.SetTransition(j, &want.Transitions[j])
			case 5:
				want.Places, want.Transitions = append(want.Places, Place{}), append(want.Transitions, Transition{})
				got.Grow(got.Size()) // no rows fewer
				got.Grow(len(want.Places), len(want.Transitions))
			}
			if d := differs(want, got.Rows()); d != "" {
				t.Fatalf("seed %d, step %d (-want +got):\n%s", seed, step, d)
			}
			i, j := r.IntN(len(want.Places)+1), r.IntN(len(want.Transitions)+1)
			if d := differs(want.PlaceAt(i, new(Place)), got.PlaceAt(i, &place)); d != "" {
				t.Fatalf("seed %d, step %d, place %d (-want +got):\n%s", seed, step, i, d)
			}
			if d := differs(want.TransitionAt(j, new(Transition)), got.TransitionAt(j, &transition)); d != "" {
				t.Fatalf("seed %d, step %d, transition %d (-want +got):\n%s", seed, step, j, d)
			}
		}
	}
}

// differs returns how two values differ; "" if they do not, which is seen in a small part of the time
// that [cmp.Diff] takes.
func differs(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// A block stays in proportion to what it holds.
func TestPackedRowsTakeNoMoreThanTheyNeed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := NewPacked(50, 0)
	for range 100_000 {
		place := Place{Tokens: 1}
		for range r.IntN(20) {
			place.Dwell.Observe(r.Int64N(1 << 40))
		}
		p.SetPlace(r.IntN(50), &place)
	}
	if got, most := cap(p.ofPlaces.pages[0].block), 3*len(packed(p.Rows()).ofPlaces.pages[0].block)/2; got > most {
		t.Errorf("%d bytes; want at most %d", got, most)
	}
}
