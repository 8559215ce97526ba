// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// readQueues sets the queues and the number of waiting pieces of work.
func readQueues(m *wire.Snapshot, rows *stats.Rows, most uint64) error {
	rows.Waiting = m.GetWaiting()
	if rows.Waiting > most {
		return fmt.Errorf("waiting: %w: %d", BadValue, rows.Waiting)
	}
	if m.Waiting != nil {
		rows.Columns |= stats.ColWaiting
	}
	if len(m.Queues) > stats.Priorities {
		return fmt.Errorf("queues: %w: %d, of at most %d", TooMany, len(m.Queues), stats.Priorities)
	}
	rows.Queues = resize(rows.Queues, len(m.Queues))
	for i, w := range m.Queues {
		if w.GetPriority() >= stats.Priorities {
			return fmt.Errorf("queues: %w: priority %d, of %d", BadIndex, w.GetPriority(), stats.Priorities)
		}
		if top := max(w.GetReady(), w.GetServed(), w.GetQuoteSwitches()); top > most {
			return fmt.Errorf("queues: %w: %d, of at most %d", BadValue, top, most)
		}
		oldest, unserved := w.GetOldestSince(), w.GetUnservedSince()
		if min(oldest, unserved) < 0 || max(oldest, unserved) > MaxTime {
			return fmt.Errorf("queues: %w: a time of %d or %d", BadValue, oldest, unserved)
		}
		rows.Queues[i] = stats.Queue{Priority: uint8(w.GetPriority()), Ready: w.GetReady(), OldestSince: oldest,
			UnservedSince: unserved, Served: w.GetServed(), QuoteSwitches: w.GetQuoteSwitches()}
	}
	if !stats.ValidQueues(rows.Queues) {
		return fmt.Errorf("queues: %w: priorities rise", BadIndex)
	}
	if len(rows.Queues) > 0 {
		rows.Columns |= stats.ColQueues
	}
	return nil
}
