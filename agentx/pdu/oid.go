// SPDX-License-Identifier: Apache-2.0

package pdu

import (
	"math"

	"github.com/pnagent/pnagent/mib/smi"
)

// An Object Identifier (RFC 2741 section 5.1):
//
//	0  1  number of sub-identifiers
//	1  1  prefix: if not 0, 1.3.6.1.prefix comes before them
//	2  1  include: in a search range, whether the name itself is included
//	3  1  reserved
//	4  4n sub-identifiers
//
// All zero is the null name.

// prefixed is the number of sub-identifiers that the prefix replaces.
const prefixed = 5

// prefix returns the x of a name 1.3.6.1.x..., 0 if the name cannot be shortened.
func prefix(name smi.OID) uint8 {
	if len(name) < prefixed || name[0] != 1 || name[1] != 3 || name[2] != 6 || name[3] != 1 || name[4] > math.MaxUint8 {
		return 0
	}
	return uint8(name[4])
}

// oidSize returns the size of name in bytes.
func oidSize(name smi.OID) int {
	if prefix(name) != 0 {
		return 4 + 4*(len(name)-prefixed)
	}
	return 4 + 4*len(name)
}

func (e *encoder) oid(name smi.OID, include bool) {
	if len(name) > smi.MaxSubIdentifiers {
		e.fail("a name of %d sub-identifiers; expected at most %d", len(name), smi.MaxSubIdentifiers)
		return
	}
	short := prefix(name)
	if short != 0 {
		name = name[prefixed:]
	}
	var included uint8
	if include {
		included = 1
	}
	e.buf = append(e.buf, uint8(len(name)), short, included, 0)
	e.buf = e.order.appendAll(e.buf, name)
}

func (d *decoder) oid() (name smi.OID, include bool) {
	head := d.four()
	count, short := int(head[0]), head[1]
	total := count
	if short != 0 {
		total += prefixed
	}
	if total > smi.MaxSubIdentifiers {
		d.fail("a name of %d sub-identifiers; expected at most %d", total, smi.MaxSubIdentifiers)
	}
	raw := d.take(4 * count)
	if d.err != nil || total == 0 {
		return nil, head[2] != 0
	}
	if cap(d.subs)-len(d.subs) < total {
		// The payload that is left has at most a quarter as many sub-identifiers, plus
		// prefixes. Earlier names keep their memory.
		d.subs = make([]uint32, 0, total+len(d.buf)/4)
	}
	start := len(d.subs)
	if short != 0 {
		d.subs = append(d.subs, 1, 3, 6, 1, uint32(short))
	}
	d.subs = d.order.all(d.subs, raw)
	end := len(d.subs)
	return smi.OID(d.subs[start:end:end]), head[2] != 0
}
