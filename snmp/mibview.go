// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"slices"

	"github.com/pnagent/pnagent/mib/smi"
)

// mibView is the content that one packet can read: the system group and the
// table, merged in the order of their names.
type mibView struct {
	system *systemGroup
	uptime smi.Value
	table  *smi.Table // nil while there is none
}

// get returns the value of a name, or the exception for it.
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

// cursor walks a view. name is its position: the requested name, then the last returned one.
type cursor struct {
	name    smi.OID
	started bool
	system  int      // next row of the system group
	table   int      // next row of the table
	last    []uint32 // memory of the name
}

// begin sets the cursor to a name.
func (c *cursor) begin(name smi.OID) { *c = cursor{name: name, last: c.last} }

// next moves the cursor to the next variable and returns its value, or endOfMibView.
func (v *mibView) next(c *cursor) smi.Value {
	if !c.started {
		c.started = true
		c.system = v.system.Search(c.name, false)
		if v.table != nil {
			c.table = v.table.Search(c.name, false)
		}
	}
	inSystem := c.system < v.system.Len()
	if v.table == nil || c.table >= v.table.Len() {
		if !inSystem {
			return smi.EndOfMibView()
		}
		return v.nextOfSystem(c)
	}
	var value smi.Value
	c.last, value = v.table.AppendAt(c.last[:0], c.table)
	if inSystem {
		order := v.system.names[c.system].Compare(c.last)
		if order == 0 { // in both: the system group has it, as for get
			c.table++
		}
		if order <= 0 {
			return v.nextOfSystem(c)
		}
	}
	c.name = c.last
	c.table++
	return value
}

func (v *mibView) nextOfSystem(c *cursor) smi.Value {
	value := v.systemValue(c.system)
	c.name = v.system.names[c.system]
	c.system++
	return value
}
