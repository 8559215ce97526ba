// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"slices"
	"sort"

	"github.com/woodsbury/decimal128"
)

// spread returns a builtin of one list, or of its elements as arguments.
func spread(call func(r *run, list []any) any) *builtin {
	return fn("list…", func(r *run, a []any) any {
		if len(a) == 1 {
			l, ok := asList(a[0])
			if !ok {
				return nil
			}
			a = l
		}
		r.spend(len(a))
		return call(r, a)
	})
}

// ofList returns a builtin whose first argument is a list.
func ofList(params string, call func(r *run, list []any, rest []any) any) *builtin {
	return fn(params, func(r *run, a []any) any {
		l, ok := asList(a[0])
		if !ok {
			return nil
		}
		r.spend(len(l))
		return call(r, l, a[1:])
	})
}

// decimals returns the numbers of a list, if it has only such, and at least one.
func decimals(list []any) ([]decimal128.Decimal, bool) {
	out := make([]decimal128.Decimal, len(list))
	for i, e := range list {
		d, ok := e.(decimal128.Decimal)
		if !ok {
			return nil, false
		}
		out[i] = d
	}
	return out, len(out) > 0
}

var lists = map[string]*builtin{
	"list contains": ofList("list, element", func(r *run, l, a []any) any {
		return slices.ContainsFunc(l, func(e any) bool { return equal(r, e, a[0]) == true })
	}),
	"count": ofList("list", func(_ *run, l, _ []any) any { return integer(int64(len(l))) }),
	"min":   spread(func(_ *run, l []any) any { return extreme(l, -1) }),
	"max":   spread(func(_ *run, l []any) any { return extreme(l, 1) }),
	"sum":   spread(func(r *run, l []any) any { return fold(r, l, add) }),
	"product": spread(func(r *run, l []any) any {
		if _, ok := decimals(l); !ok {
			return nil
		}
		return fold(r, l, multiply)
	}),
	"mean":   spread(mean),
	"median": spread(median),
	"stddev": spread(stddev),
	"mode":   spread(mode),
	"all":    spread(func(_ *run, l []any) any { return every(l, false) }),
	"any":    spread(func(_ *run, l []any) any { return every(l, true) }),
	"and":    spread(func(_ *run, l []any) any { return every(l, false) }),
	"or":     spread(func(_ *run, l []any) any { return every(l, true) }),
	"sublist": ofList("list, start position; list, start position, length", func(_ *run, l, a []any) any {
		start, ok := position(a[0], len(l))
		if !ok {
			return nil
		}
		end := int64(len(l))
		if len(a) > 1 && a[1] != nil {
			d, _ := single(a[1]).(decimal128.Decimal)
			n, ok := whole(d)
			if !ok || n < 1 || n > end-start {
				return nil
			}
			end = start + n
		}
		return slices.Clone(l[start:end])
	}),
	"append": fn("list, item…", func(r *run, a []any) any {
		l, _ := asList(a[0])
		if a[0] == nil {
			return nil
		}
		r.spend(len(l) + len(a))
		return append(slices.Clone(l), a[1:]...)
	}),
	"concatenate": fn("list…", func(r *run, a []any) any { return joined(r, a) }),
	"union": fn("list…", func(r *run, a []any) any {
		l, ok := joined(r, a).([]any)
		if !ok {
			return nil
		}
		return distinct(r, l)
	}),
	"distinct values": ofList("list", func(r *run, l, _ []any) any { return distinct(r, l) }),
	"insert before": ofList("list, position, newItem", func(_ *run, l, a []any) any {
		i, ok := position(a[0], len(l))
		if !ok {
			return nil
		}
		return slices.Insert(slices.Clone(l), int(i), a[1])
	}),
	"remove": ofList("list, position", func(_ *run, l, a []any) any {
		i, ok := position(a[0], len(l))
		if !ok {
			return nil
		}
		return slices.Delete(slices.Clone(l), int(i), int(i)+1)
	}),
	"list replace": fn("list, position, newItem; list, match, newItem", listReplace),
	"reverse": ofList("list", func(_ *run, l, _ []any) any {
		l = slices.Clone(l)
		slices.Reverse(l)
		return l
	}),
	"index of": ofList("list, match", func(r *run, l, a []any) any {
		out := []any{}
		for i, e := range l {
			if equal(r, e, a[0]) == true {
				out = append(out, integer(int64(i+1)))
			}
		}
		return out
	}),
	"flatten": ofList("list", func(r *run, l, _ []any) any { return flatten(r, []any{}, l) }),
	"sort":    fn("list; list, precedes", sortList),
}

