// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"math"
	"testing"
)

// The first numbers for the state 1234567, as the authors' program of 2015
// prints them.
func TestTheStreamIsSplitMix64(t *testing.T) {
	s := Stream{state: 1234567}
	for k, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Uint64(); got != want {
			t.Errorf("number %d is %d, want %d", k, got, want)
		}
	}
}

// Below returns each number below n equally often.
func TestChanceTakesEachAsOftenAsAnother(t *testing.T) {
	s := NewStream(5, 5)
	for _, n := range []int{1, 2, 3, 7} {
		const draws = 70_000
		count := make([]int, n)
		for range draws {
			count[s.Below(n)]++
		}
		for k, got := range count {
			if want := draws / n; math.Abs(float64(got-want)) > 5*math.Sqrt(float64(want)) {
				t.Errorf("%d of %d came %d times, want about %d", k, n, got, want)
			}
		}
	}
}
