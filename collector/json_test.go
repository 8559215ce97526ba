// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// Two nets: of one all is known, of the other only some columns.
func goldenView(t *testing.T) *View {
	m := NewMerger(Rules{}, t0)
	n := lineNet("order", 2, 2)
	n.Name, n.Places[0].Name, n.Transitions[0].Name = "Order fulfilment", "awaiting payment", "pay <&>"
	n.Arcs = []petri.Arc{{Source: "p0", Target: "t0", Weight: 1}, {Source: "t0", Target: "p1", Weight: 1}}
	for digest, def := range map[string]*petri.Net{benchDigest: n, "x": lineNet("partly known", 1, 1), "": lineNet("unheard", 1, 1)} {
		if _, err := m.Define(digest, def, t0); err != nil {
			t.Fatal(err)
		}
	}
	now := t0 + 3600e6
	msg := &telemetry.Snapshot{Source: "engine-1", Net: "order", Digest: benchDigest, Epoch: t0, Seq: 7, SentAt: now,
		Interval: time.Second, Region: "eu", Fence: 3, Since: t0 - 60e6, Full: true,
		State: &telemetry.RegionState{Position: 41, Standbys: 1, Lag: new(uint64), Stopped: "a log has lost commits"}, Rows: *stats.NewRows(2, 2)}
	msg.Rows.Columns = stats.AllColumns
	msg.Rows.Net = stats.Net{Created: 9, Finished: 5, Failed: 1, Active: 3, Deadlocked: 1}
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
		{Transition: 1, Reason: stats.ReasonDelayed, Place: stats.NoPlace, Until: now + 60e6}}}}
	msg.Rows.Transitions[0] = stats.Transition{Firings: 3, Failures: 1, Retries: 2, Cancels: 4, Timeouts: 3, Late: 1, Running: 1, RunningSince: now - 5e6, LastFiring: now - 9e6}
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
	view.NATS = &natslink.State{Since: t0 + 3590e6, Server: "nats://127.0.0.1:4222", Reason: "maximum connections exceeded", Disconnects: 2}
	view.Up, view.Deaf = &natslink.State{Connected: true, Since: t0, Server: "tls://above:4222"}, true
	var raw, got bytes.Buffer
	if err := WriteJSON(&raw, view, view.At+1e6); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&got, raw.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/view.json"
	if update() {
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
