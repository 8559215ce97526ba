// SPDX-License-Identifier: Apache-2.0

package alarm

// Limits of notifications.
const (
	burst       = 50         // notifications at once
	perSecond   = 10         // on average
	reportEvery = 10e6       // microseconds between two reports of suppressed notifications
	token       = int64(1e6) // one notification, in the units of limiter.level
)

// Notification reports that an alarm was raised or cleared, or that notifications were
// suppressed.
type Notification struct {
	Change            // not used if Suppressed is not 0
	At         int64  // microseconds since the Unix epoch
	Suppressed uint64 // notifications suppressed since the start; 0 for a Change
}

// limiter is a token bucket. It suppresses and counts notifications that find it empty.
// It reports the count once a storm is over or has lasted for ten seconds, and at most
// once in ten seconds.
type limiter struct {
	level  int64 // as of filled
	filled int64
	begun  bool

	suppressed uint64   // since the start
	dropped    []Change // by the last pass
	unreported bool     // some suppressed ones
	storm      bool     // the last pass suppressed some
	first      int64    // the start of the storm
	reported   int64    // the last report; 0 if there was none
}

// pass returns the notifications that may be sent now.
func (s *limiter) pass(changes []Change, now int64) []Notification {
	s.fill(now)
	var out []Notification
	s.dropped = nil
	for _, c := range changes {
		if s.level >= token {
			s.level -= token
			out = append(out, Notification{Change: c, At: now})
			continue
		}
		s.suppressed++
		s.unreported, s.dropped = true, append(s.dropped, c)
	}
	storm := len(s.dropped) > 0
	if storm && !s.storm {
		s.first = now
	}
	s.storm = storm
	due := !storm || now-s.first >= reportEvery
	if s.unreported && due && (s.reported == 0 || now-s.reported >= reportEvery) {
		s.unreported, s.reported = false, now
		out = append(out, Notification{Suppressed: s.suppressed, At: now})
	}
	return out
}

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
	s.first, s.reported = min(s.first, now), min(s.reported, now)
}
