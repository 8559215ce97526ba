// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"math"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

// durations are the histogram of each row, and its slowest token or firing.
type durations struct {
	name         string
	column       stats.Columns
	num, slowNum protowire.Number // of their fields
	histograms   strip[stats.Histogram]
	slowest      strip[stats.Slowest]
}

func dwells(rows []stats.Place) durations {
	return durations{"dwell", stats.ColDwell, fieldDurations, 13,
		stripOf(rows, func(p *stats.Place) *stats.Histogram { return &p.Dwell }),
		stripOf(rows, func(p *stats.Place) *stats.Slowest { return &p.Slowest })}
}

func durationsOf(rows []stats.Transition) durations {
	return durations{"duration", stats.ColDuration, fieldDurations, 14,
		stripOf(rows, func(t *stats.Transition) *stats.Histogram { return &t.Duration }),
		stripOf(rows, func(t *stats.Transition) *stats.Slowest { return &t.Slowest })}
}

// fieldDurations is the field of the histograms in both tables.
const fieldDurations = 11

// The fields of histograms.
const (
	histSchema = 1 + iota
	histZero
	histSum
	histLen
	histIndex
	histCount
)

func (e *Encoder) appendHistograms(b []byte, d *durations) []byte {
	c := &e.columns
	c.reset()
	index, counts := c[histIndex], c[histCount]
	for i := range d.histograms.n {
		h := d.histograms.at(i)
		c[histSchema] = appendVarint(c[histSchema], protowire.EncodeZigZag(int64(h.Schema)))
		c[histZero] = appendVarint(c[histZero], h.Zero)
		c[histSum] = appendVarint(c[histSum], h.Sum)
		c[histLen] = appendVarint(c[histLen], uint64(len(h.Buckets)))
		last := int32(0)
		for _, bucket := range h.Buckets {
			index = appendVarint(index, protowire.EncodeZigZag(int64(bucket.Index-last)))
			counts = appendVarint(counts, bucket.N)
			last = bucket.Index
		}
	}
	c[histIndex], c[histCount] = index, counts
	return c.append(b, d.num)
}

// appendSlowest appends the slowest of the rows that have one. index is that of the table.
func (e *Encoder) appendSlowest(b []byte, d *durations, index []uint32) []byte {
	for i := range d.slowest.n {
		s := d.slowest.at(i)
		if s.At == 0 {
			continue
		}
		var start int
		b, start = beginField(b, d.slowNum)
		b = appendNumber(b, 1, rowAt(index, i))
		b = e.text(b, 2, s.Instance)
		b = appendNumber(b, 3, s.Micros)
		b = appendNumber(b, 4, s.At)
		b = endField(b, start)
	}
	return b
}

// read sets the histograms and the slowest. They are empty if the column is absent.
func (d *durations) read(t *table) error {
	f, slowest := t.f[d.num].fields, t.f[d.slowNum].parts
	for i := range d.histograms.n {
		h, s := d.histograms.at(i), d.slowest.at(i)
		h.Schema, h.Zero, h.Sum, h.Buckets = 0, 0, 0, h.Buckets[:0]
		if *s != (stats.Slowest{}) {
			*s = stats.Slowest{}
		}
	}
	if f[histLen].count > 0 {
		err := d.readHistograms(t, f)
		if err != nil {
			return err
		}
		*t.known |= d.column
		return within("slowest", d.readSlowest(t, t.f[d.slowNum].fields, slowest))
	}
	if f[histSchema].count+f[histZero].count+f[histSum].count+f[histIndex].count+f[histCount].count > 0 {
		return fmt.Errorf("%s: %w: len is missing", d.name, BadColumns)
	}
	if len(slowest) > 0 {
		return fmt.Errorf("slowest: %w: without its histograms", BadColumns)
	}
	return nil
}

func (d *durations) readHistograms(t *table, f fields) error {
	if n := [3]int{f[histSchema].count, f[histZero].count, f[histSum].count}; n != [3]int{t.n, t.n, t.n} {
		return fmt.Errorf("%s: %w: schema, zero and sum of %d, %d and %d rows, of %d", d.name, BadColumns, n[0], n[1], n[2], t.n)
	}
	lens, err := t.readLens(&f[histLen], f[histIndex].count, f[histCount].count)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	if index := &f[histIndex]; len(index.bytes) == index.count { // a byte each: most are next to the one before
		return readBuckets(d, t, f, lens, index.bytes)
	}
	return readBuckets(d, t, f, lens, t.d.unpacked(1, &f[histIndex]))
}

