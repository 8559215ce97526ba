// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
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

	maxNets  = 10_000 // unwanted ones count, too
	page     = 5000
	maxPages = 200 // of one query in one poll; the next poll continues

	maxRereads = 100 // of tasks in one poll
)

// listEvery is the time between two readings of the list of definitions, in
// microseconds. A definition that a row names is looked up at once.
const listEvery = 60_000_000

// maxLabel is the largest label of an instance, in bytes.
const maxLabel = 100

// multiBody is what Camunda appends to the id of an activity that runs several
// times, for the body around the runs.
const multiBody = "#multiInstanceBody"

// definition is one version of a process.
type definition struct {
	id, key, net, name string // net is the key, or key and version
	version            int64
	loaded             bool
	delays             map[string]int64 // microseconds between tries, by task
}

// poll reads the database once and changes the ledgers. An error leaves what was
// read before it.
func (s *Adapter) poll(ctx context.Context) error {
	if !s.probed {
		if err := s.probe(ctx); err != nil {
			return err
		}
	}
	s.rereads = 0
	clock, err := s.cfg.Database.now(ctx)
	if err != nil {
		return err
	}
	host := time.Now().UnixMicro()
	s.SetClock(clock.by, clock.within)
	now := s.Now()
	if host-s.listedAt >= listEvery {
		if err := s.list(ctx); err != nil {
			return err
		}
		s.listedAt = host
	}
	if s.presenceDue(host) {
		begin := time.Now()
		if err := s.readPresence(ctx, now); err != nil {
			return err
		}
		s.presenceAt, s.presenceTook = host, time.Since(begin)
	}
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
		if err := s.readFlow(ctx, flow.query, flow.cursor, now); err != nil {
			return err
		}
	}
	return nil
}

// presenceDue reports whether to read the tokens: if that took less than a tenth of
// the time since.
func (s *Adapter) presenceDue(now int64) bool {
	return s.presenceAt == 0 || now-s.presenceAt >= 10*s.presenceTook.Microseconds()
}

// readDefinitions reads the list of definitions.
func (s *Adapter) readDefinitions(ctx context.Context) error {
	return s.each(ctx, "definitions", nil, func(row []any) error {
		id := asText(row[0])
		if s.definitions[id] == nil {
			d := &definition{id: id, key: asText(row[1]), net: asText(row[1]), version: asNumber(row[2]), name: asText(row[3])}
			if s.cfg.ByVersion {
				d.net += ":" + strconv.FormatInt(d.version, 10)
			}
			s.definitions[id] = d
		}
		return nil
	})
}

func (s *Adapter) each(ctx context.Context, name string, with map[string]any, take func(row []any) error) error {
	begin := time.Now()
	err := s.cfg.Database.each(ctx, s.cfg.Mapping, name, with, take)
	s.mu.Lock()
	s.status.Seconds[name] = time.Since(begin).Seconds()
	s.mu.Unlock()
	return err
}

