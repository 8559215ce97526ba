// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/telemetry"
)

// fence is the latest claim to a region, and its source.
type fence struct {
	telemetry.Claim
	owner string
	// counted is when the latest counters in the base began. If counters that began
	// then or before arrive again, the base may contain some of them: see net.deduct.
	counted int64

	// before is the last confirmed claim, while this one is not confirmed: its fence
	// is far above that one's, and few messages with it arrived, the last at messageAt.
	before    *fence
	messages  int
	messageAt int64
}

// farAbove is the largest step between the fences of two claims that needs no
// confirmation. The next owner of a log has a fence that is one higher, or that is
// the time in seconds.
const farAbove = 1 << 20

// claimOf returns the claim of a message for comparison with f. A log with a
// creation time in the future does not count as created later.
func (f *fence) claimOf(msg *telemetry.Snapshot, now int64) telemetry.Claim {
	c := msg.Claim()
	if c.Since > now+skewBelieved {
		c.Since = f.Since
	}
	c.Epoch = min(c.Epoch, now)
	return c
}

// refuses reports whether a message is of another owner than the latest one.
func (f *fence) refuses(msg *telemetry.Snapshot, now int64) bool {
	order := f.claimOf(msg, now).Compare(f.Claim)
	return order < 0 || order == 0 && f.owner != msg.Source
}

// withdrawn reports whether the claim is not confirmed and its owner is silent,
// when a message of another owner arrives.
func (f *fence) withdrawn(msg *telemetry.Snapshot, now int64) bool {
	return f.before != nil && now-f.messageAt > patienceOf(msg.Interval.Microseconds())
}

// series identifies counters of a region that continue from owner to owner. The
// zero series stands for those that a process counts for itself. The rows of a
// series exist once: at its last owner, or at an orphan.
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

// series returns the series of the source's rows.
func (d *said) series() series {
	if d.rows == nil || d.since == 0 {
		return series{}
	}
	return series{d.region, d.since}
}

// checkFence returns an error for a message of a region that another source has
// taken over.
func (n *net) checkFence(msg *telemetry.Snapshot, lim *Limits, now int64) error {
	f, taken := n.fences[msg.Region]
	if taken && f.refuses(msg, now) && f.withdrawn(msg, now) {
		f = *f.before
	}
	switch {
	case msg.Region == "" || (!taken && msg.Fence == 0):
		return nil
	case !taken && len(n.fences) >= lim.Sources:
		return Rejection(TooManyRegions, "%d regions of net %q are known", len(n.fences), n.name)
	case taken && f.refuses(msg, now):
		log := ""
		if f.Since > msg.Since && f.Fence <= msg.Fence {
			log = " in a log that was created later"
		}
		return Rejection(OldFence, "region %q has fence %d of %q%s; message has %d", msg.Region, f.Fence, f.owner, log, msg.Fence)
	}
	return nil
}

