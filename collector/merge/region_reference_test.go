// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// regionReference holds one thing per region: the rows of its owner with the
// highest fence, once all of them are known. That is the sum of the region,
// whichever owners it had before.
type regionReference struct {
	rows    int
	regions map[string]*refRegion
	former  []map[int]refRow // of regions whose log was replaced: the rows sent last
	sources map[string]*refOwner
}

type refRegion struct {
	claim  telemetry.Claim
	owner  string
	at     int64 // when it was last sent
	tokens bool  // they are in the sums
	shown  map[int]refRow
}

// refOwner is a source and the rows that its last process sent.
type refOwner struct {
	epoch    int64
	seq      uint64
	at       int64
	left     bool
	refused  int64 // when it last reported a region that another source has
	rank     int
	other    map[int64]*refOther // its other processes, by epoch
	received map[int]bool        // rows sent since the last gap
	whole    bool
	parts    bool // some of them
	sent     map[int]refRow
	of       string // the region that it was last shown with, while it has that
	had      string // the same, also after it lost the region
	about    string // the region that it reports, and with which claim
	claim    telemetry.Claim
}

// refOther is a process of a source that is not its last one.
type refOther struct {
	seq    uint64
	was    bool // it was the last one once
	rank   int  // the order of those that were, where that is known better than by their epochs
	streak refStreak
	whole  bool // its rows are shown, and others may come alone
	sent   map[int]refRow
}

