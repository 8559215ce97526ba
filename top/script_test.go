// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"time"

	"github.com/pnagent/pnagent/web/api"
)

// begun is when the scripted sidecar's first View is of.
func begun() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) }

// scripted returns the View of a second. Crates are stuck and fill up, labels
// come and go; one net is Chinese, and one is written by an enemy.
func scripted(second int) *api.View {
	n, at := uint64(second), begun().Add(time.Duration(second)*time.Second)
	old := float64(second)
	v := &api.View{At: timeOf(at), Generation: 100 + n}
	v.Traffic.Messages, v.Traffic.MessageRate = 500+6*n, age64(6)
	packaging := api.Net{NetTotals: api.NetTotals{ID: "packaging", Name: "Packaging line", Since: timeOf(begun()), Up: 1, Stale: 1,
		Instances: &api.Instances{Finished: 10 + n, Failed: 1, Active: 20, Deadlocked: 2}, Waiting: ptr(3),
		Tokens: ptr(34 + n), OldestAge: age64(5000 + old), OldestPlace: "crates", Rate: age64(8), FinishedRate: age64(1)},
		Places: []api.Place{
			{ID: "labels", Name: "Labels", PlaceNow: api.PlaceNow{Tokens: ptr(4), Instances: ptr(4), ArrivalRate: age64(8)}, DepartureRate: age64(8), Arrivals: ptr(200 + 8*n), Departures: ptr(196 + 8*n),
				OldestAge: age64(2.5), MeanAge: age64(1.25), LastInjection: timeOf(at.Add(-time.Second)), OlderThan: older(3, 0, 0, 0, 0),
				Dwell: dwelt(196, 0.004), Stuck: &[]api.Token{{Instance: "berlin/07", Age: 2.5, Waits: []api.Wait{{Transition: "label", Reason: "enabled"}}}}},
			{ID: "crates", Name: "Crates", PlaceNow: api.PlaceNow{Tokens: ptr(30 + n), Instances: ptr(9), ArrivalRate: age64(1)}, DepartureRate: age64(0), Arrivals: ptr(60 + n), Departures: ptr(30),
				OldestAge: age64(5000 + old), MeanAge: age64(700 + old), LastInjection: timeOf(at), OlderThan: older(29, 25, 20, 12, 3),
				Dwell: dwelt(30, 95), Stuck: &[]api.Token{
					{Instance: "berlin/12", Age: 5000 + old, Waits: []api.Wait{
						{Transition: "stack", Reason: "missing", Place: "pallets", Count: 2},
						{Transition: "scrap", Reason: "inhibited", Place: "inspection", Count: 1}}},
					{Instance: "osaka/an instance with a name of some length/03", Age: 4000 + old, Waits: []api.Wait{
						{Transition: "stack", Reason: "delayed", Until: timeOf(begun().Add(90 * time.Second)), What: "cooling"}}},
					{Instance: "osaka/04", Age: 60 + old}},
				Reasons: &[]api.Reason{
					{Reason: "missing", Tokens: 9 + n, Oldest: api.Token{Instance: "berlin/12", Age: 5000 + old, Waits: []api.Wait{{Transition: "stack", Reason: "missing", Place: "pallets", Count: 2}}}},
					{Reason: "incident", Tokens: 1, Oldest: api.Token{Instance: "osaka/31", Age: 30 + old, Waits: []api.Wait{{Transition: "stack", Reason: "incident", What: "no wood"}}}}}},
			{ID: "pallets", PlaceNow: api.PlaceNow{Tokens: ptr(0), ArrivalRate: age64(0)}, DepartureRate: age64(0), Arrivals: ptr(5), Departures: ptr(5), OldestAge: age64(0), MeanAge: age64(0), OlderThan: older(0, 0, 0, 0, 0),
				Dwell: &api.Histogram{}, Stuck: &[]api.Token{}},
		},
		Transitions: []api.Transition{
			{ID: "label", Name: "Label a crate", TransitionNow: api.TransitionNow{Rate: age64(8), Failures: ptr(2), Enabled: ptr(4)}, Firings: ptr(196 + 8*n), Retries: ptr(1), EnabledAge: age64(2.5),
				LastFiring: timeOf(at), Duration: dwelt(196, 0.25)},
			{ID: "stack", TransitionNow: api.TransitionNow{Rate: age64(0), Failures: ptr(0), Enabled: ptr(0), Running: ptr(1)}, Firings: ptr(30), Retries: ptr(0), EnabledAge: age64(0), RunningAge: age64(40 + old)},
		},
		Blocks: &[]api.Block{{Transition: "stack", Reason: "delayed", Instances: 1}, {Transition: "stack", Place: "pallets", Reason: "missing", Instances: 8}},
	}
	chinese := api.Net{NetTotals: api.NetTotals{ID: "订单处理流程", Name: "订单", Since: timeOf(begun()), Up: 1, Tokens: ptr(7), OldestAge: age64(75 + old), Rate: age64(2)},
		Places:      []api.Place{{ID: "等待付款的客户订单", Name: "等待付款", PlaceNow: api.PlaceNow{Tokens: ptr(7)}, OldestAge: age64(75 + old)}},
		Transitions: []api.Transition{{ID: "付款", TransitionNow: api.TransitionNow{Rate: age64(2)}, Firings: ptr(70 + 2*n)}}}
	hostile := api.Net{NetTotals: api.NetTotals{ID: "evil\x1b[2J\x9b1m", Name: "\u202egnorw", Since: timeOf(begun()), Up: 1, Tokens: ptr(1), OldestAge: age64(12 + old)},
		Places: []api.Place{{ID: "a\x07b\nc\u200bd", Name: "e\u0301\u0301\u0301\u0301\u0301x", PlaceNow: api.PlaceNow{Tokens: ptr(1)}, OldestAge: age64(12 + old),
			Stuck: &[]api.Token{{Instance: "\x1b]0;title\x07", Age: 12 + old, Waits: []api.Wait{{Transition: "t\r\n", Reason: "\x1bc", Place: "p\t"}}}}}},
		Transitions: []api.Transition{{ID: "\u2066t\ufe0f\xff"}}}
	v.Nets = []api.Net{packaging, chinese, hostile}
	v.Sources = []api.Source{
		{SourceState: api.SourceState{Name: "berlin", Net: "packaging", Region: "eu", State: "up", LastMessageAge: new(0.4), Gaps: 1,
			Fence: 3, Position: ptr(4100 + n), Standbys: ptr(1), Lag: ptr(0)}, Seq: 40 + n, LastMessage: timeOf(at), Interval: 1, Skew: -0.0003},
		{SourceState: api.SourceState{Name: "osaka", Net: "packaging", State: "stale", LastMessageAge: new(10 + old)}, Seq: 9, LastMessage: timeOf(begun()), Interval: 1, Skew: 65, SkewBeyond: true, Restarts: 2},
		{SourceState: api.SourceState{Name: "berlin", Net: "订单处理流程", State: "up", LastMessageAge: new(0.2)}, LastMessage: timeOf(at), Interval: 1}}
	v.States = api.States{Up: 2, Stale: 1}
	return v
}

