// SPDX-License-Identifier: Apache-2.0

package stats

import "math/bits"

// wide is a whole number of 128 bits: a sum of counts that can be subtracted again, so it
// may not saturate. The counts that it adds are numbers in two's complement, see Sum.
type wide struct {
	lo uint64
	hi int64
}

func (w *wide) add(v uint64) {
	lo, carry := bits.Add64(w.lo, v, 0)
	w.lo, w.hi = lo, w.hi+int64(v)>>63+int64(carry)
}

func (w *wide) subtract(v uint64) {
	lo, borrow := bits.Sub64(w.lo, v, 0)
	w.lo, w.hi = lo, w.hi-int64(v)>>63-int64(borrow)
}

// join adds another sum.
func (w *wide) join(o wide) {
	lo, carry := bits.Add64(w.lo, o.lo, 0)
	w.lo, w.hi = lo, w.hi+o.hi+int64(carry)
}

// count returns the number as a count, or MaxSum if it is more. A negative number is in
// two's complement.
func (w *wide) count() uint64 {
	if w.hi > 0 || w.hi == 0 && w.lo > MaxSum {
		return MaxSum
	}
	return w.lo
}

func (w *wide) isZero() bool { return w.lo == 0 && w.hi == 0 }

// addTimes adds the microseconds of a sum of times.
func (w *wide) addTimes(s TimeSum) {
	hi, lo := bits.Mul64(s.Sec, 1e6)
	w.join(wide{hi: int64(hi)})
	w.join(wide{lo: lo})
	w.join(wide{lo: s.Micro})
}

// subtractTimes subtracts the microseconds of a sum of times.
func (w *wide) subtractTimes(s TimeSum) {
	var other wide
	other.addTimes(s)
	lo, borrow := bits.Sub64(w.lo, other.lo, 0)
	w.lo, w.hi = lo, w.hi-other.hi-int64(borrow)
}

// times returns the number of microseconds as a sum of times.
func (w *wide) times() TimeSum {
	if w.hi < 0 {
		return TimeSum{}
	}
	if w.hi >= 1e6 {
		return TimeSum{Sec: MaxSum}
	}
	sec, micro := bits.Div64(uint64(w.hi), w.lo, 1e6)
	return TimeSum{Sec: min(sec, MaxSum), Micro: micro}
}
