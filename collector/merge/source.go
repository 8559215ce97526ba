// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// staleAfter is how many intervals a source may be silent.
	staleAfter = 3
	// LeastPatience is the shortest silence that can be detected: a View is made
	// once a second.
	LeastPatience = int64(time.Second / time.Microsecond)
	// askEvery is the least time between two requests for a full snapshot of a source.
	askEvery = int64(3 * time.Second / time.Microsecond)
	// fullWithin is within how many messages a source sends a full one by itself; see package
	// telemetry.
	fullWithin = 12
)

// source is the state of one source of one net: which of its messages count, whether it is
// alive and believed, and what it said.
type source struct {
	name   string
	listed int  // its place in View.Sources, from 1; 0 if it is not there
	dirty  bool // it is in Merger.dirty
	sequence
	health
	said
}

// sequence says which messages count.
type sequence struct {
	// The last message, taken into the rows or not.
	epoch    int64 // 0 before the first message
	seq      uint64
	sentAt   int64  // by the source's clock
	about    string // the region of that
	messages int    // received of the process in a row; counted up to steadyAfter

	processes []process // the latest, including the one that counts
	rival     rival
	late      late // messages that a bye overtook, or that are lost

	// counted is the latest epoch of processes that may have been counted and are
	// not remembered. If rows of such a process arrive, the sums may already contain
	// some of them: see net.deduct.
	counted int64

	gaps, duplicates, restarts, setbacks uint64
	unproved                             unproved // messages that are missing
	skipped                              uint64   // see Merger.Skip
}

// health says whether the source is alive, and whether it is believed.
type health struct {
	state     SourceState // as of the last tick; a message ends Gone
	messageAt int64       // of the last message
	outage    int64       // the part of the time since the last message in which nothing could be received, see Merger.ReceivedUntil
	before    int64       // how long it was silent when the first break of that time began
	interval  int64       // announced by the source
	patience  int64       // how long the source may be silent
	clock     clock
	first     int64 // time of the first message
	tenure    tenure
	recalled  bool  // from a state, and no message since
	back      int64 // see Source.Back

	left   bool  // sent its bye, or another source has its region
	goneAt int64 // when it became Gone
	ended  bool  // no View shows it any more

	refusal    refusal
	notice     telemetry.Notice // why the source is Refused; the zero Notice if it is not
	noticeAt   int64            // when to send it
	inConflict bool             // the reason is another process
	neverRead  bool             // see Source.Unread

	askAt int64 // when the next request for a full snapshot may be sent
}

// said is what the source reported.
type said struct {
	// The rows that it sent. They are by the source's clock and in the union's
	// order, so they remain valid when its definition changes.
	rows       *stats.Packed // nil before the first full snapshot
	rowsEpoch  int64         // the process that sent them
	rowsAt     int64         // when they were last taken
	rowsOutage int64         // as outage, since rowsAt
	digest     string        // of the definition with which they were read
	reported   string        // the digest of the last message
	columns    stats.Columns
	complete   bool       // a sparse snapshot can be added to them
	parts      *assembly  // sparse snapshots that are not complete yet, if !complete
	missing    *cover     // after a gap: rows that may have changed since; else nil
	unread     bool       // the last message could not be taken into the rows
	known      bool       // rows of it were shown before they were forgotten
	changes    uint64     // counts the messages that changed the rows: see Saver
	log        *sourceLog // what a log has of it; of another log if that has begun since

	region   string
	fence    uint64
	since    int64                  // when their counters began; 0: with the process
	standing *telemetry.RegionState // of the region, as last received
	orphan   bool                   // its owner reports another region now: see net.putAway
	current  *source                // of rows set aside: the source to which they belong, see net.setAside

	remnant *Remnant // what it does not report any more; nil if there is nothing
	// What a collector below last published of its sources; nil if the source is none, or
	// does not know. Rows are in the union's order.
	told    *telemetry.Remnants
	below   []*Remnant
	answers []Answer

	wants   string   // a digest that is not known yet
	pending []pended // of each process: its last full snapshot with that digest, with the sparse ones after it

	requests *stats.RefusedRequests // refused by all of its processes: see countRefused
}

// canAdd reports whether a sparse snapshot can be added to the rows. Only counters
// of a bye matter, which may arrive in parts.
func (s *source) canAdd(msg *telemetry.Snapshot) bool {
	if p := s.process(msg.Epoch); msg.Bye && s.rowsEpoch != msg.Epoch && p != nil && p.aside != nil {
		return p.aside.digest == msg.Digest && msg.Since == 0
	}
	return (s.complete || (msg.Bye && s.rows != nil)) && s.rowsEpoch == msg.Epoch && s.digest == msg.Digest && s.series() == seriesOf(msg)
}

// stateAt returns the state of the source. While its messages cannot be read, its
// last rows stand in for three intervals, as if it were silent. Those of a region
// without another owner stand in until they are forgotten.
//
// A source that was not silent before a break becomes silent only after it had
// time to be received again; one that was silent stays so until it is received.
func (s *source) stateAt(e silenceClock) SourceState {
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

// standIn returns for how long rows are shown to which nothing was added.
func (s *source) standIn(forgetAfter int64) int64 {
	if s.series().since != 0 {
		return forgetAfter
	}
	return s.patience
}

// needsFull reports whether the source must send a full snapshot.
func (s *source) needsFull() bool { return !s.complete || s.unread || s.missing != nil }

// askFull reports whether to request a full snapshot now.
func (s *source) askFull(now int64) bool {
	if !s.needsFull() || s.left || s.wants != "" || now < s.askAt || now-s.messageAt > s.patience {
		return false
	}
	s.askAt = now + max(askEvery, s.patience)
	return true
}

// size returns how many rows are kept of the source, including those that are not
// shown.
func (d *said) size() int {
	n := 0
	if d.rows != nil {
		places, transitions := d.rows.Size()
		n += places + transitions
	}
	for i := range d.pending {
		rows := &d.pending[i].msg.Rows
		n += len(rows.Places) + len(rows.Transitions)
	}
	if d.parts != nil {
		n += len(d.parts.full.Rows.Places) + len(d.parts.full.Rows.Transitions)
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
		Epoch: s.epoch, Seq: s.seq, LastMessage: s.lastMessage(), Interval: time.Duration(s.interval) * time.Microsecond,
		Skew: skew, SkewBeyond: beyond, Shift: time.Duration(s.clock.shift) * time.Microsecond, Gaps: s.gaps, Duplicates: s.duplicates, Restarts: s.restarts, Setbacks: s.setbacks, Requests: s.requests,
		Since: s.since, Reason: s.notice.Text, Refusal: s.notice.Reason, Conflict: s.inConflict, Unread: s.neverRead,
		Forgotten: s.state == Gone && !s.saidGoodbye(), Columns: s.columns, Back: s.back, Explains: s.told != nil,
	}
	if s.standing != nil && (s.state == Up || s.state == Stale) {
		standbys := uint64(s.standing.Standbys)
		out.Position, out.Standbys, out.Lag = &s.standing.Position, &standbys, s.standing.Lag
		out.RegionStopped = s.standing.Stopped
	}
	return out
}

// saidGoodbye reports whether the last message of the source is evidence that its tokens are
// no longer there. That of a collector below is none: its sources continue.
func (s *source) saidGoodbye() bool { return s.left && s.told == nil }
