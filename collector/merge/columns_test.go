// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// allColumns returns rows of one place and one transition, with something in each column.
func allColumns() *stats.Rows {
	r := largest(1000)
	p, tr := &r.Places[0], &r.Transitions[0]
	p.Oldest, p.LastInjection, p.Injected = t0-9e6, t0-8e6, stats.TimeSum{Sec: 1000 * uint64(t0/2e6)}
	p.Ages = stats.Ladder{At: t0 / stats.SlotWidth, Slots: []stats.Slot{{Start: t0/stats.SlotWidth - 20, N: 1000}}}
	p.Stuck = []stats.Token{{Instance: "i", Injected: t0 - 9e6, Waits: []stats.Wait{{Place: stats.NoPlace, Until: t0 + 8e6}}}}
	p.Groups = []stats.Group{{Reason: stats.ReasonDelayed, Tokens: 3, Due: t0 + 7e6, Oldest: stats.Token{Instance: "j", Injected: t0 - 8e6, Waits: []stats.Wait{{Place: stats.NoPlace, Until: t0 + 8e6}}}}}
	tr.EnabledSince, tr.RunningSince, tr.LastFiring, tr.NextDue = t0-7e6, t0-6e6, t0-5e6, t0+600e6
	r.Blocks = []stats.Block{{Instances: 5}}
	return r
}

// A View shows the last snapshot of a source, even if only one number of it
// changed: it is the same as in a collector that received nothing else.
func TestAChangeOfAnyNumberIsShown(t *testing.T) {
	for name, change := range map[string]func(*stats.Rows){
		"tokens":                  func(r *stats.Rows) { r.Places[0].Tokens++ },
		"arrivals":                func(r *stats.Rows) { r.Places[0].Arrivals++ },
		"departures":              func(r *stats.Rows) { r.Places[0].Departures++ },
		"instances in a place":    func(r *stats.Rows) { r.Places[0].Instances++ },
		"oldest":                  func(r *stats.Rows) { r.Places[0].Oldest++ },
		"last injection":          func(r *stats.Rows) { r.Places[0].LastInjection++ },
		"injected":                func(r *stats.Rows) { r.Places[0].Injected.Sec++ },
		"slots of a ladder":       func(r *stats.Rows) { r.Places[0].Ages.Slots[0].N++ },
		"start of a slot":         func(r *stats.Rows) { r.Places[0].Ages.Slots[0].Start -= 2 },
		"sum of dwell times":      func(r *stats.Rows) { r.Places[0].Dwell.Sum++ },
		"buckets of dwell times":  func(r *stats.Rows) { r.Places[0].Dwell.Buckets[0].N++ },
		"stuck tokens":            func(r *stats.Rows) { r.Places[0].Stuck[0].Injected++ },
		"tokens of a group":       func(r *stats.Rows) { r.Places[0].Groups[0].Tokens++ },
		"when a group is due":     func(r *stats.Rows) { r.Places[0].Groups[0].Due++ },
		"oldest of a group":       func(r *stats.Rows) { r.Places[0].Groups[0].Oldest.Injected++ },
		"firings":                 func(r *stats.Rows) { r.Transitions[0].Firings++ },
		"failures":                func(r *stats.Rows) { r.Transitions[0].Failures++ },
		"retries":                 func(r *stats.Rows) { r.Transitions[0].Retries++ },
		"cancels":                 func(r *stats.Rows) { r.Transitions[0].Cancels++ },
		"timeouts":                func(r *stats.Rows) { r.Transitions[0].Timeouts++ },
		"late":                    func(r *stats.Rows) { r.Transitions[0].Late++ },
		"enabled":                 func(r *stats.Rows) { r.Transitions[0].Enabled++ },
		"enabled since":           func(r *stats.Rows) { r.Transitions[0].EnabledSince++ },
		"running":                 func(r *stats.Rows) { r.Transitions[0].Running++ },
		"running since":           func(r *stats.Rows) { r.Transitions[0].RunningSince++ },
		"last firing":             func(r *stats.Rows) { r.Transitions[0].LastFiring++ },
		"next due":                func(r *stats.Rows) { r.Transitions[0].NextDue++ },
		"sum of durations":        func(r *stats.Rows) { r.Transitions[0].Duration.Sum++ },
		"buckets of durations":    func(r *stats.Rows) { r.Transitions[0].Duration.Buckets[0].N++ },
		"instances of the net":    func(r *stats.Rows) { r.Net.Created++ },
		"instances in a deadlock": func(r *stats.Rows) { r.Net.Deadlocked++ },
		"work that waits":         func(r *stats.Rows) { r.Waiting++ },
		"blocked instances":       func(r *stats.Rows) { r.Blocks[0].Instances++ },
		"served events":           func(r *stats.Rows) { r.Queues[0].Served++ },
		"nothing":                 func(*stats.Rows) {},
	} {
		t.Run(name, func(t *testing.T) {
			say := func(m *Merger, seq uint64, rows *stats.Rows) *stats.Rows {
				msg := &telemetry.Snapshot{Source: "a", Net: "n", Digest: benchDigest, Epoch: t0, Seq: seq, SentAt: t0, Interval: time.Second, Full: true, Rows: *rows}
				if _, err := m.Take(msg, 0, t0); err != nil {
					t.Fatal(err)
				}
				view, _ := m.Tick(t0)
				return view.Nets[0].Rows
			}
			fresh := func() *Merger {
				m := NewMerger(Rules{}, t0)
				if _, err := m.Define(benchDigest, lineNet("n", 1, 1), t0); err != nil {
					t.Fatal(err)
				}
				return m
			}
			m, next := fresh(), allColumns()
			change(next)
			before := say(m, 1, allColumns())
			after, want := say(m, 2, next), say(fresh(), 2, next)
			if d := cmp.Diff(want, after); d != "" {
				t.Errorf("(-received alone +received second)\n%s", d)
			}
			if same := cmp.Equal(before, want); same != (name == "nothing") {
				t.Errorf("a view shows the change: %t", !same)
			}
		})
	}
}

