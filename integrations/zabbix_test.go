// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
)

// zabbixExport and the like have the keys that an import of Zabbix knows, as far as templates
// here have them; it refuses others.
type zabbixExport struct {
	Export struct {
		Version        string
		Groups         []zabbixGroup
		TemplateGroups []zabbixGroup `yaml:"template_groups"`
		Templates      []struct {
			UUID, Template, Name, Description string
			Groups                            []struct{ Name string }
			Items                             []zabbixItem
			DiscoveryRules                    []struct {
				UUID, Name, Type, Key, Delay string
				OID                          string               `yaml:"snmp_oid"`
				MasterItem                   struct{ Key string } `yaml:"master_item"`
				Preprocessing                []zabbixStep
				ItemPrototypes               []zabbixItem `yaml:"item_prototypes"`
				Overrides                    []zabbixOverride
			} `yaml:"discovery_rules"`
			Valuemaps []struct {
				UUID, Name string
				Mappings   []struct{ Value, Newvalue string }
			}
		}
	} `yaml:"zabbix_export"`
}

type zabbixOverride struct {
	Name, Step string
	Filter     struct {
		Conditions []struct{ Macro, Value, Formulaid string }
	}
	Operations []struct{ Operationobject, Operator, Value, Discover string }
}

type zabbixGroup struct{ UUID, Name string }

type zabbixStep struct {
	Type         string
	Parameters   []string
	ErrorHandler string `yaml:"error_handler"`
}

type zabbixItem struct {
	UUID, Name, Type, Key, Delay, History, Trends, Units, Description, Logtimefmt string

	OID           string `yaml:"snmp_oid"`
	ValueType     string `yaml:"value_type"`
	Valuemap      struct{ Name string }
	MasterItem    struct{ Key string } `yaml:"master_item"`
	Preprocessing []zabbixStep
	Tags          []struct{ Tag, Value string }
	Triggers      []zabbixTrigger
}

type zabbixTrigger struct {
	UUID, Name, Expression, Priority, Type string

	RecoveryMode       string `yaml:"recovery_mode"`
	RecoveryExpression string `yaml:"recovery_expression"`
	CorrelationMode    string `yaml:"correlation_mode"`
	CorrelationTag     string `yaml:"correlation_tag"`
	EventName          string `yaml:"event_name"`
	ManualClose        string `yaml:"manual_close"`
	Tags               []struct{ Tag, Value string }
	Dependencies       []struct {
		Name, Expression   string
		RecoveryExpression string `yaml:"recovery_expression"`
	}
}

func zabbixTemplates(t *testing.T) map[string]zabbixExport {
	t.Helper()
	all := map[string]zabbixExport{}
	for _, version := range []string{"6.0", "6.4"} {
		var export zabbixExport
		strictly(t, written(t, options(t, mib.DefaultRoot), "zabbix/template-"+version+".yaml"), &export)
		if export.Export.Version != version || len(export.Export.Templates) != 1 {
			t.Fatalf("version %q with %d templates", export.Export.Version, len(export.Export.Templates))
		}
		all[version] = export
	}
	return all
}

func TestZabbixTemplatesReferToWhatTheyHave(t *testing.T) {
	for version, export := range zabbixTemplates(t) {
		template := export.Export.Templates[0]
		keys, maps := map[string]bool{}, map[string]bool{}
		for _, m := range template.Valuemaps {
			maps[m.Name] = true
		}
		used := func(item *zabbixItem) {
			if item.Valuemap.Name != "" && !maps[item.Valuemap.Name] {
				t.Errorf("%s: item %s has the value map %s, which is not there", version, item.Key, item.Valuemap.Name)
			}
			if keys[item.Key] {
				t.Errorf("%s: item %s is there twice", version, item.Key)
			}
			keys[item.Key] = true
			if master := item.MasterItem.Key; (item.Type == "DEPENDENT") != (master != "") || master != "" && !keys[master] {
				t.Errorf("%s: item %s of type %s has the master %q", version, item.Key, item.Type, master)
			}
			for _, step := range item.Preprocessing {
				if len(step.Parameters) == 0 {
					t.Errorf("%s: item %s has a step without parameters", version, item.Key)
				}
			}
		}
		for i := range template.Items {
			used(&template.Items[i])
		}
		for _, rule := range template.DiscoveryRules {
			if rule.MasterItem.Key != "" && !keys[rule.MasterItem.Key] || (rule.MasterItem.Key == "") != (version == "6.0") {
				t.Errorf("%s: rule %s has the master %q", version, rule.Key, rule.MasterItem.Key)
			}
			for i := range rule.ItemPrototypes {
				used(&rule.ItemPrototypes[i])
			}
		}
		checkTriggers(t, template.Items)
		if len(template.DiscoveryRules) != len(tables()) || len(keys) < 30 {
			t.Errorf("%s: %d rules and %d items", version, len(template.DiscoveryRules), len(keys))
		}
	}
}

