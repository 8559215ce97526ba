// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// edge is an end of an interval. beyond is -1 or 1 for an end that is open in that direction.
type edge struct {
	at     any
	beyond int
	closed bool
}

// interval is a range, or a point as a range of one value.
type interval struct{ low, high edge }

func intervalOf(v any) (i interval, point, ok bool) {
	g, is := v.(*Range)
	if !is {
		_, ok = order(v, v)
		return interval{edge{at: v, closed: true}, edge{at: v, closed: true}}, true, ok
	}
	i = interval{edge{at: g.Low, closed: g.LowIncluded}, edge{at: g.High, closed: g.HighIncluded}}
	if g.Low == nil {
		i.low.beyond = -1
	}
	if g.High == nil {
		i.high.beyond = 1
	}
	return i, false, !g.undefined
}

// compare compares the places of two ends, whether they are included or not.
func (e edge) compare(other edge) int {
	if e.beyond != 0 || other.beyond != 0 {
		return cmp.Compare(e.beyond, other.beyond)
	}
	c, _ := order(e.at, other.at)
	return c
}

// starts returns less than 0 if the interval begins earlier than another one.
func (i interval) starts(other interval) int {
	return cmp.Or(i.low.compare(other.low), one(other.low.closed)-one(i.low.closed))
}

// ends returns less than 0 if the interval ends earlier than another one.
func (i interval) ends(other interval) int {
	return cmp.Or(i.high.compare(other.high), one(i.high.closed)-one(other.high.closed))
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (i interval) before(other interval) bool {
	c := i.high.compare(other.low)
	return c < 0 || c == 0 && (!i.high.closed || !other.low.closed)
}

func (i interval) meets(other interval) bool {
	return i.high.compare(other.low) == 0 && i.high.closed && other.low.closed
}

func (i interval) overlaps(other interval) bool { return !i.before(other) && !other.before(i) }

func (i interval) overlapsBefore(other interval) bool {
	return i.starts(other) < 0 && !i.before(other) && i.ends(other) <= 0
}

func (i interval) finishes(other interval) bool { return i.ends(other) == 0 && i.starts(other) >= 0 }

func (i interval) includes(other interval) bool { return i.starts(other) <= 0 && i.ends(other) >= 0 }

func (i interval) begins(other interval) bool { return i.starts(other) == 0 && i.ends(other) <= 0 }

func (i interval) coincides(other interval) bool { return i.starts(other) == 0 && i.ends(other) == 0 }

// turned returns a relation with its sides exchanged.
func turned(relation func(a, b interval) bool) func(a, b interval) bool {
	return func(a, b interval) bool { return relation(b, a) }
}

// Forms of relations, see builtin.
const (
	ofRanges      = "range1, range2"
	pointOfRange  = "point, range; " + ofRanges
	rangeOfPoint  = "range, point; " + ofRanges
	pointsOrRange = "point1, point2; " + ofRanges
	anyIntervals  = "point1, point2; point, range; range, point; " + ofRanges
)

// relation returns a builtin of two intervals. It is nil for values without a common order, and
// for a point where the form has a range.
func relation(form string, holds func(a, b interval) bool) *builtin {
	return fn(form, func(r *run, args []any) any {
		r.spend(4)
		a, point1, ok := intervalOf(single(args[0]))
		b, point2, ok2 := intervalOf(single(args[1]))
		allowed := map[[2]bool]bool{{false, false}: true, {true, true}: form == anyIntervals || form == pointsOrRange,
			{true, false}: form == anyIntervals || form == pointOfRange, {false, true}: form == anyIntervals || form == rangeOfPoint}
		if !ok || !ok2 || !allowed[[2]bool{point1, point2}] {
			return nil
		}
		var first any
		for _, e := range []edge{a.low, a.high, b.low, b.high} {
			if first == nil {
				first = e.at
			}
			if _, comparable := order(first, e.at); e.beyond == 0 && !comparable {
				return nil
			}
		}
		return holds(a, b)
	})
}

// ranges are the functions about the order of ranges (DMN 1.5, 10.3.4.11), and range().
var ranges = map[string]*builtin{
	"before":          relation(anyIntervals, interval.before),
	"after":           relation(anyIntervals, turned(interval.before)),
	"meets":           relation(ofRanges, interval.meets),
	"met by":          relation(ofRanges, turned(interval.meets)),
	"overlaps":        relation(ofRanges, interval.overlaps),
	"overlaps before": relation(ofRanges, interval.overlapsBefore),
	"overlaps after":  relation(ofRanges, turned(interval.overlapsBefore)),
	"finishes":        relation(pointOfRange, interval.finishes),
	"finished by":     relation(rangeOfPoint, turned(interval.finishes)),
	"includes":        relation(rangeOfPoint, interval.includes),
	"during":          relation(pointOfRange, turned(interval.includes)),
	"starts":          relation(pointOfRange, interval.begins),
	"started by":      relation(rangeOfPoint, turned(interval.begins)),
	"coincides":       relation(pointsOrRange, interval.coincides),
	"range":           fn("from", toRange),
}

// toRange returns the range that a text is, with two ends that are literals.
func toRange(r *run, a []any) (out any) {
	s, ok := single(a[0]).(string)
	if !ok {
		return nil
	}
	p := newParser(r.literal(s), nil)
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *scan.Error:
			if e.Line == 0 { // a bound
				panic(e)
			}
			out = nil
		default:
			panic(e)
		}
	}()
	g := &Range{LowIncluded: p.Sign("[")}
	if !g.LowIncluded && !p.Sign("(") {
		p.Expect("]")
	}
	g.Low = p.literal(r)
	p.Expect("..")
	g.High = p.literal(r)
	g.HighIncluded = p.Sign("]")
	if !g.HighIncluded && !p.Sign(")") {
		p.Expect("[")
	}
	p.Skip()
	if p.Pos < len(p.Text) {
		p.Unexpected("the end")
	}
	if c, comparable := order(g.Low, g.High); !comparable || c > 0 {
		return nil
	}
	return g
}

// literal takes a number, a text, or a date, a time or a duration of a text.
func (p *parser) literal(r *run) any {
	p.Skip()
	switch {
	case p.Sign("-"):
		return negate(r, p.number()(r))
	case p.Is(`"`):
		return p.str()
	case p.Sign("@") && p.Is(`"`):
		return r.zoned(temporal(p.str()))
	case p.Pos < len(p.Text) && p.Text[p.Pos] >= '0' && p.Text[p.Pos] <= '9':
		return p.number()(r)
	}
	name := p.name()
	if !slices.Contains([]string{"date", "time", "date and time", "duration"}, name) {
		p.Unexpected("a literal")
	}
	p.Expect("(")
	if !p.Is(`"`) {
		p.Unexpected("a text")
	}
	text := p.str()
	p.Expect(")")
	return temporals[name].call(r, []any{text})
}
