// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// System is the content of the system group (RFC 3418, 1.3.6.1.2.1.1). Texts
// have at most 255 octets.
type System struct {
	Descr    string  // the product and its version
	ObjectID smi.OID // the vendor's identification; empty is 0.0
	Contact  string
	Name     string // by convention the host's domain name
	Location string
}

// sysServices: layers 4 and 7, a host with application services.
const sysServices = 1<<(4-1) + 1<<(7-1)

// sysUpTimeRow is the row of sysUpTime.0 in the table of the system group.
const sysUpTimeRow = 2

// systemGroup is the system group as a table, with its names.
type systemGroup struct {
	*smi.Table
	names []smi.OID
}

// newSystemGroup returns the system group. sysUpTime is set for each packet.
// sysORTable has its columns and no rows: no capabilities statement is claimed.
func newSystemGroup(s System) (*systemGroup, error) {
	group := smi.OID{1, 3, 6, 1, 2, 1, 1}
	var names, objects []smi.OID
	for scalar := range uint32(8) {
		objects = append(objects, group.Append(scalar+1))
		names = append(names, group.Append(scalar+1, 0))
	}
	for column := range uint32(3) { // sysORID, sysORDescr, sysORUpTime
		objects = append(objects, group.Append(9, 1, column+2))
	}
	for what, text := range map[string]string{
		"Descr": s.Descr, "Contact": s.Contact, "Name": s.Name, "Location": s.Location} {
		if len(text) > 255 {
			return nil, fmt.Errorf("system group: %s has %d octets, at most 255 are allowed", what, len(text))
		}
	}
	layout, err := smi.NewLayout(names, objects)
	if err != nil {
		return nil, fmt.Errorf("system group: %w", err)
	}
	table := smi.NewTable(layout, []smi.Value{
		smi.OctetString(s.Descr),
		smi.ObjectID(s.ObjectID),
		smi.TimeTicks(0),
		smi.OctetString(s.Contact),
		smi.OctetString(s.Name),
		smi.OctetString(s.Location),
		smi.Integer(sysServices),
		smi.TimeTicks(0), // sysORLastChange: nothing has changed since the start
	})
	return &systemGroup{table, names}, nil
}

// hundredths returns d in hundredths of a second; it wraps after 497 days.
func hundredths(d time.Duration) uint32 { return uint32(d / (10 * time.Millisecond)) }
