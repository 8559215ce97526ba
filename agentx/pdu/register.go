// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// Register registers a subtree (RFC 2741 section 6.2.3).
type Register struct {
	Timeout  uint8 // seconds, for this subtree; 0 is the session's
	Priority uint8 // 1 to 255; the lower number answers
	// RangeSubID, if not 0, is the position in Subtree, from 1, of a number that runs up
	// to UpperBound: many subtrees in one PDU.
	RangeSubID uint8
	Subtree    smi.OID
	UpperBound uint32
}

// Type returns TypeRegister.
func (*Register) Type() Type { return TypeRegister }

func (r *Register) code(c coder) {
	c.small(&r.Timeout, &r.Priority, &r.RangeSubID)
	codeSubtree(c, r.RangeSubID, &r.Subtree, &r.UpperBound)
}

// Unregister withdraws a Register (RFC 2741 section 6.2.4).
type Unregister struct {
	Priority   uint8
	RangeSubID uint8
	Subtree    smi.OID
	UpperBound uint32
}

// Type returns TypeUnregister.
func (*Unregister) Type() Type { return TypeUnregister }

func (u *Unregister) code(c coder) {
	c.small(new(uint8), &u.Priority, &u.RangeSubID)
	codeSubtree(c, u.RangeSubID, &u.Subtree, &u.UpperBound)
}

// codeSubtree codes a name and, for a range, the upper bound.
func codeSubtree(c coder, rangeSubID uint8, name *smi.OID, upperBound *uint32) {
	c.name(name)
	if rangeSubID != 0 {
		c.long(upperBound)
	}
}
