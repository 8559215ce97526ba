// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
)

// zabbixTemplate is the technical name of the template in Zabbix; expressions have it.
const zabbixTemplate = "pnagent"

// zabbixFiles returns the template for Zabbix 6.0, the one for 6.4 and later, which walks each
// table once, and what snmptrapd needs to pass notifications on.
func zabbixFiles(s *site) []File {
	return append([]File{
		{Path: "zabbix/template-6.0.yaml", Content: yamlFile("", s.zabbix(false))},
		{Path: "zabbix/template-6.4.yaml", Content: yamlFile("", s.zabbix(true))},
	}, s.files("zabbix", "zabbix-trap", "snmptrapd.conf", "snmptrapd.service.d/pnagent.conf", "README.md")...)
}

// zabbix returns the template; one that walks tables is of version 6.4, another of 6.0.
func (s *site) zabbix(walk bool) mapping {
	const group = "Templates/Petri nets"
	version, groups := "6.0", "groups"
	if walk {
		version, groups = "6.4", "template_groups"
	}
	items, rules := s.zabbixScalars(), list{}
	items = append(items, s.trapItem())
	for _, t := range tables() {
		if walk {
			items = append(items, s.walkItem(&t))
		}
		rules = append(rules, s.discovery(&t, walk))
	}
	return mapping{{"zabbix_export", mapping{
		{"version", version},
		{groups, list{mapping{{"uuid", uuid("group " + group)}, {"name", group}}}},
		{"templates", list{mapping{
			{"uuid", uuid("template")}, {"template", zabbixTemplate}, {"name", zabbixTemplate},
			{"description", "Places, transitions and nets of running Petri nets, by SNMP from pnagent."},
			{"groups", list{mapping{{"name", group}}}},
			{"items", items},
			{"discovery_rules", rules},
			{"valuemaps", s.valueMaps()},
		}}},
	}}}
}

// key returns the key of a number: pn.place.oldestAge.
func key(table, word string) string { return "pn." + table + "." + word }

// history returns an expression of a function of an item's values.
func history(function, key, rest string) string {
	return function + "(/" + zabbixTemplate + "/" + key + rest + ")"
}

// zabbixScalars returns the items of the agent, with triggers.
func (s *site) zabbixScalars() (items list) {
	absent := absentValue()
	for _, o := range s.known(scalars()) {
		table := strings.ToLower(strings.TrimPrefix(o.Name[:len("pnAgent")], "pn"))
		k := key(table, word(o))
		item := mapping{{"uuid", uuid("item " + k)}, {"name", spaced(o)}, {"type", "SNMP_AGENT"}, {"snmp_oid", o.OID.String() + ".0"}, {"key", k}, {"delay", "30s"}}
		item = append(item, s.zabbixValue(o)...)
		item = append(item, entry{"preprocessing", zabbixSteps(o, absent)})
		if triggers := s.scalarTriggers(o, k); triggers != nil {
			item = append(item, entry{"triggers", triggers})
		}
		items = append(items, item)
	}
	return items
}

// zabbixValue returns the type, unit, names and text of a value.
func (s *site) zabbixValue(o mib.Object) (m mapping) {
	if isCounter(o) {
		m = append(m, entry{"value_type", "FLOAT"})
	}
	switch {
	case o.Units == "seconds":
		m = append(m, entry{"units", "s"})
	case isCounter(o) && o.Units != "":
		m = append(m, entry{"units", o.Units + "/s"})
	case o.Units != "":
		m = append(m, entry{"units", "!" + o.Units}) // without k or M before it
	}
	m = append(m, entry{"description", sentence(o)})
	if len(o.Labels) > 0 {
		m = append(m, entry{"valuemap", mapping{{"name", mapName(o)}}})
	}
	return m
}

// zabbixSteps returns the preprocessing of a value, with its first step.
func zabbixSteps(o mib.Object, first mapping) list {
	steps := list{first}
	if isCounter(o) {
		steps = append(steps, mapping{{"type", "CHANGE_PER_SECOND"}, {"parameters", texts("")}})
	}
	return steps
}

