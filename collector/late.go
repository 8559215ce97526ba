// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"

	"github.com/pnagent/pnagent/telemetry"
)

const (
	// maxLate is how many messages of a source are waited for.
	maxLate = 64
	// lateFor is for how long.
	lateFor = int64(10 * 1e6)
)

// late is the messages of a process that are missing before its bye. A bye has a
// subject of its own, so it may overtake them: what comes within lateFor was not
// lost.
type late struct {
	epoch int64
	seqs  []uint64
	until int64
}

// expect notes that so many messages before a bye are missing, and returns how
// many of them are too many to wait for.
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

// came notes that a message was heard too late to be taken.
func (l *late) came(msg *telemetry.Snapshot) {
	if len(l.seqs) > 0 && msg.Epoch == l.epoch {
		l.seqs = slices.DeleteFunc(l.seqs, func(seq uint64) bool { return seq == msg.Seq })
	}
}

// over returns how many messages did not come in time.
func (l *late) over(now int64) (lost uint64) {
	if len(l.seqs) > 0 && now >= l.until {
		lost, l.seqs = uint64(len(l.seqs)), nil
	}
	return lost
}
