// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/woodsbury/decimal128"
)

// maxYear bounds the years of dates, before and after year 0.
const maxYear = 999_999_999

// Date is a day of the Gregorian calendar.
type Date struct{ Year, Month, Day int }

// Time is a time of day. Offset is that of its zone, in seconds east of UTC, if it has
// one.
type Time struct {
	Hour, Minute, Second, Nano int
	Zoned                      bool
	Offset                     int
	zone                       *time.Location // nil for a zone without a name
}

// DateTime is a time of a day.
type DateTime struct {
	Date
	Time
}

// Span is a days and time duration.
type Span struct{ Seconds decimal128.Decimal }

var (
	dateForm   = regexp.MustCompile(`^(-?)([1-9]\d{4,8}|\d{4})-(\d\d)-(\d\d)$`)
	timeForm   = regexp.MustCompile(`^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d(?::\d\d)?)?(?:@([A-Za-z0-9_+/-]+)|\[([A-Za-z0-9_+/-]+)])?$`)
	offsetForm = regexp.MustCompile(`^(?:Z|[+-]\d\d:\d\d(?::\d\d)?)$`)
	monthForm  = regexp.MustCompile(`^(-?)P(?:(\d+)Y)?(?:(\d+)M)?$`)
	spanForm   = regexp.MustCompile(`^(-?)P(?:(\d+)D)?(T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d*)?)S)?)?$`)
)

// timeOn returns a time of Go.
func timeOn(t time.Time) DateTime {
	return DateTime{Date{t.Year(), int(t.Month()), t.Day()}, Time{Hour: t.Hour(), Minute: t.Minute(), Second: t.Second(), Nano: t.Nanosecond(), Zoned: true}}
}

// temporal returns the value that a text has as a literal, or nil.
func temporal(s string) any {
	for _, parse := range []func(string) any{parseDate, parseDateTime, parseTime, parseDuration} {
		if v := parse(s); v != nil {
			return v
		}
	}
	return nil
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // digits
	return n
}

func parseDate(s string) any {
	m := dateForm.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	year := atoi(m[2])
	if m[1] != "" {
		year = -year
	}
	return newDate(year, atoi(m[3]), atoi(m[4]))
}

func newDate(year, month, day int) any {
	if year < -maxYear || year > maxYear || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return nil
	}
	return Date{year, month, day}
}

func parseTime(s string) any {
	m := timeForm.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	t := Time{Hour: atoi(m[1]), Minute: atoi(m[2]), Second: atoi(m[3]), Nano: atoi((m[4] + "000000000")[:9])}
	if t.Hour > 23 && (t.Hour > 24 || t.Minute+t.Second+t.Nano > 0) || t.Minute > 59 || t.Second > 59 {
		return nil
	}
	if m[5] != "" {
		offset, ok := parseOffset(m[5])
		if !ok {
			return nil
		}
		t.Zoned, t.Offset = true, offset
	}
	zone := m[6] + m[7]
	switch {
	case zone == "":
		return t
	case t.Zoned != (m[7] != ""):
		return nil
	}
	return inZone{t, zone, t.Zoned}
}

// maxOffset is that of XML Schema.
const maxOffset = 18 * 3600

