// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// Instances draw different delays, and so do other seeds. An instance draws the
// same delays in any shard.
func TestEveryInstanceHasAStreamOfItsOwn(t *testing.T) {
	due := func(seed uint64, first, stride, count int) map[int]int64 {
		s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 1, 1)), Modes: []Mode{{Kind: Delayed, Delay: Delay{Shape: Uniform, A: 1e6, B: 1e12}}},
			First: first, Stride: stride, Count: count, Seed: seed})
		s.Step(1000, now0)
		out := map[int]int64{}
		for i := range s.Count {
			s.clocks.each(i, func(k *clock) { out[s.Number(i)] = k.due })
		}
		return out
	}
	all := map[int64]int{}
	for seed := range uint64(3) {
		one := due(seed, 0, 1, 100)
		for _, at := range one {
			all[at]++
		}
		for number, at := range due(seed, 1, 3, 33) {
			if one[number] != at {
				t.Errorf("seed %d, instance %d: due at %d in one of three shards, want %d", seed, number, at, one[number])
			}
		}
	}
	if len(all) != 300 {
		t.Errorf("300 delays of 3 seeds and 100 instances have %d different lengths", len(all))
	}
}

// Delays are rounded to whole microseconds, never negative and never longer
// than about 3,000 years.
func TestADelayIsRoundedAndBounded(t *testing.T) {
	for d, want := range map[Delay]int64{
		{A: 0}: 0, {A: 0.4}: 0, {A: 0.5}: 1, {A: 1.4}: 1, {A: 7}: 7, {A: -3}: 0, {A: 1e17}: 1e17, {A: 2e17}: 1e17, {A: math.Inf(1)}: 1e17,
		{Shape: Uniform, A: 5, B: 5}: 5, {Shape: Normal, A: 9}: 9, {Shape: Exponential}: 0,
	} {
		if got := d.Draw(rand.New(rand.NewPCG(1, 1))); got != want {
			t.Errorf("%+v: %d, want %d", d, got, want)
		}
	}
}
