// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
)

// Agent describes the process that serves the table.
type Agent struct {
	Version  string
	Name     string // such as its host
	Priority uint8  // of its AgentX registration (RFC 2741): of two agents the lower number answers; 0 without AgentX
	Started  int64  // when its counters began, microseconds since the Unix epoch
	// Others returns, at each Build, the state of agents that form a pair with this one;
	// nil without others.
	Others func() Others
}

// Others is the state of the other agents of a pair.
type Others struct {
	// Lower reports whether an agent of a lower Priority is known, so that this one answers
	// only while that one does not.
	Lower bool
	// Answers is the earliest time from which this agent answers instead of another,
	// microseconds since the Unix epoch; 0 if there is no other. A difference to a counter
	// from before is invalid.
	Answers int64
}

// PrimaryPriority is the largest Priority of a primary agent: one with a larger
// number is a standby.
const PrimaryPriority = 100

// Builder turns Views into tables. It keeps the numbers of nets, places, transitions and
// sources. Only one goroutine may call Build; its tables and all other methods are safe for
// concurrent use.
type Builder struct {
	root    smi.OID
	agent   Agent
	desc    *description
	numbers numbering
	sources sourceNumbers
	now     atomic.Int64 // of the last Build
	served  atomic.Pointer[served]
	waiting atomic.Pointer[[]Waiting] // of the last Build

	plan    *plan
	layout  *smi.Layout
	indices []*smi.Rows // of the live tables, in layout
}

// NewBuilder returns a Builder of tables below root (see ParseRoot). The
// numbers come from the lock at lockPath, which Build extends with new names of a View; with
// "" they are in memory only.
func NewBuilder(root smi.OID, lockPath string, agent Agent) (*Builder, error) {
	if err := checkRoot(root); err != nil {
		return nil, err
	}
	b := &Builder{
		root: root.Append(), agent: agent, desc: newDescription(),
		numbers: numbering{path: lockPath, lock: NewLock(), ahead: maxAhead},
	}
	if lockPath != "" {
		lock, err := ReadLock(lockPath)
		if err != nil {
			return nil, err
		}
		b.numbers.lock = lock
	}
	return b, nil
}

// Build lays out a View and the alarms as of now, in microseconds; nil is a View without nets
// and no alarms. It lays names out again only if the nets, their reported columns, or the rows
// of pnStuckTable, pnBlockTable, pnSourceTable, pnAlarmTable, pnQueueTable or pnClearedTable have
// changed.
//
// It may return a table with an error: the lock could not be extended (the numbers are then in
// memory, and Build saves them later), or some names have no number and are left out.
func (b *Builder) Build(view *merge.View, state *alarm.ActiveSet, now int64) (*smi.Table, error) {
	view, state = cmp.Or(view.Present(), &merge.View{}), cmp.Or(state, &alarm.ActiveSet{})
	b.now.Store(now)
	if err := checkView(view); err != nil {
		return nil, err
	}
	stale := b.stale(view)
	changed, numberErr := b.numbers.cover(view, now, stale)
	if stale || changed {
		waiting := b.numbers.waiting(view)
		b.waiting.Store(&waiting)
		b.layout = nil
		var err error
		if b.plan, err = newPlan(b.root, b.desc, b.numbers.lock, view); err != nil {
			b.plan = nil
			return nil, errors.Join(numberErr, fmt.Errorf("lay out the nets of a view: %w", err))
		}
	}
	agent := &agentRow{view: view, state: state, agent: &b.agent, at: &clock{now: now}}
	if b.agent.Others != nil {
		agent.others = b.agent.Others()
	}
	tables := b.live(agent)
	if err := b.lay(tables); err != nil {
		return nil, errors.Join(numberErr, fmt.Errorf("lay out the table of a view: %w", err))
	}
	return b.table(agent, tables), numberErr
}

