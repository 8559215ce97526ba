// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// In any order of departures, an observed age is never higher than the real
// one. If tokens depart in order, it is too low by at most the time between two
// scrapes.
func TestAnObservedAgeIsALowerBoundInAnyOrderOfDepartures(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		fifo, useArrivals, useDepartures := rng.IntN(2) == 0, rng.IntN(3) > 0, true
		if useArrivals {
			useDepartures = rng.IntN(2) == 0
		}
		var o observer
		var here []int64 // injection times
		arrived, left := int64(0), int64(0)
		began := int64(-1)
		for now := int64(1); now < 400; now++ {
			for range rng.IntN(3) {
				here, arrived = append(here, now), arrived+1
			}
			for n := rng.IntN(4); n > 0 && len(here) > 0; n-- {
				i := 0
				if !fifo {
					i = rng.IntN(len(here))
				}
				here, left = slices.Delete(here, i, i+1), left+1
			}
			if rng.IntN(5) > 0 {
				continue
			}
			if began < 0 {
				began = now
			}
			a, d := arrived, left
			if !useArrivals {
				a = -1
			}
			if !useDepartures {
				d = -1
			}
			o.observe(now, int64(len(here)), a, d, false)
			got := o.oldest()
			if len(here) == 0 != (got == 0) {
				t.Fatalf("seed %d at %d: oldest %d of %d tokens", seed, now, got, len(here))
			}
			if got != 0 && got < slices.Min(here) && got < began {
				t.Fatalf("seed %d at %d: observed since %d, the truth is %d", seed, now, got, slices.Min(here))
			}
			if got != 0 && slices.Min(here) > got {
				t.Fatalf("seed %d at %d: observed since %d, before the real time %d", seed, now, got, slices.Min(here))
			}
			if fifo && got != 0 && got > max(slices.Min(here), began)+60 {
				t.Fatalf("seed %d at %d: observed since %d, the truth is %d", seed, now, got, slices.Min(here))
			}
		}
	}
}

func TestObservationBeginsAgainWhereTheCountsDoNotAgree(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps [][4]int64 // at, tokens, arrived, left
		want  int64
	}{
		{"stuck", [][4]int64{{10, 3, -1, 0}, {20, 3, -1, 0}, {30, 4, -1, 0}}, 10},
		{"one of three left, two are as old as before", [][4]int64{{10, 3, -1, 0}, {20, 3, -1, 1}}, 10},
		{"all of the first ones may have left", [][4]int64{{10, 3, -1, 0}, {20, 3, -1, 3}}, 20},
		{"uncounted departures", [][4]int64{{10, 9, -1, 0}, {20, 2, -1, 0}}, 20},
		{"uncounted arrivals", [][4]int64{{10, 2, 0, -1}, {20, 9, 0, -1}}, 20},
		{"empty for a moment", [][4]int64{{10, 1, -1, 0}, {20, 0, -1, 1}, {30, 1, -1, 1}}, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o observer
			for _, s := range c.steps {
				o.observe(s[0], s[1], s[2], s[3], false)
			}
			if got := o.oldest(); got != c.want {
				t.Errorf("since %d, want %d", got, c.want)
			}
		})
	}
}

func TestALongObservationIsBoundedAndStaysALowerBound(t *testing.T) {
	var o observer
	for now := int64(1); now <= 10*maxMarks; now++ {
		o.observe(now, now, -1, 0, false)
	}
	if len(o.marks) > maxMarks || o.oldest() != 1 {
		t.Errorf("%d marks, oldest %d", len(o.marks), o.oldest())
	}
}
