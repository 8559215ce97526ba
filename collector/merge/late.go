// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"

	"github.com/pnagent/pnagent/telemetry"
)

const (
	// maxLate is how many missing messages of a source are waited for.
	maxLate = 64
	// lateFor is how long they are waited for.
	lateFor = int64(10 * 1e6)
)

// late holds the messages of a process that are missing before its bye. A bye has
// a subject of its own, so it may overtake them: messages that arrive within
// lateFor are not lost.
type late struct {
	epoch int64
	seqs  []uint64
	from  int64 // when the message before them was received
	until int64
}

// expect records missing messages before a bye, and returns how many of them are
// too many to wait for. The message before them was received at from.
func (l *late) expect(msg *telemetry.Snapshot, missing uint64, from, now int64) (lost uint64) {
	if missing == 0 {
		return 0
	}
	if l.epoch != msg.Epoch {
		lost, l.seqs = uint64(len(l.seqs)), nil
	}
	room := min(missing, uint64(maxLate-len(l.seqs)))
	for i := range room {
		l.seqs = append(l.seqs, msg.Seq-1-i)
	}
	l.epoch, l.from, l.until = msg.Epoch, from, now+lateFor
	return lost + missing - room
}

// arrived records a message that is too late to be taken.
func (l *late) arrived(msg *telemetry.Snapshot) {
	if len(l.seqs) > 0 && msg.Epoch == l.epoch {
		l.seqs = slices.DeleteFunc(l.seqs, func(seq uint64) bool { return seq == msg.Seq })
	}
}

// over returns how many messages did not arrive in time.
func (l *late) over(now int64) (lost uint64) {
	if len(l.seqs) > 0 && now >= l.until {
		lost, l.seqs = uint64(len(l.seqs)), nil
	}
	return lost
}

// unproved are missing messages of a source of which it is not known yet whether the
// collector could receive them.
type unproved struct {
	n        uint64
	from, at int64 // when the messages before and after them were received
}

func (u *unproved) add(n uint64, from, at int64) {
	if u.n == 0 {
		u.from = from
	}
	u.n, u.at = u.n+n, at
}

// countLost counts the missing messages of a source as lost, once it is proved that the
// collector could receive all that time. What was published during a break of its own, as
// while it is restarted, is not lost on the way.
func (m *Merger) countLost(s *source) {
	u := s.unproved
	if u.n == 0 || m.reception.known && m.reception.until < u.at {
		return
	}
	s.unproved = unproved{}
	if m.reception.since > u.from {
		return
	}
	s.gaps, m.traffic.Lost = s.gaps+u.n, m.traffic.Lost+u.n
	m.counted = true
	m.touch(s)
}
