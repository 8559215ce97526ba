// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
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

// Sub-identifiers of the tables of PETRINET-MIB to which alarms point.
const (
	tableNets        = 2
	tablePlaces      = 3
	tableTransitions = 5
	tableSources     = 8
)

// description has all columns, made once for a Builder.
type description struct {
	agent       []column[agentRow]
	nets        []column[netRow]
	places      []column[placeRow]
	ages        []column[placeRow]
	transitions []column[transitionRow]
	stuck       []column[stuckRow]
	blocks      []column[blockRow]
	sources     []column[sourceRow]
	regions     [lists]optional
	alarms      []column[alarmRow]
	change      []column[agentRow] // between alarms and queues
	queues      []column[queueRow]
	cleared     []column[clearedRow]
	counts      []column[agentRow] // behind cleared
	module      []column[netRow]
}

func newDescription() *description {
	return &description{
		agent: agentScalars(), nets: netColumns(), places: placeColumns(), ages: ageColumns(),
		transitions: transitionColumns(), stuck: stuckColumns(), blocks: blockColumns(),
		sources: sourceColumns(), regions: regionColumns(), alarms: alarmColumns(), change: changeScalars(), queues: queueColumns(),
		cleared: clearedColumns(), counts: append(countScalars(), clearedScalars()...), module: moduleScalars(),
	}
}

// plan maps the values of a set of nets to blocks, in three parts: head (scalars and the
// tables whose rows are the nets' places and transitions), the dynamic rows and scalars, and
// tail (the nets' own modules). Only the middle part differs between two ticks of the same
// nets.
type plan struct {
	views   []planned // the nets of the View, in its order
	nets    []netPlan // by number
	numbers map[string]uint32
	head    []smi.Block
	starts  []int // the index of the first variable of each block of head, and of what follows
	tail    []smi.Block
	objects []smi.Block
	// The first blocks of the tables of head; a block for each column follows.
	netBlock, placeBlock, ageBlock, transitionBlock int
}

// planned is the part of a net that a plan depends on.
type planned struct {
	name    string
	def     *petri.Net
	columns stats.Columns
	recent  *merge.RowSet // without numbers, unless they have them already
	open    bool          // NetView.Unsettled
}

func planOf(n *merge.NetView) planned {
	return planned{n.Name, n.Def, n.Rows.Columns, n.Recent, n.Unsettled}
}

// netPlan is one net in a plan. An at has, for each column, the row of the column's block at
// which the net's rows begin; -1 if its sources do not report the column.
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
	moduleBlock int // in the tail
	whys        *reasonTexts

	placeNumber      []uint32 // by index in the definition; 0 for none
	transitionNumber []uint32
	placeByID        func() map[string]uint32 // those with a number
	transitionByID   func() map[string]uint32
}

// numbered is a place or transition by its number and its index in the
// definition.
type numbered struct {
	number uint32
	index  int
}

// byNumber returns the entries with a number, each number once.
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

