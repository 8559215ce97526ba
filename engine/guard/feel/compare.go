// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/woodsbury/decimal128"
)

// equal compares as = does: true, false, or nil for values of different kinds. Times
// are equal if their seconds are.
func equal(r *run, a, b any) any {
	r.spend(1)
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch x := a.(type) {
	case []any:
		if y, ok := b.([]any); ok {
			return equalLists(r, x, y)
		}
	case *Context:
		if y, ok := b.(*Context); ok {
			return equalContexts(r, x, y)
		}
	case *Range:
		if y, ok := b.(*Range); ok {
			return x.unary == y.unary && x.LowIncluded == y.LowIncluded && x.HighIncluded == y.HighIncluded && equal(r, x.Low, y.Low) == true && equal(r, x.High, y.High) == true
		}
	case bool:
		if y, ok := b.(bool); ok {
			return x == y
		}
	case *Function:
		if y, ok := b.(*Function); ok && x == y {
			return true
		}
	case Time:
		if y, ok := b.(Time); ok {
			return x.Zoned == y.Zoned && x.seconds() == y.seconds()
		}
	case DateTime:
		if y, ok := b.(DateTime); ok {
			return x.Zoned == y.Zoned && x.seconds() == y.seconds()
		}
	default:
		if c, ok := order(a, b); ok {
			return c == 0
		}
	}
	return nil
}

func equalLists(r *run, x, y []any) any {
	if len(x) != len(y) {
		return false
	}
	var out any = true
	for i := 0; i < len(x) && out != false; i++ {
		out = both(out, equal(r, x[i], y[i]))
	}
	return out
}

func equalContexts(r *run, x, y *Context) any {
	if len(x.keys) != len(y.keys) {
		return false
	}
	var out any = true
	for _, k := range x.keys {
		v, ok := y.values[k]
		if !ok {
			return false
		}
		if out = both(out, equal(r, x.values[k], v)); out == false {
			break
		}
	}
	return out
}

// order compares values of one kind that have an order.
func order(a, b any) (int, bool) {
	switch x := a.(type) {
	case decimal128.Decimal:
		if y, ok := b.(decimal128.Decimal); ok {
			return decimal128.Compare(x, y), true
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), true
		}
	case Date:
		if y, ok := b.(Date); ok {
			return cmp.Compare(x.days(), y.days()), true
		}
	case Time:
		if y, ok := b.(Time); ok && x.Zoned == y.Zoned {
			return cmp.Or(cmp.Compare(x.seconds(), y.seconds()), cmp.Compare(x.Nano, y.Nano)), true
		}
	case DateTime:
		if y, ok := b.(DateTime); ok && x.Zoned == y.Zoned {
			return cmp.Or(cmp.Compare(x.seconds(), y.seconds()), cmp.Compare(x.Nano, y.Nano)), true
		}
	case MonthSpan:
		if y, ok := b.(MonthSpan); ok {
			return cmp.Compare(x, y), true
		}
	case Span:
		if y, ok := b.(Span); ok {
			return decimal128.Compare(x.Seconds, y.Seconds), true
		}
	}
	return 0, false
}

// compared computes a comparison.
func compared(r *run, op string, a, b any) any {
	switch op {
	case "=":
		return equal(r, a, b)
	case "!=":
		return not(equal(r, a, b))
	}
	r.spend(1)
	c, ok := order(a, b)
	if !ok {
		return nil
	}
	return scan.Holds(op, c)
}

func not(v any) any {
	if b, ok := v.(bool); ok {
		return !b
	}
	return nil
}

// both is and of two values.
func both(a, b any) any {
	switch {
	case a == false || b == false:
		return false
	case a == true && b == true:
		return true
	}
	return nil
}

// within reports whether a value passes the test that another one is.
func within(r *run, v, of any) any {
	switch of := of.(type) {
	case *Range:
		return of.has(r, v)
	case []any:
		if _, ok := v.([]any); ok && equal(r, v, of) == true {
			return true
		}
		return slices.ContainsFunc(of, func(e any) bool {
			_, lists := v.([]any)
			if _, is := e.([]any); is && lists {
				return equal(r, v, e) == true
			}
			return within(r, v, e) == true
		})
	}
	return equal(r, v, of)
}

func newRange(r *run, low, high node, lowIncluded, highIncluded bool) any {
	r.spend(1)
	g := &Range{LowIncluded: lowIncluded, HighIncluded: highIncluded}
	if low != nil {
		g.Low = low(r)
		g.undefined = g.Low == nil
	}
	if high != nil {
		g.High = high(r)
		g.undefined = g.undefined || g.High == nil
	}
	if g.Low != nil && g.High != nil {
		if _, ok := order(g.Low, g.High); !ok {
			return nil
		}
	}
	return g
}

// openRange returns the range (< v), (<= v), (> v), (>= v) or (= v).
func openRange(r *run, op string, v any) any {
	r.spend(1)
	switch op {
	case "<", "<=":
		return &Range{High: v, HighIncluded: op == "<=", undefined: v == nil, unary: true}
	case ">", ">=":
		return &Range{Low: v, LowIncluded: op == ">=", undefined: v == nil, unary: true}
	case "=":
		return &Range{Low: v, High: v, LowIncluded: true, HighIncluded: true, undefined: v == nil, unary: true}
	}
	r.fail("a range of values that are not equal")
	return nil
}

// has reports whether a value is in a range.
func (g *Range) has(r *run, v any) any {
	if g.undefined {
		return nil
	}
	low, high := any(true), any(true)
	if g.Low != nil {
		low = compared(r, pick(g.LowIncluded, ">=", ">"), v, g.Low)
	}
	if g.High != nil {
		high = compared(r, pick(g.HighIncluded, "<=", "<"), v, g.High)
	}
	return both(low, high)
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
