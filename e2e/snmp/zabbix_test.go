// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/e2e/kit"
)

// unanswered has tokens that stay a second raise an alarm: critical where an answer is awaited, and
// minor elsewhere.
const unanswered = `settle: 0s
defaults:
  stuck: {after: 1s, clear_after: 0s}
  starved: off
  lost: off
  deadlocked: off
overrides:
  - {place: "awaiting*", stuck: {after: 1s, clear_after: 0s, severity: critical}}
`

// imported returns the parameters of an import that changes, adds and deletes what the template
// does.
func imported(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]any{}
	for _, name := range []string{"groups", "templates", "valueMaps", "templateDashboards"} {
		rules[name] = map[string]bool{"createMissing": true, "updateExisting": true}
	}
	for _, name := range []string{"items", "discoveryRules", "triggers", "graphs", "httptests"} {
		rules[name] = map[string]bool{"createMissing": true, "updateExisting": true, "deleteMissing": true}
	}
	rules["templateLinkage"] = map[string]bool{"createMissing": true, "deleteMissing": true}
	return map[string]any{"format": "yaml", "source": string(text), "rules": rules}
}

// monitored makes a host that the template polls at an address, as the page of the tool says.
func (z *zabbix) monitored(t *testing.T, addr string) (host string) {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var templates, groups []map[string]string
	z.call(t, "template.get", map[string]any{"output": []string{"templateid"}, "filter": map[string]string{"host": "pnagent"}}, &templates)
	z.call(t, "hostgroup.get", map[string]any{"output": []string{"groupid"}, "filter": map[string]string{"name": "Linux servers"}}, &groups)
	var made struct{ Hostids []string }
	z.call(t, "host.create", map[string]any{"host": "sidecar", "templates": templates, "groups": groups, "interfaces": []any{
		map[string]any{"type": 2, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": port, "details": map[string]any{"version": 3, "bulk": 1,
			"securityname": "noc", "securitylevel": 2, "authprotocol": 3, "authpassphrase": "authenticate-me", "privprotocol": 1, "privpassphrase": "encrypt-me-too"}}}}, &made)
	return made.Hostids[0]
}

// zabbixValue is the last value of an item.
type zabbixValue struct {
	ID    string `json:"itemid"`
	Key   string `json:"key_"`
	Name  string
	Value string `json:"lastvalue"`
	Clock int64  `json:"lastclock,string"`
	State string
	Error string
	Tags  []struct{ Tag, Value string }
}

// tag returns the value of a tag of an item.
func (v *zabbixValue) tag(name string) string {
	for _, t := range v.Tags {
		if t.Tag == name {
			return t.Value
		}
	}
	return ""
}

// items returns the items of a host by their keys.
func (z *zabbix) items(t *testing.T, host string) map[string]zabbixValue {
	t.Helper()
	var all []zabbixValue
	z.call(t, "item.get", map[string]any{"hostids": host, "output": []string{"itemid", "key_", "name", "lastvalue", "lastclock", "state", "error"}, "selectTags": "extend"}, &all)
	items := map[string]zabbixValue{}
	for _, item := range all {
		items[item.Key] = item
	}
	return items
}

// now has the server read items, and what rules discover, now.
func (z *zabbix) now(t *testing.T, host string) {
	t.Helper()
	var rules []zabbixValue
	z.call(t, "discoveryrule.get", map[string]any{"hostids": host, "output": []string{"itemid", "key_", "state", "error"}}, &rules)
	for _, rule := range rules {
		if rule.State != "0" {
			t.Errorf("rule %s: %s", rule.Key, rule.Error)
		}
	}
	var tasks []any
	for _, item := range slices.AppendSeq(rules, maps.Values(z.items(t, host))) {
		if !strings.HasPrefix(item.Key, "snmptrap") {
			tasks = append(tasks, map[string]any{"type": 6, "request": map[string]string{"itemid": item.ID}})
		}
	}
	var made any
	z.call(t, "task.create", tasks, &made)
}

// read waits until check accepts the items, which the server reads again meanwhile.
func (z *zabbix) read(t *testing.T, what, host string, check func(map[string]zabbixValue) error) {
	t.Helper()
	var asked time.Time
	kit.Until(t, what, func() error {
		if time.Since(asked) > 5*time.Second {
			z.now(t, host)
			asked = time.Now()
		}
		return check(z.items(t, host))
	})
}

// zabbixProblem is an open problem.
type zabbixProblem struct {
	ID       string `json:"eventid"`
	Trigger  string `json:"objectid"`
	Name     string
	Severity string
	Tags     []struct{ Tag, Value string }
}

// problems returns the open problems of a host, the oldest first.
func (z *zabbix) problems(t *testing.T, host string) (all []zabbixProblem) {
	t.Helper()
	z.call(t, "problem.get", map[string]any{"hostids": host, "output": []string{"eventid", "objectid", "name", "severity"}, "selectTags": []string{"tag", "value"}, "sortfield": "eventid"}, &all)
	return all
}

