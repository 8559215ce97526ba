// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Bounds of one database.
const (
	// MaxTokens is the largest number of tokens, and of what they wait for; further
	// ones are counted as dropped.
	MaxTokens = 1_000_000

	page     = 5000
	maxPages = 200 // of one query in one poll; the next poll continues
)

// maxLabel is the largest label of an instance, in bytes.
const maxLabel = 100

// multiBody is what Camunda appends to the id of an activity that runs several
// times, for the body around the runs.
const multiBody = "#multiInstanceBody"

// poll reads the database once and changes the ledgers. An error leaves what was
// read before it.
func (s *Adapter) poll(ctx context.Context) error {
	if !s.probed {
		if err := s.probe(ctx); err != nil {
			return err
		}
	}
	return s.cfg.Database.read(ctx, func(tx *transaction) error {
		s.tx = tx
		return s.readAll(ctx)
	})
}

// readAll reads what a poll reads, in its transaction.
func (s *Adapter) readAll(ctx context.Context) error {
	if s.columns == 0 {
		if err := s.setColumns(ctx); err != nil {
			return err
		}
	}
	clock, err := s.tx.now(ctx)
	if err != nil {
		return err
	}
	at := time.Now().UnixMicro()
	s.SetClock(clock.by, clock.within)
	now := s.Now()
	if _, err := s.definitions.Begin(ctx, at); err != nil {
		return err
	}
	if err := s.definitions.Tokens(func() error { return s.readPresence(ctx, now) }); err != nil {
		return err
	}
	if s.flowAt != 0 && at-s.flowAt < 10*s.flowTook.Microseconds() {
		return nil
	}
	begin := time.Now()
	all, err := s.readFlows(ctx, now)
	if all {
		s.flowAt, s.flowTook = at, time.Since(begin)
	}
	return err
}

