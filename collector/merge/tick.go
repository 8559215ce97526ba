// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/internal/ordered"
)

// Tick returns the View as of now, and the requests to send. Each View is a new
// one; it shares the parts that did not change with the previous one.
func (m *Merger) Tick(now int64) (*View, []Ask) {
	var asks []Ask
	e := m.silenceClock(now)
	for _, n := range m.inOrder() {
		asks = append(asks, m.tickNet(n, now, e)...)
	}
	m.forgetBrief(now, e)
	m.forgetIdle(now)
	asks = append(asks, m.tickRefused(now)...)
	m.forgetExcess()
	m.checkSums(now)
	view := &View{At: now, SumDifferences: m.sumDifferences, Interrupted: m.settling(e), Generation: m.view.Generation + 1, Traffic: m.view.Traffic,
		Sources: m.view.Sources, States: m.view.States, MessageRate: m.messageRate(now)}
	if m.counted {
		view.Traffic = m.traffic
		view.Traffic.Rejected = maps.Clone(m.traffic.Rejected)
	}
	changed := m.revision == 0 || m.counted || m.touched || len(m.dirty) > 0
	m.showSources(view)
	for _, n := range m.inOrder() {
		changed = changed || n.changed
		if n.union.def != nil {
			view.Nets = append(view.Nets, n.show(now))
		}
	}
	if changed {
		m.revision++
	}
	m.SetPresent(view)
	m.counted, m.view = false, view
	return view, asks
}

// tickNet updates the states of one net.
func (m *Merger) tickNet(n *net, now int64, e silenceClock) (asks []Ask) {
	n.turnSlowest(now)
	m.touched, n.moved = m.touched || n.moved, false
	n.window = minWindow
	for _, s := range slices.Clone(n.order) {
		asks = append(asks, s.asks(n.name, now)...)
		asks = append(asks, m.judge(n, s, now)...)
		state := s.stateAt(e)
		if !s.wasShown() && n.known[s.reported] == nil && !e.settling(s) && e.silent(s) > unreadFor {
			state = Gone
		}
		n.noteRemnant(s, state, now)
		if (state == Gone || state == Undefined) && s.complete {
			n.retire(s)
			m.touch(s)
		}
		m.judgeUnread(s, state, now)
		if state == Up {
			n.window = max(n.window, min(2*s.interval, maxWindow))
		}
		if state != s.state {
			m.enter(n, s, state, now)
		}
		m.judgeEnded(s, now)
	}
	n.dropBuried(now)
	n.tickOrphans(now, e)
	n.tickAside(now, m.forgetAfter)
	for digest, q := range n.asked {
		switch {
		case !slices.ContainsFunc(n.order, func(s *source) bool { return s.wants == digest }):
			m.closeQuestion(n, digest)
		case now >= q.next:
			q.wait = min(2*q.wait, longestWait)
			q.next = now + q.wait
			asks = append(asks, Ask{Net: n.name, Digest: digest})
		}
	}
	n.adoptNames()
	n.dropHeld(now)
	n.noteIdle(now)
	if n.union.def != nil && n.lookAtRows(now, m.forgetNets) {
		n.changed = true
	}
	if n.union.def == nil && len(n.order) == 0 {
		m.drop(n)
	}
	return asks
}

// judge updates whether messages of a source are refused or lost, and returns the
// notice to send.
func (m *Merger) judge(n *net, s *source, now int64) []Ask {
	was := s.notice
	s.judge(now)
	if s.notice != was {
		m.touch(s)
	}
	if lost := s.late.over(now); lost > 0 {
		s.unproved.add(lost, s.late.from, s.late.until)
	}
	m.countLost(s)
	return s.notices(n.name, now)
}

// judgeUnread sets whether no rows of a source were ever shown, and none are to be
// expected: it is refused, or could not be read for Rules.ForgetAfter. For that
// time, a Merger without a restored state does not know which sources were shown
// before.
func (m *Merger) judgeUnread(s *source, state SourceState, now int64) {
	known := s.wasShown() || m.keptAt == 0 && now-m.begun <= m.forgetAfter
	neverRead := !known && (state == Refused || now-s.first > m.forgetAfter)
	if neverRead != s.neverRead {
		s.neverRead = neverRead
		m.touch(s)
	}
}

// enter changes the state of a source.
func (m *Merger) enter(n *net, s *source, state SourceState, now int64) {
	n.changed = true
	m.touch(s)
	if state == Gone {
		s.wants, s.pending, s.parts = "", nil, nil
		if !s.left {
			s.goneAt = now
		}
	}
	s.state = state
	if state == Gone && s.rowsAt == 0 { // no rows of it were ever shown
		m.forget(n, s)
	}
}

