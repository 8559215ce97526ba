// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// staleAfter is how many intervals a source may be silent.
	staleAfter = 3
	// leastPatience is the shortest silence that is noticed: a view is made
	// once a second.
	leastPatience = int64(time.Second / time.Microsecond)
	// askEvery is how often, at most, one source is asked for a full snapshot.
	askEvery = int64(3 * time.Second / time.Microsecond)
)

// source is what is known of one source of one net.
type source struct {
	name  string
	state State // as of the last tick; never Gone once something was heard

	// What was heard last, taken into the rows or not.
	epoch    int64 // 0 before the first message
	seq      uint64
	heard    int64
	deaf     int64  // how much of the time since heard nothing could be heard, see Merger.Hear
	before   int64  // how long it was silent when the first break of that time began
	sentAt   int64  // of the last message, by the source's clock
	about    string // the region of that
	interval int64  // as promised
	patience int64  // how long the source may be silent
	messages int    // heard of the process in a row; counted up to steadyAfter
	clock    clock

	processes []process // the latest, the one that counts included
	rival     rival
	late      late // messages that a bye has overtaken, or that are lost

	refusal    refusal
	notice     telemetry.Notice // why the source is Refused; the zero Notice if it is not
	noticeAt   int64            // when to send it
	inConflict bool             // the reason is another process

	// What it said. Rows are by the source's clock and in the union's order, so
	// they survive a change of its definition.
	rows      *stats.Rows // nil before the first full snapshot
	rowsEpoch int64       // the process that said them
	rowsAt    int64       // when they were last taken
	rowsDeaf  int64       // as deaf, since rowsAt
	digest    string      // of the definition that they were read with
	columns   stats.Columns
	complete  bool      // a sparse snapshot can be added to them
	parts     *assembly // sparse snapshots that are not complete yet, where !complete
	unheard   *cover    // after a gap: rows that may have changed since; nil without one
	region    string
	fence     uint64
	since     int64                  // when their counters began; 0: with the process
	standing  *telemetry.RegionState // of the region, as said last
	orphan    bool                   // not heard any more under this region: see net.putAway
	younger   *source                // of an elder: who speaks for the source now, see net.setAside

	left   bool  // said bye, or another source has its region
	goneAt int64 // when it became Gone
	unread bool  // the last message could not be taken into the rows

	unsaved  *savingNet // of which state it is not yet a part, while one is made
	recalled bool       // from a state, and not heard since
	known    bool       // its rows were taken before they were forgotten

	first     int64 // when it was first heard
	neverRead bool  // see Source.Unread

	// counted is up to which epoch processes that are not remembered may have been
	// counted. Where rows of such a one come, some of them are in the sums already:
	// see net.owe.
	counted int64

	wants    string              // a digest that is not known yet
	pending  *telemetry.Snapshot // the last full snapshot with that digest, and what came behind it
	pendedAt int64               // when the last of that was received

	askAt int64 // for a full snapshot, not before

	gaps, duplicates, restarts, setbacks uint64
}

// maxGap is how many messages before one are believed to be lost. A seq comes from
// outside: it may be any number up to telemetry.MaxCount, and one message that a
// process did not send must not add so many to what is lost. A process that sends a
// message a second takes twelve days for so many.
const maxGap = 1 << 20

// note records that a message was heard and returns how many before it never
// came, at most maxGap, and whether the rows may be old because of them or because
// messages of its process were refused before.
func (n *net) note(s *source, msg *telemetry.Snapshot, now, forgetAfter int64) (lost uint64, gap bool) {
	if msg.Epoch == s.epoch {
		lost = msg.Seq - s.seq - 1
		gap = lost > 0
	} else {
		gap = s.process(msg.Epoch) != nil
		lost = n.become(s, msg)
		gap = gap || lost > 0
	}
	lost = min(lost, maxGap)
	if msg.Bye {
		lost = s.late.expect(msg, lost, now)
	}
	s.epoch, s.seq, s.heard, s.deaf, s.sentAt, s.about, s.left = msg.Epoch, msg.Seq, now, 0, msg.SentAt, msg.Region, false
	if s.messages < steadyAfter {
		s.messages++
	}
	s.recalled, s.first = false, cmp.Or(s.first, now)
	if s.state == Gone {
		s.state = Undefined // until the next tick finds out more
	}
	s.interval = msg.Interval.Microseconds()
	s.patience = min(patienceOf(s.interval), forgetAfter)
	s.gaps += lost
	return lost, gap
}