// readFlows reads the new rows of all queries of flow. It reports whether these were all.
func (s *Adapter) readFlows(ctx context.Context, now int64) (all bool, err error) {
	var number int64
	if s.cfg.Mapping.queries["floor"] != nil {
		err := s.each(ctx, "floor", nil, func(row []any) error {
			number = asNumber(row[0])
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	all = true
	for _, flow := range []struct {
		query  string
		cursor *diagram.Cursor
	}{{"started", &s.state.Started}, {"ended", &s.state.Ended}, {"created", &s.state.Created}, {"finished", &s.state.Finished}} {
		if s.cfg.Mapping.queries[flow.query] == nil {
			continue
		}
		if !flow.cursor.Begun() {
			*flow.cursor = *diagram.NewCursor(now)
		}
		end, err := s.readFlow(ctx, flow.query, flow.cursor, now)
		if err != nil {
			return false, err
		}
		all = all && end
	}
	if all {
		s.state.Floor.take(number, now, s.cfg.Overlap.Microseconds())
	}
	return all, nil
}

func (s *Adapter) each(ctx context.Context, name string, with map[string]any, take func(row []any) error) error {
	begin := time.Now()
	err := s.tx.each(ctx, s.cfg.Mapping, name, with, take)
	s.Took(name, begin)
	return err
}

// openRow is a row of open.
type openRow struct {
	definition, node string
	version          *diagram.Definition
	net              *diagram.Process // nil if it is not wanted, or not known
	ledger.Token
}

// model returns the net of the row's version alone, or that of all versions until it is
// read.
func (r *openRow) model() *diagram.Process { return cmp.Or(r.version.Model, r.net) }

// readPresence reads where instances are and what they wait for.
func (s *Adapter) readPresence(ctx context.Context, now int64) error {
	limit := timed(map[string]any{"limit": MaxTokens + 1}, "now", now, s.zone())
	open, err := s.readOpen(ctx, limit)
	if err != nil {
		return err
	}
	whys, err := s.readWhy(ctx, limit, now)
	if err != nil {
		return err
	}
	ended, err := s.readDone(ctx, open, limit)
	if err != nil {
		return err
	}
	schedules, err := s.readSchedules(ctx, limit)
	if err != nil {
		return err
	}
	s.present(due(open, schedules, now), whys, ended, schedules, now)
	return nil
}

// readOpen reads where instances are, and the models of their definitions. If there is no
// instance any more, the definitions show whether the engine's rows are still there.
func (s *Adapter) readOpen(ctx context.Context, limit map[string]any) (open []openRow, err error) {
	err = s.each(ctx, "open", limit, func(row []any) error {
		if len(open) == MaxTokens {
			s.Drop("token")
			return nil
		}
		r := openRow{definition: asText(row[1]), node: strings.TrimSuffix(asText(row[2]), multiBody),
			Token: ledger.Token{ID: asText(row[0]), Instance: asText(row[3]), Since: s.time(row[4])}}
		if s.cfg.Show.Label {
			r.Label = stats.Clip(asText(row[5]), maxLabel)
		}
		open = append(open, r)
		return nil
	})
	if err == nil && len(open) == 0 && s.held {
		err = s.definitions.Relist(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.held = len(open) > 0
	for i := range open {
		if open[i].version, open[i].net, err = s.definitions.Of(ctx, open[i].definition, open[i].node); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// present replaces the tokens and schedules of all nets.
func (s *Adapter) present(open []openRow, whys map[string][]whyRow, ended *done, schedules []scheduleRow, now int64) {
	ids := sync.OnceValue(func() map[string]bool {
		all := make(map[string]bool, len(open))
		for i := range open {
			all[open[i].ID] = true
		}
		return all
	})
	first := map[string]int64{}
	s.definitions.Each((*diagram.Process).Begin)
	for i := range open {
		r := &open[i]
		if r.net == nil {
			continue
		}
		waits, here := settle(r, whys[r.ID], ended, ids, now)
		if !here {
			continue
		}
		s.age(r, now, first)
		if !r.net.Add(r.model(), r.node, r.Token, waits) {
			s.Drop("place")
		}
	}
	for i := range schedules {
		if r := &schedules[i]; !r.net.Due(r.node, r.next, r.last) {
			s.Drop("place")
		}
	}
	s.state.First = first
	s.definitions.Each((*diagram.Process).End)
}

// age sets the time of a token without one to that when it was first seen.
func (s *Adapter) age(r *openRow, now int64, first map[string]int64) {
	if r.Since > now+futureAfter && !s.future {
		s.future = true
		s.cfg.Log.Warn("the engine's times are later than the database's clock; is the time zone right?", "zone", s.zone().String(), "ahead", time.Duration(r.Since-now)*time.Microsecond)
	}
	if r.Since > 0 {
		return
	}
	r.Since = s.state.First[r.ID]
	if r.Since == 0 {
		r.Since = now
	}
	first[r.ID] = r.Since
	s.ageless.Add(1)
}

// futureAfter is how much later than now a time may be, because of clocks that differ.
const futureAfter = 60_000_000

// readFlow reads the new rows of a query of flow, in pages. It reports whether these were all.
func (s *Adapter) readFlow(ctx context.Context, name string, c *diagram.Cursor, now int64) (all bool, err error) {
	since, after := c.From(s.cfg.Overlap.Microseconds()), ""
	floor := min(s.state.Floor.This, s.state.Floor.Before)
	for pages := 0; pages < maxPages && !all; pages++ {
		var rows []diagram.Row
		var defs []string
		with := timed(map[string]any{"after": after, "limit": page, "floor": floor}, "since", since, s.zone())
		err := s.each(ctx, name, with, func(row []any) error {
			r := diagram.Row{ID: asText(row[0]), At: s.time(row[1])}
			switch name {
			case "finished":
				r.Canceled = asNumber(row[3]) != 0
			case "ended":
				r.Micros, r.Canceled = s.dwell(row[4], r.At), asNumber(row[5]) != 0
				fallthrough
			case "started":
				r.Node = strings.TrimSuffix(asText(row[3]), multiBody)
			}
			rows, defs = append(rows, r), append(defs, asText(row[2]))
			return nil
		})
		if err != nil {
			return false, err
		}
		if err := s.count(ctx, name, c, rows, defs, now); err != nil {
			return false, err
		}
		if all = len(rows) < page; !all {
			since, after = rows[len(rows)-1].At, rows[len(rows)-1].ID
		}
	}
	c.Forget(s.cfg.Overlap.Microseconds())
	return all, nil
}

// dwell returns a dwell time in microseconds: of milliseconds, or of the time when it
// began.
func (s *Adapter) dwell(v any, end int64) int64 {
	if _, millis := v.(int64); millis {
		return max(asNumber(v), 0) * 1000
	}
	if began, ok := asTime(v, s.zone()); ok {
		return max(end-began, 0)
	}
	return max(asNumber(v), 0) * 1000
}

// count counts the rows of a page that were not counted before.
func (s *Adapter) count(ctx context.Context, name string, c *diagram.Cursor, rows []diagram.Row, defs []string, now int64) error {
	single := s.cfg.Mapping.task != ""
	for i := range rows {
		r := &rows[i]
		_, n, err := s.definitions.Of(ctx, defs[i], r.Node)
		if err != nil {
			return err
		}
		if !c.Take(r, now) || n == nil {
			continue
		}
		switch name {
		case "started":
			n.Started(r)
		case "ended":
			n.Ended(r)
		}
		if name == "created" || single && name == "started" {
			n.Create()
		}
		if name == "finished" || single && name == "ended" {
			n.Finish(r.Canceled)
		}
		s.Counted(name)
	}
	return nil
}

// time returns a time of the database in microseconds, 0 for NULL.
func (s *Adapter) time(v any) int64 {
	if v == nil {
		return 0
	}
	t, ok := asTime(v, s.zone())
	if !ok || t < 0 || t > telemetry.MaxTime {
		s.Drop("time")
		return 0
	}
	return t
}

func (s *Adapter) zone() *time.Location {
	return cmp.Or(s.cfg.Zone, time.UTC)
}
