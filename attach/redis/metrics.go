// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"slices"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	ledger.Status
	spent
}

// spent is what polls took.
type spent struct {
	last     Cost // of the last poll
	commands uint64
	keys     uint64
	bytes    uint64
	ageless  uint64 // times that a job had no time
}

// Status returns the present state. Any goroutine may call it.
func (a *Adapter) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Status{a.Source.Status(), a.spent}
}

// cost notes what a poll took.
func (a *Adapter) cost(c Cost) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.spent
	s.last, s.commands, s.keys, s.bytes = c, s.commands+uint64(c.Commands), s.keys+uint64(c.Keys), s.bytes+uint64(c.Bytes)
}

// ageless notes that a job had no time.
func (a *Adapter) ageless() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent.ageless++
}

var families = slices.Concat(ledger.Families("pnagent_redis", "net", func(s Status) ledger.Status { return s.Status }),
	[]selfmetrics.Family[Status]{
		selfmetrics.Number("pnagent_redis_queues", "Queues that the last poll read.", func(s Status) int { return s.last.Queues }),
		selfmetrics.Number("pnagent_redis_queues_left_out", "Queues that the last poll left out: more than it reads, or with a name that cannot be published.", func(s Status) int { return s.last.Refused }),
		selfmetrics.Number("pnagent_redis_poll_duration_seconds", "Time that the last poll took.", func(s Status) float64 { return s.last.Took.Seconds() }),
		selfmetrics.Number("pnagent_redis_commands_total", "Commands that read jobs.", func(s Status) uint64 { return s.commands }),
		selfmetrics.Number("pnagent_redis_scanned_keys_total", "Keys among which queues were looked for, about.", func(s Status) uint64 { return s.keys }),
		selfmetrics.Number("pnagent_redis_read_bytes_total", "Bytes that polls have read.", func(s Status) uint64 { return s.bytes }),
		selfmetrics.Number("pnagent_redis_without_time_total", "Times that a job had no time; its age counts from when it was first seen.", func(s Status) uint64 { return s.ageless }),
	})

// Metrics returns the metrics of the adapter.
func (a *Adapter) Metrics() *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return a.Status(), true })
}
