// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// gauge returns n, or the largest Gauge32 if n is larger (RFC 2578 section 7.1.7).
func gauge(n uint64) smi.Value { return smi.Gauge32(uint32(min(n, math.MaxUint32))) }

// counter32 returns a counter modulo 2^32 (RFC 2578 section 7.1.6).
func counter32(n uint64) smi.Value { return smi.Counter32(uint32(n)) }

// truth returns a TruthValue (RFC 2579).
func truth(is bool) smi.Value {
	if is {
		return smi.Integer(1)
	}
	return smi.Integer(2)
}

// clock returns ages and dates as of one moment. Its dates share memory, because a large
// View has many.
type clock struct {
	now   int64 // microseconds since the Unix epoch
	dates strings.Builder
}

// age returns the seconds since a time in microseconds, rounded up because a table is up to
// a second old when it is read; 0 for no time and for a future one.
func (c *clock) age(since int64) smi.Value {
	if since == 0 || since >= c.now {
		return smi.Gauge32(0)
	}
	return gauge((uint64(c.now-since) + 1e6 - 1) / 1e6)
}

// dateLength is the length of a DateAndTime with its offset from UTC, in octets.
const dateLength = 11

// date returns a time in microseconds as DateAndTime (RFC 2579) in UTC; eight zeros for no
// time.
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

// thousandths returns a number in thousandths: seconds as milliseconds, or a rate as
// PetrinetRate; 0 for NaN.
func thousandths(n float64) smi.Value {
	if !(n > 0) {
		return smi.Gauge32(0)
	}
	return smi.Gauge32(uint32(min(math.Round(n*1e3), math.MaxUint32)))
}

func quantile(h *stats.Histogram, q float64) smi.Value { return thousandths(h.Quantile(q)) }

// maxText is the length of an SnmpAdminString (RFC 3411), and maxDigest that of the beginning
// of a digest, in octets.
const (
	maxText   = 255
	maxDigest = 64
)

// text returns a name without hostile characters, cut to the length of an
// SnmpAdminString between characters.
func text(s string) smi.Value { return textOf(s, maxText) }

// digestText is the same for the beginning of a digest.
func digestText(s string) smi.Value { return textOf(s, maxDigest) }

func textOf(s string, limit int) smi.Value {
	s = plaintext.Escape(s)
	if len(s) <= limit {
		return smi.OctetString(s)
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return smi.OctetString(s[:end])
}
