// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
)

// zabbixTemplate is the technical name of the template in Zabbix; expressions have it.
const zabbixTemplate = "pnagent"

// zabbixFiles returns the template for Zabbix 6.0, the one for 6.4 and later, which walks each
// table once, and what snmptrapd needs to pass notifications on.
func zabbixFiles(s *site) []File {
	type version struct{ Walk bool }
	return append([]File{
		{Path: "zabbix/template-6.0.yaml", Content: s.filled("zabbix/template.yaml", version{})},
		{Path: "zabbix/template-6.4.yaml", Content: s.filled("zabbix/template.yaml", version{Walk: true})},
	}, s.files("zabbix", "zabbix-trap", "snmptrapd.conf", "snmptrapd.service.d/pnagent.conf", "README.md")...)
}

// zabbixFunctions are those of the template.
func (s *site) zabbixFunctions() template.FuncMap {
	return template.FuncMap{
		"uuid": func(name string) string { return yamlText(uuid(name)) }, "zabbixUnits": zabbixUnits, "counter": isCounter, "mapName": mapName, "valueMaps": s.valueMaps,
		"scalarKey": scalarKey, "columnKey": func(t shown, o mib.Object) string { return key(t.Key, word(o)) + "[{#SNMPINDEX}]" },
		"triggers": s.triggers, "trapTriggers": s.trapTriggers, "trapKey": s.trapKey, "valueOf": s.valueOf, "indexOf": s.indexOf,
		"macro": macro, "rowName": rowName, "readNames": func() string { return readNames }, "exported": s.exported,
		"discovered": s.discovered, "walked": func(t shown) []mib.Object { return append(s.discovered(t), s.numbers(&t)...) },
	}
}

// discovered returns the columns by which the rows of a table are found.
func (s *site) discovered(t shown) []mib.Object { return s.known(append(t.names(), t.Final)) }

// exported returns the columns of a table in the order of Zabbix' export, or an import that
// changes nothing is shown as a change.
func (s *site) exported(t shown) []mib.Object {
	columns := s.numbers(&t)
	slices.SortFunc(columns, func(a, b mib.Object) int { return strings.Compare(word(a)+"[", word(b)+"[") })
	return columns
}

// rowName returns the name of a row of a table, in macros.
func rowName(t shown) string {
	if t.Label == t.Net {
		return macro(t.Net)
	}
	return macro(t.Net) + " " + macro(t.Label)
}

// scalarKey returns the key of a scalar: pn.agent.viewAge.
func scalarKey(o mib.Object) string {
	return key(strings.ToLower(strings.TrimPrefix(o.Name[:len("pnAgent")], "pn")), word(o))
}

// zabbixUnits returns the unit of a value; "" for none.
func zabbixUnits(o mib.Object) string {
	switch {
	case o.Units == "seconds":
		return "s"
	case isCounter(o) && o.Units != "":
		return o.Units + "/s"
	case o.Units != "":
		return "!" + o.Units // without k or M before it
	}
	return ""
}

// valueMaps returns an object of each enumeration.
func (s *site) valueMaps() (maps []mib.Object) {
	all := s.known(scalars())
	for _, t := range tables() {
		all = append(all, s.numbers(&t)...)
	}
	for _, o := range all {
		same := func(other mib.Object) bool { return mapName(other) == mapName(o) }
		if len(o.Labels) > 0 && !slices.ContainsFunc(maps, same) {
			maps = append(maps, o)
		}
	}
	return maps
}

// trigger is a trigger of Zabbix.
type trigger struct {
	Name, Priority, Expression string
	Recovery                   string   // expression of its end; "" for that of a problem
	After                      *trigger // it is no problem while this is one
}

// triggers returns the triggers of an item of the agent. Triggers that count alarms
// depend on those of traps: they are problems only if a trap was lost.
func (s *site) triggers(o mib.Object) []trigger {
	k := scalarKey(o)
	switch o.Name {
	case "pnAgentViewAge":
		return []trigger{{Name: "numbers are old", Priority: "HIGH", Expression: history("min", k, ",2m") + ">" + strconv.Itoa(oldView)},
			{Name: "no answer by SNMP", Priority: "HIGH", Expression: history("nodata", k, ",5m") + "=1"}}
	case "pnAgentNotificationsSuppressed":
		return []trigger{{Name: "notifications were suppressed", Priority: "WARNING", Expression: history("max", k, ",10m") + ">0"}}
	case "pnAgentNatsState":
		return []trigger{{Name: "no connection to NATS", Priority: "HIGH", Expression: history("min", k, ",1m") + "=2"}}
	}
	for i, severity := range alarm.Severities() {
		if countOf(severity) == o.Name {
			return []trigger{{Name: "alarms that are " + severity.String(), Priority: priority(severity), Expression: history("min", k, ",3m") + ">0", After: &s.trapTriggers()[i]}}
		}
	}
	return nil
}

// key returns the key of a number: pn.place.oldestAge.
func key(table, word string) string { return "pn." + table + "." + word }

// history returns an expression of a function of an item's values.
func history(function, key, rest string) string {
	return function + "(/" + zabbixTemplate + "/" + key + rest + ")"
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

// macro returns the macro of discovery for a column: {#PLACEID}.
func macro(name string) string { return "{#" + strings.ToUpper(strings.TrimPrefix(name, "pn")) + "}" }
