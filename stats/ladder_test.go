// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const now0 = int64(1_790_000_000_000_000) // an arbitrary moment in 2026

// randomAge is spread evenly over the magnitudes from a microsecond to a year.
func randomAge(r *rand.Rand) int64 {
	return r.Int64N(int64(1) << r.IntN(45))
}

func randomLadder(r *rand.Rand, now int64) Ladder {
	var l Ladder
	for range r.IntN(30) {
		l.Add(now-randomAge(r), now, 1+r.Uint64N(5))
	}
	return l
}

func cloneLadder(l Ladder) Ladder { return Ladder{At: l.At, Slots: slices.Clone(l.Slots)} }

// The law that lets collectors stand in a tree.
func TestLadderMergeIsACommutativeMonoid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b, c := randomLadder(r, now0+r.Int64N(1e10)), randomLadder(r, now0+r.Int64N(1e10)), randomLadder(r, now0)
		sum := func(ls ...Ladder) Ladder {
			var s Ladder
			for _, l := range ls {
				s.Merge(&l)
			}
			return s
		}
		want := sum(a, b, c)
		left, right := sum(a, b), sum(b, c)
		for name, got := range map[string]Ladder{
			"reversed": sum(c, b, a), "grouped left": sum(left, c), "grouped right": sum(a, right), "zero": sum(Ladder{}, a, b, Ladder{}, c),
		} {
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("%s: sums differ (-want +got):\n%s", name, cmp.Diff(want, got))
			}
		}
	}
}

// Adding to a ladder and then waiting is the same as adding later.
func TestLadderSlotDependsOnTimeAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		injected := now0 - randomAge(r)
		var early, late Ladder
		early.Add(injected, now0, 1)
		now := now0
		for range 1 + r.IntN(5) {
			now += randomAge(r)
			early.coarsen(now / SlotWidth)
		}
		late.Add(injected, now, 1)
		if d := cmp.Diff(late, early); d != "" {
			t.Fatalf("token injected %d before now (-late +early):\n%s", now-injected, d)
		}
	}
}

func TestLadderSlotIsAtMostAnEighthOfItsAge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100_000 {
		at := now0/SlotWidth + r.Int64N(1000)
		start := at - randomAge(r)/SlotWidth
		width := int64(1) << level(start, at)
		if width > 1 && width*8 > at-start {
			t.Fatalf("age %d has slot width %d", at-start, width)
		}
		if s := slotStart(start, at); start-s >= width || slotStart(s, at) != s {
			t.Fatalf("time %d has slot start %d, width %d", start, s, width)
		}
	}
}

func TestRungsNumberTheSlotsOfTheLadder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		now := now0 + randomAge(r)
		rungs := NewRungs(now)
		if rungs.Len() > (maxLevel+2)*11 { // 11 of each level, twice as many of the finest
			t.Fatalf("%d slots", rungs.Len())
		}
		var want Ladder
		counts := make([]uint64, rungs.Len())
		for range 100 {
			injected := now - randomAge(r) + r.Int64N(1e6) // some in the future
			want.Add(injected, now, 1)
			counts[rungs.Index(injected)]++
		}
		if d := cmp.Diff(want, rungs.Ladder(counts)); d != "" {
			t.Fatalf("(-added +counted):\n%s", d)
		}
	}
}

func TestLadderCountsTokensOlderThan(t *testing.T) {
	var l Ladder
	for _, age := range []int64{500_000, 5e6, 30e6, 300e6, 7200e6, 86400e6 * 3} {
		l.Add(now0-age, now0, 2)
	}
	for _, c := range []struct {
		name string
		age  int64
		want uint64
	}{
		{"now", 0, 12}, {"1s", 1e6, 10}, {"10s", 10e6, 8}, {"1min", 60e6, 6}, {"10min", 600e6, 4}, {"1h", 3600e6, 4},
		{"6h", 6 * 3600e6, 2}, {"1d", 86400e6, 2}, {"7d", 7 * 86400e6, 0},
	} {
		if got := l.InjectedBefore(now0 - c.age); got != c.want {
			t.Errorf("older than %s: %d tokens, want %d", c.name, got, c.want)
		}
	}
	if l.Tokens() != 12 {
		t.Errorf("%d tokens, want 12", l.Tokens())
	}
}

func TestLadderShiftMovesEveryToken(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		l := randomLadder(r, now0)
		was := cloneLadder(l)
		l.Shift((r.Int64N(2000) - 1000) * SlotWidth)
		if l.Tokens() != was.Tokens() || !slices.IsSortedFunc(l.Slots, func(a, b Slot) int { return int(a.Start - b.Start) }) {
			t.Fatalf("shifted %v to %v", was, l)
		}
	}
	l := Ladder{}
	l.Add(now0-10e6, now0, 1)
	l.Shift(-3600e6)
	if l.InjectedBefore(now0-3600e6-12e6) != 0 || l.InjectedBefore(now0-3600e6-8e6) != 1 {
		t.Errorf("a token of 10 s, an hour back: %v", l)
	}
}
