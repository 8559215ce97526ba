// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// decimal128 has the precision and the range of IEEE 754 decimal128.
var decimal128 = apd.Context{Precision: 34, MaxExponent: 6144, MinExponent: -6143, Rounding: apd.RoundHalfEven}

func integer(i int64) *apd.Decimal { return apd.New(i, 0) }

// parseNumber returns a number of decimal digits, or nil.
func parseNumber(s string) *apd.Decimal {
	d, _, err := decimal128.NewFromString(s)
	if err != nil {
		return nil
	}
	return finite(d)
}

// finite returns nil for infinities and what is not a number.
func finite(d *apd.Decimal) *apd.Decimal {
	if d.Form != apd.Finite {
		return nil
	}
	return d
}

// compute returns the value of an operation of two numbers, or nil.
func compute(op func(c *apd.Context, to, x, y *apd.Decimal) (apd.Condition, error), x, y *apd.Decimal) any {
	out := new(apd.Decimal)
	_, err := op(&decimal128, out, x, y)
	return orNull(out, err)
}

// orNull returns a number that was computed, or nil.
func orNull(d *apd.Decimal, err error) any {
	if err != nil || d == nil || d.Form != apd.Finite {
		return nil
	}
	return d
}

// whole returns a whole number. It is false for one with digits after the point, and for nil.
func whole(d *apd.Decimal) (int64, bool) {
	if d == nil {
		return 0, false
	}
	var t apd.Decimal
	if t.Reduce(d); t.Exponent < 0 || t.Exponent > 20 {
		return 0, false
	}
	i, err := t.Int64()
	return i, err == nil && i > math.MinInt64/2 && i < math.MaxInt64/2
}

// truncated returns the whole part of a number, or of a list of one.
func truncated(v any) (int64, bool) {
	d, _ := single(v).(*apd.Decimal)
	return whole(rounded(d, 0, apd.RoundDown))
}

// rounded returns a number with a number of digits after the point, or nil. That of nil is nil.
func rounded(d *apd.Decimal, scale int32, how apd.Rounder) *apd.Decimal {
	if d == nil {
		return nil
	}
	c := decimal128
	c.Precision = 34 + 6144
	c.Rounding = how
	out := new(apd.Decimal)
	if _, err := c.Quantize(out, d, -scale); err != nil {
		return nil
	}
	return finite(out)
}

// Digits returns a number as text, without an exponent.
func Digits(d *apd.Decimal) string {
	var t apd.Decimal
	t.Reduce(d)
	if t.IsZero() {
		return "0"
	}
	s := t.Text('f')
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// weigh spends what the digits between two numbers cost.
func (r *run) weigh(x, y *apd.Decimal) {
	gap := int(x.Exponent) - int(y.Exponent)
	r.spend(max(gap, -gap) / 4)
}

func add(r *run, a, b any) any {
	r.spend(1)
	switch x := a.(type) {
	case *apd.Decimal:
		if y, ok := b.(*apd.Decimal); ok {
			r.weigh(x, y)
			return compute((*apd.Context).Add, x, y)
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
	if x, ok := a.(*apd.Decimal); ok {
		if y, ok := b.(*apd.Decimal); ok {
			r.weigh(x, y)
			return compute((*apd.Context).Sub, x, y)
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
	if _, ok := b.(*apd.Decimal); !ok {
		a, b = b, a
	}
	y, ok := b.(*apd.Decimal)
	if !ok {
		return nil
	}
	switch x := a.(type) {
	case *apd.Decimal:
		return compute((*apd.Context).Mul, x, y)
	case Span:
		return spanOf(compute((*apd.Context).Mul, x.Seconds, y))
	case MonthSpan:
		return monthsOf(compute((*apd.Context).Mul, integer(int64(x)), y))
	}
	return nil
}

func divide(r *run, a, b any) any {
	r.spend(1)
	quotient := func(x, y *apd.Decimal) any {
		if y.IsZero() {
			return nil
		}
		return compute((*apd.Context).Quo, x, y)
	}
	switch x := a.(type) {
	case *apd.Decimal:
		if y, ok := b.(*apd.Decimal); ok {
			return quotient(x, y)
		}
	case Span:
		switch y := b.(type) {
		case *apd.Decimal:
			return spanOf(quotient(x.Seconds, y))
		case Span:
			return quotient(x.Seconds, y.Seconds)
		}
	case MonthSpan:
		switch y := b.(type) {
		case *apd.Decimal:
			return monthsOf(quotient(integer(int64(x)), y))
		case MonthSpan:
			return quotient(integer(int64(x)), integer(int64(y)))
		}
	}
	return nil
}

func power(r *run, a, b any) any {
	r.spend(2000) // a logarithm and a power of e
	x, ok := a.(*apd.Decimal)
	y, ok2 := b.(*apd.Decimal)
	if !ok || !ok2 {
		return nil
	}
	return compute((*apd.Context).Pow, x, y)
}

func negate(r *run, v any) any {
	r.spend(1)
	switch v := v.(type) {
	case *apd.Decimal:
		return new(apd.Decimal).Neg(v)
	case Span:
		return Span{new(apd.Decimal).Neg(v.Seconds)}
	case MonthSpan:
		return -v
	}
	return nil
}
