// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pnagent/pnagent/alarm"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/smi"
	"github.com/pnagent/pnagent/stats"
)

// Sub-identifiers of the tree. They never change.
const (
	subPetrinet    = 1 // root.1 is PETRINET-MIB
	subNets        = 2 // root.2.N is the module of net number N
	subCaps        = 3 // root.3 is PETRINET-CAPS-MIB
	subObjects     = 1 // below either
	subConformance = 2
	subAgent       = 1 // below PETRINET-MIB's objects, beside the tables
	subModuleNet   = 1 // below a net's module's objects
	subPlaces      = 2
	subTransitions = 3
)

// oids is a growing list of names in few allocations.
type oids struct {
	list  []smi.OID
	chunk []uint32
}

func (o *oids) add(prefix smi.OID, subs ...uint32) {
	n := len(prefix) + len(subs)
	if cap(o.chunk)-len(o.chunk) < n {
		o.chunk = make([]uint32, 0, max(1<<16, n))
	}
	start := len(o.chunk)
	o.chunk = append(append(o.chunk, prefix...), subs...)
	o.list = append(o.list, o.chunk[start:len(o.chunk):len(o.chunk)])
}

// description is all that is served, made once for a Builder.
type description struct {
	agent       []column[agentRow]
	nets        []column[netRow]
	places      []column[placeRow]
	ages        []column[placeRow]
	transitions []column[transitionRow]
	stuck       []column[stuckRow]
	blocks      []column[blockRow]
	sources     []column[sourceRow]
	alarms      []column[alarmRow]
	alarm       []column[agentRow]
	queues      []column[queueRow]
	module      []column[netRow]
}

func newDescription() *description {
	return &description{
		agent: agentScalars(), nets: netColumns(), places: placeColumns(), ages: ageColumns(),
		transitions: transitionColumns(), stuck: stuckColumns(), blocks: blockColumns(),
		sources: sourceColumns(), alarms: alarmColumns(), alarm: alarmScalars(), queues: queueColumns(), module: moduleScalars(),
	}
}

// plan is where the values of a set of nets go. Names come in three stretches:
// head (scalars and the tables whose rows are the nets' places and
// transitions), the rows that come and go with the scalar between them, and
// tail (the nets' own modules). Only the middle one differs between two ticks
// of the same nets.
type plan struct {
	views   []planned // the nets of the View, in its order
	nets    []netPlan // by number
	numbers map[string]uint32
	head    stretch
	tail    stretch
}

// stretch is names and the objects that they are instances of.
type stretch struct {
	names, objects oids
	layout         *smi.Layout
}

func (s *stretch) close() (err error) {
	s.layout, err = smi.NewLayout(s.names.list, s.objects.list)
	s.names, s.objects = oids{}, oids{}
	return err
}

// scalar adds a scalar and its one instance.
func (s *stretch) scalar(object smi.OID) {
	s.objects.add(object)
	s.names.add(object, 0)
}

// planned is what a plan depends on of one net.
type planned struct {
	name    string
	def     *petri.Net
	columns stats.Columns
}

// netPlan is one net in a plan. An at holds, for each column, the index of the
// value of the net's first row; -1 where its sources do not fill it in.
type netPlan struct {
	number      uint32
	view        int // index in View.Nets
	name        string
	def         *petri.Net
	columns     stats.Columns
	places      []numbered
	transitions []numbered
	netAt       []int
	placeAt     []int
	ageAt       []int
	transAt     []int
	moduleAt    int // in the tail
	whys        []whys

	placeNumber      []uint32 // by index in the definition; 0 for none
	transitionNumber []uint32
}

// numbered is a place or transition by its number and its index in the
// definition.
type numbered struct {
	number uint32
	index  int
}