// readBuckets sets the histograms of lens buckets.
func readBuckets[I byte | uint64](d *durations, t *table, f fields, lens []uint64, index []I) error {
	counts, schema := t.d.unpacked(2, &f[histCount]), t.d.unpacked(3, &f[histSchema])
	zero, sum := t.d.unpacked(4, &f[histZero]), t.d.unpacked(5, &f[histSum])
	for i, v := range lens {
		n, h := int(uint32(v)), d.histograms.at(i)
		h.Zero, h.Sum = zero[i], sum[i]
		err := readHistogram(h, zigzag32(schema[i]), index[:n], counts[:n], t.d.most())
		if err != nil {
			return fmt.Errorf("%s of row %d: %w", d.name, i, err)
		}
		index, counts = index[n:], counts[n:]
	}
	return nil
}

// readHistogram sets the schema and the buckets of a histogram.
func readHistogram[I byte | uint64](h *stats.Histogram, schema int32, index []I, counts []uint64, most uint64) error {
	if len(index) > stats.MaxBuckets {
		return fmt.Errorf("%w: %d buckets, of at most %d", TooMany, len(index), stats.MaxBuckets)
	}
	if h.Zero > most || schema != int32(int8(schema)) {
		return fmt.Errorf("%w: schema %d, zero %d", BadValue, schema, h.Zero)
	}
	if len(index) == 0 {
		return nil
	}
	h.Schema = int8(schema)
	h.Buckets = resize(h.Buckets, len(index))
	buckets, counts := h.Buckets[:len(index)], counts[:len(index)]
	at := int64(zigzag32(uint64(index[0])))
	buckets[0] = stats.Bucket{Index: int32(at), N: counts[0]}
	// In zigzag form steps that rise are even and 2 or more: others have the highest bit here.
	steps, top := uint32(0), counts[0]-1
	for i := 1; i < len(index); i++ {
		v, n := uint32(index[i]), counts[i]
		at += int64(v >> 1)
		buckets[i] = stats.Bucket{Index: int32(at), N: n}
		steps |= bits.RotateLeft32(v, -1) - 1
		top = max(top, n-1)
	}
	valid := steps < 1<<31 && top < most && h.Schema >= stats.MinSchema && h.Schema <= stats.MaxSchema
	if valid {
		first, last := stats.IndexRange(h.Schema)
		valid = buckets[0].Index >= first && at <= int64(last)
	}
	if !valid {
		return badHistogram(h.Schema, index, counts, most)
	}
	return nil
}

// badHistogram returns the error of a histogram with buckets that are not valid.
func badHistogram[I byte | uint64](schema int8, index []I, counts []uint64, most uint64) error {
	at := int64(0)
	for i, v := range index {
		at += int64(zigzag32(uint64(v)))
		if at != int64(int32(at)) || counts[i] > most {
			return fmt.Errorf("%w: bucket %d with count %d", BadValue, at, counts[i])
		}
	}
	return fmt.Errorf("%w: schema %d, or buckets that are not filled, rising and in range", BadValue, schema)
}

// readSlowest sets the slowest of the rows that a list names.
func (d *durations) readSlowest(t *table, f fields, list [][]byte) error {
	last := uint32(0)
	for i, b := range list {
		err := f.read(b, outer)
		if err != nil {
			return err
		}
		row, instance, took, ended := uint32(f[1].number), string(f[2].bytes), f[3].number, int64(f[4].number)
		if i > 0 && row <= last {
			return fmt.Errorf("%w: row %d after row %d", BadIndex, row, last)
		}
		last = row
		at, ok := t.row(row)
		if !ok {
			return fmt.Errorf("%w: row %d is not there", BadIndex, row)
		}
		if err := checkText(instance, MaxName); err != nil {
			return fmt.Errorf("instance: %w", err)
		}
		if ended <= 0 || ended > MaxTime || took > MaxTime {
			return fmt.Errorf("%w: %d µs until %d", BadValue, took, ended)
		}
		*d.slowest.at(at) = stats.Slowest{Instance: instance, Micros: int64(took), At: ended}
	}
	return nil
}

// readLens returns the lengths of the lists of each row, in memory of the decoder. Their
// sum is the length of both columns that they divide.
func (t *table) readLens(f *field, a, b int) ([]uint64, error) {
	if f.count != t.n {
		return nil, fmt.Errorf("%w: len of %d rows, of %d", BadColumns, f.count, t.n)
	}
	lens, sum := t.d.unpacked(0, f), uint64(0)
	for _, l := range lens {
		sum += uint64(uint32(l))
	}
	if sum > math.MaxInt32 || int(sum) != a || a != b {
		return nil, fmt.Errorf("%w: lens add up to %d, for %d and %d values", BadColumns, sum, a, b)
	}
	return lens, nil
}

func zigzag32(v uint64) int32 { return int32(protowire.DecodeZigZag(v & math.MaxUint32)) }
