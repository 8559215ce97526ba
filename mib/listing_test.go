// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// listing is the table as a plain list: every variable with its name in full,
// in whatever order they come to mind, sorted at the end.
type listing struct {
	b         *Builder
	objects   smi.OID
	at        *clock
	variables []smi.Variable
}

func (l *listing) add(value smi.Value, prefix smi.OID, subs ...uint32) {
	l.variables = append(l.variables, smi.Variable{Name: prefix.Append(subs...), Value: value})
}

// listRow adds a row of a table of PETRINET-MIB, and its named objects to the
// net's module, at each of them.
func listRow[R any](l *listing, t table, columns []column[R], has stats.Columns, row *R, named smi.OID, index ...uint32) {
	for _, c := range columns {
		if !has.Has(c.needs) {
			continue
		}
		l.add(c.value(row), l.objects, append([]uint32{t.sub, 1, c.sub}, index...)...)
		if c.named && named != nil {
			l.add(c.value(row), named, c.sub, 0)
		}
	}
}

func (l *listing) net(net *merge.NetView, locked *LockedNet) {
	has, module := net.Rows.Columns, l.b.root.Append(subNets, locked.Number, subObjects)
	row := netRow{net: net, number: locked.Number, at: l.at, oldest: net.OldestSince, since: net.Since}
	listRow(l, tableOf("net"), netColumns(), has, &row, nil, locked.Number)
	for _, c := range moduleScalars() {
		l.add(c.value(&row), module, subModuleNet, c.sub, 0)
	}
	numberOfPlace := func(i int32) uint32 { return locked.Place(net.Def.Places[i].ID).Number }
	for i := range net.Def.Places {
		number, place := numberOfPlace(int32(i)), placeRow{net: net.Name, place: &net.Rows.Places[i], def: &net.Def.Places[i], final: net.IsFinal(i), at: l.at}
		listRow(l, tableOf("place"), placeColumns(), has, &place, module.Append(subPlaces, number), locked.Number, number)
		listRow(l, tableOf("placeAge"), ageColumns(), has, &place, nil, locked.Number, number)
		for rank := range place.place.Stuck {
			if net.Final[i] { // finished work
				break
			}
			if token := &place.place.Stuck[rank]; has.Has(stats.ColStuck) && rank < stats.MaxStuck {
				row := stuckRow{token: token, why: func() string { return whyText(net.Def, token.Waits) }, at: l.at}
				listRow(l, tableOf("stuck"), stuckColumns(), has, &row, nil, locked.Number, number, uint32(rank)+1)
			}
		}
	}
	for i := range net.Def.Transitions {
		number := locked.Transition(net.Def.Transitions[i].ID).Number
		row := transitionRow{net: net.Name, transition: &net.Rows.Transitions[i], def: &net.Def.Transitions[i], rate: &net.Rates.Transitions[i], at: l.at}
		listRow(l, tableOf("transition"), transitionColumns(), has, &row, module.Append(subTransitions, number), locked.Number, number)
	}
	for _, block := range net.Rows.Blocks {
		row, place := blockRow{block: &block}, uint32(0)
		if block.Place != stats.NoPlace {
			row.place, place = net.Def.Places[block.Place].ID, numberOfPlace(block.Place)
		}
		if has.Has(stats.ColBlocks) {
			listRow(l, tableOf("block"), blockColumns(), has, &row, nil, locked.Number,
				locked.Transition(net.Def.Transitions[block.Transition].ID).Number, place, reasonNumber(block.Reason))
		}
	}
	for i := range net.Rows.Queues {
		if has.Has(stats.ColQueues) {
			listRow(l, tableOf("queue"), queueColumns(), has, &queueRow{queue: &net.Rows.Queues[i], at: l.at}, nil,
				locked.Number, uint32(net.Rows.Queues[i].Priority))
		}
	}
}

// listed is everything that there is to show of a View that was built.
func listed(b *Builder, view *merge.View, state *alarm.ActiveSet, now int64) []smi.Variable {
	l := &listing{b: b, objects: b.root.Append(subPetrinet, subObjects), at: &clock{now: now}}
	agent := agentRow{view: view, state: state, agent: &b.agent, at: l.at}
	for _, c := range agentScalars() {
		l.add(c.value(&agent), l.objects, subAgent, c.sub, 0)
	}
	for _, c := range append(alarmScalars(), clearedScalars()...) {
		l.add(c.value(&agent), l.objects, c.sub, 0)
	}
	for _, net := range view.Nets {
		l.net(net, b.numbers.lock.Net(net.Name))
	}
	sources := b.sources.number(view.Sources) // all of them have their numbers already
	for _, s := range sources {
		row := sourceRow{source: s.source, at: l.at}
		if locked := b.numbers.lock.Net(s.source.Net); locked != nil {
			row.net = locked.Number
		}
		listRow(l, tableOf("source"), sourceColumns(), stats.AllColumns, &row, nil, s.number)
		for _, t := range regionColumns() {
			if t.by(s.source) {
				listRow(l, tableOf("source"), t.columns, stats.AllColumns, &row, nil, s.number)
			}
		}
	}
	for i := range state.Active {
		a := &state.Active[i]
		listRow(l, tableOf("alarm"), alarmColumns(), stats.AllColumns, &alarmRow{alarm: a, row: b.served.Load().rowOf(a), at: l.at}, nil, a.Index)
	}
	for i := range state.Cleared {
		listRow(l, tableOf("cleared"), clearedColumns(), stats.AllColumns, &clearedRow{&state.Cleared[i], l.at}, nil, state.Cleared[i].Index)
	}
	slices.SortFunc(l.variables, func(a, b smi.Variable) int { return a.Name.Compare(b.Name) })
	return l.variables
}