func extreme(l []any, sign int) any {
	if len(l) == 0 {
		return nil
	}
	best := l[0]
	for _, e := range l {
		c, ok := order(e, best)
		if !ok {
			return nil
		}
		if c*sign > 0 {
			best = e
		}
	}
	return best
}

// fold computes op over a list of at least one element.
func fold(r *run, l []any, op func(r *run, a, b any) any) any {
	if len(l) == 0 {
		return nil
	}
	out := l[0]
	if _, ok := out.(decimal128.Decimal); !ok && !temporalSpan(out) {
		return nil
	}
	for _, e := range l[1:] {
		if out = op(r, out, e); out == nil {
			return nil
		}
	}
	return out
}

func mean(r *run, l []any) any {
	return divide(r, fold(r, l, add), integer(int64(len(l))))
}

func median(r *run, l []any) any {
	ds, ok := decimals(l)
	if !ok {
		return nil
	}
	slices.SortFunc(ds, decimal128.Compare)
	if n := len(ds); n%2 == 0 {
		return divide(r, add(r, ds[n/2-1], ds[n/2]), integer(2))
	}
	return ds[len(ds)/2]
}

func stddev(r *run, l []any) any {
	ds, ok := decimals(l)
	if !ok || len(ds) < 2 {
		return nil
	}
	m := mean(r, l)
	var total any = integer(0)
	for _, d := range ds {
		off := subtract(r, d, m)
		total = add(r, total, multiply(r, off, off))
	}
	return numeric["sqrt"].call(r, []any{divide(r, total, integer(int64(len(ds)-1)))})
}

func mode(_ *run, l []any) any {
	ds, ok := decimals(l)
	if !ok {
		if len(l) == 0 {
			return []any{}
		}
		return nil
	}
	slices.SortFunc(ds, decimal128.Compare)
	out, most := []any{}, 0
	for i := 0; i < len(ds); {
		end := i
		for end < len(ds) && ds[end].Cmp(ds[i]) == 0 {
			end++
		}
		if end-i > most {
			out, most = out[:0], end-i
		}
		if end-i == most {
			out = append(out, ds[i])
		}
		i = end
	}
	return out
}

// every computes any (decides is true) or all (decides is false).
func every(l []any, decides bool) any {
	var out any = !decides
	for _, e := range l {
		switch e {
		case decides:
			return decides
		case !decides:
		default:
			out = nil
		}
	}
	return out
}

func joined(r *run, a []any) any {
	out := []any{}
	for _, e := range a {
		l, ok := asList(e)
		if !ok {
			return nil
		}
		r.spend(len(l))
		out = append(out, l...)
	}
	return out
}

func distinct(r *run, l []any) []any {
	out := []any{}
	for _, e := range l {
		if !slices.ContainsFunc(out, func(o any) bool { return equal(r, o, e) == true }) {
			out = append(out, e)
		}
	}
	return out
}

func flatten(r *run, to, l []any) []any {
	for _, e := range l {
		r.spend(1)
		if in, ok := e.([]any); ok {
			to = flatten(r, to, in)
		} else {
			to = append(to, e)
		}
	}
	return to
}

func listReplace(r *run, a []any) any {
	l, ok := a[0].([]any)
	if !ok {
		if a[0] == nil {
			return nil
		}
		l = []any{a[0]}
	}
	r.spend(len(l))
	l = slices.Clone(l)
	switch by := a[1].(type) {
	case decimal128.Decimal:
		i, ok := position(by, len(l))
		if !ok {
			return nil
		}
		l[i] = a[2]
		return l
	case *Function:
		for i, e := range l {
			switch r.call(by, []any{e, a[2]}) {
			case true:
				l[i] = a[2]
			case false:
			default:
				return nil
			}
		}
		return l
	}
	return nil
}

func sortList(r *run, a []any) any {
	l, ok := asList(a[0])
	if !ok {
		return nil
	}
	r.spend(len(l))
	l = slices.Clone(l)
	if len(a) == 1 {
		if len(l) > 0 && extreme(l, 1) == nil {
			return nil
		}
		sort.SliceStable(l, func(i, j int) bool { c, _ := order(l[i], l[j]); return c < 0 })
		return l
	}
	f, ok := a[1].(*Function)
	if !ok || len(f.params) != 2 {
		return nil
	}
	sort.SliceStable(l, func(i, j int) bool { r.spend(1); return r.call(f, []any{l[i], l[j]}) == true })
	return l
}
