// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// This file is the way of a message, downwards: Take, then what may refuse it, then what it changes.

// Take adds a snapshot as a Decoder returns it, with its fields within their
// bounds, and zeros in the columns that it lacks. It keeps nothing of the snapshot's memory. size is the size of the
// message in bytes, now the time of its receipt. Take returns the requests to
// send, and an error with a telemetry.Reason if the snapshot was rejected.
func (m *Merger) Take(msg *telemetry.Snapshot, size int, now int64) ([]Ask, error) {
	m.counted = true
	m.traffic.Messages++
	m.traffic.Bytes += uint64(size)
	asks, err := m.take(msg, now)
	m.count(err)
	return asks, err
}

func (m *Merger) take(msg *telemetry.Snapshot, now int64) ([]Ask, error) {
	n := m.net(msg.Net)
	s := m.source(n, msg.Source)
	m.touch(s)
	if s.epoch == 0 && msg.Seq == 1 { // the first message of its process: no other collector has counted it
		s.counted = 0
	}
	asks, err := m.takeFrom(n, s, msg, now)
	if err != nil {
		m.refuse(n, s, msg.Epoch, msg.Interval.Microseconds(), err, now)
	}
	return asks, err
}

func (m *Merger) takeFrom(n *net, s *source, msg *telemetry.Snapshot, now int64) ([]Ask, error) {
	if err := n.inOrder(s, msg, now); err != nil {
		s.duplicates++
		s.late.arrived(msg)
		return nil, err
	}
	if err := n.checkFence(msg, &m.limits, now); err != nil {
		if s.epoch != 0 && msg.Epoch > s.epoch && n.fences[msg.Region].owner == s.name {
			n.beside(s, msg, now) // a newer process with an older fence
		}
		return nil, err
	}
	s.reported = msg.Digest
	c, known := n.known[msg.Digest]
	if !known {
		if h := n.held[msg.Digest]; h != nil && now < h.until {
			return nil, h.err
		}
		return m.await(n, s, msg, now)
	}
	if err := fits(msg, c); err != nil {
		return nil, err
	}
	if !msg.Full && !s.canAdd(msg) {
		return m.assemble(n, s, msg, c, now)
	}
	t, err := n.notFallen(s, msg, c)
	if err != nil {
		return nil, err
	}
	if s.rows == nil || s.series() != seriesOf(msg) {
		if err := m.room(len(c.places) + len(c.transitions)); err != nil {
			return nil, err
		}
	}
	if err := m.admit(n, s); err != nil {
		return nil, err
	}
	m.note(n, s, msg, c, now)
	n.take(s, t, now)
	return s.asks(n.name, now), nil
}

// inOrder returns an error for a message of a process that does not count, and for
// one that arrives after a later message.
//
// Of several processes of one source the newest counts. An older one, or one whose
// start lies ahead of the collector's clock, counts only after the other one sent
// its bye or was silent for three intervals. If it counted before, that takes two
// messages, because one may be late.
//
// If both report one region, their claims order them better than their epochs: the
// process with the latest claim is the newest one, whatever its epoch.
func (n *net) inOrder(s *source, msg *telemetry.Snapshot, now int64) error {
	switch {
	case s.epoch == 0 || (msg.Epoch == s.epoch && msg.Seq > s.seq):
		return nil
	case msg.Epoch == s.epoch:
		return s.behind(msg, now)
	}
	p := s.process(msg.Epoch)
	if p != nil && msg.Seq <= p.seq {
		return Rejection(OldEpoch, "epoch %d and seq %d after epoch %d", msg.Epoch, msg.Seq, s.epoch)
	}
	ahead := msg.Epoch > now+skewBelieved
	lives := s.lives(msg, now)
	newer := n.laterOwner(s, msg, now) || s.newer(p, msg.Epoch)
	if (newer && !ahead) || (!lives && !s.was(p, msg.Epoch)) {
		return nil
	}
	p = n.beside(s, msg, now)
	switch {
	case !lives && p.run.advances():
		p.seq-- // this one is taken
		return nil
	case ahead:
		return Rejection(EpochAhead, "epoch %d is %d s ahead, and the process of epoch %d is alive", msg.Epoch, (msg.Epoch-now)/1e6, s.epoch)
	}
	return Rejection(OldEpoch, "epoch %d after epoch %d", msg.Epoch, s.epoch)
}

