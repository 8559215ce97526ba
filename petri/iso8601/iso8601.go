// SPDX-License-Identifier: Apache-2.0

// Package iso8601 reads the dates, durations and cycles of ISO 8601 that timers have.
package iso8601

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// The reasons why a text is not a time, as the end of a message.
var (
	ErrForm    = errors.New("is not a constant of ISO 8601")
	ErrCycle   = errors.New("is not a cycle of the form R/PT1H or R3/PT1H, with at most 1,000 repetitions")
	ErrTooLong = errors.New("is too long for 64 bits of microseconds")
)

// MaxTimes is how often a cycle can occur, if it ends.
const MaxTimes = 1000

// Timer is a point in time, or a duration that can repeat.
type Timer struct {
	Date   bool   // Micros is since the Unix epoch
	Micros int64  // and of a duration, beside Months
	Months int    // years are 12
	Times  uint32 // how often a cycle occurs; 0 for without end; 1 for a date or a duration
	Cycle  bool
}

// Due returns when a timer that begins at a time occurs for the first time. Both are in
// microseconds since the Unix epoch. A date that is over is due at once.
func (t Timer) Due(since int64) int64 {
	if t.Date {
		return max(since, t.Micros)
	}
	if t.Months > 0 {
		since = time.UnixMicro(since).UTC().AddDate(0, t.Months, 0).UnixMicro()
	}
	return since + t.Micros
}

// Parse reads a date, a duration or a cycle, by its form.
func Parse(s string) (Timer, error) {
	s = strings.Join(strings.Fields(s), "")
	switch {
	case strings.HasPrefix(s, "R"):
		return Cycle(s)
	case strings.HasPrefix(s, "P"):
		return Duration(s)
	}
	return Date(s)
}

// Cycle reads R/ or Rn/ before a duration.
func Cycle(s string) (Timer, error) {
	number, rest, _ := strings.Cut(s, "/")
	number, is := strings.CutPrefix(number, "R")
	if !is || !strings.HasPrefix(rest, "P") { // such as cron, or R2/2030-01-01/P1D
		return Timer{}, ErrCycle
	}
	times := uint64(0)
	if number != "" {
		var err error
		if times, err = strconv.ParseUint(number, 10, 32); err != nil || times == 0 || times > MaxTimes {
			return Timer{}, ErrCycle
		}
	}
	t, err := Duration(rest)
	if err == nil && times == 0 && t.Micros == 0 && t.Months == 0 {
		err = ErrCycle
	}
	t.Times, t.Cycle = uint32(times), true
	return t, err
}

// Date reads a date with a time; without a zone it is UTC.
func Date(s string) (Timer, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return Timer{Date: true, Micros: t.UnixMicro(), Times: 1}, nil
		}
	}
	return Timer{}, ErrForm
}

// Duration reads a duration. Years and months are whole numbers.
func Duration(s string) (Timer, error) {
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || rest == "" || strings.HasSuffix(rest, "T") {
		return Timer{}, ErrForm
	}
	sum, months, order := 0.0, 0.0, "YMWDTHMS"
	for rest != "" {
		if after, is := strings.CutPrefix(rest, "T"); is {
			rest = after
			if _, order, is = strings.Cut(order, "T"); !is {
				return Timer{}, ErrForm
			}
			continue
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		v, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil || digits == len(rest) {
			return Timer{}, ErrForm
		}
		i := strings.IndexByte(order, rest[digits])
		if i < 0 || strings.Contains(order[:i], "T") {
			return Timer{}, ErrForm
		}
		unit := unitOf(rest[digits], len(order) <= len("HMS"))
		sum += v * unit.seconds
		months += v * unit.months
		rest, order = rest[digits+1:], order[i+1:]
	}
	switch {
	case months != math.Trunc(months):
		return Timer{}, ErrForm
	case sum*1e6 >= math.MaxInt64 || months > maxMonths:
		return Timer{}, ErrTooLong
	}
	return Timer{Micros: int64(math.Round(sum * 1e6)), Months: int(months), Times: 1}, nil
}

// maxMonths bounds the months of a duration: 100,000 years.
const maxMonths = 12 * 100_000

type unit struct{ seconds, months float64 }

func unitOf(letter byte, ofDay bool) unit {
	switch {
	case letter == 'Y':
		return unit{months: 12}
	case letter == 'W':
		return unit{seconds: 7 * 24 * 3600}
	case letter == 'D':
		return unit{seconds: 24 * 3600}
	case letter == 'H':
		return unit{seconds: 3600}
	case letter == 'M' && ofDay:
		return unit{seconds: 60}
	case letter == 'M':
		return unit{months: 1}
	}
	return unit{seconds: 1}
}
