// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"github.com/woodsbury/decimal128"
)

// member returns the entry or the property of a value.
func member(r *run, v any, name string) any {
	switch v := v.(type) {
	case *Context:
		return v.values[name]
	case []any:
		r.spend(len(v))
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = member(r, e, name)
		}
		return out
	case *Range:
		return map[string]any{"start": v.Low, "end": v.High, "start included": v.LowIncluded, "end included": v.HighIncluded}[name]
	}
	return property(v, name)
}

// filter computes list[by].
func filter(r *run, v any, by node) any {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := []any{}
	for i, item := range list {
		r.spend(1)
		pass := r.about(item, by)
		if n, ok := pass.(decimal128.Decimal); ok && i == 0 {
			return element(list, n)
		}
		if pass == true {
			out = append(out, item)
		}
	}
	if v == nil && len(out) == 1 {
		return []any{}
	}
	return out
}

// about computes a condition of a filter for one item.
func (r *run) about(item any, by node) any {
	entries, _ := item.(*Context)
	defer r.open(func(name string) (any, bool) {
		if entries != nil {
			if v, ok := entries.Get(name); ok {
				return v, true
			}
		}
		return item, name == "item"
	})()
	return by(r)
}

// element returns the element of a list at an index from 1, or from -1 at its end.
func element(list []any, index decimal128.Decimal) any {
	i, ok := whole(index)
	switch {
	case !ok:
		return nil
	case i > 0 && i <= int64(len(list)):
		return list[i-1]
	case i < 0 && -i <= int64(len(list)):
		return list[int64(len(list))+i]
	}
	return nil
}

// each calls a function with each element of a list or a range until that returns
// false. It returns false if the value is neither.
func (r *run) each(v any, body func(any) bool) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			r.spend(1)
			if !body(e) {
				break
			}
		}
		return true
	case *Range:
		return r.eachOf(v, body)
	case nil:
		return false
	}
	body(v)
	return true
}

func (r *run) eachOf(g *Range, body func(any) bool) bool {
	if g.Low == nil || g.High == nil {
		return false
	}
	from, to, value, ok := g.numbers()
	if !ok {
		return false
	}
	if !g.counts {
		if from > to {
			return false
		}
		if !g.LowIncluded {
			from++
		}
		if !g.HighIncluded {
			to--
		}
		if from > to {
			return true
		}
	}
	step := int64(1)
	if from > to {
		step = -1
	}
	for i := from; ; i += step {
		r.spend(1)
		if !body(value(i)) || i == to {
			return true
		}
	}
}

// numbers returns the ends of a range of whole numbers or of dates, and the value of
// such a number.
func (g *Range) numbers() (from, to int64, value func(int64) any, ok bool) {
	switch low := g.Low.(type) {
	case decimal128.Decimal:
		high, is := g.High.(decimal128.Decimal)
		if !is {
			return 0, 0, nil, false
		}
		a, exact := whole(low)
		b, exact2 := whole(high)
		return a, b, func(i int64) any { return integer(i) }, exact && exact2
	case Date:
		high, is := g.High.(Date)
		if !is {
			return 0, 0, nil, false
		}
		return low.days(), high.days(), func(i int64) any { return dateOf(i) }, true
	}
	return 0, 0, nil, false
}