// byNumber lists what has a number, each number once.
func byNumber(numbers []uint32) []numbered {
	all := make([]numbered, 0, len(numbers))
	for i, n := range numbers {
		if n != 0 {
			all = append(all, numbered{n, i})
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	return slices.CompactFunc(all, func(a, b numbered) bool { return a.number == b.number })
}

// newPlan lays out the nets of a View that the lock knows.
func newPlan(root smi.OID, d *description, lock *Lock, view *collector.View) (*plan, error) {
	p := &plan{numbers: map[string]uint32{}}
	for i, net := range view.Nets {
		p.views = append(p.views, planned{net.Name, net.Def, net.Rows.Columns})
		locked := lock.Net(net.Name)
		if locked == nil || p.numbers[net.Name] != 0 {
			continue
		}
		p.numbers[net.Name] = locked.Number
		p.nets = append(p.nets, newNetPlan(i, net, locked))
	}
	slices.SortFunc(p.nets, func(a, b netPlan) int { return cmp.Compare(a.number, b.number) })
	p.layHead(root.Append(subPetrinet, subObjects), d)
	for i := range p.nets {
		p.layModule(root.Append(subNets, p.nets[i].number, subObjects), d, &p.nets[i])
	}
	return p, errors.Join(p.head.close(), p.tail.close())
}

func newNetPlan(view int, net *collector.Net, locked *LockedNet) netPlan {
	n := netPlan{number: locked.Number, view: view, name: net.Name, def: net.Def, columns: net.Rows.Columns}
	n.placeNumber = make([]uint32, len(net.Def.Places))
	for i := range net.Def.Places {
		if e := locked.Place(net.Def.Places[i].ID); e != nil {
			n.placeNumber[i] = e.Number
		}
	}
	n.transitionNumber = make([]uint32, len(net.Def.Transitions))
	for i := range net.Def.Transitions {
		if e := locked.Transition(net.Def.Transitions[i].ID); e != nil {
			n.transitionNumber[i] = e.Number
		}
	}
	n.places, n.transitions = byNumber(n.placeNumber), byNumber(n.transitionNumber)
	n.whys = make([]whys, len(n.places))
	return n
}

// layHead adds the scalars of the agent and all tables of PETRINET-MIB; of
// those whose rows come and go, only the objects.
func (p *plan) layHead(objects smi.OID, d *description) {
	agent := objects.Append(subAgent)
	for _, c := range d.agent {
		p.head.scalar(agent.Append(c.sub))
	}
	layTable(p, objects, netTable(), d.nets, func(n *netPlan) (*[]int, []numbered) { return &n.netAt, nil })
	layTable(p, objects, placeTable(), d.places, func(n *netPlan) (*[]int, []numbered) { return &n.placeAt, n.places })
	layTable(p, objects, placeAgeTable(), d.ages, func(n *netPlan) (*[]int, []numbered) { return &n.ageAt, n.places })
	layTable(p, objects, transitionTable(), d.transitions, func(n *netPlan) (*[]int, []numbered) { return &n.transAt, n.transitions })
	for _, t := range []table{stuckTable(), blockTable(), sourceTable(), alarmTable()} {
		p.layColumns(objects, t)
	}
	for _, c := range d.alarm {
		p.head.objects.add(objects, c.sub)
	}
	p.layColumns(objects, queueTable())
}

// layColumns adds the columns of a table whose rows come and go.
func (p *plan) layColumns(objects smi.OID, t table) {
	for _, c := range t.columns {
		p.head.objects.add(objects, t.sub, 1, c.sub)
	}
}

// layTable adds the instances of a table, column by column and net by net: one
// for each of the net's rows, or one for the net where rows gives none.
func layTable[R any](p *plan, objects smi.OID, t table, columns []column[R], of func(*netPlan) (*[]int, []numbered)) {
	for _, c := range columns {
		column := objects.Append(t.sub, 1, c.sub)
		p.head.objects.add(column)
		for i := range p.nets {
			n := &p.nets[i]
			at, rows := of(n)
			if !n.columns.Has(c.needs) {
				*at = append(*at, -1)
				continue
			}
			*at = append(*at, len(p.head.names.list))
			if len(t.index) == 1 {
				p.head.names.add(column, n.number)
			}
			for _, row := range rows {
				p.head.names.add(column, n.number, row.number)
			}
		}
	}
}

// layModule adds the scalars of a net's own module.
func (p *plan) layModule(objects smi.OID, d *description, n *netPlan) {
	n.moduleAt = len(p.tail.names.list)
	for _, c := range d.module {
		p.tail.scalar(objects.Append(subModuleNet, c.sub))
	}
	layNamed(p, objects.Append(subPlaces), d.places, n.places, n.columns)
	layNamed(p, objects.Append(subTransitions), d.transitions, n.transitions, n.columns)
}

func layNamed[R any](p *plan, parent smi.OID, columns []column[R], rows []numbered, has stats.Columns) {
	for _, row := range rows {
		for i := range columns {
			c := &columns[i]
			if !c.named {
				continue
			}
			p.tail.objects.add(parent, row.number, c.sub)
			if has.Has(c.needs) {
				p.tail.names.add(parent, row.number, c.sub, 0)
			}
		}
	}
}

// dynamic is the rows that come and go with the View: two ticks with equal
// keys have the same names.
type dynamic struct {
	stuck   []stuckAt
	blocks  []blockAt
	sources []sourceAt
	alarms  []*alarm.Alarm
	queues  []queueAt
	keys    []uint32
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
	source *collector.Source
}

// find lists the rows that the View and the alarms have now.
func (p *plan) find(view *collector.View, state *alarm.State, sources *sourceNumbers, last *dynamic) *dynamic {
	d := &dynamic{}
	if last != nil {
		d.stuck, d.blocks = make([]stuckAt, 0, len(last.stuck)+16), make([]blockAt, 0, len(last.blocks)+16)
		d.keys = make([]uint32, 0, len(last.keys)+16)
	}
	for i := range p.nets {
		n := &p.nets[i]
		rows := view.Nets[n.view].Rows
		if rows.Columns.Has(stats.ColStuck) {
			d.findStuck(n, rows)
		}
		if rows.Columns.Has(stats.ColBlocks) {
			d.findBlocks(n, rows)
		}
		if rows.Columns.Has(stats.ColQueues) && stats.ValidQueues(rows.Queues) {
			d.findQueues(n, rows)
		}
	}
	d.keys = append(d.keys, 0)
	d.sources = sources.number(view.Sources)
	for _, s := range d.sources {
		d.keys = append(d.keys, s.number)
	}
	d.keys = append(d.keys, 0)
	d.findAlarms(state)
	return d
}

func (d *dynamic) findStuck(n *netPlan, rows *stats.Rows) {
	for i, place := range n.places {
		count := min(len(rows.Places[place.index].Stuck), stats.MaxStuck)
		for rank := range count {
			d.stuck = append(d.stuck, stuckAt{n, i, rank})
		}
		if count > 0 {
			d.keys = append(d.keys, 1, n.number, place.number, uint32(count))
		}
	}
}

func (d *dynamic) findQueues(n *netPlan, rows *stats.Rows) {
	for i := range rows.Queues {
		q := &rows.Queues[i]
		d.queues = append(d.queues, queueAt{n, q})
		d.keys = append(d.keys, 3, n.number, uint32(q.Priority))
	}
}

// findBlocks sorts the net's blocks by their numbers and adds up what has the
// same ones.
func (d *dynamic) findBlocks(n *netPlan, rows *stats.Rows) {
	first := len(d.blocks)
	for _, b := range rows.Blocks {
		t, place := numberOf(n.transitionNumber, b.Transition), numberOf(n.placeNumber, b.Place)
		if t != 0 && (place != 0 || b.Place == stats.NoPlace) {
			d.blocks = append(d.blocks, blockAt{n, t, place, reasonNumber(b.Reason), b})
		}
	}
	added := d.blocks[first:]
	slices.SortFunc(added, blockAt.compare)
	kept := added[:0]
	for _, b := range added {
		if last := len(kept) - 1; last >= 0 && kept[last].compare(b) == 0 {
			kept[last].block.Instances += b.block.Instances
			continue
		}
		kept = append(kept, b)
		d.keys = append(d.keys, 2, n.number, b.transition, b.place, b.reason)
	}
	d.blocks = d.blocks[:first+len(kept)]
}

// numberOf is the number of an index in the definition; 0 for none.
func numberOf(numbers []uint32, index int32) uint32 {
	if index < 0 || int(index) >= len(numbers) {
		return 0
	}
	return numbers[index]
}

func (b blockAt) compare(o blockAt) int {
	return cmp.Or(cmp.Compare(b.transition, o.transition), cmp.Compare(b.place, o.place), cmp.Compare(b.reason, o.reason))
}

// layout joins head, the rows of d and tail.
func (p *plan) layout(root smi.OID, desc *description, d *dynamic) (*smi.Layout, error) {
	objects := root.Append(subPetrinet, subObjects)
	names := oids{list: make([]smi.OID, 0, d.width(desc))}
	for _, c := range desc.stuck {
		column := objects.Append(stuckTable().sub, 1, c.sub)
		for _, at := range d.stuck {
			names.add(column, at.net.number, at.net.places[at.place].number, uint32(at.rank)+1)
		}
	}
	for _, c := range desc.blocks {
		column := objects.Append(blockTable().sub, 1, c.sub)
		for _, at := range d.blocks {
			names.add(column, at.net.number, at.transition, at.place, at.reason)
		}
	}
	for _, c := range desc.sources {
		column := objects.Append(sourceTable().sub, 1, c.sub)
		for _, at := range d.sources {
			names.add(column, at.number)
		}
	}
	for _, c := range desc.alarms {
		column := objects.Append(alarmTable().sub, 1, c.sub)
		for _, a := range d.alarms {
			names.add(column, a.Index)
		}
	}
	for _, c := range desc.alarm {
		names.add(objects, c.sub, 0)
	}
	for _, c := range desc.queues {
		column := objects.Append(queueTable().sub, 1, c.sub)
		for _, at := range d.queues {
			names.add(column, at.net.number, uint32(at.queue.Priority))
		}
	}
	rows, err := smi.NewLayout(names.list, nil)
	if err != nil {
		return nil, err
	}
	return smi.Join(p.head.layout, rows, p.tail.layout)
}

// width is how many values the middle stretch has.
func (d *dynamic) width(desc *description) int {
	return len(d.stuck)*len(desc.stuck) + len(d.blocks)*len(desc.blocks) + len(d.sources)*len(desc.sources) +
		len(d.alarms)*len(desc.alarms) + len(desc.alarm) + len(d.queues)*len(desc.queues)
}