// checkTriggers holds the triggers against the items that they read, and their dependencies
// against each other.
func checkTriggers(t *testing.T, items []zabbixItem) {
	t.Helper()
	triggers := map[string]zabbixTrigger{}
	for _, item := range items {
		for _, trigger := range item.Triggers {
			triggers[trigger.Name] = trigger
			if len(trigger.Expression) > 2048 || len(trigger.RecoveryExpression) > 2048 || len(trigger.EventName) > 2048 {
				t.Errorf("trigger %s is longer than Zabbix' 2048 characters", trigger.Name)
			}
			for _, tag := range trigger.Tags {
				if len(tag.Value) > 255 {
					t.Errorf("tag %s of trigger %s is longer than Zabbix' 255 characters", tag.Tag, trigger.Name)
				}
			}
			for _, expression := range []string{trigger.Expression, trigger.RecoveryExpression} {
				if expression != "" && !strings.Contains(expression, "(/pnagent/"+item.Key+",") {
					t.Errorf("trigger %s of item %s reads %s", trigger.Name, item.Key, expression)
				}
			}
		}
	}
	priorities := map[string]string{"critical": "DISASTER", "major": "HIGH", "minor": "AVERAGE", "warning": "WARNING"}
	for severity, priority := range priorities {
		trap, count := triggers["pnagent: an alarm that is "+severity], triggers["pnagent: alarms that are "+severity]
		if trap.Priority != priority || count.Priority != priority {
			t.Errorf("%s alarms have the priorities %q and %q; want %s", severity, trap.Priority, count.Priority, priority)
		}
		if len(count.Dependencies) != 1 || count.Dependencies[0].Name != trap.Name || count.Dependencies[0].Expression != trap.Expression ||
			count.Dependencies[0].RecoveryExpression != trap.RecoveryExpression {
			t.Errorf("the count of %s alarms depends on %+v; want the trigger of notifications", severity, count.Dependencies)
		}
		if trap.Type != "MULTIPLE" || trap.CorrelationMode != "TAG_VALUE" || trap.Tags[0].Tag != trap.CorrelationTag {
			t.Errorf("the trigger of %s alarms is not one problem for each alarm: %+v", severity, trap)
		}
	}
}

// The ages of places in which tokens stay on purpose are not graphed.
func TestZabbixHasNoAgesOfFinalPlaces(t *testing.T) {
	for version, export := range zabbixTemplates(t) {
		for _, rule := range export.Export.Templates[0].DiscoveryRules {
			var left []string
			for _, o := range rule.Overrides {
				if c := o.Filter.Conditions[0]; c.Macro != "{#PLACEFINAL}" || !regexp.MustCompile(c.Value).MatchString("1") || regexp.MustCompile(c.Value).MatchString("2") {
					t.Errorf("%s: the exception is for %+v", version, c)
				}
				for _, item := range rule.ItemPrototypes {
					if regexp.MustCompile(o.Operations[0].Value).MatchString(item.Name) {
						left = append(left, item.Key)
					}
				}
			}
			want := []string(nil)
			if rule.Key == "pn.discovery.place" {
				want = []string{"pn.place.meanAge[{#SNMPINDEX}]", "pn.place.oldestAge[{#SNMPINDEX}]"}
			}
			if !slices.Equal(left, want) {
				t.Errorf("%s: %s leaves out %q, want %q", version, rule.Key, left, want)
			}
		}
	}
}

