// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// now0 is the time of the tests' Views, in microseconds.
const now0 int64 = 1_795_162_500_000_000 // 2026-11-20T08:15:00Z

// sizedNet is a net of the given size, of which every third place is final.
func sizedNet(id string, places, transitions int) *petri.Net {
	n := &petri.Net{ID: id}
	for i := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprintf("place%d", i), Name: fmt.Sprintf("Waiting %d", i)})
	}
	for i := range transitions {
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprintf("transition%d", i)})
	}
	for i := range places {
		a := petri.Arc{Source: fmt.Sprintf("place%d", i), Target: "transition0", Kind: petri.Read, Weight: 1}
		if i%3 != 2 {
			a.Kind = []petri.ArcKind{petri.Normal, petri.Reset}[i%3]
		}
		if transitions > 0 {
			n.Arcs = append(n.Arcs, a)
		}
	}
	return n
}

// randomNet fills in rows of a net as an engine that knows the given columns
// would.
func randomRows(r *rand.Rand, def *petri.Net, columns stats.Columns) *stats.Rows {
	rows := stats.NewRows(len(def.Places), len(def.Transitions))
	rows.Columns = columns
	rows.Net = stats.NetRow{Created: r.Uint64N(1e6), Finished: r.Uint64N(1e6), Failed: r.Uint64N(99), Active: r.Uint64N(99), Deadlocked: r.Uint64N(9)}
	for i := range rows.Places {
		rows.Places[i] = randomPlace(r, def)
	}
	rows.Waiting = r.Uint64N(1e6)
	for p := range uint8(stats.Priorities) {
		if p == 0 || r.IntN(3) == 0 {
			rows.Queues = append(rows.Queues, stats.Queue{Priority: p, Ready: r.Uint64N(9), OldestSince: now0 - r.Int64N(1e9),
				UnservedSince: now0 - r.Int64N(1e9), Served: r.Uint64N(1e9), QuoteSwitches: r.Uint64N(1e6)})
		}
	}
	for i := range rows.Transitions {
		t := &rows.Transitions[i]
		*t = stats.Transition{Firings: r.Uint64N(1e9), Failures: r.Uint64N(9), Retries: r.Uint64N(9), Cancels: r.Uint64N(9),
			Timeouts: r.Uint64N(9), Late: r.Uint64N(9),
			Enabled: r.Uint64N(9), EnabledSince: now0 - r.Int64N(1e9), Running: r.Uint64N(9), RunningSince: now0 - r.Int64N(1e9),
			LastFiring: now0 - r.Int64N(1e9), Duration: randomHistogram(r)}
		if len(def.Places) > 0 && r.IntN(2) == 0 {
			rows.Blocks = append(rows.Blocks, stats.Block{Transition: int32(i), Place: r.Int32N(int32(len(def.Places))+1) - 1,
				Reason: stats.Reason(r.IntN(9)), Instances: 1 + r.Uint64N(9)})
		}
	}
	return rows
}

func randomPlace(r *rand.Rand, def *petri.Net) stats.Place {
	p := stats.Place{Arrivals: r.Uint64N(1e9), Departures: r.Uint64N(1e9), LastInjection: now0 - r.Int64N(1e9), Dwell: randomHistogram(r)}
	for range r.IntN(40) {
		at := now0 - r.Int64N(int64(1)<<(20+r.IntN(20)))
		p.Tokens++
		p.Oldest = stats.Earlier(p.Oldest, at)
		p.Injected.Add(at)
		p.Ages.Add(at, now0, 1)
		if len(p.Stuck) < stats.MaxStuck && r.IntN(4) == 0 {
			p.Stuck = append(p.Stuck, stats.Token{Instance: fmt.Sprintf("case-%d", r.IntN(1e6)), Injected: at, Waits: randomWaits(r, def)})
		}
	}
	p.Instances = p.Tokens
	slices.SortFunc(p.Stuck, func(a, b stats.Token) int { return a.Compare(&b) })
	return p
}

func randomWaits(r *rand.Rand, def *petri.Net) []stats.Wait {
	var waits []stats.Wait
	for i := range min(len(def.Transitions), r.IntN(3)) {
		waits = append(waits, stats.Wait{Transition: int32(i), Reason: stats.Reason(r.IntN(9)), Place: r.Int32N(int32(len(def.Places))+1) - 1,
			Count: r.Uint32N(5), Until: now0 + 60e6, What: []string{"", "a message"}[r.IntN(2)]})
	}
	return waits
}

func randomHistogram(r *rand.Rand) stats.Histogram {
	var h stats.Histogram
	for range r.IntN(40) {
		h.Observe(r.Int64N(int64(1) << (10 + r.IntN(25))))
	}
	return h
}

// viewOf returns a View of nets with one source each.
func viewOf(nets ...*merge.NetView) *merge.View {
	view := &merge.View{At: now0, Generation: 1, Nets: nets,
		Traffic: merge.Traffic{Messages: 10, Bytes: 1000, Lost: 1, Rejected: map[string]uint64{"digest": 2, "size": 1}}}
	for _, n := range nets {
		known := uint64(3)
		view.Sources = append(view.Sources, merge.Source{Name: "engine-1", Net: n.Name, State: merge.Up, Region: "north",
			Fence: 7, Position: &known, Standbys: &known, Lag: &known,
			LastMessage: now0 - 500_000, Interval: time.Second, Epoch: now0 - 3600e6, Skew: -20 * time.Millisecond})
	}
	return view.Sum()
}

func netOf(def *petri.Net, rows *stats.Rows) *merge.NetView {
	return (&merge.NetView{Name: def.ID, Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 1, Since: now0 - 60e6,
		Digests: []merge.Digest{{Digest: "5f1d", Sources: 1}}}).Sum()
}
