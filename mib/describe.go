// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
)

// Description has all of PETRINET-MIB for programs that write configurations of other tools,
// or documents.
type Description struct {
	Sections      []Section // in the order of the module
	Notifications []Notification
}

// Section is a table of PETRINET-MIB, or the scalars of one subject.
type Section struct {
	Name    string   // placeTable; agent, alarm or cleared for scalars
	Text    string   // DESCRIPTION; "" for scalars
	OID     smi.OID  // of the row, or the parent of the scalars
	Index   []string // names of the INDEX clause; nil for scalars
	Objects []Object
}

// Object is a column or a scalar.
type Object struct {
	Name   string  // pnPlaceTokens
	OID    smi.OID // without the instance
	Syntax string  // SYNTAX clause
	Type   smi.Type
	Labels []string // of an enumeration, from 1
	Units  string
	Text   string // DESCRIPTION
	Key    bool   // a column that is only an index, and not accessible
}

// Notification is one NOTIFICATION-TYPE.
type Notification struct {
	Name    string
	OID     smi.OID
	Text    string     // DESCRIPTION
	Runbook string     // address of the page about it
	Kind    alarm.Kind // 0 for the one that is about no alarm
	Clears  bool       // it reports the end of an alarm
	Objects []string   // names of the objects that it carries, in order
}

// Describe returns all of PETRINET-MIB below root, from the entries that the module is made
// from. With a nil root the identifiers are below the root.
func Describe(root smi.OID) Description {
	module := root.Append(subPetrinet)
	objects := module.Append(subObjects)
	d := Description{Sections: []Section{scalarSection("agent", objects.Append(subAgent), objectsOf(agentScalars()))}}
	for _, t := range petrinet().tables {
		row := objects.Append(t.sub, 1)
		s := Section{Name: inModule(t.name) + "Table", Text: t.text, OID: row, Index: t.index}
		for _, o := range describeAll(t.columnPrefix(), row, t.keys) {
			o.Key = true
			s.Objects = append(s.Objects, o)
		}
		s.Objects = append(s.Objects, describeAll(t.columnPrefix(), row, t.columns)...)
		d.Sections = append(d.Sections, s)
	}
	d.Sections = append(d.Sections, scalarSection("alarm", objects, objectsOf(alarmScalars())),
		scalarSection("cleared", objects, objectsOf(clearedScalars())))
	for _, n := range notifications() {
		d.Notifications = append(d.Notifications, Notification{Name: n.descriptor(), OID: module.Append(0, n.sub), Text: n.text, Runbook: n.runbook(),
			Kind: n.kind, Clears: n.clears, Objects: n.objects})
	}
	return d
}

func scalarSection(name string, parent smi.OID, objects []object) Section {
	return Section{Name: name, OID: parent, Objects: describeAll(inModule(name), parent, objects)}
}

func describeAll(prefix string, parent smi.OID, objects []object) []Object {
	all := make([]Object, len(objects))
	for i := range objects {
		o := &objects[i]
		all[i] = Object{Name: prefix + o.suffix, OID: parent.Append(o.sub), Syntax: o.syntax.clause, Type: o.syntax.typ, Labels: o.syntax.labels,
			Units: o.units, Text: o.text}
	}
	return all
}
