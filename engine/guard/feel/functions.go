// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/woodsbury/decimal128"
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

// of1 returns a builtin of one argument of a kind.
func of1[A any](form string, call func(r *run, a A) any) *builtin {
	return fn(form, func(r *run, args []any) any {
		if a, ok := single(args[0]).(A); ok {
			return call(r, a)
		}
		return nil
	})
}

// of2 returns a builtin of two arguments of some kinds.
func of2[A, B any](form string, call func(r *run, a A, b B) any) *builtin {
	return fn(form, func(r *run, args []any) any {
		a, ok := single(args[0]).(A)
		b, ok2 := single(args[1]).(B)
		if !ok || !ok2 {
			return nil
		}
		return call(r, a, b)
	})
}

// analytic returns a builtin of one number that costs some steps. It is nil where it is not
// defined, such as the logarithm of 0.
func analytic(steps int, op func(d decimal128.Decimal) decimal128.Decimal) *builtin {
	return of1("number", func(r *run, d decimal128.Decimal) any {
		r.spend(steps)
		return orNull(op(d))
	})
}

// rounding returns a builtin that rounds to a scale, which may be missing if least is
// 1.
func rounding(params string, how rounder) *builtin {
	return fn(params, func(_ *run, a []any) any {
		d, ok := single(a[0]).(decimal128.Decimal)
		scale := int64(0)
		if len(a) > 1 && ok {
			scale, ok = truncated(a[1])
		}
		if !ok || scale < -6111 || scale > 6176 {
			return nil
		}
		return orNull(how(d, int(scale)))
	})
}

// roundings are the modes of Java that Camunda takes.
var roundings = map[string]rounder{"UP": roundUp, "DOWN": to(decimal128.ToZero), "CEILING": decimal128.Decimal.Ceil, "FLOOR": decimal128.Decimal.Floor,
	"HALF_UP": to(decimal128.ToNearestAway), "HALF_DOWN": roundHalfDown, "HALF_EVEN": to(decimal128.ToNearestEven)}

func toScale(r *run, a []any) any {
	how := roundings["HALF_EVEN"]
	if len(a) > 2 {
		mode, _ := a[2].(string)
		how = roundings[strings.ToUpper(mode)]
		if how == nil {
			return nil
		}
	}
	return rounding("n, scale", how).call(r, a[:2])
}

var numeric = map[string]*builtin{
	"decimal":         fn("n, scale; n, scale, mode", toScale),
	"floor":           rounding("n; n, scale", roundings["FLOOR"]),
	"ceiling":         rounding("n; n, scale", roundings["CEILING"]),
	"round up":        rounding("n, scale", roundings["UP"]),
	"round down":      rounding("n, scale", roundings["DOWN"]),
	"round half up":   rounding("n, scale", roundings["HALF_UP"]),
	"round half down": rounding("n, scale", roundings["HALF_DOWN"]),
	"abs": fn("n", func(_ *run, a []any) any {
		switch v := single(a[0]).(type) {
		case decimal128.Decimal:
			return decimal128.Abs(v)
		case Span:
			return Span{decimal128.Abs(v.Seconds)}
		case MonthSpan:
			return max(v, -v)
		}
		return nil
	}),
	"modulo": of2("dividend, divisor", func(r *run, x, y decimal128.Decimal) any {
		if y.IsZero() {
			return nil
		}
		q, ok := divide(r, x, y).(decimal128.Decimal)
		if !ok {
			return nil
		}
		return subtract(r, x, multiply(r, y, q.Floor(0)))
	}),
	"sqrt":   analytic(50, decimal128.Sqrt),
	"log":    analytic(500, decimal128.Log),
	"exp":    analytic(500, decimal128.Exp),
	"odd":    of1("number", func(r *run, d decimal128.Decimal) any { return parity(r, d, 1) }),
	"even":   of1("number", func(r *run, d decimal128.Decimal) any { return parity(r, d, 0) }),
	"number": fn("from; from, grouping separator, decimal separator", toNumber),
}

func parity(r *run, d decimal128.Decimal, want uint) any {
	r.spend(100) // it may have 6145 digits
	return d.Floor(0).Equal(d) && d.Int(nil).Bit(0) == want
}

func toNumber(r *run, a []any) any {
	s, ok := single(a[0]).(string)
	if !ok {
		if d, is := single(a[0]).(decimal128.Decimal); is && len(a) == 1 {
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
	r.spend(len(s))
	if s == "" || strings.Trim(s, "0123456789.eE+-") != "" {
		return nil
	}
	return parseNumber(s)
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
	"get entries": of1("m; context", func(r *run, c *Context) any {
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
