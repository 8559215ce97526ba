// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

//promise:unknown clock
func TestClockIsMovedByTheLeastDelay(t *testing.T) {
	const ms, second, hour = int64(1e3), int64(1e6), int64(3600e6)
	for name, test := range map[string]struct {
		offsets []int64 // received - sent
		shift   int64
		beyond  bool
	}{
		"right, and near":                  {[]int64{0, 40 * ms, 3 * ms}, 0, false},
		"a little off is not off":          {[]int64{-240 * ms, 240 * ms}, 0, false},
		"behind, with jitter":              {[]int64{5*second + 80*ms, 5*second + 2*ms, 5*second + 300*ms}, 5*second + 80*ms, false},
		"ahead":                            {[]int64{-hour, -hour + 100*ms}, -hour, true},
		"held up once":                     {[]int64{0, 50 * second, 0}, 0, false},
		"set right":                        {[]int64{-hour, -hour, 0}, 0, false},
		"set back by less than a minute":   {[]int64{0, 30 * second, 30 * second, 30 * second, 30 * second, 30 * second, 30 * second, 30 * second, 30 * second}, 30 * second, false},
		"garbage once":                     {[]int64{0, t0 - telemetry.MaxTime, 0}, 0, false},
		"never set":                        {[]int64{t0}, t0, true},
		"a difference that wobbles a bit":  {[]int64{400 * ms, 300 * ms, 500 * ms}, 400 * ms, false},
		"one that is gone after the slack": {[]int64{300 * ms, 40 * ms}, 0, false},
		"late for a while, by little":      {[]int64{260 * ms, 15 * ms}, 0, false},
		"near the slack, with jitter":      {[]int64{260 * ms, 240 * ms, 255 * ms}, 260 * ms, false},
		"early for a while, by little":     {append(slices.Repeat([]int64{-260 * ms}, clockWindow), slices.Repeat([]int64{-20 * ms}, clockWindow)...), 0, false},
	} {
		var c clock
		for _, o := range test.offsets {
			c.observe(t0-o, t0)
		}
		skew, beyond := c.skew()
		if c.shift != test.shift || beyond != test.beyond {
			t.Errorf("%s: shift %d, skew %v, beyond %t; expected shift %d", name, c.shift, skew, beyond, test.shift)
		}
	}
}

func TestSkewOfCenturiesDoesNotOverflow(t *testing.T) {
	var c clock
	c.observe(math.MaxInt64, 0)
	if skew, beyond := c.skew(); skew <= 0 || !beyond {
		t.Errorf("got skew %v, beyond %t; want more than 0 and beyond the limit", skew, beyond)
	}
}

func TestHistogramFalls(t *testing.T) {
	h := func(schema int8, buckets ...stats.Bucket) *stats.Histogram {
		return &stats.Histogram{Schema: schema, Buckets: buckets}
	}
	type b = stats.Bucket
	for name, test := range map[string]struct {
		old, next *stats.Histogram
		fell      bool
	}{
		"nothing":                     {h(0), h(0), false},
		"the first":                   {h(0), h(3, b{Index: 1, N: 1}), false},
		"more, and others":            {h(3, b{Index: 1, N: 1}), h(3, b{Index: 0, N: 1}, b{Index: 1, N: 2}), false},
		"a bucket less":               {h(3, b{Index: 1, N: 2}), h(3, b{Index: 1, N: 1}, b{Index: 2, N: 9}), true},
		"a bucket gone":               {h(3, b{Index: 1, N: 2}), h(3, b{Index: 2, N: 9}), true},
		"all gone":                    {h(3, b{Index: 1, N: 2}), h(0), true},
		"coarser":                     {h(3, b{Index: 1, N: 2}), h(2, b{Index: 1, N: 2}), false},
		"coarser and less":            {h(3, b{Index: 1, N: 2}), h(2, b{Index: 1, N: 1}), true},
		"finer":                       {h(2, b{Index: 1, N: 2}), h(3, b{Index: 1, N: 2}), true},
		"less than a microsecond":     {&stats.Histogram{Zero: 2}, &stats.Histogram{Zero: 1}, true},
		"its sum, which wraps around": {&stats.Histogram{Zero: 1, Sum: 5}, &stats.Histogram{Zero: 1, Sum: 1}, false},
	} {
		if got := histogramFell(test.old, test.next); got != test.fell {
			t.Errorf("%s: got %t; want %t", name, got, test.fell)
		}
	}
}

// A tick costs nothing for nets without messages, and readers can detect that: the
// rows of such a net are the same, and once its rates are constant so is the net.
func TestNetsThatDidNotChangeAreTheSame(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	for i, id := range []string{"quiet", "busy"} {
		if _, err := m.Define(fmt.Sprint(i), lineNet(id, 2, 2), t0); err != nil {
			t.Fatal(err)
		}
	}
	say := func(net, digest string, seq uint64, now int64) {
		msg := &telemetry.Snapshot{Source: "a", Net: net, Digest: digest, Epoch: 1, Seq: seq, SentAt: now, Interval: time.Second,
			Full: true, Rows: *stats.NewRows(2, 2)}
		msg.Rows.Columns = stats.ColTokens
		msg.Rows.Places[0].Tokens = seq
		if _, err := m.Take(msg, 0, now); err != nil {
			t.Fatal(err)
		}
	}
	say("quiet", "0", 1, t0)
	say("busy", "1", 1, t0)
	first, _ := m.Tick(t0)
	say("busy", "1", 2, t0+1e6)
	second, _ := m.Tick(t0 + 1e6)
	if first.Nets[1].Rows != second.Nets[1].Rows || first.Nets[0] == second.Nets[0] || first.Nets[0].Def != second.Nets[0].Def {
		t.Error("quiet changed, or busy did not")
	}
	if first.Nets[0].Rows.Places[0].Tokens != 1 || second.Generation != first.Generation+1 {
		t.Error("the former view was changed")
	}
	say("busy", "1", 3, t0+2e6)
	if third, _ := m.Tick(t0 + 2e6); third.Nets[1] != second.Nets[1] || third.Nets[0] == second.Nets[0] {
		t.Error("quiet changed, or busy did not")
	}
	third, _ := m.Tick(t0 + 12e6)
	if third.Nets[0].Stale != 1 || second.Nets[0].Stale != 0 || third.Nets[0].Rows.Places[0].Tokens != 3 {
		t.Error("stale does not show")
	}
}

func TestEveryReasonIsThereFromTheStart(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	view, _ := m.Tick(t0)
	for _, r := range Reasons() {
		if n, there := view.Traffic.Rejected[string(r)]; !there || n != 0 {
			t.Errorf("reason %s: got %d, there %t; want 0", r, n, there)
		}
	}
	m.Overran(3, Overrun)
	view, _ = m.Tick(t0)
	if view.Traffic.Rejected["overrun"] != 3 || view.Traffic.Messages != 3 {
		t.Errorf("got %+v; want 3 messages, all rejected as overrun", view.Traffic)
	}
}
