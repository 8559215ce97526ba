// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// agentNATSState and what follows are about the agent's connection. A View without one, as in
// tests, counts as connected.
func agentNATSState(r *agentRow) smi.Value {
	if r.view.NATS != nil && !r.view.NATS.Connected {
		return smi.Integer(2)
	}
	return smi.Integer(1)
}

func agentNATSSince(r *agentRow) smi.Value {
	return r.at.date(cmp.Or(r.view.NATS, &natslink.ConnState{}).Since)
}

func agentNATSReason(r *agentRow) smi.Value {
	return text(cmp.Or(r.view.NATS, &natslink.ConnState{}).Reason)
}
