// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"slices"
	"time"

	"github.com/pnagent/pnagent/petri"
)

const (
	// DefaultForgetNets is how long a net that no source runs is shown.
	DefaultForgetNets = 24 * time.Hour

	// unreadFor is how long a source is kept of which no rows were ever shown and
	// no message arrives.
	unreadFor = int64(time.Minute / time.Microsecond)
	// Limits.Sources divided by unreadShare is the number of sources that may
	// have an unknown definition if they were not shown before.
	unreadShare = 4
	// questionFor is the time without an answer after which a question gives way to
	// another one.
	questionFor = int64(time.Second / time.Microsecond)
	// briefSilence is the silence after which a source that sent messages for less than
	// settledAfter gives way to others, if there is no room for their rows.
	briefSilence = int64(10 * time.Second / time.Microsecond)
	// maxDropped bounds the nets that leave in one tick because of Limits.Nets.
	maxDropped = 100
)

// roomForQuestion makes room for the request of a definition that a source names.
// Half of Limits.Definitions is for sources that were shown before, and one source
// name has at most a quarter. A question without an answer for questionFor gives
// way, the oldest first.
func (m *Merger) roomForQuestion(s *source, now int64) error {
	var oldest *question
	strangers, own := 0, 0
	for _, q := range m.questions {
		if !q.known {
			strangers++
		}
		if q.source == s.name {
			own++
		}
		if oldest == nil && (s.wasShown() || !q.known) && now-q.since >= questionFor {
			oldest = q
		}
	}
	limit := m.limits.Definitions
	full := len(m.questions) >= limit || !s.wasShown() && strangers >= max(2, limit/2) || own >= max(2, limit/4)
	switch {
	case !full:
		return nil
	case oldest == nil:
		return Rejection(TooManyDefinitions, "%d are being requested, %d of them for this source", len(m.questions), own)
	}
	m.closeQuestion(oldest.net, oldest.digest)
	for _, other := range oldest.net.order {
		if other.wants == oldest.digest {
			other.wants, other.pending = "", nil
			m.touch(other)
		}
	}
	return nil
}

// noteIdle records since when no source runs the net.
func (n *net) noteIdle(now int64) {
	runs := func(s *source) bool { return s.state != Gone }
	switch {
	case slices.ContainsFunc(n.order, runs), slices.ContainsFunc(n.orphans, runs):
		n.idle = 0
	case n.idle == 0:
		n.idle = now
	}
}

// forgetIdle drops the nets that no source has run for Rules.ForgetNets. If there was
// no room for a net, it drops others that no source runs, the newest first.
func (m *Merger) forgetIdle(now int64) {
	idle := slices.DeleteFunc(slices.Clone(m.inOrder()), func(n *net) bool { return n.idle == 0 || n.file })
	slices.SortStableFunc(idle, func(a, b *net) int { return cmp.Compare(b.since, a.since) })
	for i, n := range idle {
		if now-n.idle >= m.forgetNets || m.crowded && i < maxDropped {
			m.drop(n)
		}
	}
	m.crowded, m.noneGone = false, false
	m.unread, m.unreadNets = 0, 0
	for _, n := range m.nets {
		if n.union.def == nil {
			m.unreadNets++
		}
		for _, s := range n.order {
			if !s.wasShown() {
				m.unread++
			}
		}
	}
}

// roomToDefine reserves the rows that a definition adds to a net, or returns an error if
// all nets together would have more than Limits.AllRows. Each row of a net needs memory, even
// if no source has room for it.
func (m *Merger) roomToDefine(n *net, def *petri.Net) error {
	added := n.union.added(def)
	if m.defined+added > m.limits.AllRows {
		m.noRoom = true
		return Rejection(TooManyRows, "all nets have %d places and transitions, and %d more exceed the limit of %d", m.defined, added, m.limits.AllRows)
	}
	m.defined += added
	return nil
}

// forgetBrief makes room if rows were rejected: it forgets the sources that sent messages
// for less than settledAfter and none for briefSilence, and their nets.
func (m *Merger) forgetBrief(now int64, e silenceClock) {
	for _, n := range m.inOrder() {
		if !m.noRoom {
			break
		}
		for _, s := range slices.Clone(n.order) {
			if s.messageAt-s.first < settledAfter && !s.recalled && !e.settling(s) && e.silent(s) >= briefSilence {
				n.noteRemnant(s, Gone, now)
				s.state, s.goneAt, n.changed = Gone, now, true
				m.forget(n, s)
			}
		}
		if !n.settled && len(n.order)+len(n.orphans) == 0 {
			m.drop(n)
		}
	}
	m.noRoom, m.defined = false, 0
	for _, n := range m.nets {
		places, transitions := n.union.sizes()
		m.defined += places + transitions
	}
}

// drop removes a net and its sources.
func (m *Merger) drop(n *net) {
	delete(m.nets, n.name)
	m.ordered, m.touched = nil, true
	m.sources -= len(n.order)
	m.questions = slices.DeleteFunc(m.questions, func(q *question) bool { return q.net == n })
}
