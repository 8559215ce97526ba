// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

// noted are active alarms of every severity: one with all notes, one silenced, and one whose
// severity is not known.
func noted() *alarm.ActiveSet {
	state := &alarm.ActiveSet{}
	for i, s := range []alarm.Severity{alarm.Critical, alarm.Critical, alarm.Critical, alarm.Major, alarm.Major, alarm.Minor, alarm.Warning, 0} {
		a := stuckAlarm(uint32(i) + 1)
		a.Severity = s
		state.Active = append(state.Active, a)
	}
	state.Active[0].Ack = &alarm.Ack{At: now0 - 30e6, By: "ada", Comment: "the bank\nis informed"}
	state.Active[4].SilencedUntil = now0 + 3600e6
	return state
}

func TestTheSeverityAndTheNotesOfAnAlarm(t *testing.T) {
	table, names := buildAlarms(t, newBuilder(t, ""), noted()), petrinetOIDs(testRoot(t))
	never, date := (&clock{}).date(0), (&clock{}).date
	for _, c := range []struct {
		name  string
		index uint32
		want  smi.Value
	}{
		{"pnAlarmSeverity", 1, smi.Integer(3)},
		{"pnAlarmSeverity", 4, smi.Integer(4)},
		{"pnAlarmSeverity", 6, smi.Integer(5)},
		{"pnAlarmSeverity", 7, smi.Integer(6)},
		{"pnAlarmSeverity", 8, smi.Integer(2)},
		{"pnAlarmAcknowledged", 1, smi.Integer(1)},
		{"pnAlarmAckBy", 1, smi.OctetString("ada")},
		{"pnAlarmAckTime", 1, date(now0 - 30e6)},
		{"pnAlarmComment", 1, smi.OctetString(`the bank\u000ais informed`)},
		{"pnAlarmAcknowledged", 2, smi.Integer(2)},
		{"pnAlarmAckBy", 2, smi.OctetString("")},
		{"pnAlarmAckTime", 2, never},
		{"pnAlarmComment", 2, smi.OctetString("")},
		{"pnAlarmSilencedUntil", 5, date(now0 + 3600e6)},
		{"pnAlarmSilencedUntil", 4, never},
		{"pnAlarmActive", 0, smi.Gauge32(7)},
		{"pnAlarmCritical", 0, smi.Gauge32(3)},
		{"pnAlarmMajor", 0, smi.Gauge32(1)}, // the other one is silenced
		{"pnAlarmMinor", 0, smi.Gauge32(1)},
		{"pnAlarmWarning", 0, smi.Gauge32(1)},
	} {
		if got := get(t, table, names, c.name, c.index); got != c.want {
			t.Errorf("%s.%d is %v, want %v", c.name, c.index, got, c.want)
		}
	}
}

// A comment may be longer than a text of SNMP.
func TestALongCommentIsCutOff(t *testing.T) {
	state := noted()
	state.Active[0].Ack.Comment = strings.Repeat("é", alarm.MaxComment/2)
	got := get(t, buildAlarms(t, newBuilder(t, ""), state), petrinetOIDs(testRoot(t)), "pnAlarmComment", 1)
	if got != smi.OctetString(strings.Repeat("é", maxText/2)) {
		t.Errorf("%v; want 127 characters", got)
	}
}

func TestSeveritiesHaveTheNamesAndNumbersOfTheirConstants(t *testing.T) {
	i := slices.IndexFunc(petrinet().conventions, func(c convention) bool { return c.name == "PetrinetSeverity" })
	for n, label := range petrinet().conventions[i].labels {
		if got := alarm.Severity(n + 1).String(); got != label {
			t.Errorf("%s(%d) is called %s", label, n+1, got)
		}
	}
	if n := len(petrinet().conventions[i].labels); n != int(alarm.Warning) {
		t.Errorf("%d labels; want %d", n, alarm.Warning)
	}
}

func TestClearedAlarmsAreServedByNumberEachOnce(t *testing.T) {
	over := func(index uint32, cleared int64, text string) alarm.ClearedAlarm {
		a := stuckAlarm(index)
		a.Severity, a.Text = alarm.Major, text
		return alarm.ClearedAlarm{Alarm: a, Cleared: cleared}
	}
	bad := over(4, now0, "")
	bad.Kind = 99
	table := buildAlarms(t, newBuilder(t, ""), &alarm.ActiveSet{Cleared: []alarm.ClearedAlarm{
		over(9, now0-300e6, "gone"), over(3, now0-200e6, "older"), over(0, now0-150e6, ""), bad, over(3, now0-100e6, "moved")}})
	names, date := petrinetOIDs(testRoot(t)), (&clock{}).date
	for _, c := range []struct {
		name  string
		index uint32
		want  smi.Value
	}{
		{"pnClearedKind", 3, smi.Integer(1)},
		{"pnClearedNet", 3, smi.OctetString("orderFulfilment")},
		{"pnClearedSubject", 3, smi.OctetString("p2")},
		{"pnClearedSeverity", 3, smi.Integer(4)},
		{"pnClearedRaised", 3, date(now0 - 600e6)},
		{"pnClearedCleared", 3, date(now0 - 100e6)},
		{"pnClearedText", 3, smi.OctetString("moved")},
		{"pnClearedText", 9, smi.OctetString("gone")},
		{"pnClearedKind", 0, smi.NoSuchInstance()},
		{"pnClearedKind", 4, smi.NoSuchInstance()},
		{"pnClearedLastChange", 0, date(now0 - 100e6)},
		{"pnAlarmActive", 0, smi.Gauge32(0)},
		{"pnAlarmKind", 3, smi.NoSuchInstance()},
	} {
		if got := get(t, table, names, c.name, c.index); got != c.want {
			t.Errorf("%s.%d is %v, want %v", c.name, c.index, got, c.want)
		}
	}
}

