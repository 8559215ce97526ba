// SPDX-License-Identifier: Apache-2.0

// Package mergetest makes nets and messages of sources, for tests of what merges them.
package mergetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// T0 is an arbitrary moment in 2026.
const T0 = int64(1_790_000_000_000_000)

// Digest is that of the messages of RandomSource.
const Digest = "0123456789abcdef0123456789abcdef"

// LineNet returns a net of places p0, p1 … and transitions T0, t1 ….
func LineNet(id string, places, transitions int) *petri.Net {
	n := &petri.Net{ID: id}
	for i := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i)})
	}
	for i := range transitions {
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprint("t", i)})
	}
	return n
}

// RandomSource returns a full snapshot of a source in which every column
// holds something.
func RandomSource(r *rand.Rand, name string, places, transitions int, now int64) *telemetry.Snapshot {
	age := func() int64 { return 1 + r.Int64N(int64(1)<<r.IntN(40)) }
	msg := &telemetry.Snapshot{Source: name, Net: "n", Digest: Digest, Epoch: 1, Seq: 1, SentAt: now, Interval: time.Second,
		Full: true, Rows: *stats.NewRows(places, transitions)}
	msg.Rows.Columns = stats.AllColumns
	msg.Rows.Net = stats.NetRow{Created: r.Uint64N(100), Finished: r.Uint64N(50), Failed: r.Uint64N(9), Active: r.Uint64N(50)}
	for i := range msg.Rows.Places {
		p := &msg.Rows.Places[i]
		for range 1 + r.IntN(5) {
			injected := now - age()
			p.Tokens++
			p.Oldest = stats.Earlier(p.Oldest, injected)
			p.LastInjection = max(p.LastInjection, injected)
			p.Injected.Add(injected)
			p.Ages.Add(injected, now, 1)
			token := stats.Token{Instance: fmt.Sprint("i", r.IntN(999)), Injected: injected,
				Waits: []stats.Wait{{Transition: r.Int32N(int32(transitions)), Reason: stats.ReasonMissing, Place: r.Int32N(int32(places)), Count: 1}}}
			if r.IntN(2) == 0 {
				token.Waits[0] = stats.Wait{Transition: r.Int32N(int32(transitions)), Reason: stats.ReasonDelayed, Place: stats.NoPlace, Until: now + age()}
			}
			p.Stuck = stats.MergeStuck(p.Stuck, []stats.Token{token})
			p.Groups = stats.MergeGroups(p.Groups, []stats.Group{{Reason: token.Waits[0].Reason, Tokens: 1, Due: token.Due(), Oldest: token}})
		}
		for range r.IntN(20) {
			p.Departures++
			p.Dwell.Observe(age())
			p.Slowest.Merge(stats.Slowest{Instance: fmt.Sprint("i", r.IntN(999)), Micros: age(), At: now - r.Int64N(300e6)})
		}
		p.Arrivals, p.Instances = p.Tokens+p.Departures, r.Uint64N(p.Tokens+1)
	}
	msg.Rows.Waiting = r.Uint64N(9)
	for p := range uint8(stats.Priorities) {
		if p == 0 || r.IntN(3) == 0 {
			msg.Rows.Queues = append(msg.Rows.Queues, stats.Queue{Priority: p, Ready: r.Uint64N(9), OldestSince: now - age(), UnservedSince: now - age(),
				Served: r.Uint64N(99), QuoteSwitches: r.Uint64N(9)})
		}
	}
	for i := range msg.Rows.Transitions {
		t := &msg.Rows.Transitions[i]
		for range r.IntN(20) {
			t.Firings++
			t.Duration.Observe(age())
			t.Slowest.Merge(stats.Slowest{Instance: fmt.Sprint("i", r.IntN(999)), Micros: age(), At: now - r.Int64N(300e6)})
		}
		for _, m := range stats.TransitionTable.Moments {
			*m.Of(t) = now - age()
		}
		for _, c := range stats.TransitionTable.Counts[1:] { // without the firings
			*c.Of(t) = r.Uint64N(3)
		}
		t.Enabled, t.Running = 1, 1
		msg.Rows.Blocks = append(msg.Rows.Blocks, stats.Block{Transition: int32(i), Place: r.Int32N(int32(places)), Reason: stats.ReasonMissing, Instances: 1 + r.Uint64N(5)})
	}
	return msg
}
