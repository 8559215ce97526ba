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

// chunk is the number of elements that a list allocates at a time.
const chunk = 512

// list is a sequence that grows without a copy of what it holds.
type list[T any] struct {
	chunks [][]T
	len    int
}

func (l *list[T]) at(i uint32) T { return l.chunks[i/chunk][i%chunk] }

// add appends v, an element of size bytes, and reports whether there was memory for it.
func (l *list[T]) add(v T, size int64, b *budget) bool {
	if l.len == len(l.chunks)*chunk {
		if !b.take(chunk * size) {
			return false
		}
		var c []T // the first chunk grows with its elements: most tables are small
		if l.len > 0 {
			c = make([]T, 0, chunk)
		}
		l.chunks = append(l.chunks, c)
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, v)
	l.len++
	return true
}

// table numbers keys from 0 in the order in which they are added.
type table struct {
	keys  list[uint64]
	index []uint32 // open addressing: 1 + the number of a key, or 0; a power of two long
}

// add returns the number of a key and adds it, unless it is known. ok is false if
// there is no memory for it.
func (t *table) add(key uint64, b *budget) (number uint32, ok bool) {
	if t.keys.len >= len(t.index)/4*3 && !t.grow(b) {
		return 0, false
	}
	at := t.slot(key)
	if n := t.index[at]; n != 0 {
		return n - 1, true
	}
	number = uint32(t.keys.len)
	if !t.keys.add(key, 8, b) {
		return 0, false
	}
	t.index[at] = number + 1
	return number, true
}

// slot returns the place of a key in the index, or the free one for it.
func (t *table) slot(key uint64) uint64 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	mask := uint64(len(t.index) - 1)
	for at := (hi ^ lo) & mask; ; at = (at + 1) & mask {
		if n := t.index[at]; n == 0 || t.keys.at(n-1) == key {
			return at
		}
	}
}

// grow doubles the index and reports whether there was memory for it.
func (t *table) grow(b *budget) bool {
	size := max(2*len(t.index), 8)
	if !b.take(int64(4 * size)) {
		return false
	}
	b.left += int64(4 * len(t.index))
	t.index = make([]uint32, size)
	for n := range uint32(t.keys.len) {
		t.index[t.slot(t.keys.at(n))] = n + 1
	}
	return true
}

// bytes returns the memory that the table took from its budget.
func (t *table) bytes() int64 {
	return int64(len(t.keys.chunks)*chunk*8 + 4*len(t.index))
}
