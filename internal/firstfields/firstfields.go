// SPDX-License-Identifier: Apache-2.0

// Package firstfields reads and writes numbers of a row in a loop, where the row is a struct whose
// fields have names.
package firstfields

import "unsafe"

// Of returns the first n fields of a row, which have to be of type uint64 or int64: the memory of
// the row itself. A time or another signed number is in two's complement.
func Of[R any](row *R, n int) []uint64 {
	if uintptr(n)*8 > unsafe.Sizeof(*row) {
		panic("firstfields: more numbers than a row has room for")
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(row)), n)
}