// notFallen returns an error if a counter of the message is lower than in the last
// message of the same process.
func (n *net) notFallen(s *source, msg *telemetry.Snapshot, c *columns) (t taking, err error) {
	t = n.taking(msg, c)
	rows := s.rows
	if p := s.process(msg.Epoch); s.rowsEpoch != msg.Epoch && p != nil && p.aside != nil && msg.Since == 0 {
		rows = p.aside.rows
	} else if rows == nil || s.rowsEpoch != msg.Epoch || s.series() != seriesOf(msg) {
		return t, nil
	}
	t.rows = rows
	return t, t.fell()
}

// admit adds a source, and its net, if the Merger does not hold them yet.
func (m *Merger) admit(n *net, s *source) error {
	if n.sources[s.name] == s {
		return nil
	}
	if err := m.admitNet(n); err != nil {
		return err
	}
	known := s.wasShown() || n.known[s.reported] != nil
	if !known && m.unread >= max(1, m.limits.Sources/unreadShare) {
		return Rejection(TooManySources, "%d of them have an unknown definition", m.unread)
	}
	if m.sources >= m.limits.Sources && !m.forgetOldest() {
		return Rejection(TooManySources, "%d are known", m.sources)
	}
	if !known {
		m.unread++
	}
	m.sources++
	n.insert(s)
	delete(m.refusedSources, refusedKey{n.name, s.name})
	return nil
}

func (m *Merger) admitNet(n *net) error {
	if m.nets[n.name] == n {
		return nil
	}
	if n.union.def == nil && m.unreadNets >= max(1, m.limits.Nets/2) {
		return Rejection(TooManyNets, "%d have an unknown definition", m.unreadNets)
	}
	if len(m.nets) >= m.limits.Nets {
		m.crowded = true
		return Rejection(TooManyNets, "%d are known", len(m.nets))
	}
	if n.union.def == nil {
		m.unreadNets++
	}
	m.nets[n.name], m.ordered = n, nil
	return nil
}

// room reserves rows, or returns an error if Limits.AllRows is reached.
func (m *Merger) room(rows int) error {
	if m.rows+rows > m.limits.AllRows {
		m.noRoom = true
		return Rejection(TooManyRows, "%d rows are kept, and %d more exceed the limit of %d", m.rows, rows, m.limits.AllRows)
	}
	m.rows += rows
	return nil
}

// note records the receipt of a message.
func (m *Merger) note(n *net, s *source, msg *telemetry.Snapshot, c *columns, now int64) {
	gap := n.note(s, msg, now, m.forgetAfter)
	if now-m.paceAt <= paceHeard && m.pace > s.interval {
		m.bear(s)
	}
	m.countLost(s)
	m.touch(s)
	if gap {
		s.parts = nil
		if c != nil && s.canAdd(msg) {
			s.missing = newCover(c)
		}
	}
}

// maxGap is the largest number of messages before one that count as lost. A seq is
// untrusted: it may be any number up to telemetry.MaxCount, and one forged message
// must not add that many to Traffic.Lost. A process that sends a message per
// second takes twelve days for maxGap messages.
const maxGap = 1 << 20