// A context has the alarms of its net only, also those that are over.
func TestAContextHasTheAlarmsOfItsNet(t *testing.T) {
	of := func(index uint32, net string) alarm.Alarm {
		a := stuckAlarm(index)
		a.Net, a.Severity = net, alarm.Major
		return a
	}
	one := alarmsOfNet(&alarm.ActiveSet{Active: []alarm.Alarm{of(1, "a"), of(2, "b")}, Cleared: []alarm.ClearedAlarm{{Alarm: of(3, "a")}, {Alarm: of(4, "b")}}}, "b")
	if len(one.Active) != 1 || one.Active[0].Index != 2 || len(one.Cleared) != 1 || one.Cleared[0].Index != 4 {
		t.Errorf("%+v; want the alarms 2 and 4", one)
	}
}

// The objects of a notification by position, as handlers of traps name them: $1 to $12.
func TestTheOrderOfTheObjectsOfANotification(t *testing.T) {
	want := []string{"pnAlarmKind", "pnAlarmNet", "pnAlarmSubject", "pnAlarmRaised", "pnAlarmAge", "pnAlarmAffected", "pnAlarmText", "pnAlarmRow", "pnAlarmSeverity", "pnAlarmReason", "pnAlarmInstance", "pnAlarmWhy"}
	for _, n := range notifications() {
		if n.kind == 0 {
			want := []string{"pnAgentNotificationsSuppressed"}
			if diff := cmp.Diff(want, n.objects); diff != "" {
				t.Errorf("%s: %s", n.name, diff)
			}
		} else if diff := cmp.Diff(want, n.objects); diff != "" {
			t.Errorf("%s: %s", n.name, diff)
		}
	}
}

func TestANotificationHasTheRowAndTheSeverity(t *testing.T) {
	root := testRoot(t)
	stuck, gone := stuckAlarm(7), stuckAlarm(8)
	stuck.Severity, gone.Severity, gone.Subject = alarm.Critical, alarm.Minor, "gone"
	for name, c := range map[string]struct {
		alarm    alarm.Alarm
		raise    bool
		built    bool
		row      smi.OID
		severity alarm.Severity
	}{
		"a raise":          {stuck, true, true, root.Append(1, 1, 3, 1, 2, 1, 2), alarm.Critical},
		"a clear":          {stuck, false, true, root.Append(1, 1, 3, 1, 2, 1, 2), alarm.Cleared},
		"of no row":        {gone, true, true, smi.OID{0, 0}, alarm.Minor},
		"before the first": {stuck, true, false, smi.OID{0, 0}, alarm.Critical},
		"of no severity":   {stuckAlarm(9), true, true, root.Append(1, 1, 3, 1, 2, 1, 2), alarm.Indeterminate},
	} {
		b := newBuilder(t, "")
		if c.built {
			buildAlarms(t, b, nil)
		}
		variables, err := b.Notification(c.alarm, c.raise)
		if err != nil || len(variables) != 13 {
			t.Fatalf("%s: %v, error %v; want 13 variables", name, variables, err)
		}
		if row, severity := variables[8].Value, variables[9].Value; row != smi.ObjectID(c.row) || severity != smi.Integer(int32(c.severity)) {
			t.Errorf("%s: row %v, severity %v; want %v, %v", name, row, severity, c.row, c.severity)
		}
	}
}

// Sinks make notifications while the next table is built, of other nets too.
func TestNotificationsAreMadeBesideABuild(t *testing.T) {
	b := newBuilder(t, "")
	buildAlarms(t, b, nil)
	var made sync.WaitGroup
	defer made.Wait()
	for range 4 {
		made.Go(func() {
			for range 50 {
				if v, err := b.Notification(stuckAlarm(7), true); err != nil || v[8].Value.OID()[0] != 1 {
					t.Errorf("%v, error %v; want a row", v, err)
				}
			}
		})
	}
	other := sizedNet("alpha", 12, 9)
	for i := range uint64(50) {
		view := orderView()
		if i%2 == 0 {
			view.Nets = append(view.Nets, netOf(other, randomRows(rand.New(rand.NewPCG(i, 3)), other, stats.AllColumns)))
		}
		buildView(t, b, view, nil)
	}
}
