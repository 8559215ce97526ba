// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/smi"
	"github.com/pnagent/pnagent/stats"
)

// gauge latches at the largest Gauge32, as RFC 2578 section 7.1.7 wants.
func gauge(n uint64) smi.Value { return smi.Gauge32(uint32(min(n, math.MaxUint32))) }

// truth is a TruthValue (RFC 2579).
func truth(is bool) smi.Value {
	if is {
		return smi.Integer(1)
	}
	return smi.Integer(2)
}

// clock makes ages and dates as of one moment. The octets of its dates share
// memory, because a large View has many of them.
type clock struct {
	now   int64 // microseconds since the Unix epoch
	dates strings.Builder
}

// age is the seconds since a time in microseconds, rounded up: a table is read
// when it is up to a second old, so what is read is at most a second off. 0 for
// no time and for one that is yet to come.
func (c *clock) age(since int64) smi.Value {
	if since == 0 || since >= c.now {
		return smi.Gauge32(0)
	}
	return gauge((uint64(c.now-since) + 1e6 - 1) / 1e6)
}

// dateLength is the octets of a DateAndTime with its offset from UTC.
const dateLength = 11

// date is a time in microseconds as DateAndTime (RFC 2579) in UTC; eight zeros
// for no time.
func (c *clock) date(micros int64) smi.Value {
	if micros <= 0 {
		return smi.OctetString("\x00\x00\x00\x00\x00\x00\x00\x00")
	}
	t := time.UnixMicro(micros).UTC()
	year, month, day := t.Date()
	year = min(year, math.MaxUint16)
	hour, minute, second := t.Clock()
	if c.dates.Cap()-c.dates.Len() < dateLength {
		c.dates = strings.Builder{}
		c.dates.Grow(1000 * dateLength)
	}
	start := c.dates.Len()
	c.dates.Write([]byte{byte(year >> 8), byte(year), byte(month), byte(day), byte(hour), byte(minute), byte(second),
		byte(t.Nanosecond() / 1e8), '+', 0, 0})
	return smi.OctetString(c.dates.String()[start:])
}

// millis is a duration in seconds as milliseconds; 0 for NaN.
func millis(seconds float64) smi.Value {
	if !(seconds > 0) {
		return smi.Gauge32(0)
	}
	return smi.Gauge32(uint32(min(math.Round(seconds*1e3), math.MaxUint32)))
}

func quantile(h *stats.Histogram, q float64) smi.Value { return millis(h.Quantile(q)) }

// maxText is the length of an SnmpAdminString (RFC 3411), in octets.
const maxText = 255

// text bounds a name to what an SnmpAdminString holds, at a character's end.
func text(s string) smi.Value {
	if len(s) <= maxText {
		return smi.OctetString(s)
	}
	end := maxText
	for end > maxText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return smi.OctetString(s[:end])
}
