// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

// numbers are the columns of numbers of one kind of row. Those of one stats.Columns come
// together.
type numbers[R any] struct {
	checked []rowNumber[R] // in the order in which they are checked: what comes together is adjacent
	written []rowNumber[R] // by their field
}

// rowNumber is one number of each row.
type rowNumber[R any] struct {
	name   string
	field  protowire.Number
	column stats.Columns
	moment bool
	most   uint64 // the largest value; 0: that of the decoder
	of     func(*R) *uint64
}

// The numbers of each kind of row.
var (
	placeNumbers = numbersOf(stats.PlaceTable,
		rowNumber[stats.Place]{"injected_s", 8, stats.ColOldest, false, MaxSum, func(p *stats.Place) *uint64 { return &p.Injected.Sec }},
		rowNumber[stats.Place]{"injected_us", 9, stats.ColOldest, false, 1e6 - 1, func(p *stats.Place) *uint64 { return &p.Injected.Micro }})
	transitionNumbers = numbersOf(stats.TransitionTable)
	netNumbers        = numbersOf(stats.NetTable)
	queueNumbers      = numbersOf(stats.QueueTable)
)

// fieldIndex is the field of the index in both tables.
const fieldIndex = 1

// numbersOf returns the numbers of a table, and others.
func numbersOf[R any](t *stats.Table[R], others ...rowNumber[R]) *numbers[R] {
	var all []rowNumber[R]
	for _, c := range t.Counts {
		all = append(all, rowNumber[R]{c.Name, protowire.Number(c.Wire), c.Column, false, 0, c.Of})
	}
	for _, m := range t.Moments {
		of := func(r *R) *uint64 { return (*uint64)(unsafe.Pointer(m.Of(r))) }
		all = append(all, rowNumber[R]{m.Name, protowire.Number(m.Wire), m.Column, true, MaxTime, of})
	}
	all = append(all, others...)
	first := func(n rowNumber[R]) int {
		return slices.IndexFunc(all, func(o rowNumber[R]) bool { return o.column == n.column })
	}
	return &numbers[R]{
		checked: sorted(all, func(a, b rowNumber[R]) int { return cmp.Compare(first(a), first(b)) }),
		written: sorted(all, func(a, b rowNumber[R]) int { return cmp.Compare(a.field, b.field) }),
	}
}

func sorted[T any](list []T, compare func(a, b T) int) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, compare)
	return list
}

// appendColumns appends the given columns whose fields are between two others.
func appendColumns[R any](b []byte, of *numbers[R], rows []R, given stats.Columns, after, before protowire.Number) []byte {
	for _, n := range of.written {
		if given.Has(n.column) && n.field > after && n.field < before {
			b = appendPacked(b, n.field, stripOf(rows, n.of))
		}
	}
	return b
}

// appendRow appends the fields of a row that is a message.
func appendRow[R any](b []byte, of *numbers[R], r *R) []byte {
	for _, n := range of.written {
		b = appendNumber(b, n.field, *n.of(r))
	}
	return b
}

// readRow sets the numbers of a row that is a message, and returns the largest count.
func readRow[R any](f fields, of *numbers[R], r *R) (top uint64) {
	for _, n := range of.checked {
		v := f[n.field].number
		*n.of(r) = v
		if !n.moment {
			top = max(top, v)
		}
	}
	return top
}

// table is a table of rows that is being read.
type table struct {
	d     *Decoder
	f     fields
	n     int            // rows
	index []uint32       // nil in a full snapshot
	known *stats.Columns // receives the columns that are present
}

// longest returns the length of the longest column of numbers. Those that come together
// count as the first of them.
func longest[R any](f fields, of *numbers[R]) (n int) {
	last := stats.Columns(0)
	for _, c := range of.checked {
		if c.column != last {
			n = max(n, f[c.field].count)
		}
		last = c.column
	}
	return n
}

// readColumns sets the numbers of every row, 0 where a column is absent.
func readColumns[R any](t *table, of *numbers[R], rows []R) error {
	group := 0 // the first of those that come together
	for i := range of.checked {
		n, next := &of.checked[i], i+1
		err := t.readColumn(n.name, n.field, n.column, stripOf(rows, n.of), n.moment, cmp.Or(n.most, t.d.most()))
		if err != nil {
			return err
		}
		if next < len(of.checked) && of.checked[next].column == n.column {
			continue
		}
		err = together(t.f, of.checked[group:next])
		if err != nil {
			return err
		}
		group = next
	}
	return nil
}

// readColumn reads a column of counts up to most, or of times, where 0 is no time.
func (t *table) readColumn(name string, num protowire.Number, known stats.Columns, into strip[uint64], moment bool, most uint64) error {
	f := &t.f[num]
	if f.count == 0 {
		for i := range into.n {
			*into.at(i) = 0
		}
		return nil
	}
	if f.count != into.n {
		return fmt.Errorf("%s: %w: %d values for %d rows", name, BadColumns, f.count, into.n)
	}
	*t.known |= known
	if t.d.readPacked(f, into) <= most {
		return nil
	}
	top, first, last := uint64(0), int64(0), int64(0)
	for i := range into.n {
		v := *into.at(i)
		top, first, last = max(top, v), min(first, int64(v)), max(last, int64(v))
	}
	switch {
	case top <= most:
		return nil
	case moment:
		return fmt.Errorf("%s: %w: a time of %d or %d", name, BadValue, first, last)
	}
	return fmt.Errorf("%s: %w: %d, of at most %d", name, BadValue, top, most)
}

// together checks that all columns of a group are present, or none.
func together[R any](f fields, group []rowNumber[R]) error {
	for _, n := range group {
		if f[n.field].count == f[group[0].field].count {
			continue
		}
		var all []string
		for _, n := range group {
			all = append(all, n.name)
		}
		last := len(all) - 1
		return fmt.Errorf("%w: %s and %s come together", BadColumns, strings.Join(all[:last], ", "), all[last])
	}
	return nil
}

// row returns the row of a place or transition, by its index in the net.
func (t *table) row(at uint32) (row int, found bool) {
	if t.index != nil {
		return slices.BinarySearch(t.index, at)
	}
	return int(at), int(at) < t.n
}

// readIndex sets the number of rows: the length of the index, or in a full snapshot that
// of the longest column.
func (t *table) readIndex(full bool, longest int, into *[]uint32) error {
	f := &t.f[fieldIndex]
	t.n = f.count
	if full {
		t.n = longest
	}
	if t.n > MaxRows {
		return fmt.Errorf("%w: %d rows, of at most %d", TooMany, t.n, MaxRows)
	}
	if full {
		*into = nil
		if f.count > 0 {
			return fmt.Errorf("%w: a full snapshot has no index", BadIndex)
		}
		return nil
	}
	index := (*into)[:0]
	for i, v := range t.d.unpacked(0, f) {
		x := uint32(v)
		if x >= MaxRows || (i > 0 && x <= index[i-1]) {
			return fmt.Errorf("%w: row %d at %d: indices rise and are below %d", BadIndex, x, i, MaxRows)
		}
		index = append(index, x)
	}
	*into, t.index = index, index
	return nil
}

// rowAt returns the index in the net of the i-th row of a table; index is empty
// in a full snapshot.
func rowAt(index []uint32, i int) uint32 {
	if len(index) == 0 {
		return uint32(i)
	}
	return index[i]
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
