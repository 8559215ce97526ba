// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pnagent/pnagent/collector/alarm"
)

// station receives the notifications of one sidecar, or of a pair. The network on which it receives
// them has no faults; a process that was killed sends nothing.
type station struct {
	mu     sync.Mutex
	alarms map[uint32]*received
	truth  *truth
	faults []string
	note   func(format string, args ...any)
}

// received is what the station knows of one index.
type received struct {
	alarm   alarm.Alarm
	cleared bool
}

func newStation(t *truth, note func(string, ...any)) *station {
	return &station{alarms: map[uint32]*received{}, truth: t, note: note}
}

var errKilled = errors.New("killed")

// receive takes a notification, and judges it.
func (s *station) receive(from string, l *link, n alarm.Notification) error {
	l.mu.Lock()
	killed := l.killed
	l.mu.Unlock()
	if killed {
		return errKilled
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &n.Alarm
	fault := func(format string, args ...any) {
		s.faults = append(s.faults, fmt.Sprintf("%s: %s %d of %s %s %q: %s", from, a.Kind, a.Index, a.Net, a.Subject, a.Text, fmt.Sprintf(format, args...)))
	}
	s.note("%s notifies: %s %d of %s, raised: %t: %s", from, a.Kind, a.Index, a.Subject, n.Raise, a.Text)
	known := s.alarms[a.Index]
	switch {
	case n.Suppressed > 0:
		fault("%d notifications are suppressed, and there is no storm", n.Suppressed)
	case known != nil && (known.alarm.Kind != a.Kind || known.alarm.Net != a.Net || known.alarm.Subject != a.Subject):
		fault("the index was that of %s of %s %s", known.alarm.Kind, known.alarm.Net, known.alarm.Subject)
	case n.Raise && known == nil:
		s.alarms[a.Index] = &received{alarm: *a}
		if atTheDesk(a) {
			s.truth.raised(a, n.At, fault)
		}
	case n.Raise: // once more, by the other sidecar of the pair or after a kill: see docs/sidecar-pairs.md
		known.cleared = false
	case known == nil:
		fault("cleared without a raise")
	case !known.cleared:
		known.cleared = true
		if atTheDesk(a) && !s.hasAnother(a) {
			s.truth.cleared(&known.alarm, fault)
		}
	}
	return nil
}

// hasAnother reports whether the station has the same alarm under another index, because two sidecars that could
// not reach each other gave it one each; or a lost source, from which the alarm under the other index follows, so
// that its raise is held back.
func (s *station) hasAnother(a *alarm.Alarm) bool {
	for index, r := range s.alarms {
		o := &r.alarm
		same := o.Kind == a.Kind && o.Net == a.Net && o.Subject == a.Subject
		if index != a.Index && !r.cleared && (same || o.Kind == alarm.SourceLost && strings.HasSuffix(a.Text, "continues under another index")) {
			return true
		}
	}
	return false
}

// atTheDesk reports whether an alarm is about the place of which the truth is known. Tokens in the ring
// of an engine that is down are stuck as well.
func atTheDesk(a *alarm.Alarm) bool { return a.Kind == alarm.TokenStuck && a.Subject == "desk" }

// active returns the alarms that are raised and not cleared.
func (s *station) active() (desk int, others []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.alarms {
		switch a := &r.alarm; {
		case r.cleared:
		case atTheDesk(a):
			desk++
		default:
			others = append(others, fmt.Sprintf("%s %s %q", a.Kind, a.Subject, a.Text))
		}
	}
	return desk, others
}
