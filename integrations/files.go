// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
)

// templates are the files that are written nearly as they are: a folder for each tool, of
// templates.
//
//go:embed files
var templates embed.FS

// files returns files of a tool's folder.
func (s *site) files(tool string, names ...string) (all []File) {
	for _, name := range names {
		to := path.Join(tool, name)
		all = append(all, File{Path: to, Content: s.filled(to, nil), Program: name == "zabbix-trap"})
	}
	return all
}

// filled returns the text of a template about something.
func (s *site) filled(name string, about any) []byte {
	text, err := templates.ReadFile("files/" + name)
	if err != nil {
		panic(err) // the name is one of this package
	}
	t := template.New(name).Funcs(s.functions()).Funcs(s.zabbixFunctions())
	part := func(spaces int, name string, about any) (string, error) {
		var out strings.Builder
		err := t.ExecuteTemplate(&out, name, about)
		return indented(out.String(), spaces), err
	}
	var out bytes.Buffer
	if err := template.Must(t.Funcs(template.FuncMap{"part": part}).Parse(string(text))).Execute(&out, about); err != nil {
		panic(err) // a test fills each of them
	}
	return out.Bytes()
}

// indented returns lines with spaces before each.
func indented(text string, spaces int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.Repeat(" ", spaces) + line)
	}
	return out.String()
}

// functions are those of the templates.
func (s *site) functions() template.FuncMap {
	return template.FuncMap{
		"root": s.Root.String, "varbind": varbind, "snmptt": snmpttEvents, "notifications": func() []mib.Notification { return s.described.Notifications },
		"scalars": func() []mib.Object { return s.known(scalars()) }, "tables": tables,
		"names": func(t shown) []mib.Object { return s.known(t.names()) }, "numbers": func(t shown) []mib.Object { return s.numbers(&t) },
		"oid": func(name string) string { return s.objects[name].OID.String() }, "tag": func(t shown, o mib.Object) string { return strings.TrimPrefix(snake(o), t.Key+"_") },
		"checks": s.checks, "services": s.services, "limits": limits,
		"sections": s.sections, "shownBy": shownBy, "alarmNumbers": s.alarmNumbers, "lookups": lookups, "exporterType": exporterType, "isRate": isRate,
		"enumerated":      func(o mib.Object) bool { return strings.HasPrefix(exporterType(o), "Enum") },
		"librenmsClasses": func() []string { return []string{"count", "runtime", "state"} }, "librenmsClass": librenmsClass, "librenmsState": librenmsState,
		"yaml": yamlText, "sentence": sentence, "add": func(a, b int) int { return a + b },
		"snake": snake, "spaced": spaced, "lower": strings.ToLower, "quoted": quoted, "collectd": collectdType, "parse": s.cactiParse,
	}
}

// collectdType returns the type of a number in collectd's types.db.
func collectdType(o mib.Object) string {
	switch {
	case isCounter(o):
		return "derive"
	case o.Units == "seconds":
		return "duration"
	}
	return "gauge"
}

// librenmsClass returns the class of the sensors of a number in LibreNMS, with ages in minutes;
// "" for a counter, which has none.
func librenmsClass(o mib.Object) string {
	switch {
	case isCounter(o):
		return ""
	case len(o.Labels) > 0:
		return "state"
	case o.Units == "seconds":
		return "runtime"
	}
	return "count"
}

// librenmsState returns the meaning of a state of a source: 0 for the good one, 1 for a warning,
// 2 and 3 for those in which it is refused and undefined.
func librenmsState(label string) int {
	meaning, known := map[string]int{"up": 0, "refused": 2, "undefined": 3}[label]
	if !known {
		return 1
	}
	return meaning
}

// snmpttEvent is an event of snmptt.
type snmpttEvent struct{ Severity, Match string }

// snmpttEvents returns the events of a notification: one, and for a raise one for each severity.
func snmpttEvents(n mib.Notification) (all []snmpttEvent) {
	switch {
	case n.Kind == 0:
		return []snmpttEvent{{Severity: "WARNING"}}
	case n.Clears:
		return []snmpttEvent{{Severity: "Normal"}}
	}
	for _, severity := range alarm.Severities() {
		all = append(all, snmpttEvent{strings.ToUpper(severity.String()), fmt.Sprintf("$%d: (^(%v|%d)$)", varbind(n, "pnAlarmSeverity"), severity, severity)})
	}
	return all
}
