// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"slices"

	"github.com/pnagent/pnagent/smi"
)

// mibView is everything there is to read for one packet: the system group and
// the table, merged in the order of their names.
type mibView struct {
	system *systemGroup
	uptime smi.Value
	table  *smi.Table // nil while there is none
}

// get is the value of a name, or the exception that says why there is none.
func (v *mibView) get(name smi.OID) smi.Value {
	if i := v.system.Search(name, true); i < v.system.Len() && slices.Equal(v.system.names[i], name) {
		return v.systemValue(i)
	}
	if v.table != nil {
		if value := v.table.Get(name); value.Type != smi.TypeNoSuchObject {
			return value
		}
	}
	return v.system.Get(name)
}

func (v *mibView) systemValue(i int) smi.Value {
	if i == sysUpTimeRow {
		return v.uptime
	}
	return v.system.Value(i)
}

// cursor walks a view. name is where it stands: the name asked for, then the
// last name given.
type cursor struct {
	name    smi.OID
	started bool
	system  int      // next row of the system group
	table   int      // next row of the table
	last    []uint32 // memory of the name
}

// begin puts the cursor at a name.
func (c *cursor) begin(name smi.OID) { *c = cursor{name: name, last: c.last} }

// next gives the first variable after the cursor and moves onto it; at the
// end, endOfMibView under the name where it stands. The variable's name is good
// until the next call.
func (v *mibView) next(c *cursor) smi.Variable {
	tableLen := 0
	if v.table != nil {
		tableLen = v.table.Len()
	}
	if !c.started {
		c.started = true
		c.system = v.system.Search(c.name, false)
		if v.table != nil {
			c.table = v.table.Search(c.name, false)
		}
	}
	var variable smi.Variable
	order := -1 // of the system group's next name and the table's
	if c.table < tableLen {
		c.last, variable = v.table.AppendAt(c.last[:0], c.table)
		order = 1
		if c.system < v.system.Len() {
			order = v.system.names[c.system].Compare(variable.Name)
		}
	} else if c.system == v.system.Len() {
		return smi.Variable{Name: c.name, Value: smi.EndOfMibView()}
	}
	if order >= 0 {
		c.table++
	}
	if order <= 0 { // of a name in both the system group has it, as for get
		variable = smi.Variable{Name: v.system.names[c.system], Value: v.systemValue(c.system)}
		c.system++
	}
	c.name = variable.Name
	return variable
}
