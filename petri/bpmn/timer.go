// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/petri"
)

// The reasons why a timer is not a constant, as the end of a message.
var (
	errNotConstant = errors.New("is not a constant of ISO 8601")
	errMonths      = errors.New("counts years or months, which have no fixed length")
	errCycle       = errors.New("is a cycle that repeats")
	errTooLong     = errors.New("is too long for 64 bits of microseconds")
)

// maxTimes is how often a timer can occur, if it ends.
const maxTimes = 1000

// parseTimer reads a constant of ISO 8601. It returns how often the timer occurs; 0 is
// without end.
func parseTimer(kind, s string) (trigger petri.Trigger, times uint32, err error) {
	s = strings.Join(strings.Fields(s), "")
	times = 1
	switch kind {
	case "timeDate":
		at, err := parseDate(s)
		if err != nil {
			return petri.Trigger{}, 0, err
		}
		return petri.Trigger{Kind: petri.TriggerTime, Micros: at.UnixMicro()}, 1, nil
	case "timeCycle":
		if s, times, err = parseCycle(s); err != nil {
			return petri.Trigger{}, 0, err
		}
	}
	micros, err := parseDuration(s)
	switch {
	case err != nil:
		return petri.Trigger{}, 0, err
	case micros == 0 && times == 0:
		return petri.Trigger{}, 0, errCycle
	}
	return petri.Trigger{Kind: petri.TriggerDelay, Micros: micros}, times, nil
}

// parseCycle reads R/ or Rn/ before a duration, and returns the duration.
func parseCycle(s string) (rest string, times uint32, err error) {
	number, rest, _ := strings.Cut(s, "/")
	switch number, is := strings.CutPrefix(number, "R"); {
	case !is || !strings.HasPrefix(rest, "P"): // such as cron, or R2/2030-01-01/P1D
		return "", 0, errCycle
	case number == "":
		return rest, 0, nil
	default:
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || n == 0 || n > maxTimes {
			return "", 0, errCycle
		}
		return rest, uint32(n), nil
	}
}

// parseDate reads a date with a time; without a zone it is UTC.
func parseDate(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errNotConstant
}

// parseDuration reads a duration of ISO 8601 in microseconds.
func parseDuration(s string) (int64, error) {
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || rest == "" || strings.HasSuffix(rest, "T") {
		return 0, errNotConstant
	}
	sum, order := 0.0, "YMWDTHMS"
	for rest != "" {
		if after, is := strings.CutPrefix(rest, "T"); is {
			i := strings.IndexByte(order, 'T')
			if i < 0 {
				return 0, errNotConstant
			}
			rest, order = after, order[i+1:]
			continue
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		v, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil || digits == len(rest) {
			return 0, errNotConstant
		}
		i := strings.IndexByte(order, rest[digits])
		if i < 0 || strings.Contains(order[:i], "T") {
			return 0, errNotConstant
		}
		unit := seconds(rest[digits], len(order) <= len("HMS"))
		if unit == 0 && v > 0 {
			return 0, errMonths
		}
		sum += v * unit
		rest, order = rest[digits+1:], order[i+1:]
	}
	if sum*1e6 >= math.MaxInt64 {
		return 0, errTooLong
	}
	return int64(math.Round(sum * 1e6)), nil
}

// seconds returns the length of a unit, or 0 if it has no fixed length.
func seconds(unit byte, ofDay bool) float64 {
	switch {
	case unit == 'W':
		return 7 * 24 * 3600
	case unit == 'D':
		return 24 * 3600
	case unit == 'H':
		return 3600
	case unit == 'M' && ofDay:
		return 60
	case unit == 'S':
		return 1
	}
	return 0
}
