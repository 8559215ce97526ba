// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// A strip is one value of each of some rows, in the memory of the rows. A loop over a
// strip calls nothing for a value.
type strip[T any] struct {
	first unsafe.Pointer
	step  uintptr
	n     int
}

// stripOf returns the value of each row that of points to, which is inside of the row.
func stripOf[R, T any](rows []R, of func(*R) *T) strip[T] {
	if len(rows) == 0 {
		return strip[T]{}
	}
	row, first := unsafe.Pointer(&rows[0]), unsafe.Pointer(of(&rows[0]))
	if uintptr(first)-uintptr(row)+unsafe.Sizeof(*new(T)) > unsafe.Sizeof(rows[0]) {
		panic("telemetry: a value outside of its row")
	}
	return strip[T]{first, unsafe.Sizeof(rows[0]), len(rows)}
}

// at returns the value of a row.
func (s strip[T]) at(row int) *T {
	if uint(row) >= uint(s.n) {
		panic("telemetry: no such row")
	}
	return (*T)(unsafe.Add(s.first, uintptr(row)*s.step))
}

// more is the bit that each byte of a number has but the last.
const more = 0x80

// countNumbers returns how many numbers b holds. It checks that the last one is whole, not
// that each fits 64 bits.
func countNumbers(b []byte) (n int, err error) {
	if len(b) > 0 && b[len(b)-1] >= more {
		return countEach(b)
	}
	n = len(b)
	rest := b
	for len(rest) >= 32 {
		part := rest[:min(len(rest)&^31, 32*63)]
		rest = rest[len(part):]
		sums := uint64(0) // of each byte of a word
		for ; len(part) >= 32; part = part[32:] {
			w, x := binary.LittleEndian.Uint64(part), binary.LittleEndian.Uint64(part[8:])
			y, z := binary.LittleEndian.Uint64(part[16:]), binary.LittleEndian.Uint64(part[24:])
			sums += w&tops>>7 + x&tops>>7 + y&tops>>7 + z&tops>>7
		}
		sums = sums&0x00ff00ff00ff00ff + sums>>8&0x00ff00ff00ff00ff
		n -= int(sums * 0x0001000100010001 >> 48)
	}
	for ; len(rest) >= 8; rest = rest[8:] {
		n -= bits.OnesCount64(binary.LittleEndian.Uint64(rest) & tops)
	}
	for _, c := range rest {
		n -= int(c >> 7)
	}
	return n, nil
}

// countEach is countNumbers, and checks each number.
func countEach(b []byte) (n int, err error) {
	for ; len(b) > 0; n++ {
		_, size := protowire.ConsumeVarint(b)
		if size < 0 {
			return n, protowire.ParseError(size)
		}
		b = b[size:]
	}
	return n, nil
}

// readPacked reads the numbers that countNumbers counted, and returns all of their bits. It
// reports false if one does not fit 64 bits.
func readPacked(b []byte, into strip[uint64]) (all uint64, ok bool) {
	if len(b) == into.n {
		return readBytes(b, into), true
	}
	row := 0
	if len(b) == 2*into.n {
		row, all = readPairs(b, into)
	}
	at, to := 2*row, uintptr(row)*into.step
	like := ofSize(8) // many columns have numbers of one size, such as times
	for range into.n - row {
		v := uint64(b[at])
		switch {
		case v < more:
			at++
		case b[at+1] < more:
			v += uint64(b[at+1])<<7 - more
			at += 2
		case at+8 > len(b):
			var n int
			if v, n = protowire.ConsumeVarint(b[at:]); n < 0 {
				return all, false
			}
			at += n
		default:
			word := binary.LittleEndian.Uint64(b[at:])
			if word&like.top != like.want {
				last := ^word & tops
				if last == 0 { // more than 8 bytes
					var n int
					if v, n = protowire.ConsumeVarint(b[at:]); n < 0 {
						return all, false
					}
					at += n
					break
				}
				like = ofSize(bits.TrailingZeros64(last)>>3 + 1)
			}
			v = seven(word & like.all)
			at += like.n
		}
		*(*uint64)(unsafe.Add(into.first, to)) = v
		all |= v
		to += into.step
	}
	return all, true
}

// readBytes reads numbers of one byte each, and returns all of their bits.
func readBytes(b []byte, into strip[uint64]) (all uint64) {
	first, to, step, at := into.first, uintptr(0), into.step, 0
	for ; at+8 <= len(b); at += 8 {
		word := binary.LittleEndian.Uint64(b[at:])
		all |= word
		*(*uint64)(unsafe.Add(first, to)) = word & 0xff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 8 & 0xff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 16 & 0xff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 24 & 0xff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 32 & 0xff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 40 & 0xff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 48 & 0xff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 56
		to += step
	}
	all |= all >> 32
	all |= all >> 16
	all |= all >> 8
	for ; at < len(b); at++ {
		*(*uint64)(unsafe.Add(first, to)) = uint64(b[at])
		all |= uint64(b[at])
		to += step
	}
	return all & 0xff
}

// readPairs reads numbers of two bytes each, up to one of another size, and returns how many
// it read and all of their bits.
func readPairs(b []byte, into strip[uint64]) (row int, all uint64) {
	first, to, step, at := into.first, uintptr(0), into.step, 0
	for ; at+8 <= len(b); at += 8 {
		word := binary.LittleEndian.Uint64(b[at:])
		if word&tops != tops&0x00ff00ff00ff00ff {
			break
		}
		word = fourteen(word)
		all |= word
		*(*uint64)(unsafe.Add(first, to)) = word & 0xffff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 16 & 0xffff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 32 & 0xffff
		to += step
		*(*uint64)(unsafe.Add(first, to)) = word >> 48
		to += step
	}
	all |= all >> 32
	return at / 2, (all | all>>16) & 0xffff
}

// tops are the highest bits of the bytes of a word.
const tops = 0x8080808080808080

// size is a number of bytes of a number, up to 8: masks of a word that begins with it.
type size struct {
	n        int
	all, top uint64 // the bytes, and the highest bit of each
	want     uint64 // the highest bits that are set
}

func ofSize(n int) size {
	all := ^uint64(0) >> uint(64-8*n)
	return size{n, all, all & tops, all & tops >> 8}
}

// seven joins the lower seven bits of each byte, the first byte lowest.
func seven(word uint64) uint64 {
	word = fourteen(word)
	word -= word & 0xffff0000ffff0000 >> 2 * 3 // 28 bits in each 32
	return word&0xffffffff | word>>32<<28
}

// fourteen joins the lower seven bits of two bytes each, in 16 bits.
func fourteen(word uint64) uint64 {
	word &^= tops
	return word - word&0xff00ff00ff00ff00>>1
}

// appendPacked appends a field of packed numbers, none if there are no rows.
func appendPacked(b []byte, num protowire.Number, from strip[uint64]) []byte {
	if from.n == 0 {
		return b
	}
	b, start := beginField(b, num)
	for i := range from.n {
		b = appendVarint(b, *from.at(i))
	}
	return endField(b, start)
}

func appendVarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}
