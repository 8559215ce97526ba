// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sleepinggenius2/gosmi"
	"github.com/sleepinggenius2/gosmi/models"
	"github.com/sleepinggenius2/gosmi/types"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
)

// kinds are all kinds of alarms.
func kinds() []alarm.Kind { return alarm.Kinds() }

// stuckAlarm is about the oldest token of orderView.
func stuckAlarm(index uint32) alarm.Alarm {
	return alarm.Alarm{Index: index, Kind: alarm.TokenStuck, Net: "orderFulfilment", Subject: "p2", Raised: now0 - 600e6, Since: now0 - 3600e6,
		Affected: 2, Text: "2 tokens are stuck in Paid"}
}

func buildAlarms(t *testing.T, b *Builder, state *alarm.ActiveSet) *smi.Table {
	t.Helper()
	return buildView(t, b, orderView(), state)
}

func buildView(t *testing.T, b *Builder, view *merge.View, state *alarm.ActiveSet) *smi.Table {
	t.Helper()
	table, err := b.Build(view, state, now0)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestAnActiveAlarmIsARow(t *testing.T) {
	table := buildAlarms(t, newBuilder(t, ""), &alarm.ActiveSet{Active: []alarm.Alarm{stuckAlarm(7)}, LastChange: now0 - 600e6, Suppressed: 12})
	names, root := petrinetOIDs(testRoot(t)), testRoot(t)
	raised := (&clock{}).date(now0 - 600e6)
	for _, c := range []struct {
		name  string
		index uint32
		want  smi.Value
	}{
		{"pnAlarmKind", 7, smi.Integer(1)},
		{"pnAlarmNet", 7, smi.OctetString("orderFulfilment")},
		{"pnAlarmSubject", 7, smi.OctetString("p2")},
		{"pnAlarmRow", 7, smi.ObjectID(root.Append(1, 1, 3, 1, 2, 1, 2))},
		{"pnAlarmRaised", 7, raised},
		{"pnAlarmAge", 7, smi.Gauge32(3600)},
		{"pnAlarmAffected", 7, smi.Gauge32(2)},
		{"pnAlarmText", 7, smi.OctetString("2 tokens are stuck in Paid")},
		{"pnAlarmText", 6, smi.NoSuchInstance()},
		{"pnAlarmLastChange", 0, raised},
		{"pnAgentNotificationsSuppressed", 0, smi.Counter32(12)},
	} {
		if got := get(t, table, names, c.name, c.index); got != c.want {
			t.Errorf("%s.%d is %v, want %v", c.name, c.index, got, c.want)
		}
	}
}

// alarmRow names the first column of the row, so that a tool can follow it.
func TestAlarmRowNamesARowThatIsThere(t *testing.T) {
	const net = "orderFulfilment"
	for name, c := range map[string]struct {
		alarm alarm.Alarm
		want  string // of the variable that it names; "" for zeroDotZero
	}{
		"a place":                {alarm.Alarm{Kind: alarm.TokenStuck, Net: net, Subject: "packed"}, "packed"},
		"a starved transition":   {alarm.Alarm{Kind: alarm.TransitionStarved, Net: net, Subject: "ship"}, "ship"},
		"a failing transition":   {alarm.Alarm{Kind: alarm.FailureRatio, Net: net, Subject: "pay"}, "pay"},
		"a looping transition":   {alarm.Alarm{Kind: alarm.TransitionLoop, Net: net, Subject: "pay"}, "pay"},
		"a net":                  {alarm.Alarm{Kind: alarm.NetDeadlocked, Net: net}, net},
		"a source":               {alarm.Alarm{Kind: alarm.SourceLost, Subject: "engine-1"}, "engine-1"},
		"a source of the net":    {alarm.Alarm{Kind: alarm.SourceLost, Subject: "engine-1", Net: net}, "engine-1"},
		"a source of no net":     {alarm.Alarm{Kind: alarm.SourceLost, Subject: "engine-1", Net: "other"}, ""},
		"a source that is gone":  {alarm.Alarm{Kind: alarm.SourceLost, Subject: "engine-2"}, ""},
		"a place that is gone":   {alarm.Alarm{Kind: alarm.TokenStuck, Net: net, Subject: "gone"}, ""},
		"a transition, as place": {alarm.Alarm{Kind: alarm.TokenStuck, Net: net, Subject: "pay"}, ""},
		"a net that is gone":     {alarm.Alarm{Kind: alarm.NetDeadlocked, Net: "gone"}, ""},
	} {
		c.alarm.Index = 1
		table := buildAlarms(t, newBuilder(t, ""), &alarm.ActiveSet{Active: []alarm.Alarm{c.alarm}})
		row := get(t, table, petrinetOIDs(testRoot(t)), "pnAlarmRow", 1)
		switch got := table.Get(row.OID()); {
		case c.want == "" && row != smi.ObjectID(smi.OID{0, 0}):
			t.Errorf("%s: %v, want zeroDotZero", name, row)
		case c.want != "" && got != smi.OctetString(c.want):
			t.Errorf("%s: %v names %v, want %q", name, row, got, c.want)
		}
	}
}

// An alarm about a region names its latest owner: that of the highest fence, or of a log
// that was created again, in which fences begin at 1.
func TestAnAlarmAboutARegionNamesItsLatestOwner(t *testing.T) {
	const net = "orderFulfilment"
	owner := func(name string, fence uint64, since, epoch int64) merge.Source {
		return merge.Source{Name: name, Net: net, Region: "desk", Fence: fence, Since: since, Epoch: epoch}
	}
	for want, owners := range map[string][]merge.Source{
		"of-three": {owner("before", 1, 7, 8), owner("of-three", 3, 7, 6), owner("between", 2, 7, 9)},
		"created":  {owner("before", 5, 7, 8), owner("created", 1, 20, 21), owner("older", 6, 7, 9)},
	} {
		view := orderView()
		view.Sources = owners
		table := buildView(t, newBuilder(t, ""), view, &alarm.ActiveSet{Active: []alarm.Alarm{{Index: 1, Kind: alarm.RegionStopped, Net: net, Subject: "desk"}}})
		row := get(t, table, petrinetOIDs(testRoot(t)), "pnAlarmRow", 1)
		if got := table.Get(row.OID()); got != smi.OctetString(want) {
			t.Errorf("%v names %v; want %q", row, got, want)
		}
	}
}

func TestAlarmsAreServedByNumberEachOnce(t *testing.T) {
	b, view, names := newBuilder(t, ""), orderView(), petrinetOIDs(testRoot(t))
	bad := stuckAlarm(4)
	bad.Kind = 99
	state := &alarm.ActiveSet{Active: []alarm.Alarm{stuckAlarm(9), stuckAlarm(3), stuckAlarm(3), stuckAlarm(0), stuckAlarm(1 << 31), bad}}
	table := buildView(t, b, view, state)
	column, err := smi.ParseOID(names["pnAlarmKind"])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for v, ok := table.Next(column); ok && v.Name.HasPrefix(column); v, ok = table.Next(v.Name) {
		got = append(got, v.Name[len(column):].String())
	}
	if diff := cmp.Diff([]string{"3", "9"}, got); diff != "" {
		t.Error(diff)
	}
	first := table.Layout()
	state.Active[0].Text = "still stuck"
	if buildView(t, b, view, state).Layout() != first {
		t.Error("got new names of the same alarms; want the names of before")
	}
	if buildView(t, b, view, nil).Layout() == first {
		t.Error("got the names of before without any alarm; want new ones")
	}
}

// A notification carries what its NOTIFICATION-TYPE lists, in that order, of
// one row.
func TestNotificationsHaveTheObjectsOfTheModule(t *testing.T) {
	dir, _ := generateTo(t)
	nodes := parsed(t, dir, PetrinetModule)
	b, seen := newBuilder(t, ""), map[string]bool{}
	for _, kind := range kinds() {
		for _, raise := range []bool{true, false} {
			a := stuckAlarm(41)
			a.Kind = kind
			variables, err := b.Notification(a, raise)
			if err != nil {
				t.Fatal(err)
			}
			seen[checkNotification(t, nodesByOID(nodes), variables, ".41")] = true
		}
	}
	seen[checkNotification(t, nodesByOID(nodes), b.Suppressed(5), ".0")] = true
	for _, n := range notifications() {
		if !seen[n.descriptor()] {
			t.Errorf("%s is never sent", n.descriptor())
		}
	}
}

func nodesByOID(nodes map[string]gosmi.SmiNode) map[string]gosmi.SmiNode {
	byOID := map[string]gosmi.SmiNode{}
	for _, n := range nodes {
		byOID[n.RenderNumeric()] = n
	}
	return byOID
}

// checkNotification returns the name of the notification.
func checkNotification(t *testing.T, nodes map[string]gosmi.SmiNode, variables []smi.Variable, instance string) string {
	t.Helper()
	if v := variables[0]; v.Name.String() != "1.3.6.1.6.3.1.1.4.1.0" || v.Value.Type != smi.TypeObjectIdentifier {
		t.Fatalf("the first variable is %v, want snmpTrapOID.0", v)
	}
	n, ok := nodes[variables[0].Value.OID().String()]
	if !ok || n.Kind != types.NodeNotification {
		t.Fatalf("%v is no notification of the module", variables[0])
	}
	var want, got []string
	for _, o := range n.GetNotificationObjects() {
		want = append(want, o.Name+instance)
	}
	for _, v := range variables[1:] {
		last := len(v.Name) - 1
		o := nodes[v.Name[:last].String()]
		if err := fits(o, v.Value); err != nil {
			t.Errorf("notification %s, object %s: %v", n.Name, o.Name, err)
		}
		got = append(got, o.Name+"."+v.Name[last:].String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects of notification %s (-want +got): %s", n.Name, diff)
	}
	return n.Name
}

// A notification and pnAlarmTable have the same values, the row among them.
func TestANotificationMatchesAlarmTable(t *testing.T) {
	b := newBuilder(t, "")
	table := buildAlarms(t, b, &alarm.ActiveSet{Active: []alarm.Alarm{stuckAlarm(7)}})
	variables, err := b.Notification(stuckAlarm(7), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variables[1:] {
		if got := table.Get(v.Name); got != v.Value {
			t.Errorf("%v, but the table has %v", v, got)
		}
	}
}

// Raised before the first View, or between two: an age is never that of
// another time.
func TestTheAgeInANotificationIsAtLeastThatOfItsRaising(t *testing.T) {
	variables, err := newBuilder(t, "").Notification(stuckAlarm(7), true)
	if err != nil {
		t.Fatal(err)
	}
	age := slices.IndexFunc(variables, func(v smi.Variable) bool { return v.Value.Type == smi.TypeGauge32 })
	if got := variables[age].Value; got != smi.Gauge32(3000) {
		t.Errorf("pnAlarmAge is %v, want the 3000 s from its beginning to its raising", got)
	}
}

func TestAnAlarmThatTheMIBCannotShowIsRefused(t *testing.T) {
	b := newBuilder(t, "")
	for name, a := range map[string]alarm.Alarm{
		"no kind": {Index: 1}, "an unknown kind": {Index: 1, Kind: 99}, "no number": {Kind: alarm.TokenStuck},
		"a number too large": {Kind: alarm.TokenStuck, Index: 1 << 31},
	} {
		if v, err := b.Notification(a, true); !errors.Is(err, ErrAlarm) || v != nil {
			t.Errorf("%s: got %v, error %v; want ErrAlarm", name, v, err)
		}
	}
}

func TestAlarmKindsHaveTheNamesOfTheirConstants(t *testing.T) {
	dir, _ := generateTo(t)
	values := parsed(t, dir, PetrinetModule)[PetrinetModule+"::pnAlarmKind"].SmiType.Enum.Values
	for _, k := range kinds() {
		if i := slices.IndexFunc(values, func(v models.NamedNumber) bool { return v.Value == int64(k) }); i < 0 || values[i].Name != k.String() {
			t.Errorf("kind %d is not called %v", k, k)
		}
	}
	for _, v := range values {
		if alarm.Kind(v.Value).String() != v.Name {
			t.Errorf("the module has the kind %s(%d), which is called %v", v.Name, v.Value, alarm.Kind(v.Value))
		}
	}
	for _, n := range notifications() {
		if strings.Contains(n.text, "earlier") != n.clears {
			t.Errorf("%s: what it clears is not in its DESCRIPTION", n.name)
		}
	}
}
