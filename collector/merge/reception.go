// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"time"

	"github.com/pnagent/pnagent/telemetry/natslink"
)

// settleLimit bounds the patience of a source that a View waits for.
const settleLimit = int64(30 * time.Second / time.Microsecond)

// settle is how much longer than its patience a source may be silent after a
// break: it may have lost the same server, and its connection may return later.
const settle = int64(natslink.BackWithin / time.Microsecond)

// reception is the time up to which everything published has been processed. The
// silence of a source is measured by it and not by the clock, because time in
// which a collector cannot receive is no silence.
type reception struct {
	known bool  // ReceivedUntil was called; until then everything counts as received at once
	until int64 // everything published up to then was taken or rejected
	since int64 // without a break since then; 0 if there was no break
}

// ReceivedUntil records that everything published up to a time was taken or rejected.
// unbroken reports whether that holds since the previous call. If not, the
// collector could not receive in between, and that time is no silence of any
// source. After the first call silence counts up to the last time given to ReceivedUntil,
// whatever the time of Tick is.
func (m *Merger) ReceivedUntil(until int64, unbroken bool) {
	h := &m.reception
	from := h.until
	switch {
	case !h.known:
		h.known, h.until = true, until
		return
	case unbroken && until >= from:
		h.until = until
		return
	}
	h.until, h.since = until, until
	for _, n := range m.nets {
		for _, s := range n.contributors() {
			if s.outage == 0 {
				s.before = from - s.messageAt
			}
			s.outage += until - max(from, s.messageAt)
			s.rowsOutage += until - max(from, s.rowsAt)
		}
	}
}

// Begin starts the use of ReceivedUntil. The time since the previous process kept its state
// is no silence of its sources.
func (m *Merger) Begin(now int64) {
	last := min(cmp.Or(m.keptAt, now), now)
	m.ReceivedUntil(last, true)
	m.ReceivedUntil(now, last >= now)
}

// silenceClock measures the silence of sources over the time in which the
// collector could receive.
type silenceClock struct {
	now         int64 // up to when it could receive
	since       int64 // since when it could receive without a break; 0 if there was no break
	forgetAfter int64
}

// silenceClock returns the clock of silence at a time.
func (m *Merger) silenceClock(now int64) silenceClock {
	e := silenceClock{now: now, since: m.reception.since, forgetAfter: m.forgetAfter}
	if m.reception.known {
		e.now = min(now, m.reception.until)
	}
	return e
}

// silent returns the time since the last message of a source, refused or not.
func (e *silenceClock) silent(s *source) int64 {
	return e.now - max(s.messageAt+s.outage, s.lastMessage())
}

// rowsSilent returns the time since a message was last added to the source's rows.
func (e *silenceClock) rowsSilent(s *source) int64 { return e.now - s.rowsAt - s.rowsOutage }

// settling reports whether the View still waits for a source after a break. It
// does not wait for a source with a long interval.
func (m *Merger) settling(e silenceClock) bool {
	if e.since == 0 || e.now-e.since > settleLimit+settle {
		return false
	}
	for _, n := range m.nets {
		for _, s := range n.order {
			if s.state == Up && e.settling(s) {
				return true
			}
		}
	}
	return false
}

// settling reports whether a source has sent nothing since a break that ended so
// recently that the source may still be running. Repeated breaks do not hide a
// source's silence between them for long.
func (e *silenceClock) settling(s *source) bool {
	return s.lastMessage() < e.since && e.now-e.since <= s.patience+settle && e.silent(s)-s.before <= 2*(s.patience+settle)
}
