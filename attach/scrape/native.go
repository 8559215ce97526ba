// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"math"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/stats"
)

// The coarsest and the finest schema of a native histogram.
const (
	minSchema = -4
	maxSchema = 8
)

// native returns a native histogram of durations in seconds, whose buckets are
// those of stats. It rejects a classic histogram: its bounds differ, so the
// buckets of its durations are unknown.
func native(h *dto.Histogram) (out stats.Histogram, why reason, ok bool) {
	if h == nil || h.Schema == nil || h.GetSampleCountFloat() > 0 {
		return out, wrongType, false
	}
	schema := h.GetSchema()
	sum := h.GetSampleSum() * 1e6
	if schema < minSchema || schema > maxSchema || len(h.NegativeSpan) > 0 || math.IsNaN(sum) || sum < 0 || sum >= 1<<63 ||
		h.GetZeroCount() > 0 && h.GetZeroThreshold() > stats.ZeroThreshold || h.GetSampleCount() > maxCounter {
		return out, badValue, false
	}
	out = stats.Histogram{Zero: h.GetZeroCount(), Sum: uint64(sum)}
	target := min(schema, stats.MaxSchema)
	first, last := stats.IndexRange(int8(target))
	index, n, left := int64(0), int64(0), h.PositiveDelta
	for _, span := range h.PositiveSpan {
		index += int64(span.GetOffset())
		for range span.GetLength() {
			if len(left) == 0 {
				return out, badValue, false
			}
			n, left = n+left[0], left[1:]
			if n < 0 || n > maxCounter {
				return out, badValue, false
			}
			i := (index-1)>>(schema-target) + 1
			if i < int64(first) {
				out.Zero += uint64(n) // shorter than a microsecond
			} else {
				add(&out, int32(min(i, int64(last))), uint64(n))
			}
			index++
		}
	}
	if len(out.Buckets) > 0 {
		out.Schema = int8(target)
	}
	out.Fit()
	return out, 0, out.Valid()
}

// add adds n durations to the last bucket or a later one.
func add(h *stats.Histogram, index int32, n uint64) {
	switch k := len(h.Buckets) - 1; {
	case n == 0:
	case k >= 0 && h.Buckets[k].Index == index:
		h.Buckets[k].N += n
	default:
		h.Buckets = append(h.Buckets, stats.Bucket{Index: index, N: n})
	}
}
