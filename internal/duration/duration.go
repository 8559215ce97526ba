// SPDX-License-Identifier: Apache-2.0

// Package duration reads the durations of flags, configuration files and answers: one syntax for
// all of them.
package duration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Parse returns the duration of a text: numbers with the units of [time.ParseDuration], d for 24
// hours and w for 7 days, such as 90s, 1h30m, 7d or 1w2d.
func Parse(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(text, "+")
	}
	var sum time.Duration
	for first := true; rest != "" || first; first = false {
		part, after := cut(rest)
		d, err := parsePart(part)
		if err != nil || d > math.MaxInt64-sum {
			return 0, fmt.Errorf("%q; expected a duration such as 30s, 1h30m or 7d", text)
		}
		sum, rest = sum+d, after
	}
	if negative {
		sum = -sum
	}
	return sum, nil
}

// cut returns the first number of a text with its unit, and what follows.
func cut(text string) (part, after string) {
	unit := false
	for i, c := range text {
		number := c >= '0' && c <= '9' || c == '.'
		if number && unit {
			return text[:i], text[i:]
		}
		unit = unit || !number
	}
	return text, ""
}

// parsePart returns the duration of one number with its unit. It has no sign.
func parsePart(text string) (time.Duration, error) {
	unit := day
	number, found := strings.CutSuffix(text, "d")
	if !found {
		unit = week
		number, found = strings.CutSuffix(text, "w")
	}
	if !found {
		if text == "0" || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") { // which stand alone, or in front
			return 0, strconv.ErrSyntax
		}
		return time.ParseDuration(text)
	}
	if strings.Trim(number, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseFloat(number, 64)
	if err == nil && n*float64(unit) >= math.MaxInt64 {
		err = strconv.ErrRange
	}
	return time.Duration(n * float64(unit)), err
}