// list reads the list of definitions, and makes a net of the newest version of each
// key. Others get one when a row names them.
func (s *Adapter) list(ctx context.Context) error {
	if err := s.readDefinitions(ctx); err != nil {
		return err
	}
	newest := map[string]*definition{}
	for _, d := range s.definitions {
		if of := newest[d.key]; of == nil || d.after(of) {
			newest[d.key] = d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		if _, err := s.ledger(ctx, newest[key].net); err != nil {
			return err
		}
	}
	return nil
}

// after reports whether a definition is a later version than another one.
func (d *definition) after(o *definition) bool {
	return cmp.Or(cmp.Compare(d.version, o.version), cmp.Compare(d.id, o.id)) > 0
}

// ledger returns the ledger of a net, and makes it. It returns nil for one that is
// not wanted, or cannot have one; a refusal is counted once.
func (s *Adapter) ledger(ctx context.Context, net string) (*diagram.Net, error) {
	if n, known := s.nets[net]; known {
		return n, nil
	}
	d := s.newest(net)
	var n *diagram.Net
	switch {
	case len(s.cfg.Nets) > 0 && !slices.Contains(s.cfg.Nets, d.key):
	case len(s.nets) >= maxNets || telemetry.CheckName(net) != nil:
		s.Drop("net")
	default:
		var err error
		if n, err = s.readModel(ctx, d); err != nil {
			return nil, err
		}
		s.Add(n.Ledger)
	}
	s.nets[net] = n
	return n, nil
}

// net returns the ledger of a definition. It reads the list of definitions if the
// definition is new, and the model of a version that names a node which the net
// lacks; tasks again, because those of a definition may change. It returns nil for a definition that is not listed, or if there is no room.
func (s *Adapter) net(ctx context.Context, id, node string) (*diagram.Net, error) {
	if s.definitions[id] == nil {
		if err := s.readDefinitions(ctx); err != nil {
			return nil, err
		}
	}
	d := s.definitions[id]
	if d == nil {
		s.Drop("definition")
		return nil, nil
	}
	n, err := s.ledger(ctx, d.net)
	if n == nil || err != nil {
		return nil, err
	}
	again := s.cfg.Mapping.queries["tasks"] != nil && s.rereads < maxRereads
	if node != "" && !n.Knows(node) && (again || !d.loaded) {
		s.rereads++
		l, err := s.readModel(ctx, d)
		if err != nil {
			return nil, err
		}
		n.Merge(l)
	}
	return n, nil
}

// newest returns the newest version of a net.
func (s *Adapter) newest(net string) *definition {
	var out *definition
	for _, d := range s.definitions {
		if d.net == net && (out == nil || d.after(out)) {
			out = d
		}
	}
	return out
}

// readModel reads the model of a definition. A model that cannot be used is
// logged; its nodes are added as rows name them.
func (s *Adapter) readModel(ctx context.Context, d *definition) (*diagram.Net, error) {
	read := s.readDiagram
	if s.cfg.Mapping.queries["tasks"] != nil {
		read = s.readTasks
	}
	l, unfit, err := read(ctx, d)
	if err != nil {
		return nil, err
	}
	d.loaded = true
	l.Def.ID = d.net
	l.SetColumns(s.columns)
	if unfit != nil {
		s.cfg.Log.Warn("the model cannot be used; places are added as rows name them", "net", d.net, "definition", d.id, "err", unfit)
	}
	return l, nil
}

// openRow is a row of open.
type openRow struct {
	definition, node string
	ledger.Token
}

// readPresence reads where instances are and what they wait for.
func (s *Adapter) readPresence(ctx context.Context, now int64) error {
	var open []openRow
	limit := map[string]any{"limit": MaxTokens + 1, "now": param(now, s.zone())}
	err := s.each(ctx, "open", limit, func(row []any) error {
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
	ids := sync.OnceValue(func() map[string]bool {
		all := make(map[string]bool, len(open))
		for i := range open {
			all[open[i].ID] = true
		}
		return all
	})
	first := map[string]int64{}
	for _, n := range s.nets {
		if n != nil {
			n.Begin()
		}
	}
	for i := range open {
		r := &open[i]
		n, err := s.net(ctx, r.definition, r.node)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		waits, here := s.settle(n, r, whys[r.ID], ended, ids, now)
		if !here {
			continue
		}
		s.age(r, now, first)
		if !n.Add(r.node, r.Token, waits) {
			s.Drop("place")
		}
	}
	s.first = first
	for _, n := range s.nets {
		if n != nil {
			n.End()
		}
	}
	return nil
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
	if r.Since = s.first[r.ID]; r.Since == 0 {
		r.Since = now
	}
	first[r.ID] = r.Since
	s.mu.Lock()
	s.status.Ageless++
	s.mu.Unlock()
}

// futureAfter is how much later than now a time may be, because of clocks that differ.
const futureAfter = 60_000_000

// readFlow reads the new rows of a query of flow, in pages.
func (s *Adapter) readFlow(ctx context.Context, name string, c *diagram.Cursor, now int64) error {
	since, after := c.From(s.cfg.Overlap.Microseconds()), ""
	for range maxPages {
		var rows []diagram.Row
		var defs []string
		err := s.each(ctx, name, map[string]any{"since": param(since, s.zone()), "after": after, "limit": page}, func(row []any) error {
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
			return err
		}
		if err := s.count(ctx, name, c, rows, defs, now); err != nil {
			return err
		}
		if len(rows) < page {
			break
		}
		since, after = rows[len(rows)-1].At, rows[len(rows)-1].ID
	}
	c.Forget(s.cfg.Overlap.Microseconds())
	return nil
}

// dwell returns a dwell time in microseconds: of milliseconds, or of the time when it
// began.
func (s *Adapter) dwell(v any, end int64) int64 {
	if began, ok := asTime(v, s.zone()); ok {
		return max(end-began, 0)
	}
	return max(asNumber(v), 0) * 1000
}

// count counts the rows of a page that were not counted before.
func (s *Adapter) count(ctx context.Context, name string, c *diagram.Cursor, rows []diagram.Row, defs []string, now int64) error {
	for i := range rows {
		r := &rows[i]
		n, err := s.net(ctx, defs[i], r.Node)
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
		case "created":
			n.Create()
		case "finished":
			n.Finish(r.Canceled)
		}
		s.mu.Lock()
		s.status.Rows[name]++
		s.mu.Unlock()
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
	if s.cfg.Zone == nil {
		return time.UTC
	}
	return s.cfg.Zone
}