func parseOffset(s string) (int, bool) {
	if s == "Z" || !offsetForm.MatchString(s) {
		return 0, s == "Z"
	}
	n := atoi(s[1:3])*3600 + atoi(s[4:6])*60
	if len(s) > 6 {
		n += atoi(s[7:])
	}
	if atoi(s[4:6]) > 59 || n > maxOffset {
		return 0, false
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}

func parseDateTime(s string) any {
	day, clock, ok := strings.Cut(s, "T")
	if !ok {
		return nil
	}
	d, ok := parseDate(day).(Date)
	if !ok {
		return nil
	}
	switch t := parseTime(clock).(type) {
	case Time:
		return d.with(t)
	case inZone:
		t.value = d.with(t.value.(Time))
		return t
	}
	return nil
}

// with returns a time of the day, or midnight after it for one at 24:00.
func (d Date) with(t Time) DateTime {
	if t.Hour == 24 {
		t.Hour = 0
		d = dateOf(d.days() + 1)
	}
	return DateTime{d, t}
}

func parseDuration(s string) any {
	if m := monthForm.FindStringSubmatch(s); m != nil && m[2]+m[3] != "" {
		years, err := strconv.ParseInt("0"+m[2], 10, 40)
		months, err2 := strconv.ParseInt("0"+m[3], 10, 40)
		if err != nil || err2 != nil {
			return nil
		}
		n := MonthSpan(years*12 + months)
		if m[1] != "" {
			n = -n
		}
		return n
	}
	m := spanForm.FindStringSubmatch(s)
	if m == nil || m[3] == "T" || m[2]+m[3] == "" {
		return nil
	}
	var total decimal128.Decimal
	for i, unit := range map[int]int64{2: 86400, 4: 3600, 5: 60, 6: 1} {
		if m[i] == "" {
			continue
		}
		n, ok := parseNumber(strings.TrimSuffix(m[i], ".")).(decimal128.Decimal)
		if !ok {
			return nil
		}
		total = total.Add(n.Mul(integer(unit)))
	}
	if m[1] != "" {
		total = total.Neg()
	}
	return spanOf(total)
}

// spanOf returns a duration of a number of seconds, to the nanosecond.
func spanOf(seconds any) any {
	d, ok := seconds.(decimal128.Decimal)
	if !ok {
		return nil
	}
	return Span{d.Round(9, decimal128.ToNearestEven)}
}

// monthsOf returns a duration of a number of months, rounded towards 0.
func monthsOf(months any) any {
	if n, ok := truncated(months); ok {
		return MonthSpan(n)
	}
	return nil
}

func (d Date) String() string {
	if d.Year < 0 {
		return fmt.Sprintf("-%04d-%02d-%02d", -d.Year, d.Month, d.Day)
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

func (t Time) String() string {
	s := fmt.Sprintf("%02d:%02d:%02d", t.Hour, t.Minute, t.Second)
	if t.Nano > 0 {
		s += strings.TrimRight(fmt.Sprintf(".%09d", t.Nano), "0")
	}
	switch o := t.Offset; {
	case t.zone != nil:
		s += "@" + t.zone.String()
	case !t.Zoned:
	case o == 0:
		s += "Z"
	default:
		sign := "+"
		if o < 0 {
			sign, o = "-", -o
		}
		s += fmt.Sprintf("%s%02d:%02d", sign, o/3600, o/60%60)
		if o%60 != 0 {
			s += fmt.Sprintf(":%02d", o%60)
		}
	}
	return s
}

func (t DateTime) String() string { return t.Date.String() + "T" + t.Time.String() }

// ISO returns the time with its offset, and a name of its zone in brackets, as Java and JSON have it.
func (t Time) ISO() string {
	in := t.zone
	t.zone = nil
	if in == nil {
		return t.String()
	}
	return t.String() + "[" + in.String() + "]"
}

// ISO returns the time as that of a Time.
func (t DateTime) ISO() string { return t.Date.String() + "T" + t.Time.ISO() }

func (m MonthSpan) String() string {
	s := "P"
	if m < 0 {
		s, m = "-P", -m
	}
	if m >= 12 {
		s += strconv.FormatInt(int64(m/12), 10) + "Y"
	}
	if m%12 > 0 || m == 0 {
		s += strconv.FormatInt(int64(m%12), 10) + "M"
	}
	return s
}

func (s Span) String() string {
	if s.Seconds.IsZero() {
		return "PT0S"
	}
	sign := ""
	if s.Seconds.Signbit() {
		sign, s = "-", Span{decimal128.Abs(s.Seconds)}
	}
	part := func(name, unit string) string {
		d := property(s, name).(decimal128.Decimal)
		if d.IsZero() {
			return ""
		}
		return Digits(d) + unit
	}
	clock := part("hours", "H") + part("minutes", "M") + part("seconds", "S")
	if clock != "" {
		clock = "T" + clock
	}
	return sign + "P" + part("days", "D") + clock
}
