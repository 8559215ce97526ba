// SPDX-License-Identifier: Apache-2.0

package alarm

// What notifications may take, so that many alarms at once do not become a
// storm of packets.
const (
	burst     = 50         // notifications at once
	perSecond = 10         // on average
	tellEvery = 10e6       // microseconds between two words of how many were held back
	token     = int64(1e6) // one notification, in the units of storm.level
)

// Notification is one thing to tell: that an alarm was raised or cleared, or
// that notifications were held back.
type Notification struct {
	Change            // not used if Suppressed is not 0
	At         int64  // microseconds since the Unix epoch
	Suppressed uint64 // how many were held back since the start; 0 for a Change
}

// storm is a token bucket: notifications that find it empty are held back for
// good, and counted. Of these it tells once they are over, or after ten
// seconds of it, and never twice in ten seconds.
type storm struct {
	level  int64 // what is in the bucket, as of filled
	filled int64
	begun  bool

	suppressed uint64   // ever
	heldBack   []Change // by the last pass
	untold     bool     // some of them
	raging     bool     // the last step held some back
	first      int64    // since when it rages
	told       int64    // when it was last told; 0 if never
}

// pass returns the notifications that may go now.
func (s *storm) pass(changes []Change, now int64) []Notification {
	s.fill(now)
	var out []Notification
	s.heldBack = nil
	for _, c := range changes {
		if s.level >= token {
			s.level -= token
			out = append(out, Notification{Change: c, At: now})
			continue
		}
		s.suppressed++
		s.untold, s.heldBack = true, append(s.heldBack, c)
	}
	held := len(s.heldBack) > 0
	if held && !s.raging {
		s.first = now
	}
	s.raging = held
	due := !held || now-s.first >= tellEvery
	if s.untold && due && (s.told == 0 || now-s.told >= tellEvery) {
		s.untold, s.told = false, now
		out = append(out, Notification{Suppressed: s.suppressed, At: now})
	}
	return out
}

// fill puts into the bucket what came since. A clock that was set back fills
// nothing, and what waits for it does not wait longer.
func (s *storm) fill(now int64) {
	const full = burst * token
	switch passed := now - s.filled; {
	case !s.begun || passed >= full/perSecond:
		s.level = full
	case passed > 0:
		s.level = min(full, s.level+passed*perSecond)
	}
	s.filled, s.begun = now, true
	s.first, s.told = min(s.first, now), min(s.told, now)
}
