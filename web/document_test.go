// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/web/api"
)

const (
	t0     int64 = 1_790_000_000_000_000
	digest       = "0123456789abcdef0123456789abcdef"
)

var update = flag.Bool("update", false, "write the golden files")

// line is a net with places p0, p1 … and transitions t0, t1 …
func line(id string, places, transitions int) *petri.Net {
	n := &petri.Net{ID: id}
	for i := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i)})
	}
	for i := range transitions {
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprint("t", i)})
	}
	return n
}

// Two nets: of one all is known, of the other only some columns.
func goldenView(t *testing.T) *merge.View {
	m := merge.NewMerger(merge.Rules{}, t0)
	n := line("order", 2, 2)
	n.Name, n.Places[0].Name, n.Places[0].Initial, n.Transitions[0].Name = "Order fulfilment", "awaiting payment", 1, "pay <&>"
	n.Arcs = []petri.Arc{{Source: "p0", Target: "t0", Weight: 1}, {Source: "t0", Target: "p1", Weight: 1}}
	for key, def := range map[string]*petri.Net{digest: n, "x": line("partly known", 1, 1), "": line("unknown", 1, 1)} {
		if _, err := m.Define(key, def, t0); err != nil {
			t.Fatal(err)
		}
	}
	now := t0 + 3600e6
	msg := &telemetry.Snapshot{Source: "engine-1", Net: "order", Digest: digest, Epoch: t0, Seq: 7, SentAt: now,
		Interval: time.Second, Region: "eu", Fence: 3, Since: t0 - 60e6, Full: true,
		State: &telemetry.RegionState{Position: 41, Standbys: 1, Lag: new(uint64), Stopped: "a log has lost commits"}, Refused: &stats.RefusedRequests{}, Rows: *stats.NewRows(2, 2)}
	msg.Rows.Columns = stats.AllColumns
	msg.Rows.Net = stats.NetRow{Created: 9, Finished: 5, Failed: 1, Active: 3, Deadlocked: 1}
	p := &msg.Rows.Places[0]
	p.Tokens, p.Arrivals, p.Departures, p.Instances = 2, 5, 3, 2
	p.Oldest, p.LastInjection = now-700e6, now-2.5e6
	for _, injected := range []int64{now - 700e6, now - 2.5e6} {
		p.Injected.Add(injected)
		p.Ages.Add(injected, now, 1)
	}
	for _, d := range []int64{1e6, 2e6, 40e6} {
		p.Dwell.Observe(d)
	}
	p.Slowest = stats.Slowest{Instance: "order 12", Micros: 40e6, At: now - 300_000}
	p.Stuck = []stats.Token{{Instance: "order 17", Injected: now - 700e6, Waits: []stats.Wait{
		{Transition: 0, Reason: stats.ReasonMissing, Place: 1, Count: 2},
		{Transition: 1, Reason: stats.ReasonDelayed, Place: stats.NoPlace, Until: now + 60e6, What: "timer"}}}}
	p.Groups = []stats.Group{{Reason: stats.ReasonMissing, Tokens: 2, Due: now - 700e6, Oldest: p.Stuck[0]}}
	msg.Rows.Transitions[0] = stats.Transition{Firings: 3, Failures: 1, Retries: 2, Cancels: 4, Timeouts: 3, Late: 1, Running: 1, RunningSince: now - 5e6, LastFiring: now - 9e6, NextDue: now + 9e6}
	msg.Rows.Transitions[0].Duration.Observe(250_000)
	msg.Rows.Transitions[0].Slowest = stats.Slowest{Instance: "order 13", Micros: 250_000, At: now}
	msg.Rows.Transitions[1] = stats.Transition{Enabled: 2, EnabledSince: now - 61e6}
	msg.Rows.Blocks = []stats.Block{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Instances: 2},
		{Transition: 1, Place: stats.NoPlace, Reason: stats.ReasonGuarded, Instances: 1}}
	msg.Rows.Queues = []stats.Queue{{Priority: 0, Served: 70, QuoteSwitches: 2},
		{Priority: 6, Ready: 3, OldestSince: now - 4e6, UnservedSince: now - 2e6, Served: 8}}
	msg.Rows.Waiting = 5
	part := &telemetry.Snapshot{Source: "lines", Net: "partly known", Digest: "x", Epoch: t0, Seq: 1, SentAt: now + 120e6,
		Interval: 10 * time.Second, Full: true, Rows: *stats.NewRows(1, 1)}
	part.Rows.Columns = stats.ColTokens | stats.ColFirings
	part.Rows.Transitions[0].Firings = 12
	_, _ = m.Tick(now - 9_500_000) // what is counted below was done since
	for _, s := range []*telemetry.Snapshot{msg, part} {
		if _, err := m.Take(s, 1000, now); err != nil {
			t.Fatal(err)
		}
	}
	view, _ := m.Tick(now + 500_000)
	return view
}

// The JSON form, read a second after the View was made.
func TestJSONOfAView(t *testing.T) {
	view := goldenView(t)
	view.NATS = &natslink.ConnState{Since: t0 + 3590e6, Server: "nats://127.0.0.1:4222", Reason: "maximum connections exceeded", Disconnects: 2}
	view.Up, view.Interrupted = &natslink.ConnState{Connected: true, Since: t0, Server: "tls://above:4222"}, true
	var raw, got bytes.Buffer
	if err := api.Encode(&raw, ViewDocument(view, nil, view.At+1e6)); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&got, raw.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/view.json"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("(-%s +seen):\n%s", file, d)
	}
}

