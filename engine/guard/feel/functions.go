// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// builtin is a function of FEEL. form is alternative lists of parameters, such as "list; a, b…",
// of which the last may repeat.
type builtin struct {
	form string
	gaps bool // named arguments may be left out also before others
	call func(r *run, args []any) any
}

func fn(form string, call func(r *run, args []any) any) *builtin {
	return &builtin{form: form, call: call}
}

// params returns the alternatives. It is not called before an expression has the function: a
// program that evaluates none need not read the forms of all.
func (b *builtin) params() (all [][]string) {
	for alternative := range strings.SplitSeq(strings.TrimSuffix(b.form, "…"), "; ") {
		var names []string
		if alternative != "" {
			names = strings.Split(alternative, ", ")
		}
		all = append(all, names)
	}
	return all
}

// takes reports whether the function can have a number of arguments.
func (b *builtin) takes(n int) bool {
	return slices.ContainsFunc(b.params(), func(p []string) bool { return n == len(p) || strings.HasSuffix(b.form, "…") && n > len(p) })
}

func (b *builtin) expected() string {
	all := b.params()
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = "(" + strings.Join(p, ", ") + ")"
	}
	return strings.Join(out, " or ")
}

func merge(all ...map[string]*builtin) map[string]*builtin {
	out := map[string]*builtin{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// functions are the functions of FEEL by name. Each returns nil for arguments of
// other kinds than it expects.
var functions = merge(numeric, texts, lists, contexts, temporals, ranges, extensions, map[string]*builtin{
	"not": fn("negand", func(_ *run, a []any) any { return not(single(a[0])) }),
	"is": fn("value1, value2", func(r *run, a []any) any {
		if KindOf(a[0]) != KindOf(a[1]) {
			return false
		}
		if sameZone(a[0]) != sameZone(a[1]) {
			return false
		}
		return equal(r, a[0], a[1]) == true
	}),
})

// sameZone returns what two times have in common that are the same.
func sameZone(v any) string {
	switch v := v.(type) {
	case Time:
		return fmt.Sprint(v.Zoned, v.Offset, v.zone)
	case DateTime:
		return fmt.Sprint(v.Zoned, v.Offset, v.zone)
	}
	return ""
}

// single returns the element of a list of one, or the value.
func single(v any) any {
	if l, ok := v.([]any); ok && len(l) == 1 {
		return l[0]
	}
	return v
}

// number1 returns a builtin of one number.
func number1(call func(r *run, d *apd.Decimal) any) *builtin {
	return fn("number", func(r *run, a []any) any {
		if d, ok := single(a[0]).(*apd.Decimal); ok {
			return call(r, d)
		}
		return nil
	})
}

// analytic returns a builtin of one number that costs some steps. It is nil where it is not
// defined, such as the logarithm of 0.
func analytic(steps int, op func(c *apd.Context, to, d *apd.Decimal) (apd.Condition, error)) *builtin {
	return number1(func(r *run, d *apd.Decimal) any {
		r.spend(steps)
		out := new(apd.Decimal)
		_, err := op(&decimal128, out, d)
		return orNull(out, err)
	})
}

// rounding returns a builtin that rounds to a scale, which may be missing if least is
// 1.
func rounding(params string, how apd.Rounder) *builtin {
	return fn(params, func(r *run, a []any) any {
		d, ok := single(a[0]).(*apd.Decimal)
		scale := int64(0)
		if len(a) > 1 && ok {
			scale, ok = truncated(a[1])
		}
		if !ok || scale < -6111 || scale > 6176 {
			return nil
		}
		r.weigh(d, apd.New(1, -int32(scale)))
		return orNull(rounded(d, int32(scale), how), nil)
	})
}

// roundings are the modes of Java that Camunda takes.
var roundings = map[string]apd.Rounder{"UP": apd.RoundUp, "DOWN": apd.RoundDown, "CEILING": apd.RoundCeiling, "FLOOR": apd.RoundFloor,
	"HALF_UP": apd.RoundHalfUp, "HALF_DOWN": apd.RoundHalfDown, "HALF_EVEN": apd.RoundHalfEven}

func toScale(r *run, a []any) any {
	how := apd.RoundHalfEven
	if len(a) > 2 {
		mode, _ := a[2].(string)
		how = roundings[strings.ToUpper(mode)]
		if how == "" {
			return nil
		}
	}
	return rounding("n, scale", how).call(r, a[:2])
}

var numeric = map[string]*builtin{
	"decimal":         fn("n, scale; n, scale, mode", toScale),
	"floor":           rounding("n; n, scale", apd.RoundFloor),
	"ceiling":         rounding("n; n, scale", apd.RoundCeiling),
	"round up":        rounding("n, scale", apd.RoundUp),
	"round down":      rounding("n, scale", apd.RoundDown),
	"round half up":   rounding("n, scale", apd.RoundHalfUp),
	"round half down": rounding("n, scale", apd.RoundHalfDown),
	"abs": fn("n", func(_ *run, a []any) any {
		switch v := single(a[0]).(type) {
		case *apd.Decimal:
			return new(apd.Decimal).Abs(v)
		case Span:
			return Span{new(apd.Decimal).Abs(v.Seconds)}
		case MonthSpan:
			return max(v, -v)
		}
		return nil
	}),
	"modulo": fn("dividend, divisor", func(r *run, a []any) any {
		x, ok := single(a[0]).(*apd.Decimal)
		y, ok2 := single(a[1]).(*apd.Decimal)
		if !ok || !ok2 || y.IsZero() {
			return nil
		}
		q, ok := divide(r, x, y).(*apd.Decimal)
		if !ok {
			return nil
		}
		r.weigh(q, integer(0))
		q = rounded(q, 0, apd.RoundFloor)
		if q == nil {
			return nil
		}
		return subtract(r, x, multiply(r, y, q))
	}),
	"sqrt":   analytic(50, (*apd.Context).Sqrt),
	"log":    analytic(500, (*apd.Context).Ln),
	"exp":    analytic(500, (*apd.Context).Exp),
	"odd":    number1(func(r *run, d *apd.Decimal) any { return parity(r, d, 1) }),
	"even":   number1(func(r *run, d *apd.Decimal) any { return parity(r, d, 0) }),
	"number": fn("from; from, grouping separator, decimal separator", toNumber),
}

func parity(r *run, d *apd.Decimal, want int64) any {
	r.weigh(d, integer(0))
	rest := new(apd.Decimal)
	c := decimal128
	c.Precision = 7000
	if _, err := c.Rem(rest, d, integer(2)); err != nil {
		return nil
	}
	n, ok := whole(rest.Abs(rest))
	return ok && n == want
}

func toNumber(r *run, a []any) any {
	s, ok := single(a[0]).(string)
	if !ok {
		if d, is := single(a[0]).(*apd.Decimal); is && len(a) == 1 {
			return d
		}
		return nil
	}
	if len(a) > 1 {
		group, ok := a[1].(string)
		point, ok2 := a[2].(string)
		if !ok && a[1] != nil || !ok2 && a[2] != nil || group != "" && !strings.Contains(" ,.", group) || point != "" && point != "," && point != "." || group != "" && group == point || len(group) > 1 {
			return nil
		}
		if group != "" {
			s = strings.ReplaceAll(s, group, "")
		}
		if point == "," {
			if strings.Contains(s, ".") {
				return nil
			}
			s = strings.ReplaceAll(s, ",", ".")
		}
	}
	if r.spend(len(s)); s == "" || strings.Trim(s, "0123456789.eE+-") != "" {
		return nil
	}
	return orNull(parseNumber(s), nil)
}

var contexts = map[string]*builtin{
	"get value": fn("m, key; context, key; context, keys", func(r *run, a []any) any {
		c, ok := single(a[0]).(*Context)
		if !ok {
			return nil
		}
		if path, ok := a[1].([]any); ok {
			var v any = c
			for _, k := range path {
				r.spend(1)
				c, ok := v.(*Context)
				key, ok2 := k.(string)
				if !ok || !ok2 {
					return nil
				}
				v = c.values[key]
			}
			return v
		}
		if key, ok := a[1].(string); ok {
			return c.values[key]
		}
		return nil
	}),
	"get entries": fn("m; context", func(r *run, a []any) any {
		c, ok := single(a[0]).(*Context)
		if !ok {
			return nil
		}
		r.spend(3 * len(c.keys))
		out := []any{}
		for _, k := range c.keys {
			e := NewContext()
			e.Set("key", k)
			e.Set("value", c.values[k])
			out = append(out, e)
		}
		return out
	}),
	"context": fn("entries", func(r *run, a []any) any {
		list, ok := asList(a[0])
		if !ok {
			return nil
		}
		out := NewContext()
		for _, e := range list {
			r.spend(1)
			c, ok := e.(*Context)
			if !ok {
				return nil
			}
			key, ok := c.values["key"].(string)
			value, is := c.values["value"]
			if _, twice := out.values[key]; !ok || !is || twice {
				return nil
			}
			out.Set(key, value)
		}
		return out
	}),
	"context put": fn("context, keys, value", func(r *run, a []any) any {
		switch k := a[1].(type) {
		case string:
			return put(r, a[0], []any{k}, a[2])
		case []any:
			if len(k) > 0 {
				return put(r, a[0], k, a[2])
			}
		}
		return nil
	}),
	"context merge": fn("contexts…", func(r *run, list []any) any {
		if len(list) == 1 {
			l, ok := asList(list[0])
			if !ok {
				return nil
			}
			list = l
		}
		out := NewContext()
		for _, e := range list {
			c, ok := e.(*Context)
			if !ok {
				return nil
			}
			r.spend(1 + len(c.keys))
			for _, k := range c.keys {
				out.Set(k, c.values[k])
			}
		}
		return out
	}),
}

// put returns a context with a value at the end of a path.
func put(r *run, of any, path []any, v any) any {
	c, ok := of.(*Context)
	key, ok2 := path[0].(string)
	if !ok || !ok2 {
		return nil
	}
	r.spend(1 + len(c.keys))
	if len(path) > 1 {
		if v = put(r, c.values[key], path[1:], v); v == nil {
			return nil
		}
	}
	out := c.clone()
	out.Set(key, v)
	return out
}

// asList returns a list, or a value as a list of one; null is none.
func asList(v any) ([]any, bool) {
	if l, ok := v.([]any); ok {
		return l, true
	}
	return []any{v}, v != nil
}
