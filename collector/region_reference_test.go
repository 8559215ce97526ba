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
	epoch   int64
	seq     uint64
	at      int64
	left    bool
	refused int64 // when it last spoke for a region that another one has
	rank    int
	other   map[int64]*refOther // its other processes, by epoch
	heard   map[int]bool        // rows said since the last gap
	whole   bool
	parts   bool // some of them
	said    map[int]refRow
	of      string // the region that it was last shown with, while it has that
	had     string // the same, also when it does not have it any more
	about   string // the region that it speaks for, and with which fence
	fence   uint64
}

// refOther is a process of a source that is not its last one.
type refOther struct {
	seq    uint64
	was    bool // it was the last one once
	rank   int  // the order of those that were, where that is known better than by their epochs
	streak refStreak
	whole  bool // its rows are shown, and others may come alone
	said   map[int]refRow
}

// takes reports whether a message is of the process that speaks for the source
// from now on: of the last one, of a later one by its epoch or by its fence in the same region, or of
// another one while the last one is not heard.
func (s *refSpeaker) takes(m *telemetry.Snapshot, fence uint64, now int64) bool {
	if m.Epoch == s.epoch {
		return m.Seq > s.seq
	}
	p := s.other[m.Epoch]
	if p != nil && m.Seq <= p.seq {
		return false
	}
	rank := s.rank
	if p != nil && p.was {
		rank = p.rank
	}
	if m.Region == s.about && m.Fence > fence || rank > s.rank || rank == s.rank && m.Epoch > s.epoch {
		return true
	}
	lives := !s.left && now-s.at <= 3e6
	if p == nil && !lives {
		return true
	}
	p = s.beside(m.Epoch)
	before := p.seq
	p.seq = m.Seq
	if !p.streak.add(m, now) || lives {
		return !lives && !p.was
	}
	p.seq = before
	return true
}

func (s *refSpeaker) beside(epoch int64) *refOther {
	if s.other[epoch] == nil {
		s.other[epoch] = &refOther{}
	}
	return s.other[epoch]
}

// spoke returns when anything of the source was heard.
func (s *refSpeaker) spoke() int64 {
	last := max(s.at, s.refused)
	for _, p := range s.other {
		last = max(last, p.streak.last)
	}
	return last
}

func (s *refSpeaker) again() {
	s.whole, s.parts, s.heard = false, false, map[int]bool{}
	for _, p := range s.other {
		p.whole = false
	}
}

// become makes the process of a message the one that speaks for the source. One that
// has the same region later comes after all that were heard before.
func (s *refSpeaker) become(m *telemetry.Snapshot, fence uint64) {
	if s.epoch != 0 {
		s.other[s.epoch] = &refOther{seq: s.seq, was: true, whole: s.whole, said: s.said, rank: s.rank}
	}
	s.said, s.whole, s.heard = map[int]refRow{}, false, map[int]bool{}
	if p := s.other[m.Epoch]; p != nil {
		if p.was {
			s.rank = p.rank
		}
		if p.whole {
			s.said, s.whole = p.said, true
		}
	}
	if m.Region == s.about && m.Fence > fence {
		for _, p := range s.other {
			s.rank = max(s.rank, p.rank+1)
		}
	}
}

func (r *regionReference) take(m *telemetry.Snapshot, now int64) {
	s, region := r.sources[m.Source], r.regions[m.Region]
	fence, owner := uint64(0), ""
	if region != nil {
		fence, owner = region.fence, region.owner
	}
	switch {
	case s != nil && !s.takes(m, fence, now):
		return
	case m.Fence < fence || m.Fence == fence && owner != m.Source:
		if s != nil {
			s.refused = now
		}
		if s != nil && m.Epoch > s.epoch && owner == m.Source {
			p := s.beside(m.Epoch)
			p.seq = m.Seq
			p.streak.add(m, now)
		}
		return
	case s == nil:
		s = &refSpeaker{other: map[int64]*refOther{}}
		r.sources[m.Source] = s
	}
	if m.Epoch != s.epoch {
		s.become(m, fence)
	} else if m.Seq != s.seq+1 && !s.whole {
		s.heard = map[int]bool{}
	}
	s.epoch, s.seq, s.at, s.about, s.fence, s.left = m.Epoch, m.Seq, now, m.Region, m.Fence, false
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
	s.parts = !s.whole
	if s.whole {
		r.show(m, s, now)
	}
}

