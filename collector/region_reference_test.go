// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// regionReference knows one thing of each region: what its owner of the highest
// fence said when all of it was known. That is the sum of the region; who had it
// before does not matter.
type regionReference struct {
	rows    int
	regions map[string]*refRegion
	sources map[string]*refSpeaker
}

type refRegion struct {
	fence  uint64
	owner  string
	at     int64 // when it was last said
	tokens bool  // they are in the sums
	shown  map[int]refRow
}

// refSpeaker is a source: of its last process, what it said.
type refSpeaker struct {
	epoch int64
	seq   uint64
	at    int64
	heard map[int]bool // rows said since the last gap
	whole bool
	said  map[int]refRow
	of    string // the region that it was last shown with, while it has that
	about string // the region that it speaks for, and with which fence
	fence uint64
}

func (s *refSpeaker) again() { s.whole, s.heard = false, map[int]bool{} }

func (r *regionReference) take(m *telemetry.Snapshot, now int64) {
	s, region := r.sources[m.Source], r.regions[m.Region]
	switch {
	case s != nil && (m.Epoch < s.epoch || m.Epoch == s.epoch && m.Seq <= s.seq):
		return
	case region != nil && (m.Fence < region.fence || m.Fence == region.fence && region.owner != m.Source):
		return
	case s == nil:
		s = &refSpeaker{}
		r.sources[m.Source] = s
	}
	if m.Epoch != s.epoch {
		s.said = map[int]refRow{}
		s.again()
	} else if m.Seq != s.seq+1 && !s.whole {
		s.again()
	}
	s.epoch, s.seq, s.at, s.about, s.fence = m.Epoch, m.Seq, now, m.Region, m.Fence
	for i, p := range m.Rows.Places {
		at := i
		if !m.Full {
			at = int(m.PlaceIndex[i])
		}
		s.heard[at], s.said[at] = true, refRow{tokens: p.Tokens, arrivals: p.Arrivals}
	}
	for i, t := range m.Rows.Transitions {
		at := i
		if !m.Full {
			at = int(m.TransitionIndex[i])
		}
		s.heard[r.rows+at], s.said[r.rows+at] = true, refRow{firings: t.Firings, timeouts: t.Timeouts}
	}
	s.said[queueRow] = refRow{tokens: m.Rows.Queues[0].Ready, arrivals: m.Rows.Queues[0].Served}
	if m.Full || len(s.heard) == 2*r.rows {
		s.whole = true
	}
	if s.whole {
		r.show(m, s, now)
	}
}

func (r *regionReference) show(m *telemetry.Snapshot, s *refSpeaker, now int64) {
	region := &refRegion{fence: m.Fence, owner: m.Source, at: now, tokens: !m.Bye, shown: map[int]refRow{}}
	for at, row := range s.said {
		region.shown[at] = row
	}
	r.regions[m.Region] = region
	for _, other := range r.sources {
		if other != s && other.of == m.Region {
			other.of = ""
		}
		if other != s && other.about == m.Region && other.fence < m.Fence {
			other.again()
		}
	}
	if s.of = m.Region; m.Bye {
		s.again()
	}
}

func (r *regionReference) sums(now int64) sums {
	const forget = 15 * 60e6
	all := sums{Tokens: make([]uint64, r.rows), Arrivals: make([]uint64, r.rows), Firings: make([]uint64, r.rows), Timeouts: make([]uint64, r.rows)}
	for _, s := range r.sources {
		if region := r.regions[s.of]; now-s.at > forget || region != nil && now-region.at > forget && region.tokens {
			s.again()
		}
	}
	for _, region := range r.regions {
		region.tokens = region.tokens && now-region.at <= forget
		for at, row := range region.shown {
			all.add(at, row, region.tokens, r.rows)
		}
	}
	return all
}

// regionWorld is processes that own regions, one after the other, above the
// network of a world.
type regionWorld struct {
	*world
	ref    *regionReference
	logs   map[string]*regionLog
	paused []*engine // had a region once, and do not know yet that they lost it
}

// regionLog is what every owner of a region knows.
type regionLog struct {
	name  string
	fence uint64
	owner *engine // nil while there is none
	rows  stats.Rows
}

var worldRegions = [...]string{"r", "s"}

func newRegionWorld(t *testing.T, seed uint64) *regionWorld {
	w := &regionWorld{world: newWorld(t, seed), logs: map[string]*regionLog{},
		ref: &regionReference{rows: worldRows, regions: map[string]*refRegion{}, sources: map[string]*refSpeaker{}}}
	w.r = rand.New(rand.NewPCG(seed, 2))
	for _, name := range worldRegions {
		var e engine
		e.start("", w.now, worldRows)
		w.logs[name] = &regionLog{name: name, rows: e.msg.Rows}
		w.takeOver(w.logs[name])
	}
	return w
}