// Zabbix takes only UUIDs of version 4, and finds parts again by them: those of both templates
// are the same, at every root.
func TestZabbixIdentifiersAreUniqueAndStay(t *testing.T) {
	ids := func(path, root string) (all []string) {
		for _, m := range regexp.MustCompile(`uuid: '?([^'\n]*)`).FindAllStringSubmatch(written(t, options(t, root), path), -1) {
			all = append(all, m[1])
		}
		return all
	}
	old := ids("zabbix/template-6.0.yaml", roots()[0])
	valid := regexp.MustCompile("^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$")
	seen := map[string]bool{}
	for _, id := range old {
		if !valid.MatchString(id) || seen[id] {
			t.Errorf("%q is no UUID of version 4, or is there twice", id)
		}
		seen[id] = true
	}
	if again := ids("zabbix/template-6.0.yaml", roots()[1]); !slices.Equal(again, old) {
		t.Error("another root has other identifiers")
	}
	walked := ids("zabbix/template-6.4.yaml", roots()[0])
	for _, id := range old {
		if !slices.Contains(walked, id) {
			t.Errorf("the template of 6.4 has no %s", id)
		}
	}
	if len(old) < 40 {
		t.Errorf("%d identifiers", len(old))
	}
}

// The patterns match what the handler writes of a notification.
func TestZabbixTriggersReadNotifications(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	s := newSite(o)
	var raise, clears string
	for _, n := range s.described.Notifications {
		if n.Kind == alarm.TokenStuck && !n.Clears {
			raise = n.OID.String()
		} else if n.Kind == alarm.TokenStuck {
			clears = n.OID.String()
		}
	}
	trap := func(oid, severity string) string {
		return "12:00:00 2026/01/02 ZBXTRAP 127.0.0.1\n.1.3.6.1.2.1.1.3.0 0:0:00:01.00\n.1.3.6.1.6.3.1.1.4.1.0 ." + oid +
			"\n." + s.objects["pnAlarmKind"].OID.String() + ".17 1\n." + s.objects["pnAlarmSeverity"].OID.String() + ".17 " + severity + "\n"
	}
	matches := func(expression, text string) bool {
		patterns := regexp.MustCompile(`"regexp","([^"]*)"`).FindAllStringSubmatch(expression, -1)
		for _, p := range patterns {
			if !regexp.MustCompile(p[1]).MatchString(text) {
				return false
			}
		}
		return len(patterns) > 0
	}
	critical := s.trapTriggers()[slices.Index(alarm.Severities(), alarm.Critical)]
	for _, c := range []struct {
		text        string
		raised, end bool
	}{{trap(raise, "3"), true, false}, {trap(raise, "4"), false, false}, {trap(clears, "1"), false, true}, {trap(raise+"99", "3"), false, false}} {
		if got := matches(critical.Expression, c.text); got != c.raised {
			t.Errorf("a problem: %v, want %v, for\n%s", got, c.raised, c.text)
		}
		if got := matches(critical.Recovery, c.text); got != c.end {
			t.Errorf("the end: %v, want %v, for\n%s", got, c.end, c.text)
		}
	}
	index := regexp.MustCompile(`regsub\("([^"]*)"`).FindStringSubmatch(s.indexOf("pnAlarmKind"))[1]
	if m := regexp.MustCompile(index).FindStringSubmatch(trap(raise, "3")); len(m) != 2 || m[1] != "17" {
		t.Errorf("the number of the alarm is %q, want 17", m)
	}
}