// canAdd reports whether a sparse snapshot can be added to the rows. Of a bye,
// which may come in parts, only counters stay.
func (s *source) canAdd(msg *telemetry.Snapshot) bool {
	if p := s.process(msg.Epoch); msg.Bye && s.rowsEpoch != msg.Epoch && p != nil && p.elder != nil {
		return p.elder.digest == msg.Digest && msg.Since == 0
	}
	return (s.complete || (msg.Bye && s.rows != nil)) && s.rowsEpoch == msg.Epoch && s.digest == msg.Digest && s.series() == seriesOf(msg)
}

// stateAt returns what the source is doing. While its messages cannot be read,
// the rows from before stand in for as long as they would if it were silent:
// those of a region that has no other owner yet until they are forgotten.
//
// A source that was not silent before a break is not so until it had time to be
// heard again; one that was silent stays so until it is heard.
func (s *source) stateAt(e ear) State {
	settling := e.settling(s)
	switch {
	case s.notice.Reason != "":
		return Refused
	case s.left && s.waiting(e.now):
		return Undefined
	case s.left || !settling && e.silent(s) > e.forgetAfter:
		return Gone
	case s.unread && (s.rows == nil || !s.complete || e.rowsSilent(s) > s.standIn(e.forgetAfter)):
		return Undefined
	case e.silent(s) > s.patience && (s.state == Stale || !settling), s.unread && e.rowsSilent(s) > s.patience:
		return Stale
	}
	return Up
}

// standIn returns for how long rows are shown that nothing was added to.
func (s *source) standIn(forgetAfter int64) int64 {
	if s.series().since != 0 {
		return forgetAfter
	}
	return s.patience
}

// needsFull reports whether a full snapshot would tell what is not known.
func (s *source) needsFull() bool { return !s.complete || s.unread || s.unheard != nil }

// askFull returns whether to ask for a full snapshot now.
func (s *source) askFull(now int64) bool {
	if !s.needsFull() || s.left || s.wants != "" || now < s.askAt || now-s.heard > s.patience {
		return false
	}
	s.askAt = now + max(askEvery, s.patience)
	return true
}

// size returns how many rows are kept of the source, those that are not shown
// included.
func (s *source) size() int {
	n := 0
	if s.rows != nil {
		n += len(s.rows.Places) + len(s.rows.Transitions)
	}
	if s.pending != nil {
		n += len(s.pending.Rows.Places) + len(s.pending.Rows.Transitions)
	}
	if s.parts != nil {
		n += len(s.parts.full.Rows.Places) + len(s.parts.full.Rows.Transitions)
	}
	return n
}

// shown returns the source as a View shows it.
func (s *source) shown(net string) Source {
	skew, beyond := s.clock.skew()
	digest := s.digest
	if s.wants != "" {
		digest = s.wants
	}
	out := Source{
		Name: s.name, Net: net, Digest: digest, Region: s.region, Fence: s.fence, State: s.state,
		Epoch: s.epoch, Seq: s.seq, LastHeard: s.spoke(), Interval: time.Duration(s.interval) * time.Microsecond,
		Skew: skew, SkewBeyond: beyond, Gaps: s.gaps, Duplicates: s.duplicates, Restarts: s.restarts, Setbacks: s.setbacks,
		Since: s.since, Reason: s.notice.Text, Refusal: s.notice.Reason, Conflict: s.inConflict, Unread: s.neverRead,
	}
	if s.standing != nil && (s.state == Up || s.state == Stale) {
		standbys := uint64(s.standing.Standbys)
		out.Position, out.Standbys, out.Lag = &s.standing.Position, &standbys, s.standing.Lag
		out.RegionStopped = s.standing.Stopped
	}
	return out
}
