// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"

	"github.com/pnagent/pnagent/telemetry"
)

// fence is the highest fence heard for a region, and of whom.
type fence struct {
	fence uint64
	owner string
	// counted is when the latest counters began that are in the base. Where some
	// that began then or before come anew, some of them are in there already: see
	// net.owe.
	counted int64
}

// series are counters of a region that go on from owner to owner. The zero
// series are those that a process counts for itself. Rows of one series are in
// one place: its last owner's, or an orphan's.
type series struct {
	region string
	since  int64
}

func seriesOf(msg *telemetry.Snapshot) series {
	if msg.Since == 0 {
		return series{}
	}
	return series{msg.Region, msg.Since}
}

// series returns which counters the source's rows hold.
func (s *source) series() series {
	if s.rows == nil || s.since == 0 {
		return series{}
	}
	return series{s.region, s.since}
}

// checkFence returns an error for a message of a region that another source
// has taken over.
func (n *net) checkFence(msg *telemetry.Snapshot, lim *Limits) error {
	f, taken := n.fences[msg.Region]
	switch {
	case msg.Region == "" || (!taken && msg.Fence == 0):
		return nil
	case !taken && len(n.fences) >= lim.Sources:
		return reject(TooManyRegions, "of net %q, %d are known", n.name, len(n.fences))
	case taken && (msg.Fence < f.fence || (msg.Fence == f.fence && f.owner != msg.Source)):
		return reject(OldFence, "region %q has fence %d by %q, so not %d", msg.Region, f.fence, f.owner, msg.Fence)
	}
	return nil
}

// claim gives the region of a message to its source: what others say of it
// leaves the sums.
func (n *net) claim(s *source, msg *telemetry.Snapshot, now int64) {
	s.region, s.fence, s.since = msg.Region, msg.Fence, msg.Since
	f := n.fences[msg.Region]
	if msg.Region == "" || msg.Fence == 0 || f.fence == msg.Fence {
		return
	}
	f.fence, f.owner = msg.Fence, s.name
	n.fences[msg.Region] = f
	for _, other := range n.speakers() {
		switch {
		case other == s || other.region != msg.Region || other.fence >= msg.Fence:
		case other.orphan:
			n.adopt(other)
			n.fold(other)
		case other.beside(msg):
			parts := other.parts
			n.retire(other)
			other.parts = parts
		default:
			n.leave(other, now)
		}
	}
}

// beside reports whether the source says something by now that a message does
// not replace, although not all of it is known yet: it speaks for another
// region, or has a higher fence.
func (s *source) beside(msg *telemetry.Snapshot) bool {
	stands := func(own *telemetry.Snapshot) bool { return own.Region != msg.Region || own.Fence > msg.Fence }
	return s.parts != nil && stands(s.parts.full) || s.pending != nil && stands(s.pending)
}

// begin makes the source's rows those that a message can be taken into. What
// they were goes to the base, or waits for the next owner of its region; what
// the owner before the source said of the message's region moves to the
// source, so no sum changes until the message is taken. It reports whether
// counters of the message may be in the base already.
func (n *net) begin(s *source, msg *telemetry.Snapshot, c *columns, now int64) (again bool) {
	next := seriesOf(msg)
	if s.rows != nil && s.series() == next && s.rowsEpoch == msg.Epoch {
		return false // the next message of the same; that it counted less was refused before
	}
	if s.rows != nil && (s.series() != next || (next.since == 0 && s.rowsEpoch != msg.Epoch)) {
		n.putAway(s, msg, now)
	}
	if next.since == 0 {
		return n.goOn(s, msg.Epoch)
	}
	n.inherit(s, next)
	if s.rows == nil {
		return msg.Since <= max(n.before, n.fences[msg.Region].counted)
	}
	t := taking{msg: msg, cols: c, rows: s.rows}
	if t.fell() == nil {
		return false
	}
	s.setbacks++
	n.fold(s)
	return true
}

// putAway makes room for other rows of a source. Where its region is nobody
// else's, the rows stay in the sums until somebody speaks for it.
func (n *net) putAway(s *source, msg *telemetry.Snapshot, now int64) {
	if s.since == 0 && s.rowsEpoch != msg.Epoch {
		n.setAside(s, now)
		return
	}
	f := n.fences[s.region]
	if s.series().since == 0 || s.region == msg.Region || f.owner != s.name || f.fence != s.fence {
		n.fold(s)
		return
	}
	o := *s
	o.orphan, o.heard, o.deaf, o.state, o.processes = true, s.rowsAt, s.rowsDeaf, Up, nil
	o.rival, o.refusal, o.notice = rival{}, refusal{}, telemetry.Notice{}
	o.unread, o.wants, o.pending, o.parts, o.unheard = false, "", nil, nil, nil
	n.orphans = append(n.orphans, &o)
	s.rows, s.columns = nil, 0
	n.changed = true
}

// inherit gives a source without rows those of a series, if there are any.
func (n *net) inherit(s *source, next series) {
	if s.rows != nil {
		return
	}
	for _, from := range n.speakers() {
		if from == s || from.series() != next {
			continue
		}
		s.rows, s.columns, s.digest, s.rowsAt, s.rowsDeaf = from.rows, from.columns, from.digest, from.rowsAt, from.rowsDeaf
		s.region, s.since = next.region, next.since
		n.touch(s)
		from.rows, from.columns = nil, 0
		n.adopt(from)
		return
	}
}

// adopt takes an orphan off the list.
func (n *net) adopt(o *source) {
	n.orphans = slices.DeleteFunc(n.orphans, func(other *source) bool { return other == o })
}

// counted notes that counters of a series went to the base.
func (n *net) counted(which series) {
	if f, known := n.fences[which.region]; known && which.since > f.counted {
		f.counted = which.since
		n.fences[which.region] = f
	}
}

// speakers returns all whose rows are in the sums.
func (n *net) speakers() []*source {
	if len(n.orphans)+len(n.elders) == 0 {
		return n.order
	}
	return slices.Concat(n.order, n.orphans, n.elders)
}

// tickOrphans lets time pass for orphans: nobody will say more of them.
func (n *net) tickOrphans(now int64, e ear) {
	for _, o := range n.orphans {
		state := o.stateAt(e)
		if state == o.state {
			continue
		}
		if o.state, n.changed = state, true; state == Gone {
			o.goneAt = now
			n.retire(o)
		}
	}
}
