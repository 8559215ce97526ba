// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/pnagent/pnagent/stats"
)

// Report is what an engine has done.
type Report struct {
	Source  string `json:"source"`
	Part    string `json:"part,omitempty"` // that was played; left out for whole nets
	Firings uint64 `json:"firings"`        // of all nets; with a journal, since that began
	// SnapshotsFailed is how many snapshots of the journal could not be saved
	// in this Run. The log is complete without them, but longer.
	SnapshotsFailed uint64  `json:"snapshots_failed,omitempty"`
	Seconds         float64 `json:"seconds"` // from the start of Run to its end
	Rate            float64 `json:"rate"`    // firings a second of this Run
	// Marking is that of instance 0 of the first net, or of the first instance of
	// a part: tokens by place id, empty places left out.
	Marking map[string]uint64     `json:"marking"`
	Nets    map[string]*NetReport `json:"nets"`
	Events  *EventReport          `json:"events,omitempty"` // of this Run; nil if there were none
	// Refused is how many requests exceeded a bound in this Run, by reason: too many
	// tokens, place full, queue full.
	Refused map[string]uint64 `json:"refused,omitempty"`
}

// NetReport is what an engine has done with one net, over all instances. Ids
// with nothing to count are left out.
type NetReport struct {
	Instances   int               `json:"instances"`
	Firings     uint64            `json:"firings"`
	Finished    uint64            `json:"finished"`
	Deadlocked  uint64            `json:"deadlocked"`
	Failed      uint64            `json:"failed"`
	Tokens      map[string]uint64 `json:"tokens"`      // by place id
	Transitions map[string]uint64 `json:"transitions"` // firings, by transition id
}

// Report returns what the engine has done. Run must have ended.
func (e *Engine) Report(ctx context.Context) (*Report, error) {
	r := &Report{Source: e.cfg.Source, SnapshotsFailed: e.snapshotsFailed.Load(), Events: e.eventCounts.report(), Refused: e.refusals.report(), Seconds: e.stopped.Sub(e.started).Seconds(), Marking: map[string]uint64{}, Nets: map[string]*NetReport{}}
	for k, n := range e.cfg.Nets {
		net := n.Tables.Net
		rows := stats.NewRows(len(net.Places), len(net.Transitions))
		if err := e.Rows(ctx, k, e.cfg.Clock(), rows); err != nil {
			return nil, err
		}
		nr := &NetReport{Instances: e.held(), Finished: rows.Net.Finished, Deadlocked: rows.Net.Deadlocked, Failed: rows.Net.Failed,
			Tokens: map[string]uint64{}, Transitions: map[string]uint64{}}
		for i := range rows.Places {
			if m := rows.Places[i].Tokens; m > 0 {
				nr.Tokens[net.Places[i].ID] = m
			}
		}
		for i := range rows.Transitions {
			if f := rows.Transitions[i].Firings; f > 0 {
				nr.Transitions[net.Transitions[i].ID] = f
				nr.Firings += f
			}
		}
		r.Nets[net.ID] = nr
		r.Firings += nr.Firings
	}
	if r.Seconds > 0 {
		r.Rate = float64(r.Firings-e.before) / r.Seconds
	}
	return r, e.firstMarking(ctx, r)
}

// held returns how many instances of each net the engine holds.
func (e *Engine) held() int {
	if p := e.cfg.Part; p != nil && p.Numbers != nil {
		return len(p.Numbers)
	}
	return e.cfg.Instances
}

func (e *Engine) firstMarking(ctx context.Context, r *Report) error {
	net := e.cfg.Nets[0].Tables.Net
	first := 0
	if p := e.cfg.Part; p != nil {
		r.Part = p.Name
		if len(p.Numbers) > 0 {
			first = int(p.Numbers[0])
		}
	}
	m, err := e.Marking(ctx, net.ID, first)
	if err != nil {
		return err
	}
	for i, tokens := range m {
		if tokens > 0 {
			r.Marking[net.Places[i].ID] = uint64(tokens)
		}
	}
	return nil
}
