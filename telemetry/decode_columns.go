// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"math"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// columns checks the columns of one table of n rows and returns an absent
// column as zeros. It keeps the first error; after it all columns are absent.
type columns struct {
	d     *Decoder
	n     int
	index []uint32       // of the table; nil in a full snapshot
	known *stats.Columns // receives the columns that are present
	err   error
}

// counts checks a column of counts.
func (c *columns) counts(col stats.Columns, name string, values []uint64) []uint64 {
	return c.below(col, name, values, c.d.most())
}

// below checks a column of numbers that are no larger than limit.
func (c *columns) below(col stats.Columns, name string, values []uint64, limit uint64) []uint64 {
	if !c.present(col, name, len(values)) {
		c.d.zeros = zeros(c.d.zeros, c.n)
		return c.d.zeros
	}
	top := uint64(0)
	for _, v := range values {
		top = max(top, v)
	}
	if top > limit {
		c.err = fmt.Errorf("%s: %w: %d, of at most %d", name, BadValue, top, limit)
	}
	return values
}

// moments checks a column of times, where 0 is no time.
func (c *columns) moments(col stats.Columns, name string, values []int64) []int64 {
	if !c.present(col, name, len(values)) {
		c.d.times = zeros(c.d.times, c.n)
		return c.d.times
	}
	first, last := int64(0), int64(0)
	for _, v := range values {
		first, last = min(first, v), max(last, v)
	}
	if first < 0 || last > MaxTime {
		c.err = fmt.Errorf("%s: %w: a time of %d or %d", name, BadValue, first, last)
	}
	return values
}

func (c *columns) present(col stats.Columns, name string, length int) bool {
	if c.err != nil || length == 0 {
		return false
	}
	if length != c.n {
		c.err = fmt.Errorf("%s: %w: %d values for %d rows", name, BadColumns, length, c.n)
		return false
	}
	*c.known |= col
	return true
}

// together checks that all columns of a group are present, or none.
func (c *columns) together(names string, lengths ...int) {
	for _, l := range lengths {
		if c.err == nil && l != lengths[0] {
			c.err = fmt.Errorf("%w: %s come together", BadColumns, names)
		}
	}
}

// row returns the row of a place or transition, by its index in the net.
func (c *columns) row(at uint32) (row int, found bool) {
	if c.index != nil {
		return slices.BinarySearch(c.index, at)
	}
	return int(at), int(at) < c.n
}

// zeros returns n zeros, in the given memory if it suffices.
func zeros[T uint64 | int64](have []T, n int) []T {
	if n > cap(have) {
		return make([]T, n)
	}
	return have[:n]
}

// durations sets the histogram of each row, and its slowest token or firing, at
// the addresses that row returns. They are empty if the column is absent.
func (c *columns) durations(col stats.Columns, name string, w *wire.Histogram, slowest []*wire.Slowest, row rowDurations) error {
	known := len(w.GetLen()) > 0
	if err := c.checkHistograms(w, known); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	first := 0 // bucket of the row
	for i := range c.n {
		h, s := row(i)
		*h, *s = stats.Histogram{Buckets: h.Buckets[:0]}, stats.Slowest{}
		if !known {
			continue
		}
		if err := readHistogram(w, i, first, c.d.most(), h); err != nil {
			return fmt.Errorf("%s of row %d: %w", name, i, err)
		}
		first += len(h.Buckets)
	}
	if known {
		*c.known |= col
	} else if len(slowest) > 0 {
		return fmt.Errorf("slowest: %w: without its histograms", BadColumns)
	}
	return within("slowest", c.slowest(slowest, row))
}

// rowDurations returns the durations of the i-th row of a table.
type rowDurations func(i int) (*stats.Histogram, *stats.Slowest)

// checkHistograms checks the lengths of a column.
func (c *columns) checkHistograms(w *wire.Histogram, known bool) error {
	if !known {
		if len(w.GetSchema())+len(w.GetZero())+len(w.GetSum())+len(w.GetIndex())+len(w.GetCount()) > 0 {
			return fmt.Errorf("%w: len is missing", BadColumns)
		}
		return nil
	}
	if len(w.Schema) != c.n || len(w.Zero) != c.n || len(w.Sum) != c.n {
		return fmt.Errorf("%w: schema, zero and sum of %d, %d and %d rows, of %d",
			BadColumns, len(w.Schema), len(w.Zero), len(w.Sum), c.n)
	}
	return checkLens(c.n, w.Len, len(w.Index), len(w.Count))
}

// readHistogram sets the histogram of row i, whose buckets begin at first.
func readHistogram(w *wire.Histogram, i, first int, most uint64, into *stats.Histogram) error {
	n := int(w.Len[i])
	if n > stats.MaxBuckets {
		return fmt.Errorf("%w: %d buckets, of at most %d", TooMany, n, stats.MaxBuckets)
	}
	if w.Zero[i] > most || w.Schema[i] != int32(int8(w.Schema[i])) {
		return fmt.Errorf("%w: schema %d, zero %d", BadValue, w.Schema[i], w.Zero[i])
	}
	into.Zero, into.Sum = w.Zero[i], w.Sum[i]
	if n > 0 {
		into.Schema = int8(w.Schema[i])
	}
	into.Buckets = resize(into.Buckets, n)
	index := int64(0)
	for j := range into.Buckets {
		index += int64(w.Index[first+j])
		if index != int64(int32(index)) || w.Count[first+j] > most {
			return fmt.Errorf("%w: bucket %d with count %d", BadValue, index, w.Count[first+j])
		}
		into.Buckets[j] = stats.Bucket{Index: int32(index), N: w.Count[first+j]}
	}
	if !into.Valid() {
		return fmt.Errorf("%w: schema %d, or buckets that are not filled, rising and in range", BadValue, into.Schema)
	}
	return nil
}

// slowest sets the slowest of the rows that a list names.
func (c *columns) slowest(list []*wire.Slowest, row rowDurations) error {
	for i, w := range list {
		if i > 0 && w.GetRow() <= list[i-1].GetRow() {
			return fmt.Errorf("%w: row %d after row %d", BadIndex, w.GetRow(), list[i-1].GetRow())
		}
		at, ok := c.row(w.GetRow())
		if !ok {
			return fmt.Errorf("%w: row %d is not there", BadIndex, w.GetRow())
		}
		if err := checkText(w.GetInstance(), MaxName); err != nil {
			return fmt.Errorf("instance: %w", err)
		}
		if w.GetAt() <= 0 || w.GetAt() > MaxTime || w.GetDuration() > MaxTime {
			return fmt.Errorf("%w: %d µs until %d", BadValue, w.GetDuration(), w.GetAt())
		}
		_, slowest := row(at)
		*slowest = stats.Slowest{Instance: w.GetInstance(), Micros: int64(w.GetDuration()), At: w.GetAt()}
	}
	return nil
}

// checkLens checks that there are n lengths, and that their sum is the length
// of both columns that they divide.
func checkLens(n int, lens []uint32, a, b int) error {
	if len(lens) != n {
		return fmt.Errorf("%w: len of %d rows, of %d", BadColumns, len(lens), n)
	}
	sum := uint64(0)
	for _, l := range lens {
		sum += uint64(l)
	}
	if sum > math.MaxInt32 || int(sum) != a || a != b {
		return fmt.Errorf("%w: lens add up to %d, for %d and %d values", BadColumns, sum, a, b)
	}
	return nil
}

// resize returns a slice of length n. It keeps the elements of s, also those
// beyond its length, to reuse their memory.
func resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n)
	copy(grown, s[:cap(s)])
	return grown
}
