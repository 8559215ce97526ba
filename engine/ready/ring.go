// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"math/bits"
	"sort"
)

// ring is one list of a queue: first in, first out. head and tail count all
// elements ever taken and put, so they are positions and counters at once.
//
// An owner reads the clock once for many instances. So a time is stored once
// for all neighbours that share it, and searched only on request.
type ring struct {
	buf        []int32 // length 0 or a power of two
	head, tail uint64
	times      []stamp // by position; the first ones may be of elements that were taken
	latest     int64   // the last of times, if the list is not empty
	begun      int64   // when the list last became non-empty
	served     int64   // when it was last served
}

// stamp holds the time since which the instances from a position on are ready.
type stamp struct {
	since int64
	from  uint64
}

func (r *ring) size() int  { return int(r.tail - r.head) }
func (r *ring) full() bool { return r.tail-r.head == uint64(len(r.buf)) }

// push puts an instance at the tail. There must be room.
func (r *ring) push(instance int32) {
	r.buf[r.tail&uint64(len(r.buf)-1)] = instance
	r.tail++
}

// pop takes the head. The list must not be empty.
func (r *ring) pop() int32 {
	v := r.buf[r.head&uint64(len(r.buf)-1)]
	r.head++
	return v
}

// begin records the time of the next push into an empty list.
func (r *ring) begin(now int64) {
	r.begun, r.latest = now, now
	r.times = append(r.times[:0], stamp{now, r.tail})
}

// stamp records the time of the next push. Before the times need more memory,
// it drops those of elements that were taken, if they are at least half of all:
// so the cost of a stamp does not depend on their number.
func (r *ring) stamp(now int64) {
	if n := len(r.times); n == cap(r.times) {
		if over := r.oldest(); over >= n/2 {
			r.times = append(r.times[:0], r.times[over:]...)
		}
	}
	r.latest = now
	r.times = append(r.times, stamp{now, r.tail})
}

// oldest returns the index of the stamp of the head. The list must not be
// empty.
func (r *ring) oldest() int {
	return sort.Search(len(r.times), func(i int) bool { return r.times[i].from > r.head }) - 1
}

// since returns since when the head is ready. The list must not be empty.
func (r *ring) since() int64 { return r.times[r.oldest()].since }

// ahead returns the first n elements, or fewer: those up to the end of buf.
func (r *ring) ahead(n int) []int32 {
	at := int(r.head & uint64(len(r.buf)-1))
	return r.buf[at:min(at+min(n, r.size()), len(r.buf))]
}

func (r *ring) grow() {
	const least = 16
	buf := make([]int32, max(least, 1<<bits.Len(uint(len(r.buf)))))
	for i := r.head; i < r.tail; i++ {
		buf[i&uint64(len(buf)-1)] = r.buf[i&uint64(len(r.buf)-1)]
	}
	r.buf = buf
}
