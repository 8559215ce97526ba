// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// Alarms are what the page shows.
func (w Web) Alarms(t *testing.T) []api.Alarm {
	t.Helper()
	var doc api.Alarms
	if err := json.Unmarshal(w.Page(t, "/api/v1/alarms"), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Active
}

// Alarmed checks that Prometheus fires a rule for what a sidecar shows now: the rule of
// this name reads the family, and a series of the family is above 0, with one of the
// reasons that the rule names, if it names any.
func (w Web) Alarmed(t *testing.T, rule, family string) {
	t.Helper()
	rules := dashboards.Alerts("pnagent")
	i := slices.IndexFunc(rules, func(a dashboards.Alert) bool { return a.Name == rule })
	if i < 0 || !strings.Contains(rules[i].Signal, family) || rules[i].Condition != "> 0" {
		t.Fatalf("no rule %s that fires if %s is above 0", rule, family)
	}
	reasons := regexp.MustCompile("^(.*)$")
	if named := Submatch(rules[i].Signal, family+`\{reason=~"([^"]*)"\}`); named != nil {
		reasons = regexp.MustCompile("^(" + named[1] + ")$")
	}
	page := "/metrics"
	if strings.HasPrefix(family, "pnagent_") {
		page = "/metrics/self"
	}
	Until(t, "a series of "+family+" is above 0, for which "+rule+" fires", func() error {
		all, err := w.readMetrics(page)
		if err == nil && !slices.ContainsFunc(all.All(family), func(s Series) bool { return s.Value > 0 && reasons.MatchString(s.Labels["reason"]) }) {
			err = errors.New("there is none")
		}
		return err
	})
}

// Inline is the rules of a file as a part of serve's own configuration.
func Inline(rules string) string {
	return "alarms:\n  " + strings.ReplaceAll(strings.TrimSpace(rules), "\n", "\n  ") + "\n"
}

// AlarmsOf runs "pnagent alarms" for a sidecar.
func (w Web) AlarmsOf(t *testing.T, args ...string) Result {
	t.Helper()
	return Pnagent(t, append(append([]string{"alarms"}, args...), "--url", w.URL)...)
}

// Matches checks what a command wrote.
func Matches(t *testing.T, what string, r Result, code int, pattern string) []string {
	t.Helper()
	found := Submatch(r.Out+r.Err, pattern)
	if r.Code != code || found == nil {
		t.Fatalf("%s: exit code %d, %q, %q; want %d and %s", what, r.Code, r.Out, r.Err, code, pattern)
	}
	return found
}

// Impatient has tokens that stay a second raise an alarm, and nothing else.
const Impatient = `settle: 0s
defaults:
  stuck: {after: 1s, clear_after: 0s}
  starved: off
  lost: off
  deadlocked: off
overrides:
  - {place: "paid*", stuck: off}
`

// What a network management station knows of notifications from PETRINET-MIB.
const (
	TokenStuck    = OIDRoot + ".1.0.1"
	TokenMoving   = OIDRoot + ".1.0.2"
	AlarmTable    = OIDRoot + ".1.1.9.1"
	AlarmNet      = 3
	AlarmSubject  = 4
	AlarmRow      = 5
	AlarmSeverity = 10
	trapOID       = "1.3.6.1.6.3.1.1.4.1.0" // snmpTrapOID.0
)

// Notice is the content of a notification: its kind, its place, and the number of its
// alarm.
type Notice struct{ Notification, Net, Place, Alarm string }

// NoticeOf returns what a notification says.
func NoticeOf(n snmptest.Notification) Notice {
	var s Notice
	for _, v := range n.Variables {
		name := v.Name.String()
		if name == trapOID && v.Value.Type == smi.TypeObjectIdentifier {
			s.Notification = v.Value.OID().String()
		}
		for column, field := range map[int]*string{AlarmNet: &s.Net, AlarmSubject: &s.Place} {
			if index, ok := strings.CutPrefix(name, fmt.Sprintf("%s.%d.", AlarmTable, column)); ok {
				*field, s.Alarm = v.Value.Str, index
			}
		}
	}
	return s
}
