// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// moment is a time in UTC: what now() and dateTime() return, a Date and a DateTime of Joda in Java. As a text and
// as JSON it is such as 2026-01-31T10:00:00.000Z.
type moment struct{ time.Time }

func (m moment) String() string { return m.Format("2006-01-02T15:04:05.000Z07:00") }

// toMoment returns a time, or a text as one.
func toMoment(v any) moment {
	switch v := v.(type) {
	case moment:
		return v
	case string:
		for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", time.DateOnly} {
			if t, err := time.Parse(form, v); err == nil {
				return moment{t.UTC()}
			}
		}
		scan.Fail("the text %s; expected a time such as 2026-01-31T10:00:00Z", scan.Quote(v))
	}
	scan.Fail("found %s; expected a time", kind(v))
	return moment{}
}

func isMoment(v any) bool { _, ok := v.(moment); return ok }

// maxShift bounds by how many units a time can be moved.
const maxShift = 1 << 40

// units are those of fixed length, in seconds.
var units = map[string]int64{"Seconds": 1, "Minutes": 60, "Hours": 3600, "Days": 86400, "Weeks": 7 * 86400}

// shift is plusDays and so on of DateTime.
func (m moment) shift(method string, by any) moment {
	unit, plus := strings.CutPrefix(method, "plus")
	n := toLong(by)
	if !plus {
		unit, n = strings.TrimPrefix(method, "minus"), -n
	}
	if n > maxShift || n < -maxShift {
		scan.Fail("%s of %d", method, n)
	}
	switch seconds := units[unit]; {
	case seconds > 0:
		m = moment{time.Unix(m.Unix()+n*seconds, int64(m.Nanosecond())).UTC()}
	case unit == "Years":
		m = m.addMonths(12 * n)
	default:
		m = m.addMonths(n)
	}
	if m.Year() < 0 || m.Year() > 9999 {
		scan.Fail("a time in the year %d; expected 0 to 9999", m.Year())
	}
	return m
}

// addMonths keeps the day, or takes the last one of a shorter month.
func (m moment) addMonths(n int64) moment {
	first := time.Date(m.Year(), m.Month()+time.Month(n), 1, m.Hour(), m.Minute(), m.Second(), m.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return moment{first.AddDate(0, 0, min(m.Day(), last)-1)}
}

// property is a property of a Date or a DateTime.
func (m moment) property(name string) (any, bool) {
	n := map[string]int{"year": m.Year(), "monthOfYear": int(m.Month()), "dayOfMonth": m.Day(), "dayOfYear": m.YearDay(), "dayOfWeek": int(m.Weekday()+6)%7 + 1,
		"hourOfDay": m.Hour(), "minuteOfHour": m.Minute(), "secondOfMinute": m.Second()}
	if name == "time" || name == "millis" {
		return m.UnixMilli(), true
	}
	v, ok := n[name]
	return int64(v), ok
}

// call calls a method of a time.
func (m moment) call(name string, args []any) (any, bool) {
	switch {
	case strings.HasPrefix(name, "plus") || strings.HasPrefix(name, "minus"):
		return m.shift(name, args[0]), true
	case strings.HasPrefix(name, "get") && len(args) == 0:
		return m.property(strings.ToLower(name[3:4]) + name[4:])
	case name == "toDate":
		return m, true
	case name == "before" || name == "isBefore":
		return m.Before(toMoment(args[0]).Time), true
	case name == "after" || name == "isAfter":
		return m.After(toMoment(args[0]).Time), true
	case name == "compareTo":
		return int64(m.Compare(toMoment(args[0]).Time)), true
	case name == "toString" && len(args) == 0:
		return m.String(), true
	case name == "toString":
		return m.formatted(toText(args[0])), true
	}
	return nil, false
}

// letters are those of a pattern of Java, and what they are in Go.
var letters = map[string]string{"yyyy": "2006", "yy": "06", "MM": "01", "dd": "02", "HH": "15", "mm": "04", "ss": "05", "SSS": "000", "MMM": "Jan", "MMMM": "January", "EEE": "Mon", "EEEE": "Monday",
	"Z": "-0700", "ZZ": "-07:00"}

// formatted returns the time by a pattern such as yyyy-MM-dd'T'HH:mm.
func (m moment) formatted(pattern string) string {
	var b strings.Builder
	for rest := short(pattern); rest != ""; {
		c := rest[0]
		run := rest[:len(rest)-len(strings.TrimLeft(rest, string(c)))]
		switch form, ok := letters[run]; {
		case ok && run == "SSS":
			b.WriteString(m.Format(".000")[1:])
		case ok:
			b.WriteString(m.Format(form))
		case c == '\'':
			text, after, closed := strings.Cut(rest[1:], "'")
			if !closed {
				scan.Fail("the pattern %s; expected ' after a text", scan.Quote(pattern))
			}
			if text == "" {
				text = "'"
			}
			b.WriteString(text)
			rest = after
			continue
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			scan.Fail("%s in the pattern %s; expected yyyy, MM, dd, HH, mm, ss or SSS", run, scan.Quote(pattern))
		default:
			b.WriteString(run)
		}
		rest = rest[len(run):]
	}
	return short(b.String())
}
