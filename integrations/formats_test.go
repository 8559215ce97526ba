// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"encoding/xml"
	"regexp"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/mib"
)

// Every table has its names as tags and its numbers as fields, each once.
func TestTelegrafHasEachTableWithItsColumns(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	s := newSite(o)
	text := written(t, o, "telegraf/pnagent.conf")
	line := regexp.MustCompile(`^( *\[\[(inputs\.snmp(_trap|\.table|\.field|\.table\.field)?|processors\.regex(\.field_rename)?)\]\]| *[a-z_]+ = ("[^"\\]*"|\[("[^"\\]*"(, )?)+\]|[0-9]+|true)|#.*|)$`)
	for n, l := range strings.Split(text, "\n") {
		if !line.MatchString(l) {
			t.Errorf("line %d is not of Telegraf: %s", n+1, l)
		}
	}
	parts := strings.Split(text, "[[inputs.snmp.table]]")
	if len(parts) != len(tables())+1 {
		t.Fatalf("%d tables, want %d", len(parts)-1, len(tables()))
	}
	for i, table := range tables() {
		part, _, _ := strings.Cut(parts[i+1], "[[inputs.snmp_trap]]")
		fields := map[string]bool{}
		for _, m := range regexp.MustCompile(`field\]\]\n +name = "([^"]*)"`).FindAllStringSubmatch(part, -1) {
			if fields[m[1]] {
				t.Errorf("table %s has the field %s twice", table.Key, m[1])
			}
			fields[m[1]] = true
		}
		if tags := strings.Count(part, "is_tag = true"); tags != len(table.names()) || len(fields) != tags+len(table.Columns) {
			t.Errorf("table %s has %d tags and %d fields", table.Key, tags, len(fields))
		}
		for _, c := range s.numbers(&table) {
			if !strings.Contains(part, `"`+c.OID.String()+`"`) {
				t.Errorf("table %s does not have %s", table.Key, c.Name)
			}
		}
	}
}

func TestCollectdCollectsWhatItDefines(t *testing.T) {
	text := written(t, options(t, mib.DefaultRoot), "collectd/pnagent.conf")
	defined := map[string]bool{}
	for _, m := range regexp.MustCompile(`<Data "([^"]*)">\n((?: {4}.*\n)+) {2}</Data>`).FindAllStringSubmatch(text, -1) {
		if defined[m[1]] || strings.Count(m[2], "Values ") != 1 || strings.Contains(m[2], "Table true") != strings.Contains(m[2], "InstanceOID") {
			t.Errorf("%s is there twice, or has not one value:\n%s", m[1], m[2])
		}
		defined[m[1]] = true
	}
	_, list, _ := strings.Cut(text, "Collect ")
	collected := regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(list, -1)
	for _, m := range collected {
		if !defined[m[1]] {
			t.Errorf("%s is collected, and not defined", m[1])
		}
	}
	if len(collected) != len(defined) || len(defined) < 30 || strings.Index(text, "<Host") < strings.LastIndex(text, "<Data") {
		t.Errorf("%d are collected of %d", len(collected), len(defined))
	}
	for _, tag := range []string{"Plugin", "Data", "Host"} {
		if opened, closed := strings.Count(text, "<"+tag+" "), strings.Count(text, "</"+tag+">"); opened != closed {
			t.Errorf("%d %s are opened and %d closed", opened, tag, closed)
		}
	}
}

type librenmsSensor struct {
	Oid, Value, Descr, Index, Group string

	NumOID    string `yaml:"num_oid"`
	Divisor   int
	StateName string `yaml:"state_name"`
	States    []struct {
		Value, Generic, Graph int
		Descr                 string
	}
	SkipValues []struct {
		Oid, Op string
		Value   int
	} `yaml:"skip_values"`
}

func TestLibreNMSNamesObjectsOfTheModule(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	s := newSite(o)
	var detection struct {
		OS, Text, Type string
		MibDir         string `yaml:"mib_dir"`
		Discovery      []struct {
			SysObjectID []string `yaml:"sysObjectID"`
		}
	}
	strictly(t, written(t, o, "librenms/os_detection/pnagent.yaml"), &detection)
	if detection.Discovery[0].SysObjectID[0] != "."+mib.DefaultRoot {
		t.Errorf("found by %q", detection.Discovery)
	}
	var found struct {
		Modules struct {
			Sensors map[string]struct{ Data []librenmsSensor }
		}
	}
	strictly(t, written(t, o, "librenms/os_discovery/pnagent.yaml"), &found)
	indices := map[string]bool{}
	for class, sensors := range found.Modules.Sensors {
		for _, sensor := range sensors.Data {
			name, _ := strings.CutPrefix(sensor.Value, "PETRINET-MIB::")
			if object, is := s.objects[name]; !is || sensor.NumOID != "."+object.OID.String()+".{{ $index }}" || indices[sensor.Index] {
				t.Errorf("%s: %+v", class, sensor)
			}
			indices[sensor.Index] = true
			if (class == "state") != (len(sensor.States) > 0) || (class == "runtime") != (sensor.Divisor == 60) {
				t.Errorf("%s: %+v", class, sensor)
			}
			for _, m := range regexp.MustCompile(`\{\{ PETRINET-MIB::(\w+) \}\}`).FindAllStringSubmatch(sensor.Descr, -1) {
				if _, is := s.objects[m[1]]; !is {
					t.Errorf("%s names %s", sensor.Value, m[1])
				}
			}
		}
	}
	if len(indices) < 15 {
		t.Errorf("%d sensors", len(indices))
	}
}

// A data query has an expression for the index that finds both numbers of a place.
func TestCactiFindsTheIndexOfEachTable(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	for key, want := range map[string]string{"net": "7", "source": "7", "place": "3.7", "transition": "3.7"} {
		var query struct {
			Name   string `xml:"name"`
			OID    string `xml:"oid_index"`
			Parse  string `xml:"oid_index_parse"`
			Order  string `xml:"index_order"`
			Fields struct {
				All []struct {
					XMLName   xml.Name
					OID       string `xml:"oid"`
					Direction string `xml:"direction"`
				} `xml:",any"`
			} `xml:"fields"`
		}
		if err := xml.Unmarshal([]byte(written(t, o, "cacti/pn_"+key+".xml")), &query); err != nil {
			t.Fatal(err)
		}
		pattern, is := strings.CutPrefix(query.Parse, "OID/REGEXP:")
		m := regexp.MustCompile(pattern).FindStringSubmatch(query.OID + "." + want)
		if !is || len(m) != 2 || m[1] != want {
			t.Errorf("%s: the index is %q, want %s", key, m, want)
		}
		fields, numbers := map[string]bool{}, 0
		for _, f := range query.Fields.All {
			if fields[f.XMLName.Local] || !strings.HasPrefix(f.OID, "."+mib.DefaultRoot+".1.1.") {
				t.Errorf("%s: field %s is there twice, or has the OID %s", key, f.XMLName.Local, f.OID)
			}
			fields[f.XMLName.Local] = true
			if f.Direction == "output" {
				numbers++
			}
		}
		for name := range strings.SplitSeq(query.Order, ":") {
			if !fields[name] {
				t.Errorf("%s: ordered by %s, which is no field", key, name)
			}
		}
		if numbers < 4 {
			t.Errorf("%s: %d numbers", key, numbers)
		}
	}
}
