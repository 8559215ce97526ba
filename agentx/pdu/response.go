// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// Response answers every other PDU but CleanupSet (RFC 2741 section 6.2.16).
type Response struct {
	UpTime    uint32 // sysUpTime in hundredths of a second; only a master sets it
	Error     Error
	Index     uint16 // of the variable at fault, from 1; 0 if Error is about none
	Variables []smi.Variable
}

// Type returns TypeResponse.
func (*Response) Type() Type { return TypeResponse }

func (r *Response) code(c coder) {
	c.long(&r.UpTime)
	c.short((*uint16)(&r.Error))
	c.short(&r.Index)
	c.variables(&r.Variables)
}
