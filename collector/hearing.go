// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"cmp"
	"time"

	"github.com/pnagent/pnagent/telemetry/natslink"
)

// settleLimit bounds the patience of a source that a View waits for.
const settleLimit = int64(30 * time.Second / time.Microsecond)

// settle is how much longer than its patience a source may be silent after a
// break: it may have lost the same server, and its connection may be back later.
const settle = int64(natslink.BackWithin / time.Microsecond)

// hearing is until when everything that was published has been taken in. The
// silence of a source is counted by it and not by the clock: what a collector
// could not hear is no silence.
type hearing struct {
	known bool  // Hear was called; else everything is heard at once
	until int64 // everything published up to then was taken in or rejected
	since int64 // so without a break; 0 if there was none
}

// Hear says that all that was published up to a moment was taken in or
// rejected. unbroken reports whether that holds from the moment of the call
// before on; if not, the collector could not hear in between, and that time is no silence
// of any source. From the first call on, silence is counted up to the last
// moment that Hear was given, whatever the time of Tick is.
func (m *Merger) Hear(until int64, unbroken bool) {
	h := &m.hearing
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
		for _, s := range n.speakers() {
			if s.deaf == 0 {
				s.before = from - s.heard
			}
			s.deaf += until - max(from, s.heard)
			s.rowsDeaf += until - max(from, s.rowsAt)
		}
	}
}

// begin says that from now on Hear is called. The time since a process before
// this one kept its state is no silence of its sources.
func (m *Merger) begin(now int64) {
	last := min(cmp.Or(m.keptAt, now), now)
	m.Hear(last, true)
	m.Hear(now, last >= now)
}

// ear is how long a source is silent, as far as the collector could hear.
type ear struct {
	now         int64 // up to when it could hear
	since       int64 // from when on it could hear without a break; 0 if there was none
	forgetAfter int64
}

// ear returns what the silence of sources is counted by at a time.
func (m *Merger) ear(now int64) ear {
	e := ear{now: now, since: m.hearing.since, forgetAfter: m.forgetAfter}
	if m.hearing.known {
		e.now = min(now, m.hearing.until)
	}
	return e
}

// silent returns for how long nothing of a source was heard, refused or not.
func (e *ear) silent(s *source) int64 { return e.now - max(s.heard+s.deaf, s.spoke()) }

// rowsSilent returns for how long nothing was taken into the source's rows.
func (e *ear) rowsSilent(s *source) int64 { return e.now - s.rowsAt - s.rowsDeaf }

// settling reports whether the View still has to wait for a source after a
// break. One that speaks seldom is not waited for.
func (m *Merger) settling(e ear) bool {
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

// settling reports whether a source was not heard since a break, and that is
// over for so short a time that it may be there for all that. Breaks that come
// again and again do not hide for long that it is silent in between.
func (e *ear) settling(s *source) bool {
	return s.spoke() < e.since && e.now-e.since <= s.patience+settle && e.silent(s)-s.before <= 2*(s.patience+settle)
}