// takes reports whether a message comes from the process that counts for the source
// from now on: of the last one, of a later one by its epoch or by its claim to the
// same region, or of another one while the last one is silent.
func (s *refOwner) takes(m *telemetry.Snapshot, claim telemetry.Claim, now int64) bool {
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
	if m.Region == s.about && isLater(m.Claim(), claim) || rank > s.rank || rank == s.rank && m.Epoch > s.epoch {
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

func (s *refOwner) beside(epoch int64) *refOther {
	if s.other[epoch] == nil {
		s.other[epoch] = &refOther{}
	}
	return s.other[epoch]
}

// lastMessage returns the time of the source's last message.
func (s *refOwner) lastMessage() int64 {
	last := max(s.at, s.refused)
	for _, p := range s.other {
		last = max(last, p.streak.last)
	}
	return last
}

func (s *refOwner) again() {
	s.whole, s.parts, s.received = false, false, map[int]bool{}
	for _, p := range s.other {
		p.whole = false
	}
}

// become makes the process of a message the one that counts for the source. A
// process with a later claim to the same region is newer than all before.
func (s *refOwner) become(m *telemetry.Snapshot, claim telemetry.Claim) {
	if s.epoch != 0 {
		s.other[s.epoch] = &refOther{seq: s.seq, was: true, whole: s.whole, sent: s.sent, rank: s.rank}
	}
	s.sent, s.whole, s.received = map[int]refRow{}, false, map[int]bool{}
	if p := s.other[m.Epoch]; p != nil {
		if p.was {
			s.rank = p.rank
		}
		if p.whole {
			s.sent, s.whole = p.sent, true
		}
	}
	if m.Region == s.about && isLater(m.Claim(), claim) {
		for _, p := range s.other {
			s.rank = max(s.rank, p.rank+1)
		}
	}
}

// isLater reports whether a claim is that of a later owner: of a log that was created
// after the other owner began, or else of a higher fence.
func isLater(a, b telemetry.Claim) bool {
	created := func(a, b telemetry.Claim) bool { return a.Since > b.Since && a.Since > b.Epoch }
	return created(a, b) || !created(b, a) && a.Fence > b.Fence
}

func (r *regionReference) take(m *telemetry.Snapshot, now int64) {
	s, region := r.sources[m.Source], r.regions[m.Region]
	claim, owner := telemetry.Claim{}, ""
	if region != nil {
		claim, owner = region.claim, region.owner
	}
	switch {
	case s != nil && !s.takes(m, claim, now):
		return
	case isLater(claim, m.Claim()) || !isLater(m.Claim(), claim) && owner != m.Source:
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
		s = &refOwner{other: map[int64]*refOther{}}
		r.sources[m.Source] = s
	}
	if m.Epoch != s.epoch {
		s.become(m, claim)
	} else if m.Seq != s.seq+1 && !s.whole {
		s.received = map[int]bool{}
	}
	s.epoch = m.Epoch
	s.seq = m.Seq
	s.at = now
	s.about = m.Region
	s.claim = m.Claim()
	s.left = false
	for i, p := range m.Rows.Places {
		at := i
		if !m.Full {
			at = int(m.PlaceIndex[i])
		}
		s.received[at], s.sent[at] = true, refRow{tokens: p.Tokens, arrivals: p.Arrivals}
	}
	for i, t := range m.Rows.Transitions {
		at := i
		if !m.Full {
			at = int(m.TransitionIndex[i])
		}
		s.received[r.rows+at], s.sent[r.rows+at] = true, refRow{firings: t.Firings, timeouts: t.Timeouts}
	}
	s.sent[queueRow] = refRow{tokens: m.Rows.Queues[0].Ready, arrivals: m.Rows.Queues[0].Served}
	if m.Full || len(s.received) == 2*r.rows {
		s.whole = true
	}
	s.parts = !s.whole
	if s.whole {
		r.show(m, s, now)
	}
}

func (r *regionReference) show(m *telemetry.Snapshot, s *refOwner, now int64) {
	region := &refRegion{claim: m.Claim(), owner: m.Source, at: now, tokens: !m.Bye, shown: map[int]refRow{}}
	for at, row := range s.sent {
		region.shown[at] = row
	}
	before := r.regions[m.Region]
	r.regions[m.Region] = region
	taken := before == nil || isLater(m.Claim(), before.claim)
	if before != nil && before.claim.Since != m.Since {
		r.former = append(r.former, before.shown)
	}
	for _, p := range s.other {
		p.whole = false
	}
	for _, other := range r.sources {
		if other != s && other.of == m.Region {
			other.of = ""
		}
		stands := other.parts && (other.about != m.Region || isLater(other.claim, m.Claim()))
		other.left = other.left || taken && other != s && other.had == m.Region && !stands
		if other != s && other.about == m.Region && isLater(m.Claim(), other.claim) {
			other.whole, other.received = false, map[int]bool{}
		}
		if other != s && other.had == m.Region {
			for _, p := range other.other {
				p.whole = false
			}
		}
	}
	s.of, s.had = m.Region, m.Region
	if m.Bye {
		s.left = true
		s.again()
	}
}

// lastSaid returns when the rows of a region last arrived, or its owner's last
// message. Refused messages count too.
func (r *regionReference) lastSaid(region *refRegion, name string) int64 {
	if s := r.sources[region.owner]; s.of == name && s.whole {
		return max(region.at, s.lastMessage())
	}
	return region.at
}

func (r *regionReference) sums(now int64) sums {
	const forget = 15 * 60e6
	all := sums{Tokens: make([]uint64, r.rows), Arrivals: make([]uint64, r.rows), Firings: make([]uint64, r.rows), Timeouts: make([]uint64, r.rows)}
	for _, s := range r.sources {
		if region := r.regions[s.of]; now-s.lastMessage() > forget || region != nil && region.tokens && now-r.lastSaid(region, s.of) > forget {
			s.again()
		}
	}
	for _, rows := range r.former {
		for at, row := range rows {
			all.add(at, row, false, r.rows)
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
	since int64 // when it was created
	fence uint64
	owner *engine // nil while there is none
	rows  stats.Rows
}

var worldRegions = [...]string{"r", "s"}

func newRegionWorld(t *testing.T, seed uint64) *regionWorld {
	w := &regionWorld{world: newWorld(t, seed), logs: map[string]*regionLog{},
		ref: &regionReference{rows: worldRows, regions: map[string]*refRegion{}, sources: map[string]*refOwner{}}}
	w.r = rand.New(rand.NewPCG(seed, 2))
	for _, name := range worldRegions {
		var e engine
		e.start("", w.now, worldRows)
		w.logs[name] = &regionLog{name: name, since: 7, rows: e.msg.Rows}
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
	m.Region, m.Fence, m.Since = l.name, l.fence, l.since
	m.Rows = clone(&telemetry.Snapshot{Rows: l.rows}).Rows
	if w.r.IntN(2) == 0 {
		l.owner.untilAll = 9 // it begins with parts
	}
}

func (w *regionWorld) end(l *regionLog) {
	if l.owner == nil {
		return
	}
	l.rows = clone(&l.owner.msg).Rows // the rows in the log, sent or not
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

// lose has the log of a region be created again, with nothing in it, as when NATS has
// lost what it stored. Its owner does not know so, or ends.
func (w *regionWorld) lose(l *regionLog) {
	w.end(l)
	w.now++
	var e engine
	e.start("", w.now, worldRows)
	l.since, l.fence, l.rows = w.now, 0, e.msg.Rows
}

func (w *regionWorld) step() {
	w.now += w.r.Int64N(1.5e6)
	l := w.logs[worldRegions[w.r.IntN(len(worldRegions))]]
	switch n := w.r.IntN(60); {
	case n == 21 && w.r.IntN(4) == 0:
		w.lose(l)
	case n < 4 || l.owner == nil && n < 20:
		w.takeOver(l)
	case n == 20: // everybody is cut off for a while
		w.deliver(len(w.net))
		w.now += w.r.Int64N(20 * 60e6)
		w.paused = nil
	case n < 24 && len(w.paused) > 0: // continues as if it were the owner
		e := w.paused[w.r.IntN(len(w.paused))] // it fires, but nothing of that is committed to the log
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
		var be refOwner
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
	checkTotals(w.t, view)
	checkSources(w.t, w.m, view)
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
	for _, rows := range w.ref.former {
		for at, row := range rows {
			want.add(at, row, false, worldRows)
		}
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
	checkTotals(w.t, view)
	checkSources(w.t, w.m, view)
	if d := cmp.Diff(want, sumsOf(view.Nets[0].Rows)); d != "" {
		w.t.Fatalf("in the end (-truth +merger):\n%s", d)
	}
}

// However a region moves, and whatever the network does, the sums are the rows of
// its last owner and no counter ever falls. In the end they are complete.
//
//promise:owner none messages
func TestRegionsThatMoveAgreeWithTheReference(t *testing.T) {
	for seed := range seeds.Of(10, 150, 146, 29, 10, 15, 56) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newRegionWorld(t, seed)
			for range 400 {
				w.step()
			}
			w.settle()
		})
	}
}
