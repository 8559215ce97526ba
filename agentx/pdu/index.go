// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// IndexAllocate reserves values of an index that subagents share (RFC 2741
// section 6.2.12).
type IndexAllocate struct {
	Variables []smi.Variable
}

// Type returns TypeIndexAllocate.
func (*IndexAllocate) Type() Type { return TypeIndexAllocate }

func (i *IndexAllocate) code(c coder) { c.variables(&i.Variables) }

// IndexDeallocate releases reserved values (RFC 2741 section 6.2.13).
type IndexDeallocate struct {
	Variables []smi.Variable
}

// Type returns TypeIndexDeallocate.
func (*IndexDeallocate) Type() Type { return TypeIndexDeallocate }

func (i *IndexDeallocate) code(c coder) { c.variables(&i.Variables) }
