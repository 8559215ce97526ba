// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// SearchRange requests the first name after Start that comes before End (RFC 2741 section
// 5.2). With Include it may be Start itself. An empty End is no bound. A Get uses only Start.
type SearchRange struct {
	Start   smi.OID
	Include bool
	End     smi.OID
}

func (e *encoder) ranges(ranges *[]SearchRange) {
	for _, r := range *ranges {
		e.oid(r.Start, r.Include)
		e.oid(r.End, false)
	}
}

// ranges reads to the end of the payload.
func (d *decoder) ranges(ranges *[]SearchRange) {
	for d.more() {
		var r SearchRange
		r.Start, r.Include = d.oid()
		r.End, _ = d.oid()
		*ranges = append(*ranges, r)
	}
}
