// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// live is a table of PETRINET-MIB whose rows change with the View, or scalars between such tables. Its
// columns are blocks of the layout, one after the other.
type live interface {
	// indices returns the indices of the rows: last, those of the previous tick, if they are the same.
	indices(last *smi.Rows) (*smi.Rows, error)
	// blocks appends the blocks of rows with these indices. objects is the node of PETRINET-MIB above all tables.
	blocks(dst []smi.Block, objects smi.OID, rows *smi.Rows) []smi.Block
	// fill sets the values of the blocks, of which first is the first one, and returns the block after them.
	fill(draft *smi.Draft, first int, now int64) (next int)
}

// rows are the rows of a table: A is what one is found by, and R what columns read.
type rows[A, R any] struct {
	table   table
	columns []column[R]
	all     []A
	index   func(at *A, subs []uint32) []uint32 // appends the index of a row
	row     func(at *A, c *clock) R
}

func (t *rows[A, R]) indices(last *smi.Rows) (*smi.Rows, error) {
	width := len(t.table.index)
	subs := make([]uint32, 0, width*len(t.all))
	for i := range t.all {
		subs = t.index(&t.all[i], subs)
	}
	if last.Equal(width, subs) {
		return last, nil
	}
	now, err := smi.NewRows(width, subs)
	if err != nil {
		return nil, fmt.Errorf("%sTable: %w", t.table.name, err)
	}
	return now, nil
}

func (t *rows[A, R]) blocks(dst []smi.Block, objects smi.OID, rows *smi.Rows) []smi.Block {
	for i := range t.columns {
		dst = append(dst, smi.Block{Prefix: objects.Append(t.table.sub, 1, t.columns[i].sub), Rows: rows})
	}
	return dst
}

// fill has the values of a column made when one of them is read.
func (t *rows[A, R]) fill(draft *smi.Draft, first int, now int64) (next int) {
	for c := range t.columns {
		draft.SetLater(first+c, new(sync.Once), func(set func(int, smi.Value)) {
			clock := &clock{now: now}
			for k := range t.all {
				r := t.row(&t.all[k], clock)
				set(k, t.columns[c].value(&r))
			}
		})
	}
	return first + len(t.columns)
}

// singles are scalars between tables, with the row that they read.
type singles struct {
	columns []column[agentRow]
	row     *agentRow
}

func (s singles) indices(last *smi.Rows) (*smi.Rows, error) {
	if last.Len() == len(s.columns) {
		return last, nil
	}
	return scalarRows(objectsOf(s.columns))
}

func (s singles) blocks(dst []smi.Block, objects smi.OID, rows *smi.Rows) []smi.Block {
	return append(dst, smi.Block{Prefix: objects, Rows: rows, Scalar: true})
}

func (s singles) fill(draft *smi.Draft, first int, _ int64) (next int) {
	scalars(draft, first, s.columns, s.row)
	return first + 1
}

// live returns the tables that change with a View and its alarms, and the scalars between them, in the
// order of their OIDs.
func (b *Builder) live(agent *agentRow) []live {
	view, d := agent.view, b.desc
	var stuck []stuckAt
	var blocks []blockAt
	var queues []queueAt
	if b.indices != nil { // mostly there are as many as before
		stuck, blocks = make([]stuckAt, 0, b.indices[0].Len()+16), make([]blockAt, 0, b.indices[1].Len()+16)
	}
	for i := range b.plan.nets {
		n := &b.plan.nets[i]
		net := view.Nets[n.view]
		if net.Rows.Columns.Has(stats.ColStuck) {
			stuck = appendStuck(stuck, n, net)
		}
		if net.Rows.Columns.Has(stats.ColBlocks) {
			blocks = appendBlocks(blocks, n, net.Rows)
		}
		if net.Rows.Columns.Has(stats.ColQueues) && stats.ValidQueues(net.Rows.Queues) {
			for k := range net.Rows.Queues {
				queues = append(queues, queueAt{n, &net.Rows.Queues[k]})
			}
		}
	}
	sources := b.sources.number(view.Sources)
	about := newServed(b.root, b.plan, sources, b.sources.known)
	b.served.Store(about)
	tables := []live{
		&rows[stuckAt, stuckRow]{tableOf("stuck"), d.stuck, stuck, (*stuckAt).index, func(at *stuckAt, c *clock) stuckRow { return at.row(view, c) }},
		&rows[blockAt, blockRow]{tableOf("block"), d.blocks, blocks, (*blockAt).index, (*blockAt).row},
		b.sourceRows(d.sources, sources),
	}
	for i := range d.regions {
		reporting := slices.DeleteFunc(slices.Clone(sources), func(s sourceAt) bool { return !d.regions[i].by(s.source) })
		tables = append(tables, b.sourceRows(d.regions[i].columns, reporting))
	}
	return append(tables,
		&rows[*alarm.Alarm, alarmRow]{tableOf("alarm"), d.alarms, activeAlarms(agent.state), func(a **alarm.Alarm, subs []uint32) []uint32 { return append(subs, (*a).Index) },
			func(a **alarm.Alarm, c *clock) alarmRow { return alarmRow{alarm: *a, row: about.rowOf(*a), at: c} }},
		singles{d.change, agent},
		&rows[queueAt, queueRow]{tableOf("queue"), d.queues, queues, (*queueAt).index, func(at *queueAt, c *clock) queueRow { return queueRow{queue: at.queue, at: c} }},
		&rows[*alarm.ClearedAlarm, clearedRow]{tableOf("cleared"), d.cleared, clearedAlarms(agent.state), func(a **alarm.ClearedAlarm, subs []uint32) []uint32 { return append(subs, (*a).Index) },
			func(a **alarm.ClearedAlarm, c *clock) clearedRow { return clearedRow{alarm: *a, at: c} }},
		singles{d.counts, agent})
}