// newPlan lays out the nets of a View that are in the lock.
func newPlan(root smi.OID, d *description, lock *Lock, view *merge.View) (*plan, error) {
	p := &plan{numbers: map[string]uint32{}}
	for i, net := range view.Nets {
		p.views = append(p.views, planOf(net))
		locked := lock.Net(net.Name)
		if locked == nil || p.numbers[net.Name] != 0 {
			continue
		}
		p.numbers[net.Name] = locked.Number
		p.nets = append(p.nets, newNetPlan(i, net, locked))
	}
	ordered.By(p.nets, func(a, b *netPlan) int { return cmp.Compare(a.number, b.number) })
	if err := p.layHead(root.Append(subPetrinet, subObjects), d); err != nil {
		return nil, err
	}
	net, err := scalarRows(objectsOf(d.module))
	if err != nil {
		return nil, err
	}
	places, transitions := objectsOf(d.places), objectsOf(d.transitions)
	for i := range p.nets {
		n := &p.nets[i]
		objects := root.Append(subNets, n.number, subObjects)
		n.moduleBlock = len(p.tail)
		p.tail = append(p.tail, smi.Block{Prefix: objects.Append(subModuleNet), Rows: net, Scalar: true})
		p.objects = append(p.objects, smi.Block{Prefix: objects.Append(subModuleNet), Rows: net})
		if err := errors.Join(
			p.layNamed(objects.Append(subPlaces), places, p.placeBlock, n.places, n.placeAt),
			p.layNamed(objects.Append(subTransitions), transitions, p.transitionBlock, n.transitions, n.transAt)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func newNetPlan(view int, net *merge.NetView, locked *LockedNet) netPlan {
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
	n.placeByID = numbersByID(net.Def.Places, func(p *petri.Place) string { return p.ID }, n.placeNumber)
	n.transitionByID = numbersByID(net.Def.Transitions, func(t *petri.Transition) string { return t.ID }, n.transitionNumber)
	n.places, n.transitions = byNumber(n.placeNumber), byNumber(n.transitionNumber)
	n.whys = &reasonTexts{places: make([]placeTexts, len(n.places))}
	return n
}

// layHead adds the scalars of the agent and all tables of PETRINET-MIB; of dynamic tables
// only the objects.
func (p *plan) layHead(objects smi.OID, d *description) error {
	agent, err := scalarRows(objectsOf(d.agent))
	if err != nil {
		return err
	}
	p.objects = append(p.objects, smi.Block{Prefix: objects.Append(subAgent), Rows: agent})
	p.layBlock(smi.Block{Prefix: objects.Append(subAgent), Rows: agent, Scalar: true})
	nets, places, transitions := p.newFillings(nil), p.newFillings((*netPlan).placeRows), p.newFillings((*netPlan).transitionRows)
	for _, t := range []struct {
		table table
		rows  *fillings
		first *int
		at    func(*netPlan) *[]int
	}{
		{tableOf("net"), nets, &p.netBlock, func(n *netPlan) *[]int { return &n.netAt }},
		{tableOf("place"), places, &p.placeBlock, func(n *netPlan) *[]int { return &n.placeAt }},
		{tableOf("placeAge"), places, &p.ageBlock, func(n *netPlan) *[]int { return &n.ageAt }},
		{tableOf("transition"), transitions, &p.transitionBlock, func(n *netPlan) *[]int { return &n.transAt }},
		{table: tableOf("stuck")}, {table: tableOf("block")}, {table: tableOf("source")}, {table: tableOf("alarm")},
	} {
		if err := p.layColumns(objects, t.table); err != nil {
			return err
		}
		if t.rows == nil { // dynamic
			continue
		}
		*t.first = len(p.head)
		if err := p.layTable(objects, t.table, t.rows, t.at); err != nil {
			return err
		}
	}
	change, changeErr := scalarRows(objectsOf(d.change))
	p.objects = append(p.objects, smi.Block{Prefix: objects, Rows: change})
	queueErr, clearedErr := p.layColumns(objects, tableOf("queue")), p.layColumns(objects, tableOf("cleared"))
	counts, countsErr := scalarRows(objectsOf(d.counts))
	p.objects = append(p.objects, smi.Block{Prefix: objects, Rows: counts})
	return errors.Join(changeErr, queueErr, clearedErr, countsErr)
}

// layBlock adds a block to the head.
func (p *plan) layBlock(b smi.Block) {
	if len(p.starts) == 0 {
		p.starts = append(p.starts, 0)
	}
	p.head = append(p.head, b)
	p.starts = append(p.starts, p.starts[len(p.starts)-1]+b.Rows.Len())
}

// layColumns adds the columns of a table to the objects.
func (p *plan) layColumns(objects smi.OID, t table) error {
	columns, err := scalarRows(t.columns)
	p.objects = append(p.objects, smi.Block{Prefix: objects.Append(t.sub, 1), Rows: columns})
	return err
}

// scalarRows returns the last sub-identifiers of objects.
func scalarRows(objects []object) (*smi.Rows, error) {
	var subs []uint32
	for _, o := range objects {
		subs = append(subs, o.sub)
	}
	return smi.NewRows(1, subs)
}

// layTable adds the instances of a table: a block for each column, with the rows of all nets
// that report it.
func (p *plan) layTable(objects smi.OID, t table, rows *fillings, of func(*netPlan) *[]int) error {
	for i := range t.columns {
		c := &t.columns[i]
		f, err := rows.of(c.needs)
		if err != nil {
			return fmt.Errorf("%sTable: %w", t.name, err)
		}
		p.layBlock(smi.Block{Prefix: objects.Append(t.sub, 1, c.sub), Rows: f.rows})
		for k := range p.nets {
			at := of(&p.nets[k])
			*at = append(*at, f.at[k])
		}
	}
	return nil
}

// fillings are the lists of rows of one kind, one for each set of columns needed: columns
// that the same nets report share it.
type fillings struct {
	plan *plan
	rows func(*netPlan) []numbered // nil if a net is the row
	made map[stats.Columns]*filling
}

// filling has the rows of all nets that report a column, and the index at which those of
// each net begin; -1 for a net that does not report it.
type filling struct {
	rows *smi.Rows
	at   []int
}

func (p *plan) newFillings(rows func(*netPlan) []numbered) *fillings {
	return &fillings{p, rows, map[stats.Columns]*filling{}}
}

func (n *netPlan) placeRows() []numbered      { return n.places }
func (n *netPlan) transitionRows() []numbered { return n.transitions }

func (l *fillings) of(needs stats.Columns) (*filling, error) {
	if f := l.made[needs]; f != nil {
		return f, nil
	}
	f := &filling{at: make([]int, len(l.plan.nets))}
	width, count := 1, len(l.plan.nets)
	if l.rows != nil {
		width, count = 2, 0
		for i := range l.plan.nets {
			count += len(l.rows(&l.plan.nets[i]))
		}
	}
	subs := make([]uint32, 0, width*count)
	for i := range l.plan.nets {
		n := &l.plan.nets[i]
		f.at[i] = len(subs) / width
		if !n.columns.Has(needs) {
			f.at[i] = -1
		} else if l.rows == nil {
			subs = append(subs, n.number)
		} else {
			for _, row := range l.rows(n) {
				subs = append(subs, n.number, row.number)
			}
		}
	}
	var err error
	f.rows, err = smi.NewRows(width, subs)
	l.made[needs] = f
	return f, err
}

// layNamed adds the named objects of each row to a net's own module. They mirror the columns
// of pnPlaceTable or pnTransitionTable, which begin with block first.
func (p *plan) layNamed(prefix smi.OID, columns []object, first int, rows []numbered, at []int) error {
	var named, reported []uint32
	var mirror []int
	for i := range columns {
		if !columns[i].named {
			continue
		}
		named = append(named, columns[i].sub)
		if at[i] >= 0 {
			reported = append(reported, columns[i].sub)
			mirror = append(mirror, p.starts[first+i]+at[i])
		}
	}
	objects, err := eachWith(rows, named)
	if err != nil {
		return err
	}
	instances := objects
	if len(reported) < len(named) {
		if instances, err = eachWith(rows, reported); err != nil {
			return err
		}
	}
	p.objects = append(p.objects, smi.Block{Prefix: prefix, Rows: objects})
	p.tail = append(p.tail, smi.Block{Prefix: prefix, Rows: instances, Scalar: true, Mirror: mirror})
	return nil
}

// eachWith returns the number of each row with each of subs.
func eachWith(rows []numbered, subs []uint32) (*smi.Rows, error) {
	all := make([]uint32, 0, 2*len(rows)*len(subs))
	for _, row := range rows {
		for _, sub := range subs {
			all = append(all, row.number, sub)
		}
	}
	return smi.NewRows(2, all)
}
