// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"time"
)

// begun is when the scripted sidecar's first View is of.
func begun() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) }

// scripted returns the View of a second. Crates are stuck and fill up, labels
// come and go; one net is Chinese, and one is written by an enemy.
func scripted(second int) *View {
	n, at := uint64(second), begun().Add(time.Duration(second)*time.Second)
	old := float64(second)
	v := &View{At: at, Generation: 100 + n}
	v.Traffic.Messages = 500 + 6*n
	packaging := Net{ID: "packaging", Name: "Packaging line", Since: begun(), Up: 1, Stale: 1,
		Instances: &Instances{Finished: 10 + n, Failed: 1, Active: 20, Deadlocked: 2}, Waiting: ptr(3),
		Places: []Place{
			{ID: "labels", Name: "Labels", Tokens: ptr(4), Arrivals: ptr(200 + 8*n), Departures: ptr(196 + 8*n), Instances: ptr(4),
				OldestAge: age64(2.5), MeanAge: age64(1.25), LastInjection: at.Add(-time.Second), OlderThan: older(3, 0, 0, 0, 0),
				Dwell: dwelt(196, 0.004), Stuck: []Token{{Instance: "berlin/07", Age: 2.5, Waits: []Wait{{Transition: "label", Reason: "enabled"}}}}},
			{ID: "crates", Name: "Crates", Tokens: ptr(30 + n), Arrivals: ptr(60 + n), Departures: ptr(30), Instances: ptr(9),
				OldestAge: age64(5000 + old), MeanAge: age64(700 + old), LastInjection: at, OlderThan: older(29, 25, 20, 12, 3),
				Dwell: dwelt(30, 95), Stuck: []Token{
					{Instance: "berlin/12", Age: 5000 + old, Waits: []Wait{
						{Transition: "stack", Reason: "missing", Place: "pallets", Count: 2},
						{Transition: "scrap", Reason: "inhibited", Place: "inspection", Count: 1}}},
					{Instance: "osaka/an instance with a name of some length/03", Age: 4000 + old, Waits: []Wait{
						{Transition: "stack", Reason: "delayed", Until: begun().Add(90 * time.Second)}}},
					{Instance: "osaka/04", Age: 60 + old}}},
			{ID: "pallets", Tokens: ptr(0), Arrivals: ptr(5), Departures: ptr(5), OldestAge: age64(0), MeanAge: age64(0), OlderThan: older(0, 0, 0, 0, 0),
				Dwell: &Histogram{}, Stuck: []Token{}},
		},
		Transitions: []Transition{
			{ID: "label", Name: "Label a crate", Firings: ptr(196 + 8*n), Failures: ptr(2), Retries: ptr(1), Enabled: ptr(4), EnabledAge: age64(2.5),
				LastFiring: at, Duration: dwelt(196, 0.25)},
			{ID: "stack", Firings: ptr(30), Failures: ptr(0), Retries: ptr(0), Enabled: ptr(0), EnabledAge: age64(0), Running: ptr(1), RunningAge: age64(40 + old)},
		},
		Blocks: []Block{{"stack", "", "delayed", 1}, {"stack", "pallets", "missing", 8}},
	}
	chinese := Net{ID: "订单处理流程", Name: "订单", Since: begun(), Up: 1,
		Places:      []Place{{ID: "等待付款的客户订单", Name: "等待付款", Tokens: ptr(7), OldestAge: age64(75 + old)}},
		Transitions: []Transition{{ID: "付款", Firings: ptr(70 + 2*n)}}}
	hostile := Net{ID: "evil\x1b[2J\x9b1m", Name: "\u202egnorw", Since: begun(), Up: 1,
		Places: []Place{{ID: "a\x07b\nc\u200bd", Name: "e\u0301\u0301\u0301\u0301\u0301x", Tokens: ptr(1), OldestAge: age64(12 + old),
			Stuck: []Token{{Instance: "\x1b]0;title\x07", Age: 12 + old, Waits: []Wait{{Transition: "t\r\n", Reason: "\x1bc", Place: "p\t"}}}}}},
		Transitions: []Transition{{ID: "\u2066t\ufe0f\xff"}}}
	v.Nets = []Net{packaging, chinese, hostile}
	v.Sources = []Source{
		{Name: "berlin", Net: "packaging", Region: "eu", State: "up", Seq: 40 + n, LastHeard: at, LastHeardAge: 0.4, Interval: 1, Skew: -0.0003, Gaps: 1,
			Fence: 3, Position: ptr(4100 + n), Standbys: ptr(1), Lag: ptr(0)},
		{Name: "osaka", Net: "packaging", State: "stale", Seq: 9, LastHeard: begun(), LastHeardAge: 10 + old, Interval: 1, Skew: 65, SkewBeyond: true, Restarts: 2},
		{Name: "berlin", Net: "订单处理流程", State: "up", LastHeard: at, LastHeardAge: 0.2, Interval: 1}}
	return v
}

func scriptedAlarms(second int) *Alarms {
	return &Alarms{Active: []Alarm{
		{Index: 7, Alarm: "tokenStuck", Net: "packaging", Place: "crates", Raised: begun().Add(-time.Hour), Age: 3000 + float64(second), Affected: 12,
			Text: `tokens in place "crates" of net "packaging" for more than 10m: 12, the oldest since 2026-03-01T06:36:40Z`},
		{Index: 9, Alarm: "sourceLost", Source: "osaka", Raised: begun(), Age: 4 + float64(second), Affected: 1, Text: "source \x1b[31mosaka\x1b[m is silent"}}}
}

// manyNets returns a View with more rows than a screen has.
func manyNets(second int) *View {
	v := scripted(second)
	for i := range 40 {
		v.Nets[0].Places = append(v.Nets[0].Places, Place{ID: fmt.Sprintf("buffer%02d", i), Tokens: ptr(uint64(i)), OldestAge: age64(float64(40 - i))})
	}
	return v
}

// finished returns a View in which thousands of tokens lie where a net ends.
func finished(second int) *View {
	v := scripted(second)
	old := float64(30*86400 + second)
	v.Nets[0].Places = append(v.Nets[0].Places, Place{ID: "shipped", Name: "Shipped", Final: true, Tokens: ptr(4711), Arrivals: ptr(4711), Departures: ptr(0),
		Instances: ptr(4711), OldestAge: age64(old), MeanAge: age64(old / 2), OlderThan: older(4711, 4700, 4600, 4500, 4400), Dwell: &Histogram{},
		Stuck: []Token{{Instance: "berlin/00", Age: old}}})
	return v
}

func ptr(n uint64) *uint64 { return &n }

func age64(s float64) *float64 { return &s }

func older(n ...uint64) map[string]uint64 {
	m := map[string]uint64{"6h": 0, "1d": 0, "7d": 0}
	for i, label := range []string{"1s", "10s", "1m", "10m", "1h"} {
		m[label] = n[i]
	}
	return m
}

func dwelt(n uint64, typical float64) *Histogram {
	return &Histogram{Count: n, Sum: float64(n) * typical * 1.2, P50: age64(typical), P95: age64(2 * typical), P99: age64(3 * typical)}
}
