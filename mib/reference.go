// SPDX-License-Identifier: Apache-2.0

package mib

import "github.com/pnagent/pnagent/mib/smi"

// Section is a part of PETRINET-MIB for people: a table, or the scalars of one
// subject.
type Section struct {
	Name    string // such as placeTable
	Text    string // DESCRIPTION; "" for scalars
	Index   []string
	Objects []Described
}

// Described is an object or a notification for people.
type Described struct {
	Name          string
	OID           smi.OID // below the root
	Syntax, Units string  // "" for notifications
	Text          string  // DESCRIPTION
}

// Reference returns all of PETRINET-MIB, from the entries that the module is made from.
func Reference() (sections []Section, events []Described) {
	objects := smi.OID{subPetrinet, subObjects}
	sections = append(sections, scalarSection("agent", objects.Append(subAgent), objectsOf(agentScalars())))
	for _, t := range petrinetTables() {
		s := Section{Name: t.name + "Table", Text: t.text, Index: t.index}
		row := objects.Append(t.sub, 1)
		for _, list := range [][]object{t.keys, t.columns} {
			s.Objects = append(s.Objects, describe(t.columnPrefix(), row, list)...)
		}
		sections = append(sections, s)
	}
	sections = append(sections, scalarSection("alarm", objects, objectsOf(alarmScalars())))
	for _, n := range notifications() {
		events = append(events, Described{Name: n.name, OID: smi.OID{subPetrinet, 0, n.sub}, Text: n.text})
	}
	return sections, events
}

func scalarSection(name string, parent smi.OID, objects []object) Section {
	return Section{Name: name, Objects: describe(name, parent, objects)}
}

func describe(prefix string, parent smi.OID, objects []object) []Described {
	all := make([]Described, len(objects))
	for i := range objects {
		o := &objects[i]
		all[i] = Described{Name: prefix + o.suffix, OID: parent.Append(o.sub), Syntax: o.syntax.clause, Units: o.units, Text: o.text}
	}
	return all
}
