// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"math"
	"strings"

	"github.com/woodsbury/decimal128"
)

// digits is the precision of a number, that of IEEE 754 decimal128. The library keeps one more
// where it has space for it.
const digits = 34

func integer(i int64) decimal128.Decimal { return decimal128.FromInt64(i) }

// parseNumber returns a number of decimal digits, or nil.
func parseNumber(s string) any {
	d, err := decimal128.Parse(s)
	if err != nil {
		return nil
	}
	return orNull(d)
}

// orNull returns a number that was computed, with 34 digits; nil for an infinity, and for what is not a number.
func orNull(d decimal128.Decimal) any {
	if d.IsNaN() || d.IsInf(0) {
		return nil
	}
	return fit(d, to(decimal128.ToNearestEven))
}

// fit returns a number with at most 34 digits.
func fit(d decimal128.Decimal, how rounder) decimal128.Decimal {
	_, exponent := decimal128.Frexp(d)
	return how(d, digits-exponent)
}

// operation is one of the four of arithmetic.
type operation = func(x, y decimal128.Decimal, mode decimal128.RoundingMode) decimal128.Decimal

// compute returns the value of an operation, or nil: the number of 34 digits that is nearest to the
// exact one, and of two the even one. If the library keeps 35 digits of which the last is 5, it may
// have rounded already: then the exact one is nearer to one of the two.
func compute(op operation, x, y decimal128.Decimal) any {
	d := op(x, y, decimal128.ToNearestEven)
	out := orNull(d)
	switch {
	case out == nil || d.Equal(out.(decimal128.Decimal)):
		return out
	case !d.Equal(op(x, y, decimal128.ToZero)):
		return fit(d, roundHalfDown)
	case !d.Equal(op(x, y, decimal128.AwayFromZero)):
		return fit(d, to(decimal128.ToNearestAway))
	}
	return out
}

// whole returns a whole number. It is false for one with digits after the point.
func whole(d decimal128.Decimal) (int64, bool) {
	if !d.Floor(0).Equal(d) { // also if it is not a number
		return 0, false
	}
	i, ok := d.Int64()
	return i, ok && i > math.MinInt64/2 && i < math.MaxInt64/2
}

// truncated returns the whole part of a number, or of a list of one.
func truncated(v any) (int64, bool) {
	d, ok := single(v).(decimal128.Decimal)
	if !ok {
		return 0, false
	}
	return whole(d.Round(0, decimal128.ToZero))
}

// rounder returns a number with a number of digits after the point.
type rounder func(d decimal128.Decimal, scale int) decimal128.Decimal

// to returns the rounder of a mode of the library, in which a number that is much smaller than
// the last digit becomes 0.
func to(mode decimal128.RoundingMode) rounder {
	return func(d decimal128.Decimal, scale int) decimal128.Decimal { return d.Round(scale, mode) }
}

// roundUp rounds away from 0.
func roundUp(d decimal128.Decimal, scale int) decimal128.Decimal {
	if d.Signbit() {
		return d.Floor(scale)
	}
	return d.Ceil(scale)
}

// roundHalfDown rounds to the nearest, and what is as near to two of them towards 0.
func roundHalfDown(d decimal128.Decimal, scale int) decimal128.Decimal {
	down := d.Round(scale, decimal128.ToZero)
	if d.Sub(down).CmpAbs(decimal128.New(5, -scale-1)).Greater() {
		return roundUp(d, scale)
	}
	return down
}

// Digits returns a number as text, without an exponent.
func Digits(d decimal128.Decimal) string {
	if d.IsZero() { // also -0
		return "0"
	}
	s := decimal128.Format(d, 'f', -1)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func add(r *run, a, b any) any {
	r.spend(1)
	switch x := a.(type) {
	case decimal128.Decimal:
		if y, ok := b.(decimal128.Decimal); ok {
			return compute(decimal128.Decimal.AddWithMode, x, y)
		}
	case string:
		if y, ok := b.(string); ok {
			return r.str(x + y)
		}
	case Span, MonthSpan:
		if temporalSpan(b) && KindOf(a) != KindOf(b) {
			return nil
		}
		return addSpan(b, a)
	default:
		if temporalSpan(b) {
			return addSpan(a, b)
		}
	}
	return nil
}

func subtract(r *run, a, b any) any {
	r.spend(1)
	if x, ok := a.(decimal128.Decimal); ok {
		if y, ok := b.(decimal128.Decimal); ok {
			return compute(decimal128.Decimal.SubWithMode, x, y)
		}
		return nil
	}
	if temporalSpan(b) {
		if temporalSpan(a) && KindOf(a) != KindOf(b) {
			return nil
		}
		return addSpan(a, negate(r, b))
	}
	return difference(a, b)
}

func multiply(r *run, a, b any) any {
	r.spend(1)
	if _, ok := b.(decimal128.Decimal); !ok {
		a, b = b, a
	}
	y, ok := b.(decimal128.Decimal)
	if !ok {
		return nil
	}
	switch x := a.(type) {
	case decimal128.Decimal:
		return compute(decimal128.Decimal.MulWithMode, x, y)
	case Span:
		return spanOf(compute(decimal128.Decimal.MulWithMode, x.Seconds, y))
	case MonthSpan:
		return monthsOf(compute(decimal128.Decimal.MulWithMode, integer(int64(x)), y))
	}
	return nil
}

func divide(r *run, a, b any) any {
	r.spend(1)
	switch x := a.(type) {
	case decimal128.Decimal:
		if y, ok := b.(decimal128.Decimal); ok {
			return compute(decimal128.Decimal.QuoWithMode, x, y)
		}
	case Span:
		switch y := b.(type) {
		case decimal128.Decimal:
			return spanOf(compute(decimal128.Decimal.QuoWithMode, x.Seconds, y))
		case Span:
			return compute(decimal128.Decimal.QuoWithMode, x.Seconds, y.Seconds)
		}
	case MonthSpan:
		switch y := b.(type) {
		case decimal128.Decimal:
			return monthsOf(compute(decimal128.Decimal.QuoWithMode, integer(int64(x)), y))
		case MonthSpan:
			return compute(decimal128.Decimal.QuoWithMode, integer(int64(x)), integer(int64(y)))
		}
	}
	return nil
}

func power(r *run, a, b any) any {
	r.spend(2000) // a logarithm and a power of e
	x, ok := a.(decimal128.Decimal)
	y, ok2 := b.(decimal128.Decimal)
	if !ok || !ok2 {
		return nil
	}
	return orNull(x.Pow(y))
}

func negate(r *run, v any) any {
	r.spend(1)
	switch v := v.(type) {
	case decimal128.Decimal:
		return v.Neg()
	case Span:
		return Span{v.Seconds.Neg()}
	case MonthSpan:
		return -v
	}
	return nil
}
