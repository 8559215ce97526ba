// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"slices"

	"github.com/pnagent/pnagent/smi"
)

// mibView is everything there is to read for one packet: the system group and
// the table, merged in the order of their names.
type mibView struct {
	system *smi.Table
	uptime smi.Value
	table  *smi.Table // nil while there is none
}

// get is the value of a name, or the exception that says why there is none.
func (v *mibView) get(name smi.OID) smi.Value {
	if i := v.system.Search(name, true); i < v.system.Len() {
		if variable := v.systemAt(i); slices.Equal(variable.Name, name) {
			return variable.Value
		}
	}
	if v.table != nil {
		if value := v.table.Get(name); value.Type != smi.TypeNoSuchObject {
			return value
		}
	}
	return v.system.Get(name)
}

func (v *mibView) systemAt(i int) smi.Variable {
	variable := v.system.At(i)
	if i == sysUpTimeRow {
		variable.Value = v.uptime
	}
	return variable
}

// cursor walks a view. name is where it stands: the name asked for, then the
// last name given.
type cursor struct {
	name    smi.OID
	started bool
	system  int // next row of the system group
	table   int // next row of the table
}

// next gives the first variable after the cursor and moves onto it; at the
// end, endOfMibView under the name where it stands.
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
	switch {
	case c.table < tableLen && c.system < v.system.Len():
		fromSystem, fromTable := v.systemAt(c.system), v.table.At(c.table)
		switch order := fromSystem.Name.Compare(fromTable.Name); {
		case order < 0:
			variable, c.system = fromSystem, c.system+1
		case order > 0:
			variable, c.table = fromTable, c.table+1
		default: // in both: as for get, the system group has it
			variable, c.system, c.table = fromSystem, c.system+1, c.table+1
		}
	case c.table < tableLen:
		variable = v.table.At(c.table)
		c.table++
	case c.system < v.system.Len():
		variable = v.systemAt(c.system)
		c.system++
	default:
		return smi.Variable{Name: c.name, Value: smi.EndOfMibView()}
	}
	c.name = variable.Name
	return variable
}