func (r *regionReference) show(m *telemetry.Snapshot, s *refSpeaker, now int64) {
	region := &refRegion{fence: m.Fence, owner: m.Source, at: now, tokens: !m.Bye, shown: map[int]refRow{}}
	for at, row := range s.said {
		region.shown[at] = row
	}
	before := r.regions[m.Region]
	r.regions[m.Region] = region
	taken := before == nil || before.fence < m.Fence
	for _, p := range s.other {
		p.whole = false
	}
	for _, other := range r.sources {
		if other != s && other.of == m.Region {
			other.of = ""
		}
		stands := other.parts && (other.about != m.Region || other.fence > m.Fence)
		other.left = other.left || taken && other != s && other.had == m.Region && !stands
		if other != s && other.about == m.Region && other.fence < m.Fence {
			other.whole, other.heard = false, map[int]bool{}
		}
		if other != s && other.had == m.Region {
			for _, p := range other.other {
				p.whole = false
			}
		}
	}
	if s.of, s.had = m.Region, m.Region; m.Bye {
		s.left = true
		s.again()
	}
}

// lastSaid returns when a region was last said, or its owner last heard. Refused
// messages say that it is there.
func (r *regionReference) lastSaid(region *refRegion, name string) int64 {
	if s := r.sources[region.owner]; s.of == name && s.whole {
		return max(region.at, s.spoke())
	}
	return region.at
}

func (r *regionReference) sums(now int64) sums {
	const forget = 15 * 60e6
	all := sums{Tokens: make([]uint64, r.rows), Arrivals: make([]uint64, r.rows), Firings: make([]uint64, r.rows), Timeouts: make([]uint64, r.rows)}
	for _, s := range r.sources {
		if region := r.regions[s.of]; now-s.spoke() > forget || region != nil && region.tokens && now-r.lastSaid(region, s.of) > forget {
			s.again()
		}
	}
	for name, region := range r.regions {
		region.tokens = region.tokens && now-r.lastSaid(region, name) <= forget
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
	ref       *regionReference
	logs      map[string]*regionLog
	takeOvers int
	paused    []*engine // had a region once, and do not know yet that they lost it
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
	// After a while there are other names: one of each source's processes is forgotten
	// after maxProcesses of them.
	w.takeOvers++
	name := fmt.Sprint("e", w.r.IntN(3)+3*(w.takeOvers/(maxProcesses-2)))
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
	if w.r.IntN(6) == 0 { // its clock is an hour behind
		m.Epoch -= 3600e6
	}
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
		_, err := w.m.Take(m, 1, w.now)
		x := w.ref.sources[m.Source]
		var be refSpeaker
		if x != nil {
			be = *x
		}
		w.ref.take(m, w.now)
		took := x == nil && w.ref.sources[m.Source] != nil || x != nil && (x.epoch != be.epoch || x.seq != be.seq)
		if took != (err == nil) {
			w.t.Logf("%d: %s e=%d seq=%d %s/%d: ref %v, %v; before %+v", w.now, m.Source, m.Epoch, m.Seq, m.Region, m.Fence, took, err, be)
		}
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

// settle has every region say all, for long enough that an owner whose clock is behind
// counts, and compares the sums with what is true.
func (w *regionWorld) settle() {
	w.deliver(len(w.net))
	want := sums{Tokens: make([]uint64, worldRows), Arrivals: make([]uint64, worldRows), Firings: make([]uint64, worldRows), Timeouts: make([]uint64, worldRows)}
	for _, l := range w.logs {
		if l.owner == nil {
			w.takeOver(l)
			w.deliver(len(w.net))
		}
	}
	for range 6 {
		w.now += 1e6
		for _, l := range w.logs {
			if l.owner == nil {
				return // its process has the other region now
			}
			l.owner.untilAll = 0
			w.net = append(w.net, l.owner.say(w.r, w.now, false))
		}
		w.deliver(len(w.net))
	}
	for _, l := range w.logs {
		m := &l.owner.msg
		for i := range worldRows {
			want.Tokens[i] += m.Rows.Places[i].Tokens
			want.Arrivals[i] += m.Rows.Places[i].Arrivals
			want.Firings[i] += m.Rows.Transitions[i].Firings
			want.Timeouts[i] += m.Rows.Transitions[i].Timeouts
		}
		want.Ready, want.Served = want.Ready+m.Rows.Queues[0].Ready, want.Served+m.Rows.Queues[0].Served
	}
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
