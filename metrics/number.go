// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"math"
	"strconv"
)

// maxExact bounds numbers of 15 decimal digits. A float64 holds any such number so well that
// no other one of 15 digits or fewer is read as the same float64: its digits without the zeros
// at the end are the shortest that mean it.
const maxExact = 1e15

// appendFloat appends f as strconv.AppendFloat(dst, f, 'g', -1, 64) does, and both zeros as 0. Whole
// numbers and whole microseconds, which nearly all values are, take a third of its time.
func appendFloat(dst []byte, f float64) []byte {
	if f >= 0 && f < maxExact {
		n := uint64(f)
		if float64(n) == f {
			if n < 1e6 { // longer ones have an exponent
				return strconv.AppendUint(dst, n, 10)
			}
			return appendDecimal(dst, n, 0)
		}
		if n := uint64(f*1e6 + 0.5); n < maxExact && float64(n)/1e6 == f {
			return appendDecimal(dst, n, 6)
		}
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// appendOpen is appendFloat for OpenMetrics, in which a number has a point or an exponent.
func appendOpen(dst []byte, f float64) []byte {
	before := len(dst)
	dst = appendFloat(dst, f)
	if !bytes.ContainsAny(dst[before:], "e.") && !math.IsNaN(f) && !math.IsInf(f, 0) {
		dst = append(dst, '.', '0')
	}
	return dst
}

// appendDecimal appends n, which is not 0, divided by 10^scale, in the form 'g' of strconv.
func appendDecimal(dst []byte, n uint64, scale int) []byte {
	var room [20]byte
	digits := strconv.AppendUint(room[:0], n, 10)
	point := len(digits) - scale // digits before the point
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	switch {
	case point < -3 || point > 6: // the exponent is below -4, or 6 and more
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		return appendExponent(dst, point-1)
	case point <= 0:
		return append(append(dst, "0.000"[:2-point]...), digits...)
	case point < len(digits):
		return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
	}
	return append(append(dst, digits...), "000000"[:point-len(digits)]...)
}

// appendExponent appends a decimal exponent of two digits with its sign.
func appendExponent(dst []byte, e int) []byte {
	sign := byte('+')
	if e < 0 {
		sign, e = '-', -e
	}
	return append(dst, 'e', sign, byte('0'+e/10), byte('0'+e%10))
}
