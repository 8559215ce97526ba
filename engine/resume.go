// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// begin makes the engine the owner of a journal of whole nets that it has read.
// The epoch is the time in seconds, so that it is above all epochs before it,
// even if the previous journal was removed or this one is a truncated copy.
func (e *Engine) begin(ctx context.Context) error {
	epoch := max(e.Standing().Epoch+1, uint64(max(e.workers[0].now(), 0)/1e6))
	if err := e.lead(ctx, epoch); err != nil {
		return fmt.Errorf("taking over the journal: %w", err)
	}
	return nil
}

// lead makes the engine the owner of what it has read, in an epoch, and
// continues playing and counting from there.
func (e *Engine) lead(ctx context.Context, epoch uint64) error {
	r := e.recorder
	if err := e.own(ctx, ownership{Epoch: epoch, Owner: e.cfg.Source}); err != nil {
		return fmt.Errorf("epoch %d: %w", epoch, err)
	}
	r.mu.Lock()
	r.whole.parts = nil // what the previous owner did not complete
	r.mu.Unlock()
	e.nameRuns(epoch)
	e.before = e.counted()
	e.workers[0].before = r.queues
	e.follow()
	for _, w := range e.workers {
		for _, shard := range w.shards {
			shard.Resume(w.now())
		}
	}
	return nil
}

// nameRuns sets names for the runs of actions that start from now on, which
// none had before in any life of the journal. Other nets have regions of the
// same name, and a journal that starts from scratch has the same epochs.
func (e *Engine) nameRuns(epoch uint64) {
	workers := uint64(len(e.workers))
	for k := range e.cfg.Nets {
		last := uint64(0)
		for _, w := range e.workers {
			if shard := w.stage.nets[k].shard; shard != nil {
				last = max(last, shard.LastRun())
			}
		}
		for i, w := range e.workers {
			acts := &w.stage.nets[k]
			acts.region = fmt.Sprintf("%s/%s/%d", e.cfg.Nets[k].Tables.Net.ID, e.region(), e.recorder.head.Created)
			if acts.shard != nil {
				acts.shard.NameRuns(epoch, last+workers+uint64(i), workers)
			}
		}
	}
}

// region returns the name under which the counters in the journal are published
// and its runs are named: the part, or else the first source that owned the
// journal.
func (e *Engine) region() string {
	if e.cfg.Part != nil {
		return e.cfg.Part.Name
	}
	e.recorder.mu.Lock()
	defer e.recorder.mu.Unlock()
	return e.recorder.head.First
}

// described returns what telemetry publishes about a net whose counters
// continue from owner to owner of its journal.
func (e *Engine) described(n telemetry.SourceNet) telemetry.SourceNet {
	if e.recorder != nil {
		s := e.Standing()
		n.Region, n.Fence, n.Since = e.region(), s.Epoch, s.Since
	}
	return n
}

// counted returns the number of firings of all owners.
func (e *Engine) counted() (firings uint64) {
	for k := range e.cfg.Nets {
		rows := e.cumulative(k)
		for i := range rows.Transitions {
			firings += rows.Transitions[i].Firings
		}
	}
	return firings
}

// cumulative returns what was counted of a net over all workers, which must be
// paused.
func (e *Engine) cumulative(net int) *stats.Rows {
	n := e.cfg.Nets[net].Tables
	rows := stats.NewRows(n.Places(), n.Transitions())
	for _, w := range e.workers {
		w.shards[net].Counted(rows)
	}
	return rows
}

// counts returns the counters of a net for the header of a journal's snapshot:
// as a snapshot of telemetry.
func (e *Engine) counts(net int) ([]byte, error) {
	n, r := e.cfg.Nets[net].Tables, e.recorder
	var enc telemetry.Encoder
	return enc.Append(nil, &telemetry.Snapshot{Source: e.region(), Net: n.Net.ID, Digest: r.head.Nets[net].Digest, Epoch: r.head.Created, Seq: 1,
		SentAt: e.workers[0].now(), Interval: telemetry.DefaultInterval, Full: true, Rows: *e.cumulative(net)})
}

// recount restores what counts returned. One worker takes all of it: only the
// sum is ever used.
func (e *Engine) recount(net int, text []byte) error {
	n := e.cfg.Nets[net].Tables
	var dec telemetry.Decoder
	var counts telemetry.Snapshot
	if err := dec.Decode(text, &counts); err != nil {
		return fmt.Errorf("%w: counts of net %q: %w", ErrReplay, n.Net.ID, err)
	}
	if len(counts.Rows.Places) != n.Places() || len(counts.Rows.Transitions) != n.Transitions() {
		return fmt.Errorf("%w: counts of %d places and %d transitions of net %q; expected %d and %d",
			ErrReplay, len(counts.Rows.Places), len(counts.Rows.Transitions), n.Net.ID, n.Places(), n.Transitions())
	}
	from := &counts.Rows
	for _, w := range e.workers {
		if err := w.shards[net].Recount(from); err != nil {
			return fmt.Errorf("%w: counts of net %q: %w", ErrReplay, n.Net.ID, err)
		}
		from = stats.NewRows(n.Places(), n.Transitions())
	}
	return nil
}

// own writes an ownership of the journal, and waits until it is confirmed.
func (e *Engine) own(ctx context.Context, o ownership) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	r, w := e.recorder, e.workers[0]
	w.rest.Lock() // callers that read the state use the time too
	now := w.now()
	w.rest.Unlock()
	if err := r.own(ctx, o, appendSection(appendTime(nil, now), len(e.cfg.Nets)+sectionOwnership, text)); err != nil {
		return err
	}
	return r.confirm(ctx)
}
