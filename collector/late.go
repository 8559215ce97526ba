// SPDX-License-Identifier: Apache-2.0

package collector

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
	until int64
}

// expect records missing messages before a bye, and returns how many of them are
// too many to wait for.
func (l *late) expect(msg *telemetry.Snapshot, missing uint64, now int64) (lost uint64) {
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
	l.epoch, l.until = msg.Epoch, now+lateFor
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