// absentValue returns the step for an object without an instance: it is absent, not a fault, and
// Zabbix discards the value.
func absentValue() mapping {
	return mapping{{"type", "CHECK_NOT_SUPPORTED"}, {"parameters", texts("")}}
}

// readNames is a step for what Zabbix 6.0 discovers: it has a text beyond ASCII as the hexadecimal
// digits of its octets.
const readNames = `return value.replace(/"((?:[0-9A-F]{2}(?: |\\n))+)"/g, function (all, octets) { ` +
	`try { return JSON.stringify(decodeURIComponent(octets.replace(/([0-9A-F]{2})(?: |\\n)/g, "%$1"))) } catch (e) { return all } })`

// mapName returns the name of the value map of an enumeration: that of its convention, or of
// the object.
func mapName(o mib.Object) string {
	if strings.HasPrefix(o.Syntax, "INTEGER") {
		return o.Name
	}
	return o.Syntax
}

func (s *site) valueMaps() (maps list) {
	var done []string
	add := func(o mib.Object) {
		name := mapName(o)
		if len(o.Labels) == 0 || slices.Contains(done, name) {
			return
		}
		done = append(done, name)
		var mappings list
		for i, label := range o.Labels {
			mappings = append(mappings, mapping{{"value", strconv.Itoa(i + 1)}, {"newvalue", label}})
		}
		maps = append(maps, mapping{{"uuid", uuid("valuemap " + name)}, {"name", name}, {"mappings", mappings}})
	}
	for _, o := range s.known(scalars()) {
		add(o)
	}
	for _, t := range tables() {
		for _, o := range s.numbers(&t) {
			add(o)
		}
	}
	return maps
}

// scalarTriggers returns the triggers of an item of the agent. Triggers that count alarms
// depend on those of traps: they are problems only if a trap was lost.
func (s *site) scalarTriggers(o mib.Object, k string) list {
	switch o.Name {
	case "pnAgentViewAge":
		return list{
			trigger("numbers are old", "HIGH", history("min", k, ",2m")+">"+strconv.Itoa(oldView)),
			trigger("no answer by SNMP", "HIGH", history("nodata", k, ",5m")+"=1"),
		}
	case "pnAgentNotificationsSuppressed":
		return list{trigger("notifications were suppressed", "WARNING", history("max", k, ",10m")+">0")}
	case "pnAgentNatsState":
		return list{trigger("no connection to NATS", "HIGH", history("min", k, ",1m")+"=2")}
	}
	for _, severity := range alarm.Severities() {
		if countOf(severity) == o.Name {
			t := trigger(fmt.Sprintf("alarms that are %v", severity), priority(severity), history("min", k, ",3m")+">0")
			raised := s.trapTrigger(severity)
			return list{append(t, entry{"dependencies", list{mapping{{"name", raised.text("name")}, {"expression", raised.text("expression")},
				{"recovery_expression", raised.text("recovery_expression")}}}})}
		}
	}
	return nil
}

// text returns a text of a mapping.
func (m mapping) text(key string) string {
	for _, e := range m {
		if e.key == key {
			return e.value.(string)
		}
	}
	return ""
}

func trigger(name, priority, expression string) mapping {
	return mapping{{"uuid", uuid("trigger " + name)}, {"expression", expression}, {"name", "pnagent: " + name}, {"priority", priority}}
}

// priority returns Zabbix' severity.
func priority(s alarm.Severity) string {
	switch s {
	case alarm.Critical:
		return "DISASTER"
	case alarm.Major:
		return "HIGH"
	case alarm.Minor:
		return "AVERAGE"
	case alarm.Warning:
		return "WARNING"
	}
	return "NOT_CLASSIFIED"
}

// walkItem returns the item that reads the columns of a table for all others.
func (s *site) walkItem(t *shown) mapping {
	var oids []string
	for _, o := range append(s.known(append(t.names(), t.Final)), s.numbers(t)...) {
		oids = append(oids, o.OID.String())
	}
	return mapping{{"uuid", uuid("item " + key("walk", t.Key))}, {"name", "Walk of " + t.Section}, {"type", "SNMP_AGENT"},
		{"snmp_oid", "walk[" + strings.Join(oids, ",") + "]"}, {"key", key("walk", t.Key)}, {"delay", "30s"}, {"history", "0"}, {"trends", "0"}, {"value_type", "TEXT"}}
}