// note records the receipt of a message. It reports whether the rows may be old because
// messages before it are missing, or because earlier messages of the process were refused.
// At most maxGap are taken for missing.
func (n *net) note(s *source, msg *telemetry.Snapshot, now, forgetAfter int64) (gap bool) {
	var lost uint64
	if msg.Epoch == s.epoch {
		lost = msg.Seq - s.seq - 1
		gap = lost > 0
	} else {
		gap = s.process(msg.Epoch) != nil
		lost = n.become(s, msg, now)
		gap = gap || lost > 0
	}
	lost = min(lost, maxGap)
	if own := min(lost, s.skipped); own > 0 {
		lost -= own
		if lost == 0 {
			s.askAt = max(s.askAt, now+fullWithin*msg.Interval.Microseconds())
		}
	}
	s.skipped = 0
	if msg.Bye {
		lost = s.late.expect(msg, lost, s.messageAt, now)
	}
	if lost > 0 {
		s.unproved.add(lost, s.messageAt, now)
	}
	s.tenure.add(s, now)
	s.epoch = msg.Epoch
	s.seq = msg.Seq
	s.messageAt = now
	s.outage = 0
	s.sentAt = msg.SentAt
	s.about = msg.Region
	s.left = false
	if s.messages < steadyAfter {
		s.messages++
	}
	if s.recalled || s.state != Up {
		s.back = now
	}
	s.recalled, s.first = false, cmp.Or(s.first, now)
	if s.state == Gone {
		s.state = Undefined // until the next tick
	}
	s.interval = msg.Interval.Microseconds()
	s.patience = min(patienceOf(s.interval), forgetAfter)
	return gap
}

// take copies the rows of a checked message into those of its source.
func (n *net) take(s *source, t taking, received int64) {
	msg, c := t.msg, t.cols
	again := n.begin(s, msg, c, received)
	n.claim(s, msg, received)
	places, transitions := n.union.sizes()
	if s.rows == nil {
		s.rows, s.columns, s.digest = stats.NewPacked(places, transitions), 0, msg.Digest
	}
	s.rows.Grow(places, transitions)
	same := t.rows == s.rows // else another process follows, or begin moved them
	withdrew := n.replaceColumns(s, msg, received)
	t.packed = t.packed && same && !withdrew
	s.answered(received)
	t.rows, t.sums, t.shift = s.rows, &n.live, s.clock.shift
	t.take()
	if t.changed {
		s.changes++
	}
	s.rowsEpoch, s.rowsAt, s.rowsOutage, s.digest = msg.Epoch, received, 0, msg.Digest
	s.complete = true
	s.unread = false
	s.wants = ""
	s.pending = nil
	s.parts = nil
	jumped := s.clock.observe(msg.SentAt, received)
	n.live.Move(s.rows, t.shift, s.clock.shift)
	s.takeRemnants(msg, c, received)
	n.takeSlowest(s, msg, &t, received)
	switch {
	case msg.Full, s.missing != nil && s.missing.mark(msg):
		s.missing = nil
	case jumped:
		s.missing = newCover(c)
	}
	s.standing, s.refusal = msg.State, refusal{}
	n.remembered(s, msg.Epoch).folded = s.since != 0
	n.countRefused(s, msg)
	if again {
		n.deduct(s)
	}
	n.changed = true
	if msg.Bye {
		if s.told != nil {
			s.remnant = s.remnantOf(stats.AllColumns, received).silent(s)
		}
		n.leave(s, received)
	}
}

// replaceColumns records which columns the source fills in. Rows and columns that
// a full snapshot omits are unknown from then on; counters stay. It reports whether rows changed.
func (n *net) replaceColumns(s *source, msg *telemetry.Snapshot, now int64) (withdrew bool) {
	given := msg.Rows.Columns
	if !msg.Full {
		s.columns |= given
		return false
	}
	if lost := s.columns &^ (given | listColumns); lost != 0 || s.digest != msg.Digest {
		if msg.Remnants == nil || s.rowsEpoch != msg.Epoch { // otherwise they name the sources that had them
			s.loseColumns(lost, now)
		}
		if s.digest != msg.Digest {
			lost = stats.AllColumns
		}
		n.withdraw(s, lost)
		withdrew = true
	}
	s.columns = given | s.columns&(counterColumns|listColumns)
	return withdrew
}
