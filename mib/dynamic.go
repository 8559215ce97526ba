// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// dynamic are the rows that change with the View.
type dynamic struct {
	stuck   []stuckAt
	blocks  []blockAt
	sources []sourceAt
	regions [lists][]sourceAt // the sources that report each of regionColumns
	alarms  []*alarm.Alarm
	queues  []queueAt
	cleared []*alarm.ClearedAlarm
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

// find returns the rows of the View and the alarms; last are those of the previous tick.
func (p *plan) find(view *merge.View, state *alarm.ActiveSet, sources *sourceNumbers, last dynamicRows) *dynamic {
	d := &dynamic{stuck: make([]stuckAt, 0, last.stuck.Len()+16), blocks: make([]blockAt, 0, last.blocks.Len()+16)}
	for i := range p.nets {
		n := &p.nets[i]
		net := view.Nets[n.view]
		rows := net.Rows
		if rows.Columns.Has(stats.ColStuck) {
			d.findStuck(n, net)
		}
		if rows.Columns.Has(stats.ColBlocks) {
			d.findBlocks(n, rows)
		}
		if rows.Columns.Has(stats.ColQueues) && stats.ValidQueues(rows.Queues) {
			for k := range rows.Queues {
				d.queues = append(d.queues, queueAt{n, &rows.Queues[k]})
			}
		}
	}
	d.sources = sources.number(view.Sources)
	for i, t := range regionColumns() {
		for _, s := range d.sources {
			if t.by(s.source) {
				d.regions[i] = append(d.regions[i], s)
			}
		}
	}
	d.findAlarms(state)
	d.findCleared(state)
	return d
}

func (d *dynamic) findStuck(n *netPlan, net *merge.NetView) {
	for i, place := range n.places {
		for rank := range min(len(net.Stuck(place.index)), stats.MaxStuck) {
			d.stuck = append(d.stuck, stuckAt{n, i, rank})
		}
	}
}

// findBlocks sorts the net's blocks by their numbers. A View has one block for each; of
// others with the same number the first is served, so that the table can be made.
func (d *dynamic) findBlocks(n *netPlan, rows *stats.Rows) {
	first := len(d.blocks)
	for _, b := range rows.Blocks {
		t, place := numberOf(n.transitionNumber, b.Transition), numberOf(n.placeNumber, b.Place)
		if t != 0 && (place != 0 || b.Place == stats.NoPlace) {
			d.blocks = append(d.blocks, blockAt{n, t, place, reasonNumber(b.Reason), b})
		}
	}
	added := d.blocks[first:]
	slices.SortStableFunc(added, blockAt.compare)
	kept := slices.CompactFunc(added, func(a, b blockAt) bool { return a.compare(b) == 0 })
	d.blocks = d.blocks[:first+len(kept)]
}

// numberOf returns the number of an index in the definition; 0 for none.
func numberOf(numbers []uint32, index int32) uint32 {
	if index < 0 || int(index) >= len(numbers) {
		return 0
	}
	return numbers[index]
}

func (b blockAt) compare(o blockAt) int {
	return cmp.Or(cmp.Compare(b.transition, o.transition), cmp.Compare(b.place, o.place), cmp.Compare(b.reason, o.reason))
}

// dynamicRows are the indices of the tables of dynamic. Equal ones have the same rows.
type dynamicRows struct {
	stuck, blocks, sources, alarms, queues, cleared *smi.Rows
	regions                                         [lists]*smi.Rows
}

// rows returns the indices of d. A table whose rows did not change keeps its Rows, so that
// only changed ones are laid out.
func (d *dynamic) rows(last dynamicRows) (now dynamicRows, err error) {
	var errs [6 + lists]error
	source := func(subs []uint32, at *sourceAt) []uint32 { return append(subs, at.number) }
	now.stuck, errs[0] = renew(tableOf("stuck"), last.stuck, d.stuck, func(subs []uint32, at *stuckAt) []uint32 {
		return append(subs, at.net.number, at.net.places[at.place].number, uint32(at.rank)+1)
	})
	now.blocks, errs[1] = renew(tableOf("block"), last.blocks, d.blocks, func(subs []uint32, at *blockAt) []uint32 {
		return append(subs, at.net.number, at.transition, at.place, at.reason)
	})
	now.sources, errs[2] = renew(tableOf("source"), last.sources, d.sources, source)
	for i := range d.regions {
		now.regions[i], errs[6+i] = renew(tableOf("source"), last.regions[i], d.regions[i], source)
	}
	now.alarms, errs[3] = renew(tableOf("alarm"), last.alarms, d.alarms, func(subs []uint32, a **alarm.Alarm) []uint32 {
		return append(subs, (*a).Index)
	})
	now.queues, errs[4] = renew(tableOf("queue"), last.queues, d.queues, func(subs []uint32, at *queueAt) []uint32 {
		return append(subs, at.net.number, uint32(at.queue.Priority))
	})
	now.cleared, errs[5] = renew(tableOf("cleared"), last.cleared, d.cleared, func(subs []uint32, a **alarm.ClearedAlarm) []uint32 {
		return append(subs, (*a).Index)
	})
	return now, errors.Join(errs[:]...)
}

// renew returns the indices of a table's rows; last if they are the same.
func renew[A any](t table, last *smi.Rows, rows []A, add func([]uint32, *A) []uint32) (*smi.Rows, error) {
	width := len(t.index)
	subs := make([]uint32, 0, width*len(rows))
	for i := range rows {
		subs = add(subs, &rows[i])
	}
	if last.Equal(width, subs) {
		return last, nil
	}
	now, err := smi.NewRows(width, subs)
	if err != nil {
		return nil, fmt.Errorf("%sTable: %w", t.name, err)
	}
	return now, nil
}

// layout returns the layout of head, the dynamic rows and tail.
func (p *plan) layout(root smi.OID, d *description, now dynamicRows) (*smi.Layout, error) {
	objects := root.Append(subPetrinet, subObjects)
	blocks := make([]smi.Block, 0, len(p.head)+d.dynamicBlocks()+len(p.tail))
	blocks = append(blocks, p.head...)
	add := func(sub uint32, columns []object, rows *smi.Rows) {
		for i := range columns {
			blocks = append(blocks, smi.Block{Prefix: objects.Append(sub, 1, columns[i].sub), Rows: rows})
		}
	}
	add(tableOf("stuck").sub, objectsOf(d.stuck), now.stuck)
	add(tableOf("block").sub, objectsOf(d.blocks), now.blocks)
	add(tableOf("source").sub, objectsOf(d.sources), now.sources)
	for i := range d.regions {
		add(tableOf("source").sub, objectsOf(d.regions[i].columns), now.regions[i])
	}
	add(tableOf("alarm").sub, objectsOf(d.alarms), now.alarms)
	change, changeErr := scalarRows(objectsOf(d.change))
	counts, countsErr := scalarRows(objectsOf(d.counts))
	if err := errors.Join(changeErr, countsErr); err != nil {
		return nil, err
	}
	blocks = append(blocks, smi.Block{Prefix: objects, Rows: change, Scalar: true})
	add(tableOf("queue").sub, objectsOf(d.queues), now.queues)
	add(tableOf("cleared").sub, objectsOf(d.cleared), now.cleared)
	blocks = append(blocks, smi.Block{Prefix: objects, Rows: counts, Scalar: true})
	return smi.Compose(append(blocks, p.tail...), p.objects)
}

// dynamicBlocks returns the number of blocks between head and tail.
func (d *description) dynamicBlocks() int {
	regions := 0
	for i := range d.regions {
		regions += len(d.regions[i].columns)
	}
	return len(d.stuck) + len(d.blocks) + len(d.sources) + regions + len(d.alarms) + 1 + len(d.queues) + len(d.cleared) + 1
}
