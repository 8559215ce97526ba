// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// AddAgentCaps adds a row to the master's sysORTable (RFC 2741 section 6.2.14).
type AddAgentCaps struct {
	ID          smi.OID
	Description string
}

// Type returns TypeAddAgentCaps.
func (*AddAgentCaps) Type() Type { return TypeAddAgentCaps }

func (a *AddAgentCaps) code(c coder) {
	c.name(&a.ID)
	c.text(&a.Description)
}

// RemoveAgentCaps removes the row (RFC 2741 section 6.2.15).
type RemoveAgentCaps struct {
	ID smi.OID
}

// Type returns TypeRemoveAgentCaps.
func (*RemoveAgentCaps) Type() Type { return TypeRemoveAgentCaps }

func (r *RemoveAgentCaps) code(c coder) { c.name(&r.ID) }