// lay makes a new layout if there is none or the rows have changed. A table whose rows did not change
// keeps its indices, so that only changed ones are laid out.
func (b *Builder) lay(tables []live) error {
	last, errs := b.indices, make([]error, len(tables))
	if last == nil {
		last = make([]*smi.Rows, len(tables))
	}
	now := make([]*smi.Rows, len(tables))
	for i, t := range tables {
		now[i], errs[i] = t.indices(last[i])
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if b.layout != nil && slices.Equal(now, last) {
		return nil
	}
	layout, err := b.plan.layout(b.root, tables, now)
	if err != nil {
		return err
	}
	b.layout, b.indices = layout, now
	return nil
}

// checkView checks that rows fit their definition.
func checkView(view *merge.View) error {
	for _, n := range view.Nets {
		if len(n.Rows.Places) != len(n.Def.Places) || len(n.Rows.Transitions) != len(n.Def.Transitions) {
			return fmt.Errorf("net %q has %d places and %d transitions, but rows for %d and %d",
				n.Name, len(n.Def.Places), len(n.Def.Transitions), len(n.Rows.Places), len(n.Rows.Transitions))
		}
	}
	return nil
}

// stale reports whether the plan was made for other nets or columns.
func (b *Builder) stale(view *merge.View) bool {
	if b.plan == nil || len(b.plan.views) != len(view.Nets) {
		return true
	}
	for i, n := range view.Nets {
		if b.plan.views[i] != (planOf(n)) {
			return true
		}
	}
	return false
}

// table returns the table with the value of every name of the layout.
func (b *Builder) table(agent *agentRow, tables []live) *smi.Table {
	draft, now := smi.NewDraft(b.layout), agent.at.now
	scalars(draft, 0, b.desc.agent, agent)
	b.rowValues(agent.view, now, draft)
	block := len(b.plan.head)
	for _, t := range tables {
		block = t.fill(draft, block, now)
	}
	for i := range b.plan.nets {
		b.netValues(&b.plan.nets[i], block, agent, draft)
	}
	return draft.Table()
}

// netValues sets the values of one net. tail is the block with which those of the nets' own modules begin.
func (b *Builder) netValues(n *netPlan, tail int, agent *agentRow, draft *smi.Draft) {
	net := agent.view.Nets[n.view]
	row := netRow{net: net, number: n.number, at: agent.at, since: max(net.Since, agent.others.Answers)}
	row.oldest, _ = agent.state.Oldest(net)
	for i, c := range b.desc.nets {
		if n.netAt[i] >= 0 {
			draft.Set(b.plan.netBlock+i, n.netAt[i], c.value(&row))
		}
	}
	scalars(draft, tail+n.moduleBlock, b.desc.module, &row)
}

// rowValues sets the values of places and transitions when they are read: most are not before the
// next table.
func (b *Builder) rowValues(view *merge.View, now int64, draft *smi.Draft) {
	p := b.plan
	places := func(net *merge.NetView, n *netPlan, at *clock) (int, func(int) *placeRow) {
		row := &placeRow{net: net.Name, at: at}
		return len(n.places), func(k int) *placeRow {
			i := n.places[k].index
			row.place, row.def, row.final = &net.Rows.Places[i], &net.Def.Places[i], net.IsFinal(i)
			return row
		}
	}
	each(p, view, now, draft, p.placeBlock, b.desc.places, func(n *netPlan) []int { return n.placeAt }, places)
	each(p, view, now, draft, p.ageBlock, b.desc.ages, func(n *netPlan) []int { return n.ageAt }, places)
	each(p, view, now, draft, p.transitionBlock, b.desc.transitions, func(n *netPlan) []int { return n.transAt },
		func(net *merge.NetView, n *netPlan, at *clock) (int, func(int) *transitionRow) {
			row := &transitionRow{net: net.Name, at: at}
			return len(n.transitions), func(k int) *transitionRow {
				i := n.transitions[k].index
				row.transition, row.def, row.rate = &net.Rows.Transitions[i], &net.Def.Transitions[i], &net.Rates.Transitions[i]
				return row
			}
		})
}

// each sets the values of a table of rows of all nets, whose columns begin with block first, when
// they are read. at returns where the rows of a net begin in each column, and rows returns how
// many there are and the k-th of them.
func each[R any](p *plan, view *merge.View, now int64, draft *smi.Draft, first int, columns []column[R], at func(*netPlan) []int,
	rows func(*merge.NetView, *netPlan, *clock) (int, func(int) *R)) {
	for c := range columns {
		draft.SetLater(first+c, new(sync.Once), func(set func(int, smi.Value)) {
			clock := &clock{now: now}
			for i := range p.nets {
				n := &p.nets[i]
				begin := at(n)[c]
				if begin < 0 {
					continue
				}
				count, row := rows(view.Nets[n.view], n, clock)
				for k := range count {
					set(begin+k, columns[c].value(row(k)))
				}
			}
		})
	}
}

// scalars sets the values of a block of scalars.
func scalars[R any](draft *smi.Draft, block int, columns []column[R], row *R) {
	for i := range columns {
		draft.Set(block, i, columns[i].value(row))
	}
}

// sourceNumbers gives sources their indices. They are made of the net and the name, so that a source
// has the same one after a restart and in each agent of a pair. Of two sources with one index, in
// which 10,000 sources find themselves once in 43 fleets, the one that appears later takes the next that is free.
type sourceNumbers struct {
	known map[[2]string]uint32 // never changed, but replaced
	of    []merge.Source       // the last sources
	order []numberedSource     // of these, by number
}

// numberedSource is the index of a source and its number.
type numberedSource struct {
	index  int
	number uint32
}

// number returns the sources by number and forgets missing ones.
func (s *sourceNumbers) number(sources []merge.Source) []sourceAt {
	if s.known == nil || !sameSources(s.of, sources) {
		s.renumber(sources)
	}
	s.of = sources
	all := make([]sourceAt, len(s.order))
	for i, at := range s.order {
		all[i] = sourceAt{at.number, &sources[at.index]}
	}
	return all
}

// sameSources reports whether two Views have the same sources in the same order.
func sameSources(a, b []merge.Source) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Name != b[i].Name || a[i].Net != b[i].Net {
			return false
		}
	}
	return len(a) == len(b)
}

