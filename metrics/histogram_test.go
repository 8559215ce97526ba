// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/stats"
)

func observed(durations ...time.Duration) *stats.Histogram {
	h := &stats.Histogram{}
	for _, d := range durations {
		h.Observe(d.Microseconds())
	}
	return h
}

// nativeCount adds up the native buckets the long way, with their bounds.
func nativeCount(h *dto.Histogram, within float64) uint64 {
	n, index, at := h.GetZeroCount(), int32(0), 0
	var count int64
	for _, span := range h.PositiveSpan {
		index += span.GetOffset()
		for range span.GetLength() {
			count += h.PositiveDelta[at]
			if math.Exp2(float64(index)*math.Exp2(-float64(h.GetSchema()))) <= within*(1+1e-12) {
				n += uint64(count)
			}
			at++
			index++
		}
	}
	return n
}

func TestClassicAndNativeBucketsCountTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := newHistogram()
	for round := range 300 {
		from := &stats.Histogram{}
		var sum int64
		for range rng.IntN(400) {
			d := int64(math.Exp(rng.Float64()*32)) - 1 // up to 2.5 years
			from.Observe(d)
			sum += d
		}
		fillHistogram(h, from) // into what the last round left
		if h.GetSampleCount() != from.Count() || h.GetSampleSum() != float64(sum)/1e6 || nativeCount(h, math.Inf(1)) != from.Count() {
			t.Fatalf("round %d: %d durations, sum %v, native %d; want %d and %d µs", round, h.GetSampleCount(), h.GetSampleSum(),
				nativeCount(h, math.Inf(1)), from.Count(), sum)
		}
		for _, b := range h.Bucket {
			if want := nativeCount(h, b.GetUpperBound()); b.GetCumulativeCount() != want {
				t.Fatalf("round %d: at most %v s took %d, by native buckets %d", round, b.GetUpperBound(), b.GetCumulativeCount(), want)
			}
		}
	}
}

func TestClassicBoundsAreExact(t *testing.T) {
	h := newHistogram()
	for _, schema := range []int8{stats.MaxSchema, 0, -1} {
		for _, b := range h.Bucket {
			bound := b.GetUpperBound()
			e := int(math.Log2(bound))
			last := lastIndexWithin(schema, e)
			if got := stats.UpperBound(schema, last); got != bound {
				t.Errorf("schema %d: bucket %d ends at %v, the classic one at %v", schema, last, got, bound)
			}
		}
	}
	for _, d := range []time.Duration{time.Second, 4 * time.Second, 16 * time.Second} {
		fillHistogram(h, observed(d, d+time.Microsecond))
		for _, b := range h.Bucket {
			if b.GetUpperBound() == d.Seconds() && b.GetCumulativeCount() != 1 {
				t.Errorf("of %v and a microsecond more, %d are within %v", d, b.GetCumulativeCount(), d)
			}
		}
	}
}

func TestACoarseHistogramNeverClaimsTooMany(t *testing.T) {
	// Schema -4 has bounds at 1 s and 65,536 s. Durations between them have an
	// unknown value, so they count from 65,536 s on.
	from := &stats.Histogram{Schema: -4, Sum: 5e6, Buckets: []stats.Bucket{{Index: 0, N: 2}, {Index: 1, N: 3}}}
	h := newHistogram()
	fillHistogram(h, from)
	for bound, want := range map[float64]uint64{0.25: 0, 1: 2, 4: 2, 16384: 2, 65536: 5, 1048576: 5} {
		for _, b := range h.Bucket {
			if b.GetUpperBound() == bound && b.GetCumulativeCount() != want {
				t.Errorf("within %v s: %d, want %d", bound, b.GetCumulativeCount(), want)
			}
		}
	}
}

func TestAnEmptyHistogramIsStillNative(t *testing.T) {
	h := newHistogram()
	fillHistogram(h, observed(time.Second))
	fillHistogram(h, &stats.Histogram{})
	if h.GetSampleCount() != 0 || len(h.PositiveSpan) != 0 || h.GetSchema() != stats.MaxSchema || h.GetZeroThreshold() != stats.ZeroThreshold {
		t.Errorf("%v", h)
	}
}