// macro returns the macro of discovery for a column: {#PLACEID}.
func macro(name string) string { return "{#" + strings.ToUpper(strings.TrimPrefix(name, "pn")) + "}" }

// discovery returns the rule that finds the rows of a table, with its items.
func (s *site) discovery(t *shown, walk bool) mapping {
	k := key("discovery", t.Key)
	rule := mapping{{"uuid", uuid("rule " + k)}, {"name", t.Title}, {"type", "SNMP_AGENT"}}
	var macros, triples []string
	for _, o := range s.known(append(t.names(), t.Final)) {
		macros = append(macros, macro(o.Name), o.OID.String())
		triples = append(triples, macro(o.Name), o.OID.String(), "1")
	}
	if walk {
		rule = mapping{{"uuid", uuid("rule " + k)}, {"name", t.Title}, {"type", "DEPENDENT"}, {"master_item", mapping{{"key", key("walk", t.Key)}}},
			{"preprocessing", list{mapping{{"type", "SNMP_WALK_TO_JSON"}, {"parameters", texts(triples...)}},
				mapping{{"type", "DISCARD_UNCHANGED_HEARTBEAT"}, {"parameters", texts("10m")}}}}}
	} else {
		rule = append(rule, entry{"snmp_oid", "discovery[" + strings.Join(macros, ",") + "]"}, entry{"delay", "10m"},
			entry{"preprocessing", list{mapping{{"type", "JAVASCRIPT"}, {"parameters", texts(readNames)}}}})
	}
	rule = append(rule, entry{"key", k})
	var prototypes list
	columns := s.numbers(t)
	// In the order of Zabbix' export, or an import that changes nothing is shown as a change.
	slices.SortFunc(columns, func(a, b mib.Object) int { return strings.Compare(word(a)+"[", word(b)+"[") })
	for _, o := range columns {
		prototypes = append(prototypes, s.prototype(t, o, walk))
	}
	if t.Final != "" {
		rule = append(rule, entry{"overrides", list{finalOverride(t)}})
	}
	return append(rule, entry{"item_prototypes", prototypes})
}

// finalOverride returns the exception for rows in which tokens stay on purpose: their ages say
// nothing, so they have no items.
func finalOverride(t *shown) mapping {
	return mapping{{"name", "Tokens that stay"}, {"step", "1"},
		{"filter", mapping{{"conditions", list{mapping{{"macro", macro(t.Final)}, {"value", "^1$"}, {"formulaid", "A"}}}}}},
		{"operations", list{mapping{{"operationobject", "ITEM_PROTOTYPE"}, {"operator", "REGEXP"}, {"value", ": [a-z ]* age$"}, {"discover", "NO_DISCOVER"}}}}}
}

// prototype returns the item of a column for each row.
func (s *site) prototype(t *shown, o mib.Object, walk bool) mapping {
	k := key(t.Key, word(o)) + "[{#SNMPINDEX}]"
	name := macro(t.Net)
	if t.Label != t.Net {
		name += " " + macro(t.Label)
	}
	m := mapping{{"uuid", uuid("item " + k)}, {"name", name + ": " + strings.ToLower(spaced(o))}, {"key", k}}
	first := absentValue()
	oid := o.OID.String() + ".{#SNMPINDEX}"
	if walk {
		m = append(m, entry{"type", "DEPENDENT"}, entry{"master_item", mapping{{"key", key("walk", t.Key)}}})
		first = mapping{{"type", "SNMP_WALK_VALUE"}, {"parameters", texts(oid, "0")}, {"error_handler", "DISCARD_VALUE"}}
	} else {
		m = append(m, entry{"type", "SNMP_AGENT"}, entry{"snmp_oid", oid})
	}
	m = append(m, s.zabbixValue(o)...)
	m = append(m, entry{"preprocessing", zabbixSteps(o, first)})
	tags := list{mapping{{"tag", "net"}, {"value", macro(t.Net)}}}
	if t.ID != "" {
		tags = append(tags, mapping{{"tag", t.Key}, {"value", macro(t.ID)}})
	}
	return append(m, entry{"tags", tags})
}
