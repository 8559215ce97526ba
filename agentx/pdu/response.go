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

func (r *Response) encode(e *encoder) {
	e.uint32(r.UpTime)
	e.uint16(uint16(r.Error))
	e.uint16(r.Index)
	e.variables(r.Variables)
}

func (r *Response) decode(d *decoder) {
	r.UpTime = d.uint32()
	r.Error = Error(d.uint16())
	r.Index = d.uint16()
	r.Variables = d.variables()
}
