// SPDX-License-Identifier: Apache-2.0

// Package cron reads the expressions of crontab(5), such as "0 3 * * mon-fri", and finds the times
// of which they are, by the clocks of a time zone.
//
// It says when something is expected, so it claims nothing on which programs that run such expressions
// differ. If the hour is restricted, a time that a change of the clocks leaves out does not occur on
// that day, and one that occurs twice is the later one. A run at the earlier one is that run, too: see
// [Schedule.Next]. If every hour is meant, as by "*/10 * * * *", time passes as it does.
package cron

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schedule is an expression in a zone. It does not change.
type Schedule struct {
	minute, hour, day, month, weekday uint64 // bits
	either                            bool   // a day needs one of day and weekday, not both
	zone                              *time.Location
}

// field is one of the five of an expression.
type field struct {
	name       string
	least, top int
	names      []string // of the values from least on
}

var fields = [...]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"weekday", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

const allHours = 1<<24 - 1

var shorthands = map[string]string{"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
	"@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}

// errNever is the error of an expression without a time.
var errNever = errors.New("no day is one of it")

// Parse reads an expression of five fields: minute, hour, day of the month, month, and weekday, where
// 0 and 7 are Sunday. A field is * or a list of values and ranges, each with a step if there is one, as in
// 0-30/10; months and weekdays have their English names, too. As in crontab, a day needs to be one of
// the weekdays or of the days of the month if both fields restrict it. @daily and its like stand for their
// expressions.
func Parse(text string, zone *time.Location) (*Schedule, error) {
	parts := strings.Fields(cmp.Or(shorthands[strings.ToLower(strings.TrimSpace(text))], text))
	if len(parts) != len(fields) {
		return nil, fmt.Errorf("%d fields; expected the 5 of crontab: minute, hour, day, month, weekday", len(parts))
	}
	s := &Schedule{zone: zone}
	for i, into := range [...]*uint64{&s.minute, &s.hour, &s.day, &s.month, &s.weekday} {
		var err error
		*into, err = fields[i].parse(strings.ToLower(parts[i]))
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", fields[i].name, parts[i], err)
		}
	}
	s.weekday |= s.weekday >> 7 & 1
	s.either = parts[2][0] != '*' && parts[4][0] != '*'
	if !s.everOccurs() {
		return nil, errNever
	}
	return s, nil
}

// everOccurs reports whether there is a day, in a leap year.
func (s *Schedule) everOccurs() bool {
	for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2000; day = day.AddDate(0, 0, 1) {
		inMonth := s.month>>day.Month()&1 != 0 && s.day>>day.Day()&1 != 0
		if inMonth || s.either && s.month>>day.Month()&1 != 0 {
			return true
		}
	}
	return false
}

// parse returns the values of a field as bits.
func (f *field) parse(text string) (set uint64, err error) {
	for item := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(item, "/")
		step := 1
		if stepped {
			step, err = strconv.Atoi(stepText)
			if err != nil || step < 1 || step > f.top {
				return 0, fmt.Errorf("step %q; expected 1 to %d", stepText, f.top)
			}
		}
		from, to := f.least, f.top
		if span != "*" {
			first, last, isRange := strings.Cut(span, "-")
			if from, err = f.value(first); err != nil {
				return 0, err
			}
			switch {
			case isRange:
				if to, err = f.value(last); err != nil {
					return 0, err
				}
			case !stepped:
				to = from
			}
		}
		if from > to {
			return 0, fmt.Errorf("%q ends before it begins", span)
		}
		for v := from; v <= to; v += step {
			set |= 1 << v
		}
	}
	return set, nil
}

func (f *field) value(text string) (int, error) {
	if i := slices.Index(f.names, text); i >= 0 {
		return f.least + i, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < f.least || v > f.top {
		return 0, fmt.Errorf("%q; expected %d to %d", text, f.least, f.top)
	}
	return v, nil
}

// mostDays is more than lie between two days of an expression: the 29th of February on a weekday.
const mostDays = 41 * 366

// Next returns the first time after one, in microseconds since the Unix epoch; 0 if there is none in the
// next 40 years. If the hour is restricted, after is one of the clock: what the clock shows after that time
// for the second time is not after it.
func (s *Schedule) Next(after int64) int64 {
	from := time.UnixMicro(after).In(s.zone)
	year, month, day := from.Date()
	for range mostDays {
		date := time.Date(year, month, day, 12, 0, 0, 0, time.UTC) // for the date alone
		year, month, day = date.Date()
		if s.has(date) {
			if at := s.in(date, from); at != 0 {
				return at
			}
		}
		day++
	}
	return 0
}

// has reports whether a date is one of the expression.
func (s *Schedule) has(date time.Time) bool {
	inMonth, onWeekday := s.day>>date.Day()&1 != 0, s.weekday>>date.Weekday()&1 != 0
	if s.month>>date.Month()&1 == 0 {
		return false
	}
	if s.either {
		return inMonth || onWeekday
	}
	return inMonth && onWeekday
}

// in returns the first time on a date that is after from; 0 if there is none.
func (s *Schedule) in(date, from time.Time) int64 {
	if s.hour == allHours {
		return s.passing(date, from)
	}
	year, month, day := date.Date()
	same := from.Year() == year && from.YearDay() == date.YearDay()
	shown := time.Duration(from.Hour())*time.Hour + time.Duration(from.Minute())*time.Minute
	for hours := s.hour; hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros64(hours)
		for minutes := s.minute; minutes != 0; minutes &= minutes - 1 {
			minute := bits.TrailingZeros64(minutes)
			if same && time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute <= shown {
				continue
			}
			if at, is := s.last(time.Date(year, month, day, hour, minute, 0, 0, time.UTC)); is && at.After(from) {
				return at.UnixMicro()
			}
		}
	}
	return 0
}

// last returns the last time at which the clocks of the zone show what those of UTC show at a time.
func (s *Schedule) last(shown time.Time) (at time.Time, is bool) {
	for _, around := range [...]time.Duration{-24 * time.Hour, 24 * time.Hour} {
		_, offset := shown.Add(around).In(s.zone).Zone()
		t := shown.Add(-time.Duration(offset) * time.Second).In(s.zone)
		if t.Hour() == shown.Hour() && t.Minute() == shown.Minute() && t.Day() == shown.Day() && (!is || t.After(at)) {
			at, is = t, true
		}
	}
	return at, is
}

// passing is in for an expression of every hour: it looks at each minute that passes.
func (s *Schedule) passing(date, from time.Time) int64 {
	year, month, day := date.Date()
	t := time.Date(year, month, day, 0, 0, 0, 0, s.zone)
	if next := from.Truncate(time.Minute).Add(time.Minute); next.After(t) {
		t = next
	}
	for ; t.Day() == day; t = t.Add(time.Minute) {
		if s.minute>>t.Minute()&1 != 0 {
			return t.UnixMicro()
		}
	}
	return 0
}
