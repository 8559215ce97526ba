// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"time"

	"github.com/woodsbury/decimal128"
)

// day returns the day as Go has it, which knows the calendar.
func (d Date) day() time.Time {
	return time.Date(d.Year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC)
}

func daysIn(year, month int) int { return Date{year, month + 1, 0}.day().Day() }

const daySeconds = 24 * 60 * 60

// days returns the number of a day; 1970-01-01 is 0.
func (d Date) days() int64 { return d.day().Unix() / daySeconds }

// dateOf returns the day of a number.
func dateOf(n int64) Date { return timeOn(time.Unix(n*daySeconds, 0).UTC()).Date }

// weekday returns 1 for Monday to 7 for Sunday.
func (d Date) weekday() int { return int(d.day().Weekday()+6)%7 + 1 }

// addMonths adds months; the day is at most the last one of the month.
func (d Date) addMonths(n MonthSpan) any {
	if n > 12*2*maxYear || n < -12*2*maxYear {
		return nil
	}
	first := Date{d.Year, d.Month + int(n), 1}.day()
	year, month := first.Year(), int(first.Month())
	return newDate(year, month, min(d.Day, daysIn(year, month)))
}

// seconds returns the seconds of a day, in UTC if the time has a zone.
func (t Time) seconds() int64 { return int64(t.Hour*3600 + t.Minute*60 + t.Second - t.Offset) }

// seconds returns the seconds since 1970, in UTC if the time has a zone.
func (t DateTime) seconds() int64 { return t.day().Unix() + t.Time.seconds() }

// shift returns a time that is some seconds later, with the same zone.
func (t DateTime) shift(by decimal128.Decimal) any {
	secs, nanos, ok := split(by)
	if !ok {
		return nil
	}
	instant, offset := time.Unix(secs+t.seconds(), int64(t.Nano)+nanos), t.Offset
	if t.zone != nil {
		offset = offsetAt(t.zone, instant.Unix())
	}
	at := timeOn(instant.UTC().Add(time.Duration(offset) * time.Second))
	if at.Year < -maxYear || at.Year > maxYear {
		return nil
	}
	at.Zoned, at.Offset, at.zone = t.Zoned, offset, t.zone
	return at
}

// split returns the seconds and nanoseconds of a duration, rounded down.
func split(seconds decimal128.Decimal) (int64, int64, bool) {
	floor := seconds.Floor(0)
	s, ok := whole(floor)
	if !ok || s > 1<<60 || s < -1<<60 {
		return 0, 0, false
	}
	n, ok := whole(seconds.Sub(floor).Mul(integer(1e9)))
	return s, n, ok
}

// inItsZone returns a local time with the offset that its zone has then.
func inItsZone(t DateTime) DateTime {
	if t.zone != nil {
		return t.at(t.zone)
	}
	return t
}

func temporalSpan(v any) bool {
	switch v.(type) {
	case Span, MonthSpan:
		return true
	}
	return false
}

// addSpan adds a duration to a value.
func addSpan(v, span any) any {
	switch by := span.(type) {
	case Span:
		switch v := v.(type) {
		case Span:
			return spanOf(compute(decimal128.Decimal.AddWithMode, v.Seconds, by.Seconds))
		case DateTime:
			return v.shift(by.Seconds)
		case Date:
			if t, ok := (DateTime{Date: v}).shift(by.Seconds).(DateTime); ok {
				return t.Date
			}
		case Time:
			_, rest := by.Seconds.QuoRem(integer(daySeconds))
			in := v.zone
			v.zone = nil // whose offset does not change
			if t, ok := (DateTime{Date: Date{1970, 1, 1}, Time: v}).shift(rest).(DateTime); ok {
				t.zone = in
				return t.Time
			}
		}
	case MonthSpan:
		switch v := v.(type) {
		case MonthSpan:
			return v + by
		case DateTime:
			if d, ok := v.addMonths(by).(Date); ok {
				return inItsZone(DateTime{d, v.Time})
			}
		case Date:
			return v.addMonths(by)
		}
	}
	return nil
}

// difference returns the duration between two times.
func difference(a, b any) any {
	x, ok := midnight(a)
	y, ok2 := midnight(b)
	if clock, is := a.(Time); is { // two times of one day
		x, ok = DateTime{Time: clock}, true
		y.Time, ok2 = b.(Time)
	}
	if !ok || !ok2 || x.Zoned != y.Zoned {
		return nil
	}
	return spanOf(decimal128.New(int64(x.Nano-y.Nano), -9).Add(integer(x.seconds() - y.seconds())))
}

// midnight returns a date as a time in UTC.
func midnight(v any) (DateTime, bool) {
	switch v := v.(type) {
	case Date:
		return DateTime{Date: v, Time: Time{Zoned: true}}, true
	case DateTime:
		return v, true
	}
	return DateTime{}, false
}

// property returns a property of a time or a duration.
func property(v any, name string) any {
	number := func(n int) any { return integer(int64(n)) }
	switch v := v.(type) {
	case Date:
		return dateProperty(v, name)
	case DateTime:
		if p := dateProperty(v.Date, name); p != nil {
			return p
		}
		return property(v.Time, name)
	case Time:
		switch name {
		case "hour":
			return number(v.Hour)
		case "minute":
			return number(v.Minute)
		case "second":
			return number(v.Second)
		case "timezone":
			if v.zone != nil {
				return v.zone.String()
			}
		case "time offset":
			if v.Zoned {
				return Span{integer(int64(v.Offset))}
			}
		}
	case MonthSpan:
		switch name {
		case "years":
			return number(int(v / 12))
		case "months":
			return number(int(v % 12))
		}
	case Span:
		return spanProperty(v, name)
	}
	return nil
}

func dateProperty(d Date, name string) any {
	switch name {
	case "year":
		return integer(int64(d.Year))
	case "month":
		return integer(int64(d.Month))
	case "day":
		return integer(int64(d.Day))
	case "weekday":
		return integer(int64(d.weekday()))
	}
	return nil
}

func spanProperty(s Span, name string) any {
	unit, ok := map[string][2]int64{"days": {86400, 0}, "hours": {3600, 24}, "minutes": {60, 60}, "seconds": {1, 60}}[name]
	if !ok {
		return nil
	}
	if name == "seconds" {
		_, rest := s.Seconds.QuoRem(integer(60))
		return rest
	}
	out, _ := s.Seconds.QuoRem(integer(unit[0]))
	if unit[1] > 0 {
		_, out = out.QuoRem(integer(unit[1]))
	}
	return out
}
