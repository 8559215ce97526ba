// SPDX-License-Identifier: Apache-2.0

package regiontest

import (
	"context"
	"fmt"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/stats"
)

// Tally counts the tokens of all instances of a net, by the logs of its parts.
type Tally struct {
	Tokens   map[string]uint64 // in places, by id; empty ones left out
	Crossing map[string]uint64 // that have left a part and not arrived, by the place's id
	Firings  map[string]uint64 // by transition id
	Parts    map[string]engine.Standing
}

// Total returns the number of tokens.
func (t *Tally) Total() uint64 {
	var n uint64
	for _, of := range []map[string]uint64{t.Tokens, t.Crossing} {
		for _, tokens := range of {
			n += tokens
		}
	}
	return n
}

// Count replays the logs of all parts of a net, cfg.Parts, while no process runs them.
func Count(ctx context.Context, cfg *region.Config) (*Tally, error) {
	t := &Tally{Tokens: map[string]uint64{}, Crossing: map[string]uint64{}, Firings: map[string]uint64{}, Parts: map[string]engine.Standing{}}
	for i := range cfg.Parts {
		if err := t.part(ctx, cfg, &cfg.Parts[i]); err != nil {
			return nil, fmt.Errorf("part %q: %w", cfg.Parts[i].Name, err)
		}
	}
	for i := range cfg.Parts {
		if err := t.crossings(ctx, cfg, &cfg.Parts[i]); err != nil {
			return nil, fmt.Errorf("part %q: %w", cfg.Parts[i].Name, err)
		}
	}
	return t, nil
}

func (t *Tally) part(ctx context.Context, cfg *region.Config, p *region.Part) error {
	log, err := cfg.Open(ctx, p.Name, true, nil)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // it was only read
	ec, part := cfg.Engine, p.Part
	ec.Journal, ec.Part = log, &part
	e, err := engine.New(ec)
	if err != nil {
		return err
	}
	net := cfg.Engine.Nets[0].Tables
	rows := stats.NewRows(net.Places(), net.Transitions())
	e.Followed(e.Latest(), rows)
	for i := range rows.Places {
		if n := rows.Places[i].Tokens; n > 0 {
			t.Tokens[net.Net.Places[i].ID] += n
		}
	}
	for i := range rows.Transitions {
		if n := rows.Transitions[i].Firings; n > 0 {
			t.Firings[net.Net.Transitions[i].ID] += n
		}
	}
	t.Parts[p.Name] = e.Standing()
	return nil
}

// crossings counts the tokens for a part in the logs upstream, after its
// cursors.
func (t *Tally) crossings(ctx context.Context, cfg *region.Config, p *region.Part) error {
	for i, name := range p.Upstream {
		log, err := cfg.Open(ctx, name, true, nil)
		if err != nil {
			return err
		}
		up := engine.Upstream{Plan: p.Plan, At: t.Parts[p.Name].Cursors[i]}
		for c, err := range log.Read(ctx, t.Parts[p.Name].Cursors[i].Position+1) {
			if err != nil {
				return fmt.Errorf("reading %q upstream: %w", name, err)
			}
			if err := t.arriving(cfg, p, &up, c); err != nil {
				return err
			}
		}
		if err := log.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tally) arriving(cfg *region.Config, p *region.Part, up *engine.Upstream, c journal.Commit) error {
	tokens, err := up.Read(c)
	if err != nil {
		return err
	}
	for _, x := range tokens {
		if p.Cut.Places[x.Place] {
			t.Crossing[cfg.Engine.Nets[0].Tables.Net.Places[x.Place].ID] += uint64(x.Tokens)
		}
	}
	return nil
}
