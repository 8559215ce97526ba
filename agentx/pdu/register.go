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

func (r *Register) encode(e *encoder) {
	e.uint8s(r.Timeout, r.Priority, r.RangeSubID, 0)
	e.subtree(r.RangeSubID, r.Subtree, r.UpperBound)
}

func (r *Register) decode(d *decoder) {
	head := d.four()
	r.Timeout, r.Priority, r.RangeSubID = head[0], head[1], head[2]
	r.Subtree, r.UpperBound = d.subtree(r.RangeSubID)
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

func (u *Unregister) encode(e *encoder) {
	e.uint8s(0, u.Priority, u.RangeSubID, 0)
	e.subtree(u.RangeSubID, u.Subtree, u.UpperBound)
}

func (u *Unregister) decode(d *decoder) {
	head := d.four()
	u.Priority, u.RangeSubID = head[1], head[2]
	u.Subtree, u.UpperBound = d.subtree(u.RangeSubID)
}

// subtree appends a name and, for a range, the upper bound.
func (e *encoder) subtree(rangeSubID uint8, name smi.OID, upperBound uint32) {
	e.oid(name, false)
	if rangeSubID != 0 {
		e.uint32(upperBound)
	}
}

func (d *decoder) subtree(rangeSubID uint8) (name smi.OID, upperBound uint32) {
	name, _ = d.oid()
	if rangeSubID != 0 {
		upperBound = d.uint32()
	}
	return name, upperBound
}
