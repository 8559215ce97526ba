// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib/smi"
)

func TestRatesAreThoseOfTheView(t *testing.T) {
	b, view, names := newBuilder(t, ""), orderView(), petrinetOIDs(testRoot(t))
	view.Nets[0].Rates.Transitions[1] = merge.Rate{Min1: 632.121, Min5: 181.269, Min15: 64.493}
	view.Nets[0].Rates.Firings = merge.Rate{Min1: 1.5}
	table := build(t, b, view, view.At)
	for object, want := range map[string]uint32{"pnTransitionRate1": 632121, "pnTransitionRate5": 181269, "pnTransitionRate15": 64493} {
		if got := get(t, table, names, object, 1, 2); got != smi.Gauge32(want) {
			t.Errorf("%s is %v, want %d", object, got, want)
		}
	}
	if got := get(t, table, names, "pnNetRate1", 1); got != smi.Gauge32(1500) {
		t.Errorf("pnNetRate1 is %v, want 1500", got)
	}
}

func TestARateLatchesAtTheLargestGauge(t *testing.T) {
	for rate, want := range map[float64]uint32{1e12: math.MaxUint32, math.Inf(1): math.MaxUint32, 0: 0} {
		if got := thousandths(rate); got != smi.Gauge32(want) {
			t.Errorf("%v is %v, want %d", rate, got, want)
		}
	}
}

func TestTextsAreCutAtACharacter(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("a", 255), strings.Repeat("a", 256), strings.Repeat("中", 200), strings.Repeat("\xff", 300), "a\u202eb\x1b[2J", strings.Repeat("\u2028", 200)} {
		got := text(s).Str
		if s = plaintext.Escape(s); len(got) > 255 || !strings.HasPrefix(s, got) || strings.ContainsFunc(got, plaintext.Hostile) || utf8.ValidString(s) && !utf8.ValidString(got) || len(s) > 255 && len(got) < 252 {
			t.Errorf("%.20q… of %d octets became %d octets", s, len(s), len(got))
		}
	}
}

// A counter of 32 bits begins at 0 again, as readers of Counter32 expect, and a digest has room
// in its column.
func TestCountersAndDigestsFitTheirSyntax(t *testing.T) {
	b, view, names := newBuilder(t, ""), orderView(), petrinetOIDs(testRoot(t))
	net := view.Nets[0]
	net.Rows.Transitions[0].Failures = 1<<32 + 5
	net.Digests = []merge.Digest{{Digest: strings.Repeat("5f", 40), Sources: 1}}
	view.Sources[0].Digest = strings.Repeat("é", 40)
	table := build(t, b, view, now0)
	for _, c := range []struct {
		name  string
		index []uint32
		want  smi.Value
	}{
		{"pnTransitionFailures", []uint32{1, 1}, smi.Counter32(5)},
		{"pnNetDigest", []uint32{1}, smi.OctetString(strings.Repeat("5f", 32))},
		{"pnSourceDigest", []uint32{indexOf([2]string{view.Sources[0].Net, view.Sources[0].Name})}, smi.OctetString(strings.Repeat("é", 32))},
	} {
		if got := get(t, table, names, c.name, c.index...); got != c.want {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDateAndTime(t *testing.T) {
	var c clock
	for _, want := range []time.Time{
		time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(2024, 2, 29, 23, 59, 59, 900_000_000, time.UTC), time.Date(2026, 11, 20, 8, 15, 0, 0, time.UTC),
	} {
		d := c.date(want.UnixMicro()).Str
		got := time.Date(int(d[0])<<8|int(d[1]), time.Month(d[2]), int(d[3]), int(d[4]), int(d[5]), int(d[6]), int(d[7])*1e8, time.UTC)
		if len(d) != 11 || !got.Equal(want) || d[8:] != "+\x00\x00" {
			t.Errorf("%v became %q", want, d)
		}
	}
	for range 3000 {
		if got := c.date(now0).Str; got != "\x07\xea\x0b\x14\x08\x0f\x00\x00+\x00\x00" {
			t.Fatalf("got date %q; want 2026-11-20, 8:15:00.0, +0:0", got)
		}
	}
}
