// SPDX-License-Identifier: Apache-2.0

package alarm

import "slices"

// Limits of notifications.
const (
	burst       = 50         // notifications at once
	perSecond   = 10         // on average
	reportEvery = 10e6       // microseconds between two reports of suppressed notifications
	token       = int64(1e6) // one notification, in the units of limiter.level
	reserve     = 25 * token // what clears that wait leave for raises
	calm        = 50e3       // microseconds without a suppressed notification, after which a storm is over
)

// Notification reports that an alarm was raised or cleared, or that notifications were
// suppressed.
type Notification struct {
	Change            // not used if Suppressed is not 0
	At         int64  // microseconds since the Unix epoch
	Suppressed uint64 // notifications suppressed since the start; 0 for a Change

	// To are the recipients that get it. Sinks that are no recipients get everything but reminders.
	To       []string
	Reminder Reminder // of an alarm that is active and not acknowledged; else zero
}

// limiter is a token bucket. It suppresses and counts raises that find it empty, and makes
// clears wait: a raise that was sent gets its clear, later if need be. The clear of a raise
// that was suppressed is sent if nothing waits; otherwise it is suppressed too. After each
// suppressed notification a report is due, after which a station reads the list of alarms.
// It is sent once a storm is over or has lasted for ten seconds, and at most once in ten
// seconds.
type limiter struct {
	level  int64 // as of filled
	filled int64
	begun  bool

	waiting []Change        // clears, the oldest first
	waits   map[key]int     // how many of waiting are of a condition
	owed    int             // clears that go before the bucket is filled for raises
	unsent  map[uint32]bool // alarms whose raise was suppressed, by index

	suppressed uint64   // since the start
	dropped    []Change // by the last pass
	unreported bool     // some suppressed ones
	storm      bool     // within calm some were suppressed
	first      int64    // the start of the storm
	last       int64    // when the last one of it was suppressed
	reported   int64    // the last report; 0 if there was none
}

// pass returns the notifications that may be sent now.
func (s *limiter) pass(changes []Change, now int64) (out []Notification) {
	s.fill(now)
	s.dropped = nil
	out = s.drain(out)
	for _, c := range changes {
		if c.Raise {
			out = s.raise(out, c)
		} else {
			out = s.clear(out, c)
		}
	}
	out = s.drain(out)
	storm := len(s.dropped) > 0
	if storm {
		s.last = now
	}
	storm = storm || s.storm && now-s.last < calm
	if storm && !s.storm {
		s.first = now
	}
	s.storm = storm
	due := !storm || now-s.first >= reportEvery
	if s.unreported && due && (s.reported == 0 || now-s.reported >= reportEvery) {
		s.unreported, s.reported = false, now
		out = append(out, Notification{Suppressed: s.suppressed})
	}
	for i := range out {
		out[i].At = now
	}
	return out
}

// due returns when pass has something to send without further changes; 0 for never.
func (s *limiter) due(now int64) (at int64) {
	earliest := func(t int64) {
		t = max(t, now+1)
		if at == 0 || t < at {
			at = t
		}
	}
	if len(s.waiting) > 0 {
		need := reserve + token
		if s.owed > 0 {
			need = token
		}
		earliest(s.filled + (need-s.level+perSecond-1)/perSecond)
	}
	if s.unreported {
		report := now
		if s.reported != 0 {
			report = s.reported + reportEvery
		}
		if s.storm {
			report = max(report, min(s.last+calm, s.first+reportEvery))
		}
		earliest(report)
	}
	return at
}

// drain sends waiting clears: those that are owed, and as many as leave the reserve.
func (s *limiter) drain(out []Notification) []Notification {
	for len(s.waiting) > 0 && (s.level >= reserve+token || s.owed > 0 && s.level >= token) {
		out, s.owed = s.sendWaiting(out, 0), max(0, s.owed-1)
	}
	return out
}

// raise sends or suppresses a raise. Earlier clears of its condition go first: a station
// that knows alarms by their subject would take the clear for the newer alarm. While clears
// wait, each raise lets one of them pass.
func (s *limiter) raise(out []Notification, c Change) []Notification {
	k := c.Alarm.key()
	if s.level < token*int64(1+s.waits[k]) {
		if s.unsent == nil || len(s.unsent) >= MaxActive {
			s.unsent = map[uint32]bool{}
		}
		s.unsent[c.Alarm.Index] = true
		s.suppress(c)
		return out
	}
	for i := 0; s.waits[k] > 0; {
		if s.waiting[i].Alarm.key() == k {
			out = s.sendWaiting(out, i)
		} else {
			i++
		}
	}
	if len(s.waiting) > s.owed {
		s.owed++
	}
	s.level -= token
	return append(out, Notification{Change: c})
}

// clear makes a clear wait, if its raise was sent.
func (s *limiter) clear(out []Notification, c Change) []Notification {
	if unsent := s.unsent[c.Alarm.Index]; unsent {
		delete(s.unsent, c.Alarm.Index)
		if s.unreported || len(s.waiting) > 0 || s.level < token {
			s.suppress(c)
			return out
		}
		s.level -= token
		return append(out, Notification{Change: c})
	}
	if len(s.waiting) >= MaxActive {
		s.suppress(c)
		return out
	}
	if s.waits == nil {
		s.waits = map[key]int{}
	}
	s.waits[c.Alarm.key()]++
	s.waiting = append(s.waiting, c)
	return out
}

// sendWaiting sends one of the waiting clears.
func (s *limiter) sendWaiting(out []Notification, i int) []Notification {
	c := s.waiting[i]
	if i == 0 {
		s.waiting[0] = Change{} // its texts
		s.waiting = s.waiting[1:]
	} else {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	k := c.Alarm.key()
	if s.waits[k]--; s.waits[k] == 0 {
		delete(s.waits, k)
	}
	if len(s.waiting) == 0 {
		s.waiting, s.owed = nil, 0
	}
	s.level -= token
	return append(out, Notification{Change: c})
}

func (s *limiter) suppress(c Change) {
	s.suppressed++
	s.unreported, s.dropped = true, append(s.dropped, c)
}

// leave drops the clears that wait: the process that takes the duty sends them.
func (s *limiter) leave() { s.waiting, s.waits, s.owed, s.unsent = nil, nil, 0, nil }

// fill refills the bucket. A clock that was set back fills nothing and delays nothing.
func (s *limiter) fill(now int64) {
	const full = burst * token
	switch passed := now - s.filled; {
	case !s.begun || passed >= full/perSecond:
		s.level = full
	case passed > 0:
		s.level = min(full, s.level+passed*perSecond)
	}
	s.filled, s.begun = now, true
	s.first, s.last, s.reported = min(s.first, now), min(s.last, now), min(s.reported, now)
}
