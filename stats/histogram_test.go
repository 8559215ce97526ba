// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// slowIndex is the definition of a bucket: the smallest index whose upper
// bound the duration does not exceed.
func slowIndex(micros int64) int32 {
	return int32(sort.Search(1000, func(i int) bool {
		return float64(micros) <= math.Floor(UpperBound(MaxSchema, int32(i)+firstIndex)*1e6)
	})) + firstIndex
}

func TestBucketOfADurationIsTheFirstWhoseBoundItDoesNotExceed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	check := func(d int64) {
		c := buckets.cell(d)
		want := min(slowIndex(d), lastIndex)
		if got := int32(c - 1 + firstIndex); got != want {
			t.Fatalf("%d µs: bucket %d, want %d", d, got, want)
		}
	}
	for _, u := range buckets.upper[1 : numCells-1] {
		if u < math.MaxInt64 {
			check(int64(u))
			check(int64(u) + 1)
		}
	}
	for range 200_000 {
		check(1 + r.Int64N(int64(1)<<r.IntN(62)))
	}
	if buckets.cell(0) != 0 || buckets.cell(-5) != 0 || buckets.cell(math.MaxInt64) != numCells-1 {
		t.Error("ends of the range")
	}
}

func randomHistogram(r *rand.Rand, n, spread int) Histogram {
	var h Histogram
	for range n {
		h.Observe(r.Int64N(int64(1) << r.IntN(spread)))
	}
	return h
}

func clone(h Histogram) Histogram {
	h.Buckets = slices.Clone(h.Buckets)
	return h
}

func TestHistogramMergeIsACommutativeMonoid(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		spread := 1 + r.IntN(50)
		hs := []Histogram{randomHistogram(r, r.IntN(600), spread), randomHistogram(r, r.IntN(600), 1+r.IntN(50)), randomHistogram(r, r.IntN(5), 50), {}}
		sum := func(order ...int) Histogram {
			var s Histogram
			for _, i := range order {
				s.Merge(&hs[i])
			}
			return s
		}
		want := sum(0, 1, 2, 3)
		left, right := sum(0, 1), sum(2, 3)
		grouped := clone(left)
		grouped.Merge(&right)
		for name, got := range map[string]Histogram{"reversed": sum(3, 2, 1, 0), "mixed": sum(2, 0, 3, 1), "grouped": grouped} {
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s (-want +got):\n%s", name, d)
			}
		}
		if len(want.Buckets) > MaxBuckets {
			t.Fatalf("%d buckets", len(want.Buckets))
		}
	}
}

func TestQuantileIsWithinTheBoundOfItsBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		var h Histogram
		ds := make([]int64, 1+r.IntN(500))
		for i := range ds {
			ds[i] = 1000 + r.Int64N(1e9) // within 160 buckets at schema 3
			h.Observe(ds[i])
		}
		slices.Sort(ds)
		for _, q := range []float64{0, 0.5, 0.95, 0.99, 1} {
			want := float64(ds[min(max(int(math.Ceil(q*float64(len(ds)))), 1), len(ds))-1]) / 1e6
			if got := h.Quantile(q); math.Abs(got/want-1) > QuantileError {
				t.Fatalf("quantile %g: %g s, want %g within 4.4 %%", q, got, want)
			}
		}
	}
	if q := (&Histogram{}).Quantile(0.5); !math.IsNaN(q) {
		t.Errorf("quantile of nothing is %g", q)
	}
	if q := (&Histogram{Zero: 3}).Quantile(0.5); q != 0 {
		t.Errorf("quantile of zeros is %g", q)
	}
}

func TestCoarserBucketsHoldTheFinerOnes(t *testing.T) {
	h := Histogram{Schema: 3, Buckets: []Bucket{{-8, 1}, {-7, 1}, {0, 1}, {1, 1}, {8, 1}, {9, 1}}}
	h.coarsen(0)
	want := []Bucket{{-1, 1}, {0, 2}, {1, 2}, {2, 1}}
	if d := cmp.Diff(want, h.Buckets); d != "" {
		t.Error(d)
	}
}

func TestWhatCameSinceIsTheDifference(t *testing.T) {
	for _, c := range []struct {
		rule        string
		now, before Histogram
		rise        Histogram
		fell        bool
	}{
		{"nothing came", Histogram{Schema: 3, Zero: 1, Sum: 9, Buckets: []Bucket{{4, 2}}}, Histogram{Schema: 3, Zero: 1, Sum: 9, Buckets: []Bucket{{4, 2}}}, Histogram{Schema: 3}, false},
		{"buckets that grew and that are new", Histogram{Schema: 3, Zero: 2, Sum: 30, Buckets: []Bucket{{4, 5}, {8, 1}}}, Histogram{Schema: 3, Zero: 1, Sum: 9, Buckets: []Bucket{{4, 2}}},
			Histogram{Schema: 3, Zero: 1, Sum: 21, Buckets: []Bucket{{4, 3}, {8, 1}}}, false},
		{"a coarser one before", Histogram{Schema: 3, Buckets: []Bucket{{1, 1}, {8, 2}}}, Histogram{Buckets: []Bucket{{1, 2}}}, Histogram{Buckets: []Bucket{{1, 1}}}, false},
		{"nothing before", Histogram{Schema: 2, Buckets: []Bucket{{1, 1}}}, Histogram{}, Histogram{Schema: 2, Buckets: []Bucket{{1, 1}}}, false},
		{"a bucket that fell", Histogram{Schema: 3, Buckets: []Bucket{{4, 1}, {8, 9}}}, Histogram{Schema: 3, Buckets: []Bucket{{4, 2}}}, Histogram{}, true},
		{"a bucket that is gone", Histogram{Schema: 3, Zero: 7}, Histogram{Schema: 3, Buckets: []Bucket{{4, 2}}}, Histogram{}, true},
		{"zeros that fell", Histogram{}, Histogram{Zero: 1}, Histogram{}, true},
	} {
		rise, rose := c.now.Minus(&c.before)
		if rose == c.fell {
			t.Errorf("%s: it rose: %v", c.rule, rose)
		}
		if d := cmp.Diff(c.rise, rise, cmpopts.EquateEmpty()); d != "" && rose {
			t.Errorf("%s: %s", c.rule, d)
		}
	}
}

func BenchmarkDwell(b *testing.B) {
	rec := NewRecorder(100, 100)
	for i := 0; b.Loop(); i++ {
		rec.Left(i%100, i, int64(i)*31%10_000_000, 10_000_000)
	}
}
