// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/mib"
)

// exporterFiles returns snmp.yml of Prometheus' snmp_exporter, whose generator is not
// needed then: since 0.25, and the form before 0.23, without rates, which it cannot scale.
func exporterFiles(s *site) []File {
	const secrets = "# pnagent wrote this file. Put your own user and passphrases where it says CHANGE.\n"
	v3 := mapping{{"security_level", "authPriv"}, {"username", "noc"}, {"password", "CHANGE-THE-AUTH-PASSPHRASE"}, {"auth_protocol", "SHA256"},
		{"priv_protocol", "AES"}, {"priv_password", "CHANGE-THE-PRIV-PASSPHRASE"}}
	auths := mapping{
		{"noc", append(slices.Clone(v3), entry{"version", 3})},
		{"public", mapping{{"community", "public"}, {"version", 2}}},
	}
	module := s.exporterModule(true)
	old := append(s.exporterModule(false), entry{"version", 3}, entry{"auth", v3})
	return []File{
		{Path: "snmp-exporter/snmp.yml", Content: yamlFile(secrets, mapping{{"auths", auths}, {"modules", mapping{{"petrinet", module}}}})},
		{Path: "snmp-exporter/snmp-0.22.yml", Content: yamlFile(secrets, mapping{{"petrinet", old}})},
		s.files("snmp-exporter", "README.md")[0],
	}
}

// exporterTables are the tables that Prometheus reads. pnStuckTable and pnBlockTable have texts.
func exporterTables() []string {
	return []string{"agent", "pnNetTable", "pnPlaceTable", "pnPlaceAgeTable", "pnTransitionTable", "pnSourceTable", "pnAlarmTable", "pnQueueTable", "alarm"}
}

// exporterModule returns the module: what to walk, and the metrics; rates only with scaled.
func (s *site) exporterModule(scaled bool) mapping {
	var walk, get, metrics list
	for _, section := range s.described.Sections {
		if !slices.Contains(exporterTables(), section.Name) {
			continue
		}
		if section.Name != "alarm" { // its parent has all tables
			walk = append(walk, section.OID.String())
		}
		for _, o := range section.Objects {
			if !isNumber(o) || isRate(o) && !scaled {
				continue
			}
			if section.Name == "alarm" {
				get = append(get, o.OID.String()+".0")
			}
			metrics = append(metrics, s.exporterMetric(&section, o))
		}
	}
	module := mapping{{"walk", walk}}
	if len(get) > 0 {
		module = append(module, entry{"get", get})
	}
	return append(module, entry{"metrics", metrics}, entry{"max_repetitions", 50}, entry{"timeout", "5s"})
}

func (s *site) exporterMetric(section *mib.Section, o mib.Object) mapping {
	m := mapping{{"name", o.Name}, {"oid", o.OID.String()}, {"type", exporterType(o)}, {"help", sentence(o)}}
	var indexes list
	for _, index := range section.Index {
		indexes = append(indexes, mapping{{"labelname", index}, {"type", "gauge"}})
	}
	if indexes != nil {
		m = append(m, entry{"indexes", indexes})
	}
	if lookups := s.lookups(section.Index); lookups != nil {
		m = append(m, entry{"lookups", lookups})
	}
	if strings.HasPrefix(exporterType(o), "Enum") {
		var values mapping
		for i, label := range o.Labels {
			values = append(values, entry{strconv.Itoa(i + 1), label})
		}
		m = append(m, entry{"enum_values", values})
	}
	if isRate(o) {
		m = append(m, entry{"scale", 0.001})
	}
	return m
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

// lookups returns the names of rows with an index, as labels.
func (s *site) lookups(index []string) (all list) {
	for _, l := range []struct {
		index  []string
		column string
	}{
		{[]string{"pnNetIndex"}, "pnNetName"},
		{[]string{"pnNetIndex", "pnPlaceIndex"}, "pnPlaceId"},
		{[]string{"pnNetIndex", "pnTransitionIndex"}, "pnTransitionId"},
		{[]string{"pnSourceIndex"}, "pnSourceName"},
		{[]string{"pnSourceIndex"}, "pnSourceNet"},
		{[]string{"pnAlarmIndex"}, "pnAlarmNet"},
		{[]string{"pnAlarmIndex"}, "pnAlarmSubject"},
	} {
		if !slices.Contains(index, l.index[len(l.index)-1]) {
			continue
		}
		all = append(all, mapping{{"labels", texts(l.index...)}, {"labelname", l.column}, {"oid", s.objects[l.column].OID.String()}, {"type", "DisplayString"}})
	}
	return all
}