// takeOver gives a region to a process, which loses the one that it has. How
// the former owner goes is a matter of luck.
func (w *regionWorld) takeOver(l *regionLog) {
	w.now++
	name := fmt.Sprint("e", w.r.IntN(3))
	w.end(l)
	for _, other := range w.logs {
		if other.owner != nil && other.owner.msg.Source == name {
			w.end(other)
		}
	}
	l.fence++
	l.owner = &engine{}
	l.owner.start(name, w.now, worldRows)
	m := &l.owner.msg
	m.Region, m.Fence, m.Since = l.name, l.fence, 7
	m.Rows = clone(&telemetry.Snapshot{Rows: l.rows}).Rows
	if w.r.IntN(2) == 0 {
		l.owner.untilAll = 9 // it begins with parts
	}
}

func (w *regionWorld) end(l *regionLog) {
	if l.owner == nil {
		return
	}
	l.rows = clone(&l.owner.msg).Rows // what is in the log, said or not
	switch w.r.IntN(4) {
	case 0: // killed
	case 1: // paused
		w.paused = append(w.paused, l.owner)
	case 2: // stopped with a bye
		w.send(l.owner.say(w.r, w.now, true))
	default: // handed over
		l.owner.untilAll = 0
		w.send(l.owner.say(w.r, w.now, false))
	}
	l.owner = nil
}

func (w *regionWorld) step() {
	w.now += w.r.Int64N(1.5e6)
	l := w.logs[worldRegions[w.r.IntN(len(worldRegions))]]
	switch n := w.r.IntN(60); {
	case n < 4 || l.owner == nil && n < 20:
		w.takeOver(l)
	case n == 20: // everybody is cut off for a while
		w.deliver(len(w.net))
		w.now += w.r.Int64N(20 * 60e6)
		w.paused = nil
	case n < 24 && len(w.paused) > 0: // goes on, as if it were the owner
		e := w.paused[w.r.IntN(len(w.paused))] // it plays, but nothing of that gets into the log
		w.send(e.say(w.r, w.now, false))
	case l.owner != nil:
		l.owner.play(w.r)
		w.send(l.owner.say(w.r, w.now, false))
	}
	if w.r.IntN(2) == 0 {
		w.deliver(w.r.IntN(len(w.net) + 1))
	}
	if w.r.IntN(3) == 0 {
		w.compare()
	}
}

func (w *regionWorld) deliver(n int) {
	for _, m := range w.net[:n] {
		_, _ = w.m.Take(m, 1, w.now)
		w.ref.take(m, w.now)
	}
	w.net = w.net[n:]
}

func (w *regionWorld) compare() {
	w.t.Helper()
	view, _ := w.m.Tick(w.now)
	got := sumsOf(view.Nets[0].Rows)
	if d := cmp.Diff(w.ref.sums(w.now), got); d != "" {
		w.t.Fatalf("at %d (-reference +merger):\n%s", w.now, d)
	}
	w.neverDecreases(view)
}

// settle has every region say all, and compares the sums with what is true.
func (w *regionWorld) settle() {
	w.deliver(len(w.net))
	want := sums{Tokens: make([]uint64, worldRows), Arrivals: make([]uint64, worldRows), Firings: make([]uint64, worldRows), Timeouts: make([]uint64, worldRows)}
	for _, l := range w.logs {
		if l.owner == nil {
			w.takeOver(l)
			w.deliver(len(w.net))
		}
	}
	for _, l := range w.logs {
		if l.owner == nil {
			return // its process has the other region now
		}
		l.owner.untilAll = 0
		m := l.owner.say(w.r, w.now, false)
		w.net = append(w.net, m)
		for i := range worldRows {
			want.Tokens[i] += m.Rows.Places[i].Tokens
			want.Arrivals[i] += m.Rows.Places[i].Arrivals
			want.Firings[i] += m.Rows.Transitions[i].Firings
			want.Timeouts[i] += m.Rows.Transitions[i].Timeouts
		}
		want.Ready, want.Served = want.Ready+m.Rows.Queues[0].Ready, want.Served+m.Rows.Queues[0].Served
	}
	w.deliver(len(w.net))
	w.compare()
	view, _ := w.m.Tick(w.now)
	if d := cmp.Diff(want, sumsOf(view.Nets[0].Rows)); d != "" {
		w.t.Fatalf("in the end (-truth +merger):\n%s", d)
	}
}

// Whoever owns a region, however it was lost and whatever the network does: the
// sums are what its last owner said, no counter ever falls, and in the end they
// are what is in the regions' logs, to the last one.
func TestRegionsThatMoveAgreeWithTheReference(t *testing.T) {
	worlds := 150
	if testing.Short() {
		worlds = 20
	}
	for seed := range uint64(worlds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newRegionWorld(t, seed)
			for range 400 {
				w.step()
			}
			w.settle()
		})
	}
}
