// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sleepinggenius2/gosmi"
	"github.com/sleepinggenius2/gosmi/types"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

func newBuilder(t testing.TB, lockPath string) *Builder {
	t.Helper()
	b, err := NewBuilder(testRoot(t), lockPath, Agent{Version: "1.2", Name: "north", Started: now0 - 3600e6})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func build(t testing.TB, b *Builder, view *merge.View, now int64) *smi.Table {
	t.Helper()
	if view != nil {
		view.Sum()
	}
	table, err := b.Build(view, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// objectNodes are the scalars and columns of modules by OID.
func objectNodes(nodes map[string]gosmi.SmiNode) map[string]gosmi.SmiNode {
	objects := map[string]gosmi.SmiNode{}
	for _, n := range nodes {
		if n.Kind == types.NodeScalar || n.Kind == types.NodeColumn {
			objects[n.RenderNumeric()] = n
		}
	}
	return objects
}

// instanceOf finds the object that a variable is an instance of.
func instanceOf(objects map[string]gosmi.SmiNode, name smi.OID) (object gosmi.SmiNode, index smi.OID, ok bool) {
	for n := len(name) - 1; n > 0; n-- {
		if object, ok = objects[name[:n].String()]; ok {
			return object, name[n:], true
		}
	}
	return object, nil, false
}

// fits returns why a value is invalid for an object.
func fits(o gosmi.SmiNode, v smi.Value) error {
	want := map[types.BaseType]smi.Type{
		types.BaseTypeInteger32: smi.TypeInteger, types.BaseTypeEnum: smi.TypeInteger, types.BaseTypeUnsigned32: smi.TypeGauge32,
		types.BaseTypeUnsigned64: smi.TypeCounter64, types.BaseTypeOctetString: smi.TypeOctetString,
		types.BaseTypeObjectIdentifier: smi.TypeObjectIdentifier,
	}[o.SmiType.BaseType]
	if o.SmiType.Name == "Counter32" {
		want = smi.TypeCounter32
	}
	if v.Type != want {
		return fmt.Errorf("%v for base type %v", v, o.SmiType.BaseType)
	}
	if size := o.SmiType.Ranges; v.Type == smi.TypeOctetString && len(size) > 0 && int64(len(v.Str)) > size[len(size)-1].MaxValue {
		return fmt.Errorf("%d octets, of %v", len(v.Str), size)
	}
	if o.SmiType.Name == "DateAndTime" && len(v.Str) != 8 && len(v.Str) != 11 {
		return fmt.Errorf("a date of %d octets", len(v.Str))
	}
	if o.SmiType.Enum == nil {
		return nil
	}
	for _, e := range o.SmiType.Enum.Values {
		if e.Value == v.Int() {
			return nil
		}
	}
	return fmt.Errorf("%v is not in the enumeration", v)
}

// randomView is a View of three nets, the last with only some columns, and the
// modules of these nets. The lock knows the places in another order.
func randomView(t *testing.T, r *rand.Rand) (view *merge.View, dir string) {
	t.Helper()
	defs := []*petri.Net{sizedNet("alpha", 12, 9), orderNet(), sizedNet("partial", 5, 5)}
	reversed := sizedNet("alpha", 12, 9)
	for i, p := range defs[0].Places {
		reversed.Places[11-i] = p
	}
	dir, _ = generateTo(t, reversed, defs[2], defs[1])
	view = viewOf(
		netOf(defs[0], randomRows(r, defs[0], stats.AllColumns)),
		netOf(defs[1], randomRows(r, defs[1], stats.AllColumns)),
		netOf(defs[2], randomRows(r, defs[2], stats.ColTokens|stats.ColFirings)))
	view.Sources = append(view.Sources, merge.Source{Name: strings.Repeat("é", 255), Net: "other", State: merge.Undefined})
	return view, dir
}

func TestEveryVariableIsAnInstanceOfAnObjectOfTheModules(t *testing.T) {
	for seed := range seeds.Of(2, 5) {
		view, dir := randomView(t, rand.New(rand.NewPCG(seed, 1)))
		nodes := parsed(t, dir, PetrinetModule, "ALPHA-PN-MIB", "ORDER-FULFILMENT-PN-MIB", "PARTIAL-PN-MIB")
		objects := objectNodes(nodes)
		state := &alarm.ActiveSet{LastChange: now0}
		for i, kind := range kinds() {
			state.Active = append(state.Active, alarm.Alarm{Index: uint32(3*i + 1), Kind: kind, Net: "alpha", Subject: "place3", Raised: now0, Since: 1})
		}
		state.Cleared = []alarm.ClearedAlarm{{Alarm: alarm.Alarm{Index: 2, Kind: alarm.SourceLost, Subject: "gone", Raised: now0, Severity: alarm.Major}, Cleared: now0}}
		table, err := newBuilder(t, filepath.Join(dir, LockFile)).Build(view, state, now0)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for i := range table.Len() {
			v := table.At(i)
			o, index, ok := instanceOf(objects, v.Name)
			switch {
			case !ok:
				t.Fatalf("%v is no instance of an object", v)
			case o.Access != types.AccessReadOnly || o.Status != types.StatusCurrent:
				t.Errorf("%s has access %v and status %v", o.Name, o.Access, o.Status)
			case o.Kind == types.NodeScalar && index.String() != "0":
				t.Errorf("%s has the instance %v", o.Name, index)
			case o.Kind == types.NodeColumn && len(index) != indexLength(o.Name):
				t.Errorf("%s has the index %v", o.Name, index)
			}
			if err := fits(o, v.Value); err != nil {
				t.Errorf("object %s: %v", o.Name, err)
			}
			seen[o.RenderNumeric()]++
		}
		everyObjectHasInstances(t, objects, seen)
	}
}

// indexLength is the number of index objects of a column of PETRINET-MIB.
func indexLength(column string) int {
	for _, tab := range petrinet().tables {
		for _, o := range tab.columns {
			if tab.columnPrefix()+o.suffix == column {
				return len(tab.index)
			}
		}
	}
	return 0
}

// All that can be read has instances, but for what no source of the third net
// reports.
func everyObjectHasInstances(t *testing.T, objects map[string]gosmi.SmiNode, seen map[string]int) {
	t.Helper()
	partly := regexp.MustCompile(`(^par(NetIndex|NetName|CountedSince)|Tokens|Firings|Rate1|Rate5|Rate15)$`)
	for oid, o := range objects {
		want := o.Access == types.AccessReadOnly
		if o.GetModule().Name == "PARTIAL-PN-MIB" {
			want = partly.MatchString(o.Name)
		}
		if (seen[oid] > 0) != want {
			t.Errorf("%s::%s has %d instances", o.GetModule().Name, o.Name, seen[oid])
		}
	}
}

// get reads a variable by the name that a person would use.
func get(t *testing.T, table *smi.Table, names map[string]string, name string, index ...uint32) smi.Value {
	t.Helper()
	oid, err := smi.ParseOID(names[name])
	if err != nil {
		t.Fatalf("%s: got error %v; want none", name, err)
	}
	return table.Get(oid.Append(index...))
}

// petrinetOIDs are the scalars and columns of PETRINET-MIB by name.
func petrinetOIDs(root smi.OID) map[string]string {
	objects := root.Append(subPetrinet, subObjects)
	names := map[string]string{}
	for _, o := range objectsOf(agentScalars()) {
		names[inModule("agent")+o.suffix] = objects.Append(subAgent, o.sub).String()
	}
	for _, o := range objectsOf(alarmScalars()) {
		names[inModule("alarm")+o.suffix] = objects.Append(o.sub).String()
	}
	for _, o := range objectsOf(clearedScalars()) {
		names[inModule("cleared")+o.suffix] = objects.Append(o.sub).String()
	}
	for _, tab := range petrinet().tables {
		for _, o := range tab.columns {
			names[tab.columnPrefix()+o.suffix] = objects.Append(tab.sub, 1, o.sub).String()
		}
	}
	return names
}

// orderView is a View of orderNet with numbers that are easy to remember.
func orderView() *merge.View {
	def := orderNet()
	rows := stats.NewRows(3, 2)
	rows.Columns = stats.AllColumns
	rows.Net = stats.NetRow{Created: 100, Finished: 90, Failed: 3, Active: 7, Deadlocked: 1}
	p := &rows.Places[0]
	p.Tokens, p.Instances, p.Arrivals, p.Departures = 2, 2, 102, 100
	p.Oldest, p.LastInjection = now0-3600e6, now0-1800e6
	p.Injected.Add(now0 - 3600e6)
	p.Injected.Add(now0 - 1800e6)
	p.Ages.Add(now0-3600e6, now0, 1)
	p.Ages.Add(now0-1800e6, now0, 1)
	for range 100 {
		p.Dwell.Observe(250_000)
	}
	p.Stuck = []stats.Token{{Instance: "order-17", Injected: now0 - 3600e6,
		Waits: []stats.Wait{{Transition: 0, Reason: stats.ReasonMissing, Place: 2, Count: 2}, {Transition: 1, Reason: stats.ReasonDelayed, Until: now0, What: "timer"}}}}
	rows.Transitions[1] = stats.Transition{Firings: 1 << 40, Failures: 4, Timeouts: 6, Late: 5, Enabled: 2, EnabledSince: now0 - 90e6, LastFiring: now0 - 1e6}
	rows.Blocks = []stats.Block{{Transition: 0, Place: stats.NoPlace, Reason: stats.ReasonGuarded, Instances: 3},
		{Transition: 0, Place: 2, Reason: stats.ReasonMissing, Instances: 5}}
	rows.Queues = []stats.Queue{{Priority: 0, Served: 1 << 40, QuoteSwitches: 7},
		{Priority: 7, Ready: 3, OldestSince: now0 - 30e6, UnservedSince: now0 - 20e6, Served: 9}}
	rows.Waiting = 11
	return viewOf(netOf(def, rows))
}

func TestTheNumbersOfAView(t *testing.T) {
	table := build(t, newBuilder(t, ""), orderView(), now0+500_000)
	names := petrinetOIDs(testRoot(t))
	since := func(micros int64) smi.Value { return (&clock{}).date(micros) }
	engine1 := indexOf([2]string{orderView().Sources[0].Net, "engine-1"})
	for _, c := range []struct {
		name  string
		index []uint32
		want  smi.Value
	}{
		{"pnAgentVersion", []uint32{0}, smi.OctetString("1.2")},
		{"pnAgentRole", []uint32{0}, smi.Integer(1)},
		{"pnAgentPriority", []uint32{0}, smi.Gauge32(0)},
		{"pnAgentSourcesUp", []uint32{0}, smi.Gauge32(1)},
		{"pnAgentMessagesBad", []uint32{0}, smi.Counter32(3)},
		{"pnAlarmLastChange", []uint32{0}, smi.OctetString("\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"pnNetName", []uint32{1}, smi.OctetString("orderFulfilment")},
		{"pnNetLabel", []uint32{1}, smi.OctetString("Order fulfilment")},
		{"pnNetDigest", []uint32{1}, smi.OctetString("5f1d")},
		{"pnNetTokens", []uint32{1}, smi.Gauge32(2)},
		{"pnNetFirings", []uint32{1}, smi.Counter64(1 << 40)},
		{"pnNetOldestAge", []uint32{1}, smi.Gauge32(3601)},
		{"pnNetDeadlockedInstances", []uint32{1}, smi.Gauge32(1)},
		{"pnNetDiscontinuityTime", []uint32{1}, since(now0 - 60e6)},
		{"pnPlaceId", []uint32{1, 2}, smi.OctetString("p2")},
		{"pnPlaceName", []uint32{1, 2}, smi.OctetString("Paid")},
		{"pnPlaceName", []uint32{1, 3}, smi.OctetString("packed")},
		{"pnPlaceTokens", []uint32{1, 1}, smi.Gauge32(2)},
		{"pnPlaceNet", []uint32{1, 2}, smi.OctetString("orderFulfilment")},
		{"pnTransitionNet", []uint32{1, 1}, smi.OctetString("orderFulfilment")},
		{"pnPlaceOldestAge", []uint32{1, 1}, smi.Gauge32(3601)},
		{"pnPlaceOldestAge", []uint32{1, 2}, smi.Gauge32(0)},
		{"pnPlaceMeanAge", []uint32{1, 1}, smi.Gauge32(2701)},
		{"pnPlaceOldestSince", []uint32{1, 1}, smi.OctetString("\x07\xea\x0b\x14\x07\x0f\x00\x00+\x00\x00")},
		{"pnPlaceOldestSince", []uint32{1, 2}, smi.OctetString("\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"pnPlaceDepartures", []uint32{1, 1}, smi.Counter64(100)},
		{"pnPlaceDwellP99", []uint32{1, 1}, smi.Gauge32(239)}, // 250 ms within 4.4 %
		{"pnPlaceDwellP99", []uint32{1, 2}, smi.Gauge32(0)},
		{"pnPlaceOlderThan10m", []uint32{1, 1}, smi.Gauge32(2)},
		{"pnPlaceOlderThan6h", []uint32{1, 1}, smi.Gauge32(0)},
		{"pnTransitionFirings", []uint32{1, 2}, smi.Counter64(1 << 40)},
		{"pnTransitionEnabledAge", []uint32{1, 2}, smi.Gauge32(91)},
		{"pnTransitionTimeouts", []uint32{1, 2}, smi.Counter32(6)},
		{"pnTransitionLateAnswers", []uint32{1, 2}, smi.Counter32(5)},
		{"pnNetWaitingWork", []uint32{1}, smi.Gauge32(11)},
		{"pnQueueReady", []uint32{1, 7}, smi.Gauge32(3)},
		{"pnQueueReady", []uint32{1, 0}, smi.Gauge32(0)},
		{"pnQueueReady", []uint32{1, 3}, smi.NoSuchInstance()},
		{"pnQueueOldestAge", []uint32{1, 7}, smi.Gauge32(31)},
		{"pnQueueOldestSince", []uint32{1, 7}, since(now0 - 30e6)},
		{"pnQueueUnservedAge", []uint32{1, 7}, smi.Gauge32(21)},
		{"pnQueueUnservedAge", []uint32{1, 0}, smi.Gauge32(0)},
		{"pnQueueUnservedSince", []uint32{1, 0}, since(0)},
		{"pnQueueServed", []uint32{1, 0}, smi.Counter64(1 << 40)},
		{"pnQueueQuoteSwitches", []uint32{1, 0}, smi.Counter32(7)},
		{"pnStuckInstance", []uint32{1, 1, 1}, smi.OctetString("order-17")},
		{"pnStuckReason", []uint32{1, 1, 1}, smi.Integer(6)},
		{"pnStuckWhy", []uint32{1, 1, 1}, smi.OctetString("Pay: 2 tokens short in packed; ship: timer (delayed until 2026-11-20T08:15:00Z)")},
		{"pnStuckWhy", []uint32{1, 1, 2}, smi.NoSuchInstance()},
		{"pnBlockInstances", []uint32{1, 1, 3, 6}, smi.Gauge32(5)},
		{"pnBlockPlaceId", []uint32{1, 1, 3, 6}, smi.OctetString("packed")},
		{"pnBlockInstances", []uint32{1, 1, 0, 5}, smi.Gauge32(3)},
		{"pnSourceName", []uint32{engine1}, smi.OctetString("engine-1")},
		{"pnSourceNetIndex", []uint32{engine1}, smi.Gauge32(1)},
		{"pnSourceState", []uint32{engine1}, smi.Integer(1)},
		{"pnSourceSilence", []uint32{engine1}, smi.Gauge32(1)},
		{"pnSourceInterval", []uint32{engine1}, smi.Gauge32(1000)},
		{"pnSourceSkew", []uint32{engine1}, smi.Integer(-20)},
		{"pnAlarmText", []uint32{1}, smi.NoSuchInstance()},
	} {
		if got := get(t, table, names, c.name, c.index...); got != c.want {
			t.Errorf("%s.%v is %v, want %v", c.name, c.index, got, c.want)
		}
	}
}

// Of two agents the lower number answers, so that the larger one is a standby.
func TestTheRoleFollowsFromThePriority(t *testing.T) {
	names := petrinetOIDs(testRoot(t))
	for priority, role := range map[uint8]int32{0: 1, 1: 1, PrimaryPriority: 1, PrimaryPriority + 1: 2, 127: 2, 255: 2} {
		b, err := NewBuilder(testRoot(t), "", Agent{Priority: priority})
		if err != nil {
			t.Fatal(err)
		}
		table := build(t, b, nil, now0)
		if got := get(t, table, names, "pnAgentRole", 0); got != smi.Integer(role) {
			t.Errorf("priority %d has the role %v, want %d", priority, got, role)
		}
		if got := get(t, table, names, "pnAgentPriority", 0); got != smi.Gauge32(uint32(priority)) {
			t.Errorf("priority %d is shown as %v", priority, got)
		}
	}
}

// The state of other agents takes precedence over the priority.
func TestTheRoleFollowsFromOtherAgents(t *testing.T) {
	names := petrinetOIDs(testRoot(t))
	began := now0 - 60e6 // as of the view
	for _, c := range []struct {
		rule   string
		others Others
		role   int32
		since  int64
	}{
		{"nothing is known", Others{}, 1, began},
		{"one of a lower number is known", Others{Lower: true}, 2, began},
		{"another one answered until after the counters began", Others{Answers: now0 - 5e6}, 1, now0 - 5e6},
		{"another one answered before they began", Others{Lower: true, Answers: began - 5e6}, 2, began},
	} {
		b, err := NewBuilder(testRoot(t), "", Agent{Priority: 50, Others: func() Others { return c.others }})
		if err != nil {
			t.Fatal(err)
		}
		table := build(t, b, orderView(), now0)
		if got := get(t, table, names, "pnAgentRole", 0); got != smi.Integer(c.role) {
			t.Errorf("%s: the role is %v, want %d", c.rule, got, c.role)
		}
		at := clock{now: now0}
		if got, want := get(t, table, names, "pnNetDiscontinuityTime", 1), at.date(c.since); got != want {
			t.Errorf("%s: the discontinuity time is %v, want %v", c.rule, got, want)
		}
	}
}

// A place's own object shows what its row in pnPlaceTable shows.
func TestBothKindsOfModuleShowTheSameNumbers(t *testing.T) {
	view := orderView()
	b := newBuilder(t, "")
	table := build(t, b, view, now0)
	names := petrinetOIDs(testRoot(t))
	net := b.numbers.lock.Net("orderFulfilment")
	own := lockedOIDs(testRoot(t), net)
	for _, e := range net.Places() {
		for _, o := range namedOnly(objectsOf(placeColumns())) {
			want := get(t, table, names, inModule("place")+o.suffix, net.Number, e.Number)
			if got := get(t, table, own, net.Module+"::"+net.Name(e)+o.suffix, 0); got != want || got.IsException() {
				t.Errorf("%s%s is %v, want %v", e.Descriptor, o.suffix, got, want)
			}
		}
	}
	for _, e := range net.Transitions() {
		for _, o := range namedOnly(objectsOf(transitionColumns())) {
			want := get(t, table, names, inModule("transition")+o.suffix, net.Number, e.Number)
			if got := get(t, table, own, net.Module+"::"+net.Name(e)+o.suffix, 0); got != want || got.IsException() {
				t.Errorf("%s%s is %v, want %v", e.Descriptor, o.suffix, got, want)
			}
		}
	}
}

func TestAColumnThatNoSourceReportsIsAbsentNotZero(t *testing.T) {
	view := orderView()
	view.Nets[0].Rows.Columns = stats.ColFirings
	b := newBuilder(t, "")
	table := build(t, b, view, now0)
	names := petrinetOIDs(testRoot(t))
	own := lockedOIDs(testRoot(t), b.numbers.lock.Net("orderFulfilment"))
	for _, name := range []string{"pnPlaceTokens", "pnPlaceOldestAge", "pnPlaceDwellP50", "pnPlaceOlderThan1s", "pnTransitionTimeouts"} {
		if got := get(t, table, names, name, 1, 1); got != smi.NoSuchInstance() {
			t.Errorf("%s is %v", name, got)
		}
	}
	if got := get(t, table, own, "ORDER-FULFILMENT-PN-MIB::ofuAwaitingPaymentTokens", 0); got != smi.NoSuchInstance() {
		t.Errorf("awaitingPaymentTokens is %v", got)
	}
	if got := get(t, table, names, "pnPlaceId", 1, 1); got != smi.OctetString("awaitingPayment") {
		t.Errorf("pnPlaceId is %v", got)
	}
	if got := table.Get(testRoot(t).Append(1, 99)); got != smi.NoSuchObject() {
		t.Errorf("an object that is not there is %v", got)
	}
}

func TestAgesAreMadeAsOfNow(t *testing.T) {
	b, view, names := newBuilder(t, ""), orderView(), petrinetOIDs(testRoot(t))
	for _, later := range []int64{0, 1, 59, 3600} {
		table := build(t, b, view, now0+later*1e6)
		if got := get(t, table, names, "pnPlaceOldestAge", 1, 1); got != smi.Gauge32(uint32(3600+later)) {
			t.Errorf("%d s later: %v", later, got)
		}
	}
}

// Laying names out is dear; ticks that change only values share a layout.
func TestTheLayoutChangesOnlyWithTheRows(t *testing.T) {
	var view *merge.View
	for name, c := range map[string]struct {
		change func()
		same   bool
	}{
		"a value":      {func() { view.Nets[0].Rows.Places[1].Tokens++ }, true},
		"a token":      {func() { view.Nets[0].Rows.Places[0].Stuck = nil }, false},
		"a block":      {func() { view.Nets[0].Rows.Blocks = nil }, false},
		"a source":     {func() { view.Sources = nil }, false},
		"a queue":      {func() { view.Nets[0].Rows.Queues[0].Served++ }, true},
		"a priority":   {func() { view.Nets[0].Rows.Queues = nil }, false},
		"columns":      {func() { view.Nets[0].Rows.Columns = stats.ColTokens }, false},
		"a definition": {func() { def := *view.Nets[0].Def; view.Nets[0].Def = &def }, false},
		"a net":        {func() { view.Nets = nil }, false},
	} {
		view = orderView()
		b := newBuilder(t, "")
		first := build(t, b, view, now0).Layout()
		c.change()
		if got := build(t, b, view, now0+1e6).Layout() == first; got != c.same {
			t.Errorf("%s changes: same layout %v, want %v", name, got, c.same)
		}
	}
}

func TestBeforeTheFirstViewThereAreOnlyScalars(t *testing.T) {
	table := build(t, newBuilder(t, ""), nil, now0)
	if want := len(agentScalars()) + len(alarmScalars()) + len(clearedScalars()); table.Len() != want {
		t.Errorf("%d variables, want %d", table.Len(), want)
	}
}

// The index of a source is made of its net and its name: it is the same one whatever came before, in
// another process, and where other sources are.
func TestASourceKeepsItsNumber(t *testing.T) {
	names := petrinetOIDs(testRoot(t))
	list := func(b *Builder, sources ...string) map[string]uint32 {
		view := orderView()
		source := view.Sources[0]
		view.Sources = nil
		for _, s := range sources {
			source.Name = s
			view.Sources = append(view.Sources, source)
		}
		column, err := smi.ParseOID(names["pnSourceName"])
		if err != nil {
			t.Fatal(err)
		}
		table, got := build(t, b, view, now0), map[string]uint32{}
		for i := range table.Len() {
			if v := table.At(i); len(v.Name) == len(column)+1 && slices.Equal(v.Name[:len(column)], column) {
				got[v.Value.Str] = v.Name[len(column)]
			}
		}
		return got
	}
	long := newBuilder(t, "")
	all := list(long, "b", "c", "c", "a")
	if len(all) != 3 || all["a"] == all["b"] || all["b"] == all["c"] {
		t.Fatalf("the sources have the indices %v", all)
	}
	for _, sources := range [][]string{{"a", "c"}, {"a", "b"}, {"c"}} {
		for what, b := range map[string]*Builder{"the same agent": long, "another agent": newBuilder(t, "")} {
			got := list(b, sources...)
			for _, s := range sources {
				if got[s] != all[s] || len(got) != len(sources) {
					t.Errorf("%s with %v: %v; want those of %v", what, sources, got, all)
				}
			}
		}
	}
}

// Two sources whose net and name give one index have two.
func TestSourcesDoNotShareANumber(t *testing.T) {
	first := [2]string{"n", "a"}
	s := sourceNumbers{known: map[[2]string]uint32{{"n", "other"}: indexOf(first)}}
	all := s.number([]merge.Source{{Net: "n", Name: "a"}, {Net: "n", Name: "other"}})
	if got := []uint32{all[0].number, all[1].number}; !slices.Equal(got, []uint32{indexOf(first), indexOf(first)%maxNumber + 1}) || all[0].source.Name != "other" {
		t.Errorf("the indices are %v, %s first", got, all[0].source.Name)
	}
}

// What a hostile source makes of a View must not cost the table.
func TestAnOddViewStillMakesATable(t *testing.T) {
	view := orderView()
	rows := view.Nets[0].Rows
	rows.Blocks = []stats.Block{{Transition: 9, Place: 0, Reason: 1, Instances: 1}, {Transition: 0, Place: 77, Reason: 1, Instances: 1},
		{Transition: -4, Place: -7, Reason: 1, Instances: 1}, {Transition: 0, Place: 0, Reason: 200, Instances: 1}, {Transition: 0, Place: 0, Reason: 99, Instances: 2}}
	rows.Places[0].Stuck = []stats.Token{{Instance: strings.Repeat("中", 999), Injected: -5, Waits: []stats.Wait{{Transition: 99, Reason: 250, Place: 99}}}}
	rows.Places[1].Oldest, rows.Places[1].Tokens = now0+1e15, 1<<63
	rows.Queues = []stats.Queue{{Priority: 9}, {Priority: 9}, {Priority: 0}}
	view.Nets = append(view.Nets, view.Nets[0])
	view.Sources = append(view.Sources, view.Sources[0], merge.Source{State: 77, Interval: -5, Skew: 1 << 62})
	table, err := newBuilder(t, "").Build(view, nil, now0)
	if err != nil {
		t.Fatal(err)
	}
	names := petrinetOIDs(testRoot(t))
	if got := get(t, table, names, "pnBlockInstances", 1, 1, 1, 1); got != smi.Gauge32(1) {
		t.Errorf("blocks of unknown reasons, which no message has twice: %v, want the first", got)
	}
	if got := get(t, table, names, "pnPlaceTokens", 1, 2); got != smi.Gauge32(1<<32-1) {
		t.Errorf("a gauge beyond 32 bits: %v", got)
	}
	rows.Places = rows.Places[:1]
	if _, err := newBuilder(t, "").Build(view, nil, now0); err == nil {
		t.Error("rows that do not fit the definition are taken")
	}
}

// The enumerations of the modules are those of the packages they come from.
func TestEnumerationsHaveTheNamesOfTheirConstants(t *testing.T) {
	dir, _ := generateTo(t)
	nodes := parsed(t, dir, PetrinetModule)
	label := func(object string, number int) string {
		for _, v := range nodes[PetrinetModule+"::"+object].SmiType.Enum.Values {
			if v.Value == int64(number) {
				return v.Name
			}
		}
		return ""
	}
	for r := stats.ReasonUnknown; r <= stats.LastReason; r++ {
		if got := label("pnStuckReason", int(reasonValue(r).Num)); got != r.String() {
			t.Errorf("reason %v is called %q", r, got)
		}
	}
	for s := merge.Up; s <= merge.Undefined; s++ {
		if got := label("pnSourceState", int(s)+1); got != s.String() {
			t.Errorf("state %v is called %q", s, got)
		}
	}
}
