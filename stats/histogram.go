// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"slices"
)

// The finest buckets of a histogram: 8 per doubling of the duration, which bounds
// the error of a percentile by 4.4 %.
const (
	MaxSchema  = 3
	MinSchema  = -4
	MaxBuckets = 160 // a histogram with more filled buckets is made coarser

	// ZeroThreshold is the largest duration, in seconds, that counts as zero: a
	// clock of microseconds measures nothing shorter.
	ZeroThreshold = 1.0 / (1 << 20)
)

// Histogram counts durations in exponential buckets: at schema s, bucket i
// holds durations in (2^((i-1)/2^s), 2^(i/2^s)] seconds. These are the buckets
// of Prometheus' native histograms. Schema 0 of the zero Histogram stands for
// "no duration yet" while Buckets is empty. Merging is exact, commutative and
// associative: the schema of a sum is the finest in which it fits MaxBuckets
// and that is no finer than its parts.
type Histogram struct {
	Schema  int8
	Zero    uint64 // durations of less than a microsecond
	Sum     uint64 // of all durations, microseconds
	Buckets []Bucket
}

// Bucket is one filled bucket.
type Bucket struct {
	Index int32
	N     uint64
}

// Count returns how many durations were counted.
func (h *Histogram) Count() uint64 {
	n := h.Zero
	for _, b := range h.Buckets {
		n = Sum(n, b.N)
	}
	return n
}

// Saturated reports whether a sum of the histogram reached MaxSum.
func (h *Histogram) Saturated() bool { return h.Zero == MaxSum || h.Sum == MaxSum }

// Merge adds o to h. It keeps nothing of o's memory.
func (h *Histogram) Merge(o *Histogram) {
	h.Zero = Sum(h.Zero, o.Zero)
	h.Sum = Sum(h.Sum, o.Sum)
	switch {
	case len(o.Buckets) == 0:
		return
	case len(h.Buckets) == 0:
		h.Schema = o.Schema
		h.Buckets = append(h.Buckets[:0], o.Buckets...)
		return
	}
	if h.Schema > o.Schema {
		h.coarsen(o.Schema)
	}
	h.Buckets = mergeBuckets(h.Buckets, o.Buckets, o.Schema-h.Schema)
	h.Fit()
}

// Fit makes the histogram coarser until it has at most MaxBuckets buckets.
func (h *Histogram) Fit() {
	for len(h.Buckets) > MaxBuckets && h.Schema > MinSchema {
		h.coarsen(h.Schema - 1)
	}
}

// coarsen brings the buckets to a lower schema, in place.
func (h *Histogram) coarsen(schema int8) {
	by := h.Schema - schema
	out := h.Buckets[:0]
	for _, b := range h.Buckets {
		b.Index = (b.Index-1)>>by + 1
		if n := len(out); n > 0 && out[n-1].Index == b.Index {
			out[n-1].N = Sum(out[n-1].N, b.N)
		} else {
			out = append(out, b)
		}
	}
	h.Schema, h.Buckets = schema, out
}

// mergeBuckets adds b, which is by schemas finer, to a, both sorted by index. It
// reuses a's memory if a has the buckets of b.
func mergeBuckets(a, b []Bucket, by int8) []Bucket {
	i := 0
	for j, x := range b {
		index := (x.Index-1)>>by + 1
		for i < len(a) && a[i].Index < index {
			i++
		}
		if i == len(a) || a[i].Index != index {
			rest := Histogram{Schema: by, Buckets: slices.Clone(b[j:])}
			rest.coarsen(0)
			return insertBuckets(a, i, rest.Buckets)
		}
		a[i].N = Sum(a[i].N, x.N)
	}
	return a
}

// insertBuckets merges b into a from index i on.
func insertBuckets(a []Bucket, i int, b []Bucket) []Bucket {
	out := append(make([]Bucket, 0, len(a)+len(b)), a[:i]...)
	a = a[i:]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Index < b[0].Index:
			out, a = append(out, a[0]), a[1:]
		case a[0].Index > b[0].Index:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, Bucket{a[0].Index, Sum(a[0].N, b[0].N)}), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// UpperBound returns the largest duration, in seconds, of a bucket.
func UpperBound(schema int8, index int32) float64 {
	return math.Exp2(math.Ldexp(float64(index), -int(schema)))
}

// QuantileError is the largest share by which a Quantile at schema 3 is off: 2^(1/16) - 1.
const QuantileError = 0.0443

// Quantile returns the duration, in seconds, that a share q (0 to 1) of the
// durations does not exceed: the geometric middle of the bucket it lies in, so
// at most QuantileError off at schema 3. It returns NaN for an empty histogram.
func (h *Histogram) Quantile(q float64) float64 {
	total := h.Count()
	if total == 0 {
		return math.NaN()
	}
	rank := uint64(math.Ceil(q * float64(total)))
	rank = min(max(rank, 1), total)
	if rank <= h.Zero {
		return 0
	}
	seen := h.Zero
	for _, b := range h.Buckets {
		if seen += b.N; seen >= rank {
			half := math.Ldexp(0.5, -int(h.Schema))
			return math.Exp2(math.Ldexp(float64(b.Index), -int(h.Schema)) - half)
		}
	}
	return 0 // not reached: the buckets hold what Count added up
}