// sourceRows returns some columns of pnSourceTable, for sources.
func (b *Builder) sourceRows(columns []column[sourceRow], sources []sourceAt) live {
	numbers := b.plan.numbers
	return &rows[sourceAt, sourceRow]{tableOf("source"), columns, sources, func(at *sourceAt, subs []uint32) []uint32 { return append(subs, at.number) },
		func(at *sourceAt, c *clock) sourceRow {
			return sourceRow{source: at.source, net: numbers[at.source.Net], at: c}
		}}
}

type stuckAt struct {
	net   *netPlan
	place int // index in net.places
	rank  int // from 0
}

type blockAt struct {
	net                       *netPlan
	transition, place, reason uint32
	block                     stats.Block
}

type queueAt struct {
	net   *netPlan
	queue *stats.Queue
}

type sourceAt struct {
	number uint32
	source *merge.Source
}

func appendStuck(stuck []stuckAt, n *netPlan, net *merge.NetView) []stuckAt {
	for i, place := range n.places {
		for rank := range min(len(net.Stuck(place.index)), stats.MaxStuck) {
			stuck = append(stuck, stuckAt{n, i, rank})
		}
	}
	return stuck
}

func (at *stuckAt) index(subs []uint32) []uint32 {
	return append(subs, at.net.number, at.net.places[at.place].number, uint32(at.rank)+1)
}

func (at *stuckAt) row(view *merge.View, c *clock) stuckRow {
	token := &view.Nets[at.net.view].Stuck(at.net.places[at.place].index)[at.rank]
	return stuckRow{token: token, why: func() string { return at.net.whys.of(at, token.Waits) }, at: c}
}

// appendBlocks appends the net's blocks by their numbers. A View has one block for each; of
// others with the same number the first is served, so that the table can be made.
func appendBlocks(blocks []blockAt, n *netPlan, rows *stats.Rows) []blockAt {
	first := len(blocks)
	for _, b := range rows.Blocks {
		t, place := numberOf(n.transitionNumber, b.Transition), numberOf(n.placeNumber, b.Place)
		if t != 0 && (place != 0 || b.Place == stats.NoPlace) {
			blocks = append(blocks, blockAt{n, t, place, reasonNumber(b.Reason), b})
		}
	}
	added := blocks[first:]
	slices.SortStableFunc(added, blockAt.compare)
	kept := slices.CompactFunc(added, func(a, b blockAt) bool { return a.compare(b) == 0 })
	return blocks[:first+len(kept)]
}

func (at *blockAt) index(subs []uint32) []uint32 {
	return append(subs, at.net.number, at.transition, at.place, at.reason)
}

func (at *blockAt) row(*clock) blockRow {
	if at.place == 0 {
		return blockRow{block: &at.block}
	}
	return blockRow{block: &at.block, place: at.net.def.Places[at.block.Place].ID}
}

func (at *queueAt) index(subs []uint32) []uint32 {
	return append(subs, at.net.number, uint32(at.queue.Priority))
}

// numberOf returns the number of an index in the definition; 0 for none.
func numberOf(numbers []uint32, index int32) uint32 {
	if index < 0 || int(index) >= len(numbers) {
		return 0
	}
	return numbers[index]
}

func (at blockAt) compare(o blockAt) int {
	return cmp.Or(cmp.Compare(at.transition, o.transition), cmp.Compare(at.place, o.place), cmp.Compare(at.reason, o.reason))
}

// layout returns the layout of head, the live tables with their indices, and tail.
func (p *plan) layout(root smi.OID, tables []live, indices []*smi.Rows) (*smi.Layout, error) {
	objects := root.Append(subPetrinet, subObjects)
	blocks := slices.Clone(p.head)
	for i, t := range tables {
		blocks = t.blocks(blocks, objects, indices[i])
	}
	return smi.Compose(append(blocks, p.tail...), p.objects)
}
