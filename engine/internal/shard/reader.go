// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/binary"
	"fmt"
)

// Reader takes numbers off bytes. After the first error it gives zeros.
type Reader struct {
	Left []byte
	Err  error
}

// Fail makes the reader one that has failed, with an error that wraps ErrLog.
func (r *Reader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%w: %w", ErrLog, fmt.Errorf(format, args...))
	}
}

// Next returns the next number, at most limit.
func (r *Reader) Next(limit uint64) uint64 {
	v, n := binary.Uvarint(r.Left)
	if n > 0 && v <= limit && r.Err == nil {
		r.Left = r.Left[n:]
		return v
	}
	if n <= 0 {
		r.Fail("it ends inside a number")
	} else {
		r.Fail("%d where at most %d can be", v, limit)
	}
	return 0
}

// Index returns the next number below n.
func (r *Reader) Index(n int) int {
	if n == 0 {
		r.Fail("an index where there is nothing")
		return 0
	}
	return int(r.Next(uint64(n) - 1))
}

// Bytes returns the next n bytes.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.Left)) {
		r.Fail("it ends inside data")
	}
	if r.Err != nil {
		return nil
	}
	out := r.Left[:n:n]
	r.Left = r.Left[n:]
	return out
}
