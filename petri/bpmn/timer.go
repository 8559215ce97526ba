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

// parseTimer reads a constant of ISO 8601. A cycle that fires once ("R1/P5D") is a
// duration.
func parseTimer(kind, s string) (petri.Trigger, error) {
	s = strings.Join(strings.Fields(s), "")
	if kind == "timeCycle" {
		rest, once := strings.CutPrefix(s, "R1/")
		if !once {
			return petri.Trigger{}, errCycle
		}
		s = rest
	}
	if kind == "timeDate" {
		at, err := parseDate(s)
		if err != nil {
			return petri.Trigger{}, err
		}
		return petri.Trigger{Kind: petri.TriggerTime, Micros: at.UnixMicro()}, nil
	}
	micros, err := parseDuration(s)
	if err != nil {
		return petri.Trigger{}, err
	}
	return petri.Trigger{Kind: petri.TriggerDelay, Micros: micros}, nil
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
