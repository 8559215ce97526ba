// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// Open requests a session (RFC 2741 section 6.2.1).
type Open struct {
	Timeout     uint8 // seconds the master waits for an answer; 0 is its default
	ID          smi.OID
	Description string
}

// Type returns TypeOpen.
func (*Open) Type() Type { return TypeOpen }

func (o *Open) code(c coder) {
	c.small(&o.Timeout)
	c.name(&o.ID)
	c.text(&o.Description)
}