func scriptedAlarms(second int) *api.Alarms {
	return &api.Alarms{Active: []api.Alarm{
		{Index: 7, Alarm: "tokenStuck", Severity: "minor", Net: "packaging", Place: "crates", Raised: timeOf(begun().Add(-time.Hour)), Age: new(3000 + float64(second)), Affected: new(uint64(12)),
			Text:         `tokens in place "crates" of net "packaging" for more than 10m: 12, the oldest since 2026-03-01T06:36:40Z`,
			Acknowledged: &api.Ack{By: "ada\x1b[2J", At: timeOf(begun()), Comment: "the line is being repaired; the second shift has the spare part"}, SilencedUntil: timeOf(begun().Add(time.Hour))},
		{Index: 9, Alarm: "sourceLost", Severity: "major", Source: "osaka", Raised: timeOf(begun()), Age: new(4 + float64(second)), Affected: new(uint64(1)), Text: "source \x1b[31mosaka\x1b[m is silent"}}}
}

// lostAlarms returns the alarms after a source was lost: one is known to hold and silenced, one
// follows, two are unknown.
func lostAlarms(second int) *api.Alarms {
	a := scriptedAlarms(second)
	why := `source "rome" is silent since 2026-03-01T07:30:00Z and was forgotten`
	a.Active[0].Acknowledged, a.Active[0].Severity = nil, "major"
	a.Active = append(a.Active,
		api.Alarm{Index: 10, Alarm: "tokenStuck", Severity: "minor", Net: "packaging", Place: "labels", Raised: timeOf(begun()), Age: new(3 + float64(second)), Affected: ptr(2), Follows: "osaka",
			Text: `tokens in place "labels" of net "packaging" for more than 10m: 2; it follows from alarm sourceLost of source "osaka"`},
		api.Alarm{Index: 11, Alarm: "sourceLost", Severity: "major", Source: "rome", Raised: timeOf(begun()), Age: new(1800 + float64(second)), Affected: ptr(1), Outdated: true, Unknown: why, Lost: "rome",
			Text: `unknown whether alarm sourceLost still holds for source "rome": ` + why},
		api.Alarm{Index: 12, Alarm: "tokenStuck", Severity: "minor", Net: "packaging", Place: "pallets", Raised: timeOf(begun()), Age: new(1900 + float64(second)), Affected: ptr(4), Outdated: true, Unknown: why, Lost: "rome", Follows: "rome",
			Text: `unknown whether alarm tokenStuck still holds for place "pallets" of net "packaging": ` + why})
	return a
}

