// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// Notify requests the master to send a notification (RFC 2741 section 6.2.10).
// The first variable is snmpTrapOID.0, or sysUpTime.0 and then snmpTrapOID.0.
type Notify struct {
	Variables []smi.Variable
}

// Type returns TypeNotify.
func (*Notify) Type() Type { return TypeNotify }

func (n *Notify) code(c coder) { c.variables(&n.Variables) }

// Ping checks whether the master answers (RFC 2741 section 6.2.11).
type Ping struct{}

// Type returns TypePing.
func (*Ping) Type() Type { return TypePing }
func (*Ping) code(coder) {}
