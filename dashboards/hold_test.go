// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Series of a sidecar at side:9797, of its standby, and of a sidecar that follows it at
// another address. Each value is of 15 seconds.
const (
	sideA = `instance="side:9797",job="pnagent"`
	sideB = `instance="other:9797",job="pnagent"`
	stuck = `alarm="tokenStuck",net="orders",place="paid"`
	hour  = "1x239" // of values
)

// fires says of an alert that it fires or not, from one time to another.
type fires struct {
	alert    string // and matchers
	from, to time.Duration
	want     int // how many of them
}

// TestAlertsEndByEvidence lets promtool run the rules with their durations. An alert that is
// true does not end because its series is absent, and ends soon once its sidecar shows that.
//
//promise:evidence stop
func TestAlertsEndByEvidence(t *testing.T) {
	const m = time.Minute
	stuckAlert := `PetrinetTokenStuck{net="orders",place="paid"}`
	followsAlert := `PetrinetAlarmFollows{net="orders",place="paid",follows="osaka"}`
	for name, c := range map[string]struct {
		series map[string]string
		wants  []fires
	}{
		"a sidecar is restarted, and a scrape is missed": {map[string]string{
			"up{" + sideA + "}": "1x39 0x7 1x31 0 1x200",
			// For half a minute it does not know all alarms, and it does not show this one at first.
			"petrinet_alarms{" + sideA + `,net="orders"}`:                 "1x39 stale _x9 1x29 stale 1x200",
			"pnagent_alarms{" + sideA + "}":                               "1x39 stale _x9 1x29 stale 1x200",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x39 stale _x8 1x30 stale 1x80 stale",
		}, []fires{{stuckAlert, 0, 45 * time.Second, 0}, {stuckAlert, 75 * time.Second, 40 * m, 1}, {stuckAlert, 41*m + 15*time.Second, 50 * m, 0}}},
		"a real end is seen at once": {map[string]string{
			"up{" + sideA + "}": hour, "petrinet_alarms{" + sideA + `,net="orders"}`: "1x39 0x200", "pnagent_alarms{" + sideA + "}": "1x39 0x200",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x39 stale",
		}, []fires{{stuckAlert, 75 * time.Second, 9*m + 45*time.Second, 1}, {stuckAlert, 10 * m, 30 * m, 0}}},
		"a sidecar is away for hours": {map[string]string{
			"up{" + sideA + "}": "1x39 0x719 1x80", "petrinet_alarms{" + sideA + `,net="orders"}`: "1x39 stale _x722 0x76", "pnagent_alarms{" + sideA + "}": "1x39 stale _x722 0x76",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x39 stale",
		}, []fires{{stuckAlert, 75 * time.Second, 190*m + 30*time.Second, 1}, {stuckAlert, 191 * m, 195 * m, 0}}},
		"one of a pair is away, and the other sees the end": {map[string]string{
			"up{" + sideA + "}": "1x39 0x200", "up{" + sideB + "}": hour,
			"petrinet_alarms{" + sideA + `,net="orders"}`: "1x39 stale", "pnagent_alarms{" + sideA + "}": "1x39 stale",
			"petrinet_alarms{" + sideB + `,net="orders"}`: "1x79 0x160", "pnagent_alarms{" + sideB + "}": "1x79 0x160",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x39 stale",
			"petrinet_alarm_active{" + sideB + "," + stuck + sev("minor"): "1x79 stale",
		}, []fires{{stuckAlert, 75 * time.Second, 19*m + 45*time.Second, 1}, {stuckAlert, 20 * m, 30 * m, 0}}},
		"a sidecar is replaced by one at another address": {map[string]string{
			"up{" + sideA + "}": "1x39 stale", "up{" + sideB + "}": "_x43 1x200",
			"petrinet_alarms{" + sideA + `,net="orders"}`: "1x39 stale", "pnagent_alarms{" + sideA + "}": "1x39 stale",
			"petrinet_alarms{" + sideB + `,net="orders"}`: "_x45 0x200", "pnagent_alarms{" + sideB + "}": "_x45 0x200",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x39 stale",
		}, []fires{{stuckAlert, 75 * time.Second, 14 * m, 1}, {stuckAlert, 15 * m, 30 * m, 0}}},
		"a sidecar of other nets does not decide, and one that is no target any more is forgotten": {map[string]string{
			"up{" + sideA + "}": "1x39 stale", "up{" + sideB + "}": "1x719",
			"petrinet_alarms{" + sideA + `,net="orders"}`: "1x39 stale", "pnagent_alarms{" + sideA + "}": "1x39 stale",
			"petrinet_alarms{" + sideB + `,net="claims"}`: "0x719", "pnagent_alarms{" + sideB + "}": "0x719",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x39 stale",
		}, []fires{{stuckAlert, 75 * time.Second, 69 * m, 1}, {stuckAlert, 70 * m, 100 * m, 0}}},
		"each net is a target of its own, and one scrape of it fails": {map[string]string{
			"petrinet_alarms{" + sideA + "}": hour, "petrinet_alarms{" + sideA + `,net="orders"}`: "1x39 stale _x3 1x100",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x39 stale _x3 1x100",
		}, []fires{{stuckAlert, 75 * time.Second, 35 * m, 1}}},
		"an alarm becomes more severe, and less": {map[string]string{
			"up{" + sideA + "}": hour, "petrinet_alarms{" + sideA + `,net="orders"}`: hour, "pnagent_alarms{" + sideA + "}": hour,
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"):    "1x39 stale _x38 1x80 stale",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("critical"): "_x40 1x38 stale",
		}, []fires{
			{strings.Replace(stuckAlert, "}", `,severity="warning"}`, 1), 75 * time.Second, 39 * m, 1}, {strings.Replace(stuckAlert, "}", `,severity="critical"}`, 1), 75 * time.Second, 9*m + 45*time.Second, 0},
			{strings.Replace(stuckAlert, "}", `,severity="critical"}`, 1), 10 * m, 39 * m, 1}, {stuckAlert, 41 * m, 60 * m, 0}}},
		"an alarm is silenced, also while its sidecar is restarted, and ends": {map[string]string{
			"up{" + sideA + "}": "1x79 0x3 1x200", "petrinet_alarms{" + sideA + `,net="orders"}`: "1x79 stale _x6 1x40 0x80", "pnagent_alarms{" + sideA + "}": "1x79 stale _x6 1x40 0x80",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"): "1x79 stale _x6 1x40 stale",
			"petrinet_alarm_silenced{" + sideA + "," + stuck + "}":        "_x40 1x39 stale _x6 1x40 stale",
		}, []fires{{stuckAlert, 75 * time.Second, 31*m + 30*time.Second, 1}, {`PetrinetAlarmSilenced{net="orders"}`, 0, 9 * m, 0}, {`PetrinetAlarmSilenced{net="orders"}`, 10*m + 15*time.Second, 31*m + 30*time.Second, 1},
			{stuckAlert, 32*m + 15*time.Second, 50 * m, 0}, {`PetrinetAlarmSilenced{net="orders"}`, 32*m + 15*time.Second, 50 * m, 0}}},
		"no source of a net reports, also while the sidecar is restarted": {map[string]string{
			"up{" + sideA + "}": "1x79 0x3 1x200", "petrinet_alarms{" + sideA + "}": "0x39 1x38 stale _x6 1x100", "pnagent_alarms{" + sideA + "}": "0x39 1x38 stale _x6 1x100",
			"petrinet_alarm_active{" + sideA + `,alarm="sourceLost",source="berlin"` + sev("major"): "_x40 1x38 stale _x6 1x100",
			"petrinet_source_up{" + sideA + `,net="orders",source="berlin"}`:                        "1x39 0x38 stale _x6 0x100",
			"petrinet_source_up{" + sideA + `,net="claims",source="berlin"}`:                        "1x39 0x38 stale _x6 0x100",
			"petrinet_source_up{" + sideA + `,net="claims",source="osaka"}`:                         "1x78 stale _x6 1x100",
		}, []fires{{`PetrinetSourceLost{source="berlin"}`, 12 * m, 45 * m, 1}, {`PetrinetNetSilent{net="orders",source="berlin"}`, 10*m + 15*time.Second, 45 * m, 1},
			{`PetrinetNetSilent{net="claims"}`, 0, 19 * m, 0}, {`PetrinetNetSilent{net="claims"}`, 22 * m, 45 * m, 0}}},
		// Another source of the net reports all the time.
		"an alarm follows from a lost source, also while the sidecar is restarted, until the source is back": {map[string]string{
			"up{" + sideA + "}": "1x79 0x3 1x200", "petrinet_alarms{" + sideA + `,net="orders"}`: "1x77 stale _x6 1x100", "pnagent_alarms{" + sideA + "}": "2x77 stale _x6 2x100",
			"petrinet_alarm_active{" + sideA + `,alarm="tokenStuck",net="orders",place="before"` + sev("minor"): "1x77 stale _x6 1x100",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"):                                       "_x40 1x37 stale _x6 1x100",
			"petrinet_alarm_follows{" + sideA + "," + stuck + `,follows="osaka"}`:                               "_x40 1x37 stale _x6 1x35 stale",
		}, []fires{{followsAlert, 10 * m, 29*m + 45*time.Second, 1}, {stuckAlert, 11*m + 15*time.Second, 45 * m, 1}, {followsAlert, 30*m + 30*time.Second, 45 * m, 0},
			{`PetrinetTokenStuck{place="before"}`, 75 * time.Second, 45 * m, 1}, {`PetrinetAlarmFollows{place="before"}`, 0, 45 * m, 0}}},
		"an alarm that follows ends": {map[string]string{
			"up{" + sideA + "}": hour, "petrinet_alarms{" + sideA + `,net="orders"}`: "1x79 0x100", "pnagent_alarms{" + sideA + "}": "1x79 0x100",
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"):         "1x79 stale",
			"petrinet_alarm_follows{" + sideA + "," + stuck + `,follows="osaka"}`: "1x79 stale",
		}, []fires{{followsAlert, 15 * time.Second, 19*m + 45*time.Second, 1}, {stuckAlert, 75 * time.Second, 19*m + 45*time.Second, 1}, {followsAlert, 20 * m, 45 * m, 0}, {stuckAlert, 20 * m, 45 * m, 0}}},
		"one of a pair has lost the source, and the other one has the alarm from the source": {map[string]string{
			"up{" + sideA + "}": hour, "petrinet_alarms{" + sideA + `,net="orders"}`: hour, "pnagent_alarms{" + sideA + "}": hour,
			"up{" + sideB + "}": hour, "petrinet_alarms{" + sideB + `,net="orders"}`: hour, "pnagent_alarms{" + sideB + "}": hour,
			"petrinet_alarm_active{" + sideA + "," + stuck + sev("minor"):         hour,
			"petrinet_alarm_active{" + sideB + "," + stuck + sev("minor"):         hour,
			"petrinet_alarm_follows{" + sideA + "," + stuck + `,follows="osaka"}`: hour,
		}, []fires{{followsAlert, 75 * time.Second, 45 * m, 0}, {stuckAlert, 75 * time.Second, 45 * m, 1}}},
		"conditions that no alarm of the sidecar is about": {map[string]string{
			"up{" + sideA + "}": "1x79 0x40 1x200",
			"petrinet_queue_unserved_age_seconds{" + sideA + `,net="orders",priority="2"}`:        "120x78 stale _x40 120x40 0x80",
			"petrinet_region_standbys{" + sideA + `,net="orders",region="north",source="berlin"}`: "0x78 stale _x40 0x40 1x80",
			"petrinet_transition_failures_total{" + sideA + `,net="orders",transition="pay"}`:     "0+30x78 stale _x40 3000+30x40 4200x80",
			"petrinet_transition_firings_total{" + sideA + `,net="orders",transition="pay"}`:      "0+1x78 stale _x40 100+1x40 140+1x80",
		}, []fires{{"PetrinetQueueStarving", 2 * m, 40 * m, 1}, {"PetrinetQueueStarving", 41 * m, 55 * m, 0}, {"PetrinetRegionWithoutStandby", 7 * m, 40 * m, 1}, {"PetrinetRegionWithoutStandby", 42 * m, 55 * m, 0},
			{"PetrinetTransitionFailing", 12 * m, 40 * m, 1}, {"PetrinetTransitionFailing", 47 * m, 55 * m, 0}}},
		"the state of a sidecar that is restarted": {map[string]string{
			"up{" + sideA + "}":                     "1x39 0x3 1x200",
			"pnagent_nats_connected{" + sideA + "}": "0x38 stale _x3 0x60 1x100",
			"agentx_up{" + sideA + "}":              "0x38 stale _x3 0x60 1x100",
			"pnagent_agentx_up{" + sideA + "}":      "0x38 stale _x3 0x60 1x100",
		}, []fires{{"PnagentNatsDisconnected", 1 * m, 30 * m, 1}, {"PnagentNatsDisconnected", 32 * m, 50 * m, 0}}},
		"snapshots that were published during a restart are not lost": {map[string]string{
			"up{" + sideA + "}": "1x39 0x3 1x200", // the counter begins again, and the gap of 41 snapshots is none
			"petrinet_source_gaps_total{" + sideA + `,net="orders",source="berlin"}`: "3x38 stale _x3 0x200",
			"petrinet_source_gaps_total{" + sideA + `,net="orders",source="osaka"}`:  "3x38 stale _x3 0x20 41x180",
		}, []fires{{`PnagentMessagesLost{source="berlin"}`, 0, 50 * m, 0}, {`PnagentMessagesLost{source="osaka"}`, 18 * m, 22 * m, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge(t, c.series, c.wants)
		})
	}
}

func sev(s string) string { return `,severity="` + s + `"}` }

// rulesOf writes a file with some alerts, what holds them, and the recordings if they need one.
func rulesOf(t *testing.T, names map[string]bool) (path string) {
	t.Helper()
	f, recordings := alertFile(Options{Runbooks: DefaultRunbooks, Job: DefaultJob}), recordingFile()
	for i := range f.Groups {
		f.Groups[i].Rules = slices.DeleteFunc(f.Groups[i].Rules, func(r rule) bool { return r.Alert != "" && !names[r.Alert] })
	}
	text, err := write(f)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(recordings.Groups[0].Rules, func(r rule) bool { return bytes.Contains(text, []byte(r.Record)) }) {
		f.Groups = append(recordings.Groups, f.Groups...)
		text, err = write(f)
		if err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "alerts.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// judge lets promtool check when alerts fire, every 15 seconds.
func judge(t *testing.T, series map[string]string, wants []fires) {
	t.Helper()
	names := map[string]bool{}
	for _, w := range wants {
		name, _, _ := strings.Cut(w.alert, "{")
		names[name] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [%q]\nevaluation_interval: 15s\ntests:\n- interval: 15s\n  input_series:\n", rulesOf(t, names))
	for name, values := range series {
		fmt.Fprintf(&b, "  - {series: '%s', values: '%s'}\n", name, values)
	}
	b.WriteString("  promql_expr_test:\n")
	for _, w := range wants {
		alert, matchers, _ := strings.Cut(strings.TrimSuffix(w.alert, "}"), "{")
		firing := fmt.Sprintf(`(max(ALERTS{alertname=%q,alertstate="firing",%s}) or vector(0))[%ds:15s]`, alert, matchers, (w.to-w.from)/time.Second+1)
		for _, most := range []string{"min", "max"} {
			fmt.Fprintf(&b, "  - {expr: %q, eval_time: %s, exp_samples: [{labels: '{}', value: %d}]}\n", most+"_over_time("+firing+")", w.to, w.want)
		}
	}
	file := filepath.Join(t.TempDir(), "held_test.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}