// judgeEnded sets whether a View still shows a source: it leaves Rules.ForgetAfter after its
// bye. What the Merger knows of it stays, so that a late message does not count again.
func (m *Merger) judgeEnded(s *source, now int64) {
	ended := s.state == Gone && s.left && now-s.goneAt >= m.forgetAfter
	m.touched = m.touched || ended != s.ended
	s.ended = ended
}

// wasShown reports whether rows of the source were ever shown.
func (d *said) wasShown() bool { return d.known || d.rowsAt != 0 }

// inOrder returns the nets by name. The slice is never changed.
func (m *Merger) inOrder() []*net {
	if m.ordered == nil {
		m.ordered = slices.SortedFunc(maps.Values(m.nets), func(a, b *net) int { return strings.Compare(a.name, b.name) })
	}
	return m.ordered
}

// touch notes that what a View shows of a source may have changed.
func (m *Merger) touch(s *source) {
	switch {
	case s.listed == 0:
		m.touched = true
	case !s.dirty:
		s.dirty, m.dirty = true, append(m.dirty, s)
	}
}

// showSources gives a View the sources: those of the last one while nothing of them changed.
func (m *Merger) showSources(v *View) {
	switch {
	case m.touched:
		v.Sources = m.shownSources()
	case len(m.dirty) > 0:
		v.Sources = slices.Clone(v.Sources)
		for _, s := range m.dirty {
			at := &v.Sources[s.listed-1]
			*at = s.shown(at.Net)
		}
	default:
		return
	}
	v.States = StatesOf(v.Sources)
	for _, s := range m.dirty {
		s.dirty = false
	}
	clear(m.dirty)
	m.touched, m.dirty = false, m.dirty[:0]
}

func (m *Merger) shownSources() []Source {
	shown, refused := make([]Source, 0, m.sources), false
	for _, n := range m.inOrder() {
		for _, s := range n.order {
			s.listed = 0
			if !s.ended {
				shown = append(shown, s.shown(n.name))
				s.listed = len(shown)
			}
		}
	}
	for k, s := range m.refusedSources {
		if s.state == Refused {
			shown, refused = append(shown, s.shown(k.net)), true
		}
	}
	if refused { // they are not listed, and move others
		ordered.By(shown, func(a, b *Source) int {
			return cmp.Or(strings.Compare(a.Net, b.Net), strings.Compare(a.Name, b.Name))
		})
		for _, n := range m.inOrder() {
			for _, s := range n.order {
				s.listed = 0
			}
		}
	}
	return shown
}

// show returns the net for a View: the previous one if nothing changed.
func (n *net) show(now int64) *NetView {
	if n.shown == nil || n.changed {
		n.shown, n.changed = n.add(), false
	}
	if rates := n.speed.update(n.shown, now, n.window); rates != n.shown.Rates {
		shown := *n.shown
		shown.Rates = rates
		n.shown = &shown
	}
	return n.shown
}

// add returns the sums over all sources, with the Rates of the previous View.
func (n *net) add() *NetView {
	n.sums = n.sum()
	shown := &NetView{Name: n.name, Def: n.union.def, Final: n.union.final, Since: n.since, Rows: n.raised(),
		Remnants: n.allRemnants(), Answers: n.allAnswers(), Recent: n.ages.recent, Left: n.ages.left, Unsettled: !n.settled, Requests: n.requests}
	users, digest := make(map[string]*int), ""
	var of *int // the users of digest, which most sources have
	for _, s := range n.order {
		switch s.state {
		case Up:
			shown.Up++
		case Stale:
			shown.Stale++
		case Refused:
			if s.rows == nil {
				continue
			}
		default:
			continue
		}
		if of == nil || s.digest != digest {
			digest, of = s.digest, users[s.digest]
		}
		if of == nil {
			of = new(int)
			users[digest] = of
		}
		*of++
		if s.recalled && s.state == Up {
			shown.Recalled++
		}
	}
	for _, o := range n.orphans {
		if o.state == Stale {
			shown.Stale++
		}
	}
	for digest, sources := range users {
		shown.Digests = append(shown.Digests, Digest{Digest: digest, Sources: *sources})
	}
	ordered.By(shown.Digests, func(a, b *Digest) int {
		return cmp.Or(cmp.Compare(b.Sources, a.Sources), strings.Compare(a.Digest, b.Digest))
	})
	shown.Totals = shown.totals()
	return shown
}