// claim gives the region of a message to its source, and removes what other
// sources report of the region from the sums.
func (n *net) claim(s *source, msg *telemetry.Snapshot, now int64) {
	s.region, s.fence, s.since = msg.Region, msg.Fence, msg.Since
	if msg.Region == "" || msg.Fence == 0 {
		return
	}
	f, taken := n.fences[msg.Region]
	next := fence{Claim: f.claimOf(msg, now), owner: s.name, counted: f.counted, messages: 1, messageAt: now}
	switch order := next.Compare(f.Claim); {
	case order == 0 && f.owner == s.name:
		if f.before != nil {
			n.fences[msg.Region] = f.again(now)
		}
		return
	case order > 0 && taken:
		if last := cmp.Or(f.before, &f); next.Fence > last.Fence+farAbove {
			next.before = last
		}
	}
	n.fences[msg.Region], n.moved = next, true
	for _, other := range n.contributors() {
		switch {
		case other == s || other.region != msg.Region:
		case other.orphan:
			n.removeOrphan(other)
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

// again returns the claim after one more message with it.
func (f fence) again(now int64) fence {
	f.messages, f.messageAt = f.messages+1, now
	if f.messages >= steadyAfter {
		f.before = nil
	}
	return f
}

// beside reports whether the source is sending something that a message does not
// replace, although not all of it has arrived: it reports another region, or has a
// later claim to this one.
func (d *said) beside(msg *telemetry.Snapshot) bool {
	stands := func(own *telemetry.Snapshot) bool {
		return own.Region != msg.Region || own.Claim().Compare(msg.Claim()) > 0
	}
	return d.parts != nil && stands(d.parts.full) || len(d.pending) > 0 && stands(d.newest())
}

// begin prepares the source's rows for a message. Its former rows move to the
// base, or wait for the next owner of their region. What the previous owner
// reported of the message's region moves to the source. So no sum changes until
// the message is taken. begin reports whether the base may contain counters of the
// message already.
func (n *net) begin(s *source, msg *telemetry.Snapshot, c *columns, now int64) (again bool) {
	next := seriesOf(msg)
	if s.rows != nil && s.series() == next && s.rowsEpoch == msg.Epoch {
		return false // the next message of the same series; notFallen has compared its counters
	}
	if s.rows != nil && (s.series() != next || (next.since == 0 && s.rowsEpoch != msg.Epoch)) {
		n.putAway(s, msg, now)
	}
	if next.since == 0 {
		return n.takeBack(s, msg.Epoch)
	}
	n.inherit(s, next)
	if s.rows == nil {
		return msg.Since <= max(n.before, n.fences[msg.Region].counted)
	}
	t := n.taking(msg, c)
	t.rows = s.rows
	if t.fell() == nil {
		return false
	}
	s.setbacks++
	n.fold(s)
	return true
}

// putAway makes room for other rows of a source. If no other source has its
// region, the rows stay in the sums until one reports the region.
func (n *net) putAway(s *source, msg *telemetry.Snapshot, now int64) {
	if s.since == 0 && s.rowsEpoch != msg.Epoch {
		n.setAside(s, now)
		return
	}
	f := n.fences[s.region]
	if s.series().since == 0 || s.region == msg.Region || f.owner != s.name || f.Fence != s.fence {
		n.fold(s)
		return
	}
	o := *s
	o.listed, o.dirty, o.log = 0, false, nil
	o.orphan = true
	o.messageAt = s.rowsAt
	o.outage = s.rowsOutage
	o.state = Up
	o.processes = nil
	o.rival, o.refusal, o.notice = rival{}, refusal{}, telemetry.Notice{}
	o.unread = false
	o.wants = ""
	o.pending = nil
	o.parts = nil
	o.missing = nil
	n.orphans = append(n.orphans, &o)
	s.rows, s.columns = nil, 0
	n.changed = true
}

// inherit gives a source without rows those of a series, if they exist.
func (n *net) inherit(s *source, next series) {
	if s.rows != nil {
		return
	}
	for _, from := range n.contributors() {
		if from == s || from.series() != next {
			continue
		}
		s.rows = from.rows
		s.columns = from.columns
		s.digest = from.digest
		s.rowsAt = from.rowsAt
		s.rowsOutage = from.rowsOutage
		s.region, s.since, n.moved = next.region, next.since, true
		n.live.Move(s.rows, from.clock.shift, s.clock.shift)
		n.changed = true
		from.rows, from.columns = nil, 0
		n.removeOrphan(from)
		return
	}
}

// removeOrphan removes an orphan from the list.
func (n *net) removeOrphan(o *source) {
	n.orphans = slices.DeleteFunc(n.orphans, func(other *source) bool { return other == o })
}

// counted records that counters of a series were added to the base.
func (n *net) counted(which series) {
	if f, known := n.fences[which.region]; known && which.since > f.counted {
		f.counted = which.since
		n.fences[which.region] = f
	}
}

// contributors returns all whose rows are in the sums.
func (n *net) contributors() []*source {
	if len(n.orphans)+len(n.aside) == 0 {
		return n.order
	}
	return slices.Concat(n.order, n.orphans, n.aside)
}

// tickOrphans updates the states of orphans, which receive no more messages.
func (n *net) tickOrphans(now int64, e silenceClock) {
	for _, o := range n.orphans {
		state := o.stateAt(e)
		if state == o.state {
			continue
		}
		n.noteRemnant(o, state, now)
		o.state, n.changed = state, true
		if state == Gone {
			o.goneAt = now
			n.retire(o)
		}
	}
}
