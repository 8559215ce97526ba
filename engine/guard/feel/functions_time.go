// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"github.com/woodsbury/decimal128"
)

// day1 returns a builtin of a day.
func day1(call func(d Date) any) *builtin {
	return fn("date", func(_ *run, a []any) any {
		switch d := single(a[0]).(type) {
		case Date:
			return call(d)
		case DateTime:
			return call(d.Date)
		}
		return nil
	})
}

var temporals = map[string]*builtin{
	"date":                      fn("from; year, month, day", toDate),
	"time":                      fn("from; hour, minute, second; hour, minute, second, offset", toTime),
	"date and time":             fn("from; date, time; date, timezone", toDateTime),
	"duration":                  fn("from", toDuration),
	"years and months duration": fn("from, to", monthsBetween),
	"day of year":               day1(func(d Date) any { return integer(int64(d.day().YearDay())) }),
	"day of week":               day1(func(d Date) any { return d.day().Weekday().String() }),
	"month of year":             day1(func(d Date) any { return d.day().Month().String() }),
	"now":                       fn("", func(r *run, _ []any) any { return r.now }),
	"today":                     fn("", func(r *run, _ []any) any { return r.now.Date }),
	"week of year": day1(func(d Date) any {
		_, week := d.day().ISOWeek()
		return integer(int64(week))
	}),
}

// literal spends what it costs to parse a text.
func (r *run) literal(s string) string {
	r.spend(len(s))
	return s
}

func toDate(r *run, a []any) any {
	switch v := single(a[0]).(type) {
	case string:
		return parseDate(r.literal(v))
	case Date:
		return v
	case DateTime:
		return v.Date
	case decimal128.Decimal:
		n, ok := wholes(a)
		if len(a) != 3 || !ok {
			return nil
		}
		return newDate(n[0], n[1], n[2])
	}
	return nil
}

// wholes returns whole numbers of at most 10 digits.
func wholes(a []any) ([]int, bool) {
	out := make([]int, len(a))
	for i, v := range a {
		d, ok := single(v).(decimal128.Decimal)
		if !ok {
			return nil, false
		}
		n, ok := whole(d)
		if !ok || n > 1e10 || n < -1e10 {
			return nil, false
		}
		out[i] = int(n)
	}
	return out, true
}

func toTime(r *run, a []any) any {
	if len(a) > 1 {
		return timeOf(a)
	}
	switch v := single(a[0]).(type) {
	case string:
		return r.zoned(parseTime(r.literal(v)))
	case Time:
		return v
	case Date:
		return Time{Zoned: true}
	case DateTime:
		return v.Time
	}
	return nil
}

func timeOf(a []any) any {
	n, ok := wholes(a[:2])
	second, ok2 := single(a[2]).(decimal128.Decimal)
	if !ok || !ok2 || second.Signbit() {
		return nil
	}
	s, nano, ok := split(second)
	t := Time{Hour: n[0], Minute: n[1], Second: int(s), Nano: int(nano)}
	if !ok || t.Hour < 0 || t.Hour > 23 || t.Minute < 0 || t.Minute > 59 || s > 59 {
		return nil
	}
	if len(a) > 3 && a[3] != nil {
		span, ok := a[3].(Span)
		if !ok {
			return nil
		}
		offset, ok := whole(span.Seconds)
		if !ok || offset > maxOffset || offset < -maxOffset {
			return nil
		}
		t.Zoned, t.Offset = true, int(offset)
	}
	return t
}

func toDateTime(r *run, a []any) any {
	if len(a) == 1 {
		switch v := single(a[0]).(type) {
		case string:
			if d, ok := parseDate(r.literal(v)).(Date); ok {
				return DateTime{Date: d}
			}
			return r.zoned(parseDateTime(v))
		case Date:
			return DateTime{v, Time{Zoned: true}}
		case DateTime:
			return v
		}
		return nil
	}
	at, ok := single(a[0]).(DateTime)
	if zone, is := single(a[1]).(string); is && ok {
		return r.toZone(at, zone)
	}
	if d, is := single(a[0]).(Date); is {
		at, ok = DateTime{Date: d}, true
	}
	at.Time, ok = timeIf(a[1], ok)
	if !ok {
		return nil
	}
	return inItsZone(at)
}

// timeIf returns a time of day, if the value is one and ok is set.
func timeIf(v any, ok bool) (Time, bool) {
	t, is := single(v).(Time)
	return t, ok && is
}

func toDuration(r *run, a []any) any {
	switch v := single(a[0]).(type) {
	case string:
		return parseDuration(r.literal(v))
	case Span, MonthSpan:
		return v
	}
	return nil
}

// monthsBetween returns the whole months between two days.
func monthsBetween(_ *run, a []any) any {
	from, ok := midnight(single(a[0]))
	to, ok2 := midnight(single(a[1]))
	if !ok || !ok2 {
		return nil
	}
	n := int64(to.Year-from.Year)*12 + int64(to.Month-from.Month)
	switch {
	case n > 0 && to.Day < from.Day:
		n--
	case n < 0 && to.Day > from.Day:
		n++
	}
	return MonthSpan(n)
}
