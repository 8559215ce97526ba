// SPDX-License-Identifier: Apache-2.0

package explore

import "math/bits"

// budget is the memory that is left for markings, in bytes.
type budget struct{ left int64 }

// take takes n bytes and reports whether there were as many.
func (b *budget) take(n int64) bool {
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

// table numbers rows from 0 in the order in which they are added.
type table struct {
	rows
	factors []uint64 // of the hash, by cell
	index   []uint32 // open addressing: 1 + the number of a row, and above it bits of its hash; or 0
	limit   int      // the most rows for which the index is long enough
	mask    uint32   // the bits of a number in the index
}

func newTable(width int) table {
	t := table{rows: rows{width: width}}
	for len(t.factors) < width {
		t.factors = append(t.factors, factor(len(t.factors)))
	}
	return t
}

// factor returns the factor of a cell in the hash of a row: a number without a pattern.
func factor(cell int) uint64 {
	f := uint64(cell+1) * 0x9e3779b97f4a7c15
	f = (f ^ f>>30) * 0xbf58476d1ce4e5b9
	f = (f ^ f>>27) * 0x94d049bb133111eb
	return f ^ f>>31 | 1
}

// hash returns the hash of a row. Cells that are 0 at its end do not change it.
func (t *table) hash(row []uint32) (h uint64) {
	factors := t.factors[:len(row)]
	for i, v := range row {
		h += uint64(v) * factors[i]
	}
	h ^= h >> 32
	return h * 0xd6e8feb86659fd93
}

// add returns the number of a row and adds it, unless it is known. ok is false if
// there is no memory for it.
func (t *table) add(row []uint32, b *budget) (number uint32, ok bool) {
	if t.len >= t.limit && !t.grow(b) {
		return 0, false
	}
	h, mask := t.hash(row), t.mask
	for at := t.slot(h); ; {
		e := t.index[at]
		if e == 0 {
			if !t.rows.add(row, b) {
				return 0, false
			}
			t.index[at] = uint32(t.len) | uint32(h)&^mask
			return uint32(t.len - 1), true
		}
		if (e^uint32(h))&^mask == 0 && t.is(e&mask-1, row) {
			return e&mask - 1, true
		}
		if at++; at == len(t.index) {
			at = 0
		}
	}
}

// slot returns where the search for a hash begins in the index.
func (t *table) slot(h uint64) int {
	at, _ := bits.Mul64(h, uint64(len(t.index)))
	return int(at)
}

// is reports whether a number is that of a row.
func (t *table) is(number uint32, row []uint32) bool {
	have := t.at(number)
	for i, v := range row[:len(have)] {
		if v != have[i] {
			return false
		}
	}
	for _, v := range row[len(have):] {
		if v != 0 {
			return false
		}
	}
	return true
}

// grow makes the index longer by a half and reports whether there was memory for it. Without, it
// cannot be used any more.
func (t *table) grow(b *budget) bool {
	size := max(len(t.index)/10*15, 20)
	b.left += int64(4 * len(t.index))
	t.index, t.limit = nil, 0 // first: the rows have all that it is made of
	if !b.take(int64(4 * size)) {
		return false
	}
	t.index, t.limit, t.mask = make([]uint32, size), size/5*4, uint32(1)<<bits.Len(uint(size))-1
	for n := range uint32(t.len) {
		h := t.hash(t.at(n))
		at := t.slot(h)
		for t.index[at] != 0 {
			if at++; at == size {
				at = 0
			}
		}
		t.index[at] = n + 1 | uint32(h)&^t.mask
	}
	return true
}

// widen adds a cell to the rows, which is 0 in those there are, and reports whether there was
// memory for it.
func (t *table) widen(b *budget) bool {
	t.factors = append(t.factors, factor(len(t.factors)))
	return t.rows.widen(b)
}

// bytes returns the memory that the table took from its budget.
func (t *table) bytes() int64 { return t.rows.bytes() + int64(4*len(t.index)) }
