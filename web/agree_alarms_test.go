// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/metrics"
)

// alarms are some of each severity, each number another one. The first is of the net's first
// place and acknowledged, the second is silenced, and two are over.
func alarms() *alarm.ActiveSet {
	before := func(seconds int64) int64 { return noon.UnixMicro() - seconds*1e6 }
	state := &alarm.ActiveSet{LastChange: before(53), Suppressed: 54, Active: []alarm.Alarm{{Index: 47, Kind: alarm.TokenStuck, Severity: alarm.Critical, Net: "net", Subject: "p0",
		Raised: before(55), Since: before(56), Affected: 57, Text: "text", Ack: &alarm.Ack{At: before(62), By: "ada", Comment: "comment"}}}}
	for i, s := range []alarm.Severity{alarm.Major, alarm.Major, alarm.Major, alarm.Minor, alarm.Minor, alarm.Minor, alarm.Warning, alarm.Warning, alarm.Warning, alarm.Warning} {
		state.Active = append(state.Active, alarm.Alarm{Index: 48 + uint32(i), Kind: alarm.SourceLost, Severity: s, Subject: strings.Repeat("s", i+1), Raised: before(31), Since: before(32), Affected: 1})
	}
	state.Active[1].SilencedUntil = before(-65)
	for i, at := range []int64{67, 66} {
		state.Cleared = append(state.Cleared, alarm.ClearedAlarm{Cleared: before(at),
			Alarm: alarm.Alarm{Index: 45 + uint32(i), Kind: alarm.NetDeadlocked, Severity: alarm.Minor, Net: "net", Raised: before(at + 3), Since: before(at + 5), Affected: 2}})
	}
	return state
}

// alarmSubjects adds what is about alarms beside the first one and their list: the silenced
// one, the one that was cleared last, and how many are active and not silenced. Severities
// become their numbers.
func alarmSubjects(t *testing.T, all map[string]map[string]any, cleared map[string]any) {
	t.Helper()
	summary := map[string]any{"active": 0.0}
	for _, s := range alarm.Severities() {
		summary[s.String()] = 0.0
	}
	for _, one := range all["alarms"]["active"].([]any) {
		a := one.(map[string]any)
		if a["silenced_until"] != nil {
			all["silenced"] = map[string]any{"silenced_until": a["silenced_until"]}
			continue
		}
		for _, of := range []string{"active", a["severity"].(string)} {
			summary[of] = summary[of].(float64) + 1
		}
	}
	all["cleared"] = cleared["cleared"].([]any)[0].(map[string]any)
	summary["last_cleared"] = all["cleared"]["cleared"]
	all["summary"] = summary
	for _, of := range []string{"alarm", "cleared"} {
		s, ok := alarm.SeverityNamed(all[of]["severity"].(string))
		if !ok {
			t.Errorf("%s has the severity %v", of, all[of]["severity"])
		}
		all[of]["severity"] = float64(s)
	}
}

// alarmsAreCounted holds that the metrics have as many alarms of each severity that are not
// silenced as other faces.
func alarmsAreCounted(t *testing.T, exposed string, summary map[string]any) {
	t.Helper()
	var silenced []string
	counts := map[string]float64{}
	for line := range strings.Lines(exposed) {
		name, labels, _ := strings.Cut(strings.TrimSpace(line), "{")
		labels, _, _ = strings.Cut(labels, "} ")
		if name == metrics.AlarmSilenced {
			silenced = append(silenced, labels)
		}
	}
	for line := range strings.Lines(exposed) {
		name, labels, _ := strings.Cut(strings.TrimSpace(line), "{")
		subject, severity, _ := strings.Cut(labels, `,severity="`)
		severity, _, _ = strings.Cut(severity, `"`)
		if name == metrics.AlarmActive && !slices.Contains(silenced, subject) {
			counts[severity]++
			counts["active"]++
		}
	}
	for of, n := range counts {
		if n != summary[of] {
			t.Errorf("metrics have %v alarms, %s, that are not silenced; JSON has %v", n, of, summary[of])
		}
	}
	if len(silenced) != 1 || len(counts) != 1+len(alarm.Severities()) {
		t.Errorf("metrics have %v silenced alarms, counts %v; want 1, and all severities", silenced, counts)
	}
}
