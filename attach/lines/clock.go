// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// Times is the format of the time of an event.
type Times struct {
	// Layout is a layout of package time, such as "02/Jan/2006:15:04:05 -0700".
	// "" is RFC 3339, with or without a zone (xs:dateTime), or a number.
	Layout string
	// Zone is the zone of times without one; nil is UTC.
	Zone *time.Location
	// Unit is the unit of numbers, which count from the Unix epoch. 0 chooses
	// for each number the unit (seconds, milli-, micro- or nanoseconds) with
	// which the time is after 1973 and before 5138.
	Unit time.Duration
}

// read returns a time in microseconds since the Unix epoch.
func (t *Times) read(text []byte, textual bool) (micros int64, ok bool) {
	switch {
	case t.Layout != "":
		micros, ok = t.zoned(t.Layout, text)
	case !textual || numeric(text):
		micros, ok = t.number(text)
	default:
		micros, ok = t.dateTime(text)
	}
	return micros, ok && micros > 0 && micros <= telemetry.MaxTime
}

// dateTime reads an xs:dateTime of XML Schema. 24:00:00 is the first instant of the next day.
func (t *Times) dateTime(text []byte) (micros int64, ok bool) {
	day, rest, midnight := bytes.Cut(text, []byte("T24:00:00"))
	if midnight {
		text = slices.Concat(day, []byte("T00:00:00"), rest)
	}
	var at time.Time
	if err := at.UnmarshalText(text); err != nil {
		at, err = time.ParseInLocation(zoneless, string(text), cmp.Or(t.Zone, time.UTC))
		if err != nil {
			return 0, false
		}
	}
	if midnight {
		if at.Nanosecond() != 0 {
			return 0, false
		}
		at = at.AddDate(0, 0, 1)
	}
	return at.UnixMicro(), true
}

// zoneless is the layout of an xs:dateTime of XML Schema without a zone. A fraction
// of a second is valid in every layout.
const zoneless = "2006-01-02T15:04:05"

// zoned reads a time by a layout, in t.Zone if it has none.
func (t *Times) zoned(layout string, text []byte) (micros int64, ok bool) {
	at, err := time.ParseInLocation(layout, string(text), cmp.Or(t.Zone, time.UTC))
	return at.UnixMicro(), err == nil
}

func numeric(text []byte) bool {
	return !bytes.ContainsFunc(text, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
}

// maxDigits is how many digits of a whole number always fit int64.
const maxDigits = 18

func (t *Times) number(text []byte) (int64, bool) {
	if len(text) > 0 && len(text) <= maxDigits {
		var n int64
		for _, c := range text {
			if c < '0' || c > '9' {
				return t.fraction(text)
			}
			n = n*10 + int64(c-'0')
		}
		unit := t.unit(float64(n))
		if unit >= time.Microsecond {
			by := int64(unit / time.Microsecond)
			return n * by, n <= telemetry.MaxTime/by
		}
		return n / int64(time.Microsecond/unit), true
	}
	return t.fraction(text)
}

func (t *Times) fraction(text []byte) (int64, bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, false
	}
	f *= float64(t.unit(f)) / float64(time.Microsecond)
	if !(f > 0 && f <= telemetry.MaxTime) {
		return 0, false
	}
	return int64(f + 0.5), true
}

func (t *Times) unit(n float64) time.Duration {
	switch {
	case t.Unit != 0:
		return t.Unit
	case n < 1e11:
		return time.Second
	case n < 1e14:
		return time.Millisecond
	case n < 1e17:
		return time.Microsecond
	}
	return time.Nanosecond
}
