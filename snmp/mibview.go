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

// cursor walks a view. Its position is the requested name, then the last returned one.
type cursor struct {
	start   smi.OID // the requested name
	started bool
	in      place // of the last returned variable

	system int // next row of the system group
	table  int // next row of the table
	meets  int // the first row of the table that does not come before that of the system group

	run  smi.Run // of the last row of the table
	head []byte  // the encoded beginning of its names; empty if there is none
	name smi.OID // memory
}

// place is where a variable is from.
type place uint8

const (
	nowhere place = iota // before the first variable
	inSystem
	inTable
)

// begin sets the cursor to a name.
func (c *cursor) begin(name smi.OID) { *c = cursor{start: name, head: c.head[:0], name: c.name[:0]} }

// next moves the cursor to the next variable and returns its value. At the end it
// does not move, and returns endOfMibView.
func (v *mibView) next(c *cursor) smi.Value {
	if !c.started {
		c.started = true
		c.system = v.system.Search(c.start, false)
		if v.table != nil {
			c.table = v.table.Search(c.start, false)
		}
		v.meet(c)
	}
	if c.table == c.meets && c.system < v.system.Len() {
		return v.nextOfSystem(c)
	}
	if v.table == nil || c.table == v.table.Len() {
		return smi.EndOfMibView()
	}
	if !c.run.Has(c.table) {
		c.run = v.table.Run(c.table)
		c.head = appendHead(c.head[:0], c.run.Prefix())
	}
	c.in = inTable
	c.table++
	return c.run.Value(c.table - 1)
}

// nextOfSystem moves the cursor to the next row of the system group. A row of the
// table with the same name is left out, as for get.
func (v *mibView) nextOfSystem(c *cursor) smi.Value {
	c.in = inSystem
	c.system++
	if v.table != nil && v.table.Search(v.system.names[c.system-1], false) > c.table {
		c.table++
	}
	v.meet(c)
	return v.systemValue(c.system - 1)
}

// meet finds where the next row of the system group is among those of the table.
func (v *mibView) meet(c *cursor) {
	if v.table != nil && c.system < v.system.Len() {
		c.meets = v.table.Search(v.system.names[c.system], true)
	}
}

// position returns the name of the cursor's position, valid until its next move.
func (v *mibView) position(c *cursor) smi.OID {
	switch c.in {
	case inSystem:
		return v.system.names[c.system-1]
	case inTable:
		c.name = c.run.AppendName(c.name[:0], c.table-1)
		return c.name
	}
	return c.start
}
