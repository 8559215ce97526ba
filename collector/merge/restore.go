// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// ErrState means that a state is invalid. Nothing of it is taken.
var ErrState = errors.New("invalid state of a collector")

// restored is a net as read from frames.
type restored struct {
	savedNet
	definition telemetry.Definition
	at         int64 // of the last frame; 0 in a state of an earlier release
	sum        *telemetry.Snapshot
	base, debt *telemetry.Snapshot // instead of the sum
	shown      *telemetry.Snapshot
	shownRows  *telemetry.Snapshot // instead of shown, until all frames are read
	groups     map[string]group    // by source
	sources    []restoredSource
	past       []savedPast
}

// restoredSource is a source as read from a state.
type restoredSource struct {
	savedSource
	msg *telemetry.Snapshot
}

// Admission is what a Merger takes of what another process kept or sent.
type Admission struct {
	Net   func(net string) bool // nil takes every net
	Share Share                 // of the sources; another collector receives the others
	PNML  pnml.Limits           // of definitions
}

// Restore continues where another process stopped, whose log has these frames, from the first one
// on. The sources are as they were then. Those that are not admitted are gone, because another
// collector receives them now, and their counters stay in the sums. No counter is less than it was
// shown. The error wraps ErrState; after an error the Merger must not be used.
func (m *Merger) Restore(frames [][]byte, of Admission, now int64) error {
	nets, err := readState(frames...)
	if err != nil {
		return err
	}
	for _, r := range nets {
		if of.Net != nil && !of.Net(r.ID) {
			continue
		}
		err := m.defineRestored(r, of, now)
		if err == nil {
			err = m.restoreNet(r, of)
		}
		if err != nil {
			return fmt.Errorf("%w: net %q: %w", ErrState, r.ID, err)
		}
	}
	m.traffic = Traffic{Rejected: make(map[string]uint64)}
	for _, reason := range Reasons() {
		m.traffic.Rejected[string(reason)] = 0
	}
	m.counted = true
	return nil
}

func (m *Merger) defineRestored(r *restored, of Admission, now int64) error {
	def, err := ReadDefinition(r.definition, of.PNML)
	if err != nil {
		return err
	}
	places, transitions := m.net(r.ID).union.sizes()
	if _, err = m.define(r.definition.Digest, def, fromPeer, now); err != nil {
		return err
	}
	n := m.nets[r.ID]
	n.settled = n.settled || r.Settled
	n.ages.restore(r.Ages, n.known[r.definition.Digest], places, transitions)
	for _, msg := range []*telemetry.Snapshot{r.sum, r.base, r.debt, r.shown} {
		r.fit(msg, def)
	}
	for i := range r.sources {
		r.fit(r.sources[i].msg, def)
	}
	return nil
}

// fit adds the rows that the definition gained after a record was made.
func (r *restored) fit(msg *telemetry.Snapshot, def *petri.Net) {
	if msg != nil {
		grow(&msg.Rows, len(def.Places), len(def.Transitions))
		msg.Digest = r.definition.Digest
	}
}

// raiseTo raises the floor of a net to what was shown of it.
func (n *net) raiseTo(r *restored) error {
	c := n.known[r.definition.Digest]
	if err := fits(r.shown, c); err != nil {
		return err
	}
	floor := n.rowsOf(r.shown, c)
	floor.Columns = r.shown.Rows.Columns & counterColumns
	if n.floor != nil {
		floor.Raise(n.floor)
	}
	n.floor, n.since, n.changed = floor, min(n.since, r.Since), true
	return nil
}

// raised returns the sums, raised to what the previous process showed. That
// process may have shown more than its last state holds, and what a source did
// after the state is lost if the source ended too.
func (n *net) raised() *stats.Rows {
	if n.floor == nil {
		return n.sums
	}
	rows := *n.sums
	rows.Places, rows.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
	if !rows.Raise(n.floor) {
		n.floor = nil // a sum never falls
		return n.sums
	}
	return &rows
}

