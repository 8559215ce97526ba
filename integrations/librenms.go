// SPDX-License-Identifier: Apache-2.0

package integrations

import "github.com/pnagent/pnagent/mib"

// librenmsFiles returns the definition of an operating system for LibreNMS: that which answers
// with the root as sysObjectID.
func librenmsFiles(s *site) []File {
	detection := mapping{{"os", "pnagent"}, {"text", "pnagent"}, {"type", "appliance"}, {"mib_dir", "pnagent"},
		{"discovery", list{mapping{{"sysObjectID", texts("." + s.Root.String())}}}}}
	var counts, ages, states list
	for _, t := range tables() {
		for _, o := range s.numbers(&t) {
			switch {
			case isCounter(o):
			case len(o.Labels) > 0:
				states = append(states, append(s.sensor(&t, o), entry{"state_name", o.Name}, entry{"states", librenmsStates(o)}))
			case o.Units == "seconds":
				ages = append(ages, append(s.sensor(&t, o), entry{"divisor", 60})) // minutes
			default:
				counts = append(counts, s.sensor(&t, o))
			}
		}
	}
	sensors := mapping{{"count", mapping{{"data", counts}}}, {"runtime", mapping{{"data", ages}}}, {"state", mapping{{"data", states}}}}
	return []File{
		{Path: "librenms/os_detection/pnagent.yaml", Content: yamlFile("", detection)},
		{Path: "librenms/os_discovery/pnagent.yaml", Content: yamlFile("", mapping{{"modules", mapping{{"sensors", sensors}}}})},
		s.files("librenms", "README.md")[0],
	}
}

// sensor returns a sensor for a column of each row.
func (s *site) sensor(t *shown, o mib.Object) mapping {
	inModule := func(name string) string { return mib.PetrinetModule + "::" + name }
	name := "{{ " + inModule(t.Net) + " }}"
	if t.Label != t.Net {
		name += " {{ " + inModule(t.Label) + " }}"
	}
	m := mapping{{"oid", inModule(t.Section)}, {"value", inModule(o.Name)}, {"num_oid", "." + o.OID.String() + ".{{ $index }}"},
		{"descr", name + ": " + spaced(o)}, {"index", o.Name + ".{{ $index }}"}, {"group", t.Title}}
	if t.Final != "" && o.Units == "seconds" {
		m = append(m, entry{"skip_values", list{mapping{{"oid", inModule(t.Final)}, {"op", "="}, {"value", 1}}}})
	}
	return m
}

// librenmsStates returns the meaning of the states of a source: the first is good, those in
// which it is silent or refused are not.
func librenmsStates(o mib.Object) (states list) {
	for i, label := range o.Labels {
		meaning := 1 // a warning
		switch label {
		case "up":
			meaning = 0
		case "refused":
			meaning = 2
		case "undefined":
			meaning = 3
		}
		states = append(states, mapping{{"value", i + 1}, {"generic", meaning}, {"graph", i + 1}, {"descr", label}})
	}
	return states
}