func TestAlarmsAsJSON(t *testing.T) {
	s := &alarm.ActiveSet{LastChange: t0, Suppressed: 3, Active: []alarm.Alarm{
		{Index: 1, Kind: alarm.TokenStuck, Severity: alarm.Minor, Net: "n", Subject: "p <€>", Raised: t0, Since: t0 - 1500e6, Affected: 4, Text: "stuck", After: 20 * time.Minute,
			Ack: &alarm.Ack{At: t0, By: "ada", Comment: "seen"}, SilencedUntil: t0 + 60e6, Selects: stats.ReasonIncident,
			Why: alarm.Why{Instance: "i1", Wait: stats.Wait{Reason: stats.ReasonIncident}, Words: "job, out of retries (failed permanently)"}},
		{Index: 2, Kind: alarm.TransitionStarved, Severity: alarm.Warning, Net: "n", Subject: "t", Raised: t0, Since: t0},
		{Index: 3, Kind: alarm.SourceLost, Severity: alarm.Major, Subject: "s", Raised: t0, Since: t0},
		{Index: 4, Kind: alarm.NetDeadlocked, Severity: alarm.Critical, Net: "n", Raised: t0, Since: t0 + 5e6},
		{Index: 5, Kind: alarm.FailureRatio, Severity: alarm.Minor, Net: "n", Subject: "t", Raised: t0, Since: t0, Affected: 7, Above: 0.5, Window: time.Minute, Measured: 9, Outdated: true},
		{Index: 6, Kind: alarm.TransitionLoop, Severity: alarm.Minor, Net: "gone", Subject: "t", Raised: t0, Since: t0, Measured: 9.5},
		{Index: 7, Kind: alarm.FiringMissed, Severity: alarm.Major, Net: "n", Subject: "t", Raised: t0, Since: t0 - 5e6, Affected: 2, After: 5 * time.Second, LastFired: t0 - 60e6},
	}}
	view := &merge.View{Nets: []*merge.NetView{{Name: "n", Def: &petri.Net{ID: "n", Name: "A net", Places: []petri.Place{{ID: "p <€>", Name: "Paid"}}, Transitions: []petri.Transition{{ID: "t", Name: "Ship"}}}}}}
	var b bytes.Buffer
	if err := api.Encode(&b, AlarmsDocument(s, view, t0+500_000)); err != nil {
		t.Fatal(err)
	}
	want := `{"last_change":"2026-09-21T14:13:20.000000Z","notifications_suppressed":3,"active":[` +
		`{"index":1,"alarm":"tokenStuck","severity":"minor","net":"n","place":"p <€>","raised":"2026-09-21T14:13:20.000000Z","since":"2026-09-21T13:48:20.000000Z","age_seconds":1500.5,"affected":4,"text":"stuck","for_reason":"incident","reason":"incident","instance":"i1","why":"job, out of retries (failed permanently)","net_name":"A net","name":"Paid","after_seconds":1200,"acknowledged":{"by":"ada","at":"2026-09-21T14:13:20.000000Z","comment":"seen"},"silenced_until":"2026-09-21T14:14:20.000000Z"},` +
		`{"index":2,"alarm":"transitionStarved","severity":"warning","net":"n","transition":"t","raised":"2026-09-21T14:13:20.000000Z","since":"2026-09-21T14:13:20.000000Z","age_seconds":0.5,"affected":0,"net_name":"A net","name":"Ship"},` +
		`{"index":3,"alarm":"sourceLost","severity":"major","source":"s","raised":"2026-09-21T14:13:20.000000Z","since":"2026-09-21T14:13:20.000000Z","age_seconds":0.5,"affected":0},` +
		`{"index":4,"alarm":"netDeadlocked","severity":"critical","net":"n","raised":"2026-09-21T14:13:20.000000Z","since":"2026-09-21T14:13:25.000000Z","age_seconds":0,"affected":0,"net_name":"A net"},` +
		`{"index":5,"alarm":"failureRatio","severity":"minor","net":"n","transition":"t","raised":"2026-09-21T14:13:20.000000Z","since":"2026-09-21T14:13:20.000000Z","age_seconds":0.5,"affected":7,"net_name":"A net","name":"Ship","above":0.5,"window_seconds":60,"runs":9,"outdated":true},` +
		`{"index":6,"alarm":"transitionLoop","severity":"minor","net":"gone","transition":"t","raised":"2026-09-21T14:13:20.000000Z","since":"2026-09-21T14:13:20.000000Z","age_seconds":0.5,"affected":0,"rate":9.5},` +
		`{"index":7,"alarm":"firingMissed","severity":"major","net":"n","transition":"t","raised":"2026-09-21T14:13:20.000000Z","since":"2026-09-21T14:13:15.000000Z","age_seconds":5.5,"affected":2,"net_name":"A net","name":"Ship","after_seconds":5,"last_fired":"2026-09-21T14:12:20.000000Z"}],"silences":[]}` + "\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