// A name of a place with the word that begins a trap does not begin one.
func TestTheHandlerWritesOneTrapForEachNotification(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	program, log := filepath.Join(dir, "zabbix-trap"), filepath.Join(dir, "zbx.log")
	if err := os.WriteFile(program, []byte(written(t, options(t, mib.DefaultRoot), "zabbix/zabbix-trap")), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"UDP: [127.0.0.1]:3->[127.0.0.1]:162", "UDP/IPv6: [::1]:3->[::1]:162"} {
		cmd := exec.Command(sh, program, log)
		cmd.Stdin = strings.NewReader("<UNKNOWN>\n" + from + "\n.1.3 x ZBXTRAP 10.0.0.1 ZBXTRAP\nZBXTRAP 10.0.0.2 $(touch " + dir + "/ran) `id` \\n %s\n.1.4 last")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	addresses := regexp.MustCompile(`ZBXTRAP (\S+)`).FindAllStringSubmatch(string(text), -1)
	if len(addresses) != 2 || addresses[0][1] != "127.0.0.1" || addresses[1][1] != "::1" {
		t.Errorf("traps of %q in\n%s", addresses, text)
	}
	for _, part := range []string{"x ZBX_TRAP 10.0.0.1 ZBX_TRAP\n", "$(touch ", "`id` \\n %s\n", ".1.4 last\n"} {
		if strings.Count(string(text), part) != 2 {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a name was run as a command")
	}
}

// Suppressed notifications are no alarm, so their number is a problem of its own.
func TestZabbixHasAProblemForSuppressedNotifications(t *testing.T) {
	const key = "pn.agent.notificationsSuppressed"
	for version, export := range zabbixTemplates(t) {
		items := export.Export.Templates[0].Items
		i := slices.IndexFunc(items, func(item zabbixItem) bool { return item.Key == key })
		if i < 0 || len(items[i].Triggers) != 1 || items[i].Triggers[0].Expression != "max(/pnagent/"+key+",10m)>0" {
			t.Errorf("%s: the items are %+v; want %s with a trigger", version, items, key)
		}
	}
}

// The template for 6.0 has no step of later versions, and each has the groups and the masters of
// its version.
func TestZabbixTemplatesHaveTheWordsOfTheirVersion(t *testing.T) {
	steps := map[string][]string{
		"6.0": {"CHECK_NOT_SUPPORTED", "CHANGE_PER_SECOND", "JAVASCRIPT"},
		"6.4": {"CHECK_NOT_SUPPORTED", "CHANGE_PER_SECOND", "SNMP_WALK_TO_JSON", "SNMP_WALK_VALUE", "DISCARD_UNCHANGED_HEARTBEAT"},
	}
	types := []string{"SNMP_AGENT", "SNMP_TRAP", "DEPENDENT"}
	for version, export := range zabbixTemplates(t) {
		if old := version == "6.0"; old != (len(export.Export.Groups) == 1) || old == (len(export.Export.TemplateGroups) == 1) {
			t.Errorf("%s has the groups %v and the template groups %v", version, export.Export.Groups, export.Export.TemplateGroups)
		}
		check := func(key, kind, oid string, used []zabbixStep) {
			if !slices.Contains(types, kind) || strings.HasPrefix(oid, "walk[") && version == "6.0" || strings.HasPrefix(oid, "discovery[") && version == "6.4" {
				t.Errorf("%s: %s is of type %s and reads %s", version, key, kind, oid)
			}
			for _, step := range used {
				wanted := 1
				switch step.Type {
				case "SNMP_WALK_VALUE":
					wanted = 2
				case "SNMP_WALK_TO_JSON":
					wanted = len(step.Parameters) / 3 * 3
				}
				if !slices.Contains(steps[version], step.Type) || len(step.Parameters) != wanted || wanted == 0 {
					t.Errorf("%s: %s has the step %+v", version, key, step)
				}
			}
		}
		for _, rule := range export.Export.Templates[0].DiscoveryRules {
			check(rule.Key, rule.Type, rule.OID, rule.Preprocessing)
			for _, item := range rule.ItemPrototypes {
				check(item.Key, item.Type, item.OID, item.Preprocessing)
			}
		}
		for _, item := range export.Export.Templates[0].Items {
			check(item.Key, item.Type, item.OID, item.Preprocessing)
		}
	}
}
