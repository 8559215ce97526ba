// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"
	"testing"
)

func TestSumsDoNotWrapAround(t *testing.T) {
	const most = uint64(1 << 53) // what a message may hold
	for _, c := range []struct {
		name       string
		a, b, want uint64
	}{
		{"small ones", 2, 3, 5},
		{"up to the largest", MaxSum - 1, 1, MaxSum},
		{"beyond it", MaxSum, 1, MaxSum},
		{"far beyond it", MaxSum, MaxSum, MaxSum},
		{"a debt and its payment", math.MaxUint64 - 4, 7, 2}, // -5 + 7
		{"a debt that is not paid", math.MaxUint64 - 4, 3, math.MaxUint64 - 1},
	} {
		if got := Sum(c.a, c.b); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if got := Sum(c.b, c.a); got != c.want {
			t.Errorf("%s, the other way round: %d, want %d", c.name, got, c.want)
		}
	}
	one := NewRows(1, 1)
	one.Net = NetRow{most, most, most, most, most}
	one.Places[0] = Place{Tokens: most, Arrivals: most, Departures: most, Instances: most,
		Dwell: Histogram{Zero: most, Sum: math.MaxInt64, Buckets: []Bucket{{Index: 3, N: most}}}}
	one.Transitions[0] = Transition{Firings: most, Failures: most, Retries: most, Cancels: most, Timeouts: most, Late: most, Enabled: most, Running: most}
	one.Queues, one.Waiting = []Queue{{Priority: 1, Ready: most, Served: most, QuoteSwitches: most}}, most
	sum := NewRows(1, 1)
	last := uint64(0)
	for range 2300 {
		sum.Merge(one)
		if sum.Places[0].Arrivals < last {
			t.Fatalf("arrivals fell from %d to %d", last, sum.Places[0].Arrivals)
		}
		last = sum.Places[0].Arrivals
	}
	p, tr, n, q := &sum.Places[0], &sum.Transitions[0], &sum.Net, &sum.Queues[0]
	for i, v := range []uint64{p.Tokens, p.Arrivals, p.Departures, p.Instances, p.Dwell.Zero, p.Dwell.Sum, p.Dwell.Buckets[0].N, p.Dwell.Count(),
		tr.Firings, tr.Failures, tr.Retries, tr.Cancels, tr.Timeouts, tr.Late, tr.Enabled, tr.Running,
		n.Created, n.Finished, n.Failed, n.Active, n.Deadlocked, q.Ready, q.Served, q.QuoteSwitches, sum.Waiting} {
		if v != MaxSum {
			t.Errorf("number %d is %d, want %d", i, v, uint64(MaxSum))
		}
	}
}

// A new bucket or slot in the second of two lists does not change how the others are added.
func TestSumsOfBucketsAndSlotsStayAtTheLargestBesideNewOnes(t *testing.T) {
	h := Histogram{Schema: 3, Buckets: []Bucket{{2, MaxSum}}}
	h.Merge(&Histogram{Schema: 3, Buckets: []Bucket{{1, 1}, {2, 1}}})
	if want := []Bucket{{1, 1}, {2, MaxSum}}; !slices.Equal(h.Buckets, want) {
		t.Errorf("got buckets %v; want %v", h.Buckets, want)
	}
	l := Ladder{At: 8, Slots: []Slot{{2, MaxSum}}}
	l.Merge(&Ladder{At: 8, Slots: []Slot{{1, 1}, {2, 1}}})
	if want := []Slot{{1, 1}, {2, MaxSum}}; !slices.Equal(l.Slots, want) {
		t.Errorf("got slots %v; want %v", l.Slots, want)
	}
}