// open waits until exactly these alarms are open problems.
func (z *zabbix) open(t *testing.T, what, host string, want ...zabbixAlarm) {
	t.Helper()
	kit.Until(t, what, func() error {
		var got []zabbixAlarm
		all := z.problems(t, host)
		for _, p := range all {
			var triggers []struct{ Description string }
			z.call(t, "trigger.get", map[string]any{"triggerids": p.Trigger, "output": []string{"description"}}, &triggers)
			a := zabbixAlarm{severity: p.Severity, trigger: triggers[0].Description}
			for _, tag := range p.Tags {
				switch tag.Tag {
				case "net":
					a.net = tag.Value
				case "subject":
					a.subject = tag.Value
				}
			}
			if text := fmt.Sprintf("pnagent: tokens in place %q of net %q for more than 1s: ", a.subject, a.net); !strings.HasPrefix(p.Name, text) {
				return fmt.Errorf("problem %+v is not called %s", p, text)
			}
			got = append(got, a)
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(zabbixAlarm{})); d != "" {
			return fmt.Errorf("open problems (-want +got)\n%s%+v", d, all)
		}
		return nil
	})
}

// zabbixAlarm is an alarm as a problem shows it.
type zabbixAlarm struct{ severity, trigger, net, subject string }

// Zabbix reads pnagent with the generated files alone: it imports the template, discovers the nets
// and shows their numbers. Notifications raise a problem for each alarm, and end that alone.
func TestZabbixShowsNumbersAndAlarms(t *testing.T) {
	t.Parallel()
	kit.Need(t, "snmptrapd", "snmptrapd")
	z := startZabbix(t)
	dir := t.TempDir()
	if r := kit.Pnagent(t, "integrations", "zabbix", "--dir", dir); r.Code != 0 {
		t.Fatalf("pnagent integrations: got %+v", r)
	}
	file := imported(t, filepath.Join(dir, "zabbix", "template-6.0.yaml"))
	for range 2 {
		var done bool
		z.call(t, "configuration.import", file, &done)
		if !done {
			t.Fatal("the template is not imported")
		}
		var changes []any
		z.call(t, "configuration.importcompare", file, &changes)
		if len(changes) > 0 {
			t.Fatalf("another import would change %v", changes)
		}
	}
	natsURL := kit.StartNATS(t)
	side := serveTraps(t, natsURL, unanswered, startZabbixTrapd(t, dir, filepath.Join(z.dir, "traps")), "--snmp", "127.0.0.1:0")
	host := z.monitored(t, side.SNMP)
	z.read(t, "Zabbix reads the sidecar", host, func(items map[string]zabbixValue) error {
		if item := items["pn.alarm.active"]; item.Clock == 0 {
			return fmt.Errorf("%+v", item)
		}
		return nil
	})
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	critical := zabbixAlarm{"5", "pnagent: an alarm that is critical", "claims", "awaiting answer"}
	minor := zabbixAlarm{"3", "pnagent: an alarm that is minor", "claims", "paid €"}
	z.open(t, "the first alarm is a problem", host, critical)
	z.numbers(t, host, side)

	nc := kit.Connect(t, natsURL)
	fire := func(transition string, n int) {
		for range n {
			kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"`+transition+`"}`)
		}
	}
	fire("answer", 1)
	z.open(t, "the second alarm is a problem, too", host, critical, minor)
	fire("answer", 39)
	z.open(t, "the first problem is over, and the second is not", host, minor)
	fire("archive", 40)
	z.open(t, "no problem is open", host)
	for _, item := range z.items(t, host) {
		if item.State != "0" {
			t.Errorf("item %s is not supported: %s", item.Key, item.Error)
		}
	}
}

// numbers holds the items of places against what the sidecar shows, while nothing moves.
func (z *zabbix) numbers(t *testing.T, host string, side *kit.Sidecar) {
	t.Helper()
	want := map[string]string{}
	for _, p := range side.View(t).Nets[0].Places {
		want["claims "+p.Name+": tokens"] = fmt.Sprintf("%s %d", p.ID, *p.Tokens)
	}
	var age int
	z.read(t, "items have the numbers", host, func(items map[string]zabbixValue) error {
		got := map[string]string{}
		var ages []int
		for key, item := range items {
			if strings.HasPrefix(key, "pn.place.tokens[") && item.Clock > 0 {
				got[item.Name] = item.tag("place") + " " + item.Value
			}
			if strings.HasPrefix(key, "pn.place.oldestAge[") && item.tag("place") == "awaiting answer" {
				n, err := strconv.Atoi(item.Value)
				if err != nil {
					return err
				}
				ages = append(ages, n)
			}
		}
		if d := cmp.Diff(want, got); d != "" || len(ages) != 1 || ages[0] == 0 {
			return fmt.Errorf("ages %d, tokens (-sidecar +Zabbix)\n%s", ages, d)
		}
		before := age
		age = ages[0]
		if before == 0 || age <= before {
			return fmt.Errorf("the oldest token is %d s old, and was %d", age, before)
		}
		return nil
	})
}