// restoreNet takes the last snapshots of the sources again. The base is the sum
// minus these snapshots, so the sum is what it was, whichever sources could be
// taken.
func (m *Merger) restoreNet(r *restored, of Admission) error {
	n := m.nets[r.ID]
	c := n.known[r.definition.Digest]
	n.since = r.Since
	sum, err := n.total(r, c)
	switch {
	case err != nil:
		return err
	case sum == nil && r.shown == nil:
		return errors.New("no counters")
	case sum == nil:
		return n.raiseTo(r)
	}
	columns := r.Columns & counterColumns
	for _, h := range r.sources {
		if err := fits(h.msg, c); err != nil {
			return fmt.Errorf("source %q: %w", h.msg.Source, err)
		}
		if !of.Share.Has(r.ID, h.msg.Source) {
			columns |= h.msg.Rows.Columns & counterColumns
			continue
		}
		if h.marks&markUp != 0 { // not silent up to then, whatever of it was kept last
			h.messageAt = max(h.messageAt, r.at)
		}
		_, err := m.Take(h.msg, 0, h.received)
		s := n.sources[h.msg.Source]
		switch {
		case err != nil: // no room for it
			columns |= h.msg.Rows.Columns & counterColumns
			counted := max(h.counted, h.msg.Epoch)
			if s != nil {
				s.counted = max(s.counted, counted)
				continue
			}
			r.past = append(r.past, savedPast{Source: h.msg.Source, Epoch: h.epoch, Seq: uint64(h.seq), Counted: counted, Known: true})
		case h.marks&markAside == 0:
			s.resume(&h, c)
			s.counted, s.restarts = max(s.counted, n.before), 0
		}
	}
	for i := range r.sources {
		n.resumeAside(&r.sources[i])
	}
	for _, f := range r.Regions {
		n.fences[f.Region] = fence{Claim: f.Claim, owner: f.Owner, counted: f.Counted}
	}
	for _, p := range r.past {
		if s := n.sources[p.Source]; s != nil {
			s.counted = max(s.counted, p.Counted)
		} else if of.Share.Has(r.ID, p.Source) {
			m.remember(n, p)
		}
	}
	n.base = sum
	for _, s := range n.contributors() {
		if s.rows != nil {
			n.base.Merge(s.rows.Rows().Debt())
		}
	}
	n.base.Columns = columns
	n.addUp()
	m.keptAt = max(m.keptAt, cmp.Or(r.at, r.timeOfSum()))
	if r.shown != nil {
		return n.raiseTo(r)
	}
	return nil
}

// timeOfSum returns when a state of an earlier release was made.
func (r *restored) timeOfSum() int64 {
	if r.sum == nil {
		return 0
	}
	return r.sum.SentAt
}

// total returns the counters of the net over all sources and processes, or nil if only those
// that were shown are known.
func (n *net) total(r *restored, c *columns) (*stats.Rows, error) {
	rowsOf := func(msg *telemetry.Snapshot) (*stats.Rows, error) {
		if err := fits(msg, c); err != nil {
			return nil, err
		}
		return n.rowsOf(msg, c), nil
	}
	if r.sum != nil || r.base == nil {
		if r.sum == nil {
			return nil, nil
		}
		return rowsOf(r.sum)
	}
	total, err := rowsOf(r.base)
	if err == nil && r.debt != nil {
		var debt *stats.Rows
		if debt, err = rowsOf(r.debt); err == nil {
			total.Merge(debt.Debt())
		}
	}
	for i := range r.sources {
		if err != nil {
			return nil, err
		}
		h := &r.sources[i]
		var rows *stats.Rows
		if rows, err = rowsOf(h.msg); err == nil {
			var own clock
			own.observe(h.msg.SentAt, h.received)
			total.MergeShifted(countersOf(rows), own.shift)
		}
	}
	return total, err
}

// resume returns a source to its former state after its rows were taken again.
// What it did since is not known, so a full snapshot is requested.
func (s *source) resume(h *restoredSource, c *columns) {
	s.counted, s.digest = max(s.counted, h.counted), h.digest
	s.sentAt += h.messageAt - h.received // by the source's clock, approximately
	s.epoch = h.epoch
	s.seq = uint64(h.seq)
	s.messageAt = h.messageAt
	s.rowsAt = h.rowsAt
	s.unread = h.marks&markUnread != 0
	s.recalled = true
	if !s.left {
		s.back = 0
	}
	s.first = s.messageAt - establishedAfter // the previous process showed it
	s.tenure = tenure{since: s.first, n: establishedMessages}
	if h.marks&markStale != 0 {
		s.state = Stale
	}
	if s.complete = s.complete && h.marks&markComplete != 0; s.complete {
		s.missing = newCover(c)
	}
}

// resumeAside returns an earlier process to its former state after its rows were
// taken again.
func (n *net) resumeAside(h *restoredSource) {
	s := n.sources[h.msg.Source]
	if h.marks&markAside == 0 || s == nil {
		return
	}
	if p := s.process(h.msg.Epoch); p != nil && p.aside != nil {
		p.seq, p.left, p.aside.goneAt = uint64(h.seq), h.marks&markLeft != 0, h.messageAt
	}
}

// remember records a source of which no rows are kept.
func (m *Merger) remember(n *net, p savedPast) {
	m.tombstones++
	n.past[p.Source] = past{epoch: p.Epoch, seq: p.Seq, counted: p.Counted, known: p.Known, tombstone: m.tombstones}
	m.forgotten = append(m.forgotten, tombstone{n.name, p.Source, m.tombstones})
}
