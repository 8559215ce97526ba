// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/bits"
)

// A recorder counts into a fixed range of buckets of MaxSchema: one for zero, then
// from a microsecond to 2^30 s (34 years; longer durations count as that).
const (
	firstIndex = -20<<MaxSchema + 1 // holds 1 µs
	lastIndex  = 30 << MaxSchema
	numCells   = 1 + lastIndex - firstIndex + 1
)

// bucketTable finds the bucket of a duration without a logarithm: the top five
// bits of the duration select a range that contains at most one bound.
type bucketTable struct {
	guess [64 * 16]uint16  // cell of the stretch's first duration
	upper [numCells]uint64 // largest duration of the cell, microseconds
}

var buckets = newBucketTable()

func newBucketTable() *bucketTable {
	t := &bucketTable{}
	for c := 1; c < numCells; c++ {
		t.upper[c] = uint64(math.Floor(UpperBound(MaxSchema, int32(c-1+firstIndex)) * 1e6))
	}
	t.upper[numCells-1] = math.MaxUint64
	c := uint16(1)
	for e := range 64 {
		for m := range 16 {
			first := uint64(1)<<e | uint64(m)<<e>>4
			for first > t.upper[c] {
				c++
			}
			t.guess[e*16+m] = c
		}
	}
	return t
}

// cell returns the cell of a duration in microseconds: 0 for less than one, else 1
// + its bucket's index - firstIndex.
func (t *bucketTable) cell(d int64) int {
	if d <= 0 {
		return 0
	}
	e := bits.Len64(uint64(d)) - 1
	mantissa := uint64(d) << (63 - uint(e)&63) >> 59 & 15
	c := int(t.guess[(e*16+int(mantissa))&1023])
	if uint64(d) > t.upper[c] {
		c++
	}
	return c
}

// histogram returns the counts of numCells cells as a histogram.
func histogramOf(cells []uint64, sum uint64) Histogram {
	h := Histogram{Zero: cells[0], Sum: sum}
	for c, n := range cells[1:] {
		if n > 0 {
			h.Buckets = append(h.Buckets, Bucket{Index: int32(c + firstIndex), N: n})
		}
	}
	if len(h.Buckets) > 0 {
		h.Schema = MaxSchema
	}
	h.Fit()
	return h
}

// Observe counts one duration, in microseconds. It is for code that is not on a
// hot path; a Recorder counts into fixed cells.
func (h *Histogram) Observe(d int64) {
	var one Histogram
	if c := buckets.cell(d); c == 0 {
		one.Zero = 1
	} else {
		one = Histogram{Schema: MaxSchema, Sum: uint64(d), Buckets: []Bucket{{Index: int32(c - 1 + firstIndex), N: 1}}}
	}
	h.Merge(&one)
}
