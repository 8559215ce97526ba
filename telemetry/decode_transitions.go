// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

func (d *Decoder) readTransitions(w *wire.Transitions, into *Snapshot) error {
	if w == nil {
		w = &wire.Transitions{}
	}
	longest := max(len(w.Firings), len(w.Failures), len(w.Enabled), len(w.Running), len(w.LastFiring),
		len(w.GetDuration().GetLen()), len(w.Timeouts))
	n, err := readIndex(w.Index, into.Full, longest, &into.TransitionIndex)
	if err != nil {
		return err
	}
	transitions := resize(into.Rows.Transitions, n)
	into.Rows.Transitions = transitions
	c := columns{d: d, n: n, index: into.TransitionIndex, known: &into.Rows.Columns}
	if err := c.transitions(w, transitions); err != nil {
		return err
	}
	return c.durations(stats.ColDuration, "duration", w.GetDuration(), w.Slowest, func(i int) (*stats.Histogram, *stats.Slowest) {
		return &transitions[i].Duration, &transitions[i].Slowest
	})
}

// transitions sets the numbers of every row, 0 where a column is absent.
func (c *columns) transitions(w *wire.Transitions, rows []stats.Transition) error {
	firings := c.counts(stats.ColFirings, "firings", w.Firings)
	failures := c.counts(stats.ColFailures, "failures", w.Failures)
	retries := c.counts(stats.ColFailures, "retries", w.Retries)
	cancels := c.counts(stats.ColFailures, "cancels", w.Cancels)
	c.together("failures, retries and cancels", len(w.Failures), len(w.Retries), len(w.Cancels))
	timeouts := c.counts(stats.ColTimeouts, "timeouts", w.Timeouts)
	late := c.counts(stats.ColTimeouts, "late", w.Late)
	c.together("timeouts and late", len(w.Timeouts), len(w.Late))
	enabled := c.counts(stats.ColEnabled, "enabled", w.Enabled)
	enabledSince := c.moments(stats.ColEnabled, "enabled_since", w.EnabledSince)
	c.together("enabled and enabled_since", len(w.Enabled), len(w.EnabledSince))
	running := c.counts(stats.ColRunning, "running", w.Running)
	runningSince := c.moments(stats.ColRunning, "running_since", w.RunningSince)
	c.together("running and running_since", len(w.Running), len(w.RunningSince))
	last := c.moments(stats.ColLastFiring, "last_firing", w.LastFiring)
	if c.err != nil {
		return c.err
	}
	for i := range rows {
		t := &rows[i]
		t.Firings, t.Failures, t.Retries, t.Cancels = firings[i], failures[i], retries[i], cancels[i]
		t.Timeouts, t.Late = timeouts[i], late[i]
		t.Enabled, t.EnabledSince = enabled[i], enabledSince[i]
		t.Running, t.RunningSince, t.LastFiring = running[i], runningSince[i], last[i]
	}
	return nil
}

// readBlocks sets the blocks, sorted, with the blocks of one condition added up.
func readBlocks(list []*wire.Block, rows *stats.Rows) error {
	if len(list) > MaxBlocks {
		return fmt.Errorf("blocks: %w: %d, of at most %d", TooMany, len(list), MaxBlocks)
	}
	blocks := resize(rows.Blocks, len(list))
	for i, w := range list {
		if w.GetTransition() >= MaxRows || w.GetPlace() > MaxRows {
			return fmt.Errorf("blocks: %w: transition %d, place %d", BadIndex, w.GetTransition(), w.GetPlace())
		}
		if w.GetInstances() > MaxCount {
			return fmt.Errorf("blocks: %w: %d instances", BadValue, w.GetInstances())
		}
		blocks[i] = stats.Block{Transition: int32(w.GetTransition()), Place: int32(w.GetPlace()) - 1,
			Reason: reason(w.GetReason()), Instances: w.GetInstances()}
	}
	if !slices.IsSortedFunc(blocks, stats.Block.Compare) {
		slices.SortFunc(blocks, stats.Block.Compare)
	}
	out := blocks[:0]
	for _, b := range blocks {
		if last := len(out) - 1; last >= 0 && out[last].Compare(b) == 0 {
			out[last].Instances += b.Instances
		} else {
			out = append(out, b)
		}
	}
	if rows.Blocks = out; len(out) > 0 {
		rows.Columns |= stats.ColBlocks
	}
	return nil
}