// manyNets returns a View with more rows than a screen has.
func manyNets(second int) *api.View {
	v := scripted(second)
	for i := range 40 {
		v.Nets[0].Places = append(v.Nets[0].Places, api.Place{ID: fmt.Sprintf("buffer%02d", i), PlaceNow: api.PlaceNow{Tokens: ptr(uint64(i))}, OldestAge: age64(float64(40 - i))})
	}
	return v
}

// finished returns a View in which thousands of tokens lie where a net ends.
func finished(second int) *api.View {
	v := scripted(second)
	old := float64(30*86400 + second)
	v.Nets[0].Tokens = ptr(*v.Nets[0].Tokens + 4711)
	v.Nets[0].Places = append(v.Nets[0].Places, api.Place{ID: "shipped", Name: "Shipped", Final: true, PlaceNow: api.PlaceNow{Tokens: ptr(4711), Instances: ptr(4711), ArrivalRate: age64(0)}, DepartureRate: age64(0), Arrivals: ptr(4711), Departures: ptr(0), OldestAge: age64(old), MeanAge: age64(old / 2), OlderThan: older(4711, 4700, 4600, 4500, 4400), Dwell: &api.Histogram{},
		Stuck: &[]api.Token{{Instance: "berlin/00", Age: old}}})
	return v
}

func ptr(n uint64) *uint64 { return &n }

func age64(s float64) *float64 { return &s }

func timeOf(t time.Time) api.Time { return api.Time(t.UnixMicro()) }

func older(n ...uint64) *api.OlderThan {
	return &api.OlderThan{S1: n[0], S10: n[1], M1: n[2], M10: n[3], H1: n[4]}
}

func dwelt(n uint64, typical float64) *api.Histogram {
	return &api.Histogram{Count: n, Sum: float64(n) * typical * 1.2, Mean: age64(typical * 1.2), P50: age64(typical), P95: age64(2 * typical), P99: age64(3 * typical)}
}