// renumber gives other sources their numbers.
func (s *sourceNumbers) renumber(sources []merge.Source) {
	s.order = make([]numberedSource, 0, len(sources))
	known := make(map[[2]string]uint32, len(sources))
	var taken map[uint32]bool
	for i := range sources {
		key := [2]string{sources[i].Net, sources[i].Name}
		if known[key] != 0 {
			continue
		}
		n := s.known[key]
		if n == 0 {
			if taken == nil {
				taken = s.taken()
			}
			for n = indexOf(key); taken[n]; {
				n = n%maxNumber + 1
			}
			taken[n] = true
		}
		known[key] = n
		s.order = append(s.order, numberedSource{i, n})
	}
	s.known = known
	slices.SortFunc(s.order, func(a, b numberedSource) int { return cmp.Compare(a.number, b.number) })
}

// taken returns the numbers that sources have.
func (s *sourceNumbers) taken() map[uint32]bool {
	taken := make(map[uint32]bool, len(s.known))
	for _, n := range s.known {
		taken[n] = true
	}
	return taken
}

// indexOf returns a number from 1 to maxNumber for the net and the name of a source.
func indexOf(key [2]string) uint32 {
	sum := sha256.Sum256([]byte(key[0] + "\x00" + key[1]))
	return binary.BigEndian.Uint32(sum[:])%maxNumber + 1
}

// numbering keeps the lock with the numbers.
type numbering struct {
	path    string
	lock    *Lock
	unsaved bool
	retry   int64 // the time of the next attempt to save
	ahead   int   // names that may still be numbered before they are settled
}

// maxAhead is the largest number of names that a process numbers before they are settled.
const maxAhead = 10_000

// saveAgain is the time between two attempts to save, in microseconds.
const saveAgain = 60e6

// numbered returns the part of a net's definition that is to have numbers: what is settled.
// A net that is not settled has numbers while n.ahead lasts. Nil is for nothing.
func (n *numbering) numbered(net *merge.NetView) *petri.Net {
	if net.Unsettled && n.lock.Net(net.Name).without(net.Def) > n.ahead {
		return nil
	}
	if net.Recent == nil {
		return net.Def
	}
	def := *net.Def
	def.Places, def.Transitions = settled(def.Places, net.Recent.Places), settled(def.Transitions, net.Recent.Transitions)
	return &def
}

func settled[T any](rows []T, recent []bool) (out []T) {
	for i := range rows {
		if i >= len(recent) || !recent[i] {
			out = append(out, rows[i])
		}
	}
	return out
}

// cover adds new names of a fresh view to the lock, and saves unsaved ones. It reports
// whether the lock was changed.
func (n *numbering) cover(view *merge.View, now int64, fresh bool) (changed bool, err error) {
	missing := fresh && n.missing(view)
	if !missing && (!n.unsaved || now < n.retry) {
		return false, nil
	}
	if n.path == "" {
		return missing, n.assign(n.lock, view)
	}
	var assignErr error
	_, err = UpdateLock(n.path, func(saved *Lock) error {
		if err := saved.addNames(n.lock); err != nil {
			return err
		}
		assignErr = n.assign(saved, view)
		n.lock = saved
		return nil
	})
	n.unsaved, n.retry = err != nil, now+saveAgain
	if err != nil {
		assignErr = n.assign(n.lock, view)
		err = fmt.Errorf("number the nets of a view: %w", err)
	}
	return true, errors.Join(err, assignErr)
}

func (n *numbering) assign(lock *Lock, view *merge.View) error {
	var first error
	for _, net := range view.Nets {
		def := n.numbered(net)
		if def == nil {
			continue
		}
		before := lock.size
		_, _, err := lock.Assign(net.Name, def)
		first = cmp.Or(first, err)
		if net.Unsettled {
			n.ahead = max(n.ahead-(lock.size-before), 0)
		}
	}
	return first
}

func (n *numbering) missing(view *merge.View) bool {
	for _, net := range view.Nets {
		def := n.numbered(net)
		if def == nil {
			continue
		}
		if n.lock.Net(net.Name).without(def) > 0 {
			return true
		}
	}
	return false
}

// without returns how many names of a net have no number; n is nil for a net without one.
func (n *LockedNet) without(def *petri.Net) (names int) {
	if n == nil {
		return 1 + len(def.Places) + len(def.Transitions)
	}
	for e := range elements(def) {
		if n.entry(e) == nil {
			names++
		}
	}
	return names
}