// A snapshot that waits for its definition is shown as it was said: a Decoder uses the
// memory of a message again for the next one.
func TestASnapshotThatWaitsIsKeptAsItWasSaid(t *testing.T) {
	take := func(m *Merger, rows *stats.Rows) {
		msg := &telemetry.Snapshot{Source: "a", Net: "n", Digest: benchDigest, Epoch: t0, Seq: 1, SentAt: t0, Interval: time.Second, Full: true, Rows: *rows}
		if _, err := m.Take(msg, 0, t0); err != nil {
			t.Fatal(err)
		}
	}
	define := func(m *Merger) {
		if _, err := m.Define(benchDigest, lineNet("n", 1, 1), t0); err != nil {
			t.Fatal(err)
		}
	}
	want, got, said := NewMerger(Rules{}, t0), NewMerger(Rules{}, t0), allColumns()
	define(want)
	take(want, allColumns())
	take(got, said)
	p, tr := &said.Places[0], &said.Transitions[0]
	p.Ages.Slots[0], p.Dwell.Buckets[0], tr.Duration.Buckets[0] = stats.Slot{}, stats.Bucket{}, stats.Bucket{}
	p.Stuck[0].Waits[0], p.Stuck[0] = stats.Wait{}, stats.Token{}
	p.Groups[0].Oldest.Waits[0], p.Groups[0] = stats.Wait{}, stats.Group{}
	*p, *tr, said.Blocks[0], said.Queues[0] = stats.Place{}, stats.Transition{}, stats.Block{}, stats.Queue{}
	define(got)
	shown := func(m *Merger) *stats.Rows {
		view, _ := m.Tick(t0)
		return view.Nets[0].Rows
	}
	if d := cmp.Diff(shown(want), shown(got)); d != "" {
		t.Errorf("(-taken at once +taken with its definition)\n%s", d)
	}
}
