// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"slices"
	"strings"

	"github.com/pnagent/pnagent/mib"
)

// exporterFiles returns snmp.yml of Prometheus' snmp_exporter, whose generator is not
// needed then: since 0.25, and the form before 0.23, without rates, which it cannot scale.
func exporterFiles(s *site) []File {
	return []File{
		{Path: "snmp-exporter/snmp.yml", Content: s.filled("snmp-exporter/snmp.yml", true)},
		{Path: "snmp-exporter/snmp-0.22.yml", Content: s.filled("snmp-exporter/snmp.yml", false)},
		s.files("snmp-exporter", "README.md")[0],
	}
}

// exporterTables are the tables that Prometheus reads. pnStuckTable and pnBlockTable have texts.
func exporterTables() []string {
	return []string{"agent", "pnNetTable", "pnPlaceTable", "pnPlaceAgeTable", "pnTransitionTable", "pnSourceTable", "pnAlarmTable", "pnQueueTable", "alarm"}
}

// sections returns those that Prometheus reads.
func (s *site) sections() []mib.Section {
	return slices.DeleteFunc(slices.Clone(s.described.Sections), func(c mib.Section) bool { return !slices.Contains(exporterTables(), c.Name) })
}

// shownBy returns the numbers of a section; rates only with scaled.
func shownBy(section mib.Section, scaled bool) []mib.Object {
	return slices.DeleteFunc(slices.Clone(section.Objects), func(o mib.Object) bool { return !isNumber(o) || isRate(o) && !scaled })
}

// alarmNumbers returns the scalars whose parent has all tables, so that it is not walked.
func (s *site) alarmNumbers() []mib.Object {
	i := slices.IndexFunc(s.described.Sections, func(c mib.Section) bool { return c.Name == "alarm" })
	return shownBy(s.described.Sections[i], true)
}

func exporterType(o mib.Object) string {
	switch {
	case o.Syntax == "TruthValue":
		return "gauge"
	case len(o.Labels) > 0 && strings.HasPrefix(o.Name, "pnAlarm"):
		return "EnumAsInfo"
	case len(o.Labels) > 0:
		return "EnumAsStateSet"
	case isCounter(o):
		return "counter"
	}
	return "gauge"
}

// lookup is a name of rows, as a label.
type lookup struct {
	Index  []string
	Column string
}

// lookups returns the names of rows with an index.
func lookups(index []string) []lookup {
	all := []lookup{
		{[]string{"pnNetIndex"}, "pnNetName"},
		{[]string{"pnNetIndex", "pnPlaceIndex"}, "pnPlaceId"},
		{[]string{"pnNetIndex", "pnTransitionIndex"}, "pnTransitionId"},
		{[]string{"pnSourceIndex"}, "pnSourceName"},
		{[]string{"pnSourceIndex"}, "pnSourceNet"},
		{[]string{"pnAlarmIndex"}, "pnAlarmNet"},
		{[]string{"pnAlarmIndex"}, "pnAlarmSubject"},
	}
	return slices.DeleteFunc(all, func(l lookup) bool { return !slices.Contains(index, l.Index[len(l.Index)-1]) })
}