// change makes what differs from one tick to the next: rows come and go, and
// now and then what the sources of a net report.
func change(r *rand.Rand, view *merge.View, state *alarm.ActiveSet) {
	net := view.Nets[r.IntN(len(view.Nets))]
	fresh := randomRows(r, net.Def, net.Rows.Columns)
	switch r.IntN(8) {
	case 0: // values only
		net.Rows.Net = fresh.Net
	case 1:
		i := r.IntN(len(net.Rows.Places))
		net.Rows.Places[i] = fresh.Places[i]
	case 2:
		net.Rows.Blocks = distinctBlocks(fresh.Blocks)
	case 3:
		net.Rows.Queues = fresh.Queues
	case 4:
		fresh.Columns = []stats.Columns{stats.AllColumns, stats.ColTokens | stats.ColFirings, stats.ColStuck, stats.AllColumns &^ stats.ColDwell}[r.IntN(4)]
		fresh.Blocks = distinctBlocks(fresh.Blocks)
		net.Rows = fresh
	case 6:
		s := &view.Sources[r.IntN(len(view.Sources))]
		s.Fence, s.Position, s.Standbys, s.Lag = r.Uint64N(2), nil, nil, nil
		if n := r.Uint64N(3); n > 0 {
			s.Position, s.Standbys = &n, &n
			if n > 1 {
				s.Lag = &n
			}
		}
	case 7:
		index := uint32(1)
		if n := len(state.Cleared); n > 0 {
			index += state.Cleared[n-1].Index
		}
		state.Cleared = append(state.Cleared, alarm.ClearedAlarm{Alarm: alarm.Alarm{Index: index, Kind: alarm.SourceLost, Subject: "s"}, Cleared: now0 + int64(index)})
		state.Cleared = state.Cleared[max(0, len(state.Cleared)-3):]
	case 5:
		state.Active = nil
		for i, kind := range kinds() {
			if r.IntN(2) == 0 {
				state.Active = append(state.Active, alarm.Alarm{Index: uint32(3*i + 1 + r.IntN(3)), Kind: kind, Net: net.Name, Subject: "place3", Raised: now0, Since: 1})
			}
		}
	}
}

// distinctBlocks leaves out blocks that say the same of the same.
func distinctBlocks(blocks []stats.Block) []stats.Block {
	seen := map[[3]int64]bool{}
	return slices.DeleteFunc(blocks, func(b stats.Block) bool {
		key := [3]int64{int64(b.Transition), int64(b.Place), int64(reasonNumber(b.Reason))}
		again := seen[key]
		seen[key] = true
		return again
	})
}

func same(a, b smi.Variable) bool { return a.Value == b.Value && a.Name.Compare(b.Name) == 0 }

// The walk of a table is all variables in the order of their names, tick after
// tick, whatever has come and gone since the last.
func TestAWalkIsThePlainListingOfAView(t *testing.T) {
	for seed := range seeds.Of(2, 4) {
		r := rand.New(rand.NewPCG(seed, 2))
		view, _ := randomView(t, r)
		for _, net := range view.Nets {
			net.Rows.Blocks = distinctBlocks(net.Rows.Blocks)
		}
		state, b := &alarm.ActiveSet{LastChange: now0}, newBuilder(t, "")
		for tick := range int64(25) {
			now := now0 + tick*1e6
			table, err := b.Build(view, state, now)
			if err != nil {
				t.Fatal(err)
			}
			var walked []smi.Variable
			for v, ok := table.Next(nil); ok; v, ok = table.Next(v.Name) {
				walked = append(walked, v)
			}
			want := listed(b, view, state, now)
			if !slices.EqualFunc(want, walked, same) {
				t.Fatalf("seed %d, tick %d: %s", seed, tick, cmp.Diff(want, walked))
			}
			change(r, view, state)
		}
	}
}

// What has not changed is not laid out again.
func TestOnlyChangedRowsAreLaidOutAgain(t *testing.T) {
	view, state := orderView(), &alarm.ActiveSet{}
	b := newBuilder(t, "")
	const (
		stuck = iota
		blocks
		sources
		regions
		alarms  = regions + lists
		queues  = alarms + 2
		cleared = queues + 1
	)
	for _, c := range []struct {
		what    string
		change  func()
		changed []int // live tables
	}{
		{"an alarm", func() {
			state.Active = []alarm.Alarm{{Index: 1, Kind: alarm.TokenStuck, Net: view.Nets[0].Name, Raised: now0, Since: 1}}
		}, []int{alarms}},
		{"a token", func() { view.Nets[0].Rows.Places[0].Stuck = nil }, []int{stuck}},
		{"a block", func() { view.Nets[0].Rows.Blocks = nil }, []int{blocks}},
		{"the lag of a standby", func() { view.Sources[0].Lag = nil }, []int{regions + 2}},
		{"a source", func() { view.Sources = nil }, []int{sources, regions, regions + 1, regions + 2, regions + 3, regions + 4}},
		{"a priority", func() { view.Nets[0].Rows.Queues = nil }, []int{queues}},
		{"a cleared alarm", func() { state.Cleared = []alarm.ClearedAlarm{{Alarm: stuckAlarm(1)}} }, []int{cleared}},
		{"a value", func() { view.Nets[0].Rows.Places[1].Tokens++ }, nil},
	} {
		buildView(t, b, view, state)
		before := slices.Clone(b.indices)
		c.change()
		buildView(t, b, view, state)
		for i := range b.indices {
			if b.indices[i] != before[i] && !slices.Contains(c.changed, i) {
				t.Errorf("%s changes table %d", c.what, i)
			}
		}
		if c.changed != nil && slices.Equal(b.indices, before) {
			t.Errorf("%s changes nothing", c.what)
		}
	}
}
