// SPDX-License-Identifier: Apache-2.0

package split

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// MaxData is the maximum number of bytes of data of a crossing.
const MaxData = 1 << 20

// ErrCrossings is wrapped by the errors of ReadCrossings.
var ErrCrossings = errors.New("bad crossings")

// Crossing is the tokens that a firing in one part puts into a place of another.
type Crossing struct {
	Instance int    // its number
	Place    int32  // by its index in the whole net
	Tokens   uint32 // 1 or more
	Data     []byte // of each token; nil for none
}

// AppendCrossings appends the number of crossings as a varint, and for each the
// varints of the instance, the place, the tokens, and the data: 0 for none, otherwise
// one more than the number of bytes that follow.
func AppendCrossings(dst []byte, crossings []Crossing) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(crossings)))
	for k := range crossings {
		c := &crossings[k]
		dst = binary.AppendUvarint(dst, uint64(c.Instance))
		dst = binary.AppendUvarint(dst, uint64(c.Place))
		dst = binary.AppendUvarint(dst, uint64(c.Tokens))
		if c.Data == nil {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(c.Data))+1)
		dst = append(dst, c.Data...)
	}
	return dst
}

// ReadCrossings appends the crossings of AppendCrossings to into and returns the bytes
// after them. The data are those of src, not a copy. The error wraps [ErrCrossings].
// The caller checks places and instances.
func ReadCrossings(src []byte, into []Crossing) (crossings []Crossing, rest []byte, err error) {
	r := reader{left: src}
	for n := r.next(uint64(len(src)), "crossings"); n > 0 && r.err == nil; n-- {
		c := Crossing{Instance: int(r.next(math.MaxInt, "an instance")), Place: int32(r.next(math.MaxInt32, "a place")),
			Tokens: uint32(r.next(math.MaxUint32, "tokens"))}
		if c.Tokens == 0 {
			r.fail("no tokens")
		}
		if size := r.next(MaxData+1, "bytes"); size > 0 {
			c.Data = r.bytes(int(size - 1))
		}
		into = append(into, c)
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	return into, r.left, nil
}

// reader reads numbers from bytes. After the first error it returns zeros.
type reader struct {
	left []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrCrossings, fmt.Sprintf(format, args...))
	}
}

func (r *reader) next(limit uint64, what string) uint64 {
	v, n := binary.Uvarint(r.left)
	switch {
	case r.err != nil:
		return 0
	case n <= 0:
		r.fail("they end inside a number")
		return 0
	case v > limit:
		r.fail("%s: %d where at most %d can be", what, v, limit)
		return 0
	}
	r.left = r.left[n:]
	return v
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.left) {
		r.fail("they end inside data")
	}
	if r.err != nil {
		return nil
	}
	out := r.left[:n:n]
	r.left = r.left[n:]
	return out
}
