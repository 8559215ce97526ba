// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"math"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/stats"
)

// The classic bounds are 2^firstBound seconds (about a millisecond) and every
// fourfold of it up to 2^lastBound seconds (12 days): even powers of two, so
// they are bounds of the native buckets down to schema -1. Durations never
// need a coarser schema: schema 1 holds a microsecond to 34 years.
const (
	firstBound = -10
	lastBound  = 20
	numBounds  = (lastBound-firstBound)/2 + 1

	// classicSeries is how many series the classic form of a histogram has:
	// the buckets, +Inf, sum and count.
	classicSeries = numBounds + 3
)

// newHistogram returns a histogram for fillHistogram. The memory after its buckets
// is for a bucket above the last bound: see exemplify.
func newHistogram() *dto.Histogram {
	h := &dto.Histogram{SampleCount: new(uint64), SampleSum: new(float64), Schema: new(int32),
		ZeroThreshold: new(float64), ZeroCount: new(uint64)}
	*h.ZeroThreshold = stats.ZeroThreshold
	for b := range numBounds {
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: new(bound(b)), CumulativeCount: new(uint64)})
	}
	above := math.Inf(1)
	h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &above, CumulativeCount: new(uint64)})[:numBounds]
	return h
}

// fillHistogram sets h, from newHistogram, to the durations of from, without an
// exemplar.
func fillHistogram(h *dto.Histogram, from *stats.Histogram) {
	fillNative(h, from)
	h.Bucket, h.Exemplars = h.Bucket[:numBounds], nil
	counts, count := classic(from)
	for b := range counts {
		*h.Bucket[b].CumulativeCount, h.Bucket[b].Exemplar = counts[b], nil
	}
	*h.SampleCount = count
	*h.SampleSum = seconds(from.Sum)
}

// classic returns how many durations are within each classic bound, and how many there are.
func classic(from *stats.Histogram) (within [numBounds]uint64, count uint64) {
	count, next := from.Zero, 0
	for b, e := 0, firstBound; b < numBounds; b, e = b+1, e+2 {
		last := lastIndexWithin(from.Schema, e)
		for next < len(from.Buckets) && from.Buckets[next].Index <= last {
			count += from.Buckets[next].N
			next++
		}
		within[b] = count
	}
	for _, b := range from.Buckets[next:] {
		count += b.N
	}
	return within, count
}

// bound returns a classic bound in seconds.
func bound(b int) float64 { return math.Ldexp(1, firstBound+2*b) }

// seconds returns microseconds in seconds.
func seconds[N int64 | uint64](micros N) float64 { return float64(micros) / 1e6 }

// lastIndexWithin returns the index of the last bucket whose durations are all at
// most 2^e seconds.
func lastIndexWithin(schema int8, e int) int32 {
	if schema >= 0 {
		return int32(e) << schema
	}
	return int32(e) >> -schema
}

// fillNative writes the buckets as spans of neighbours, with the count of each
// as the difference to the one before.
func fillNative(h *dto.Histogram, from *stats.Histogram) {
	*h.ZeroCount = from.Zero
	*h.Schema = int32(from.Schema)
	if len(from.Buckets) == 0 {
		*h.Schema = stats.MaxSchema // schema 0 means that there is none yet
	}
	spans, deltas := h.PositiveSpan[:0], h.PositiveDelta[:0]
	var before int64
	var expected int32 // the index after the last bucket; the first span counts from 0
	for i, b := range from.Buckets {
		if i == 0 || b.Index != expected {
			spans = appendSpan(spans, b.Index-expected)
		}
		*spans[len(spans)-1].Length++
		deltas = append(deltas, int64(b.N)-before)
		before, expected = int64(b.N), b.Index+1
	}
	h.PositiveSpan, h.PositiveDelta = spans, deltas
}

// appendSpan appends a span, reusing the memory of a former one.
func appendSpan(spans []*dto.BucketSpan, offset int32) []*dto.BucketSpan {
	if n := len(spans); n < cap(spans) && spans[:n+1][n] != nil {
		spans = spans[:n+1]
	} else {
		spans = append(spans, &dto.BucketSpan{Offset: new(int32), Length: new(uint32)})
	}
	span := spans[len(spans)-1]
	*span.Offset, *span.Length = offset, 0
	return spans
}
