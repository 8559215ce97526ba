// SPDX-License-Identifier: Apache-2.0

package mib

import "github.com/pnagent/pnagent/mib/smi"

// natsScalars describe the agent's connection. A View without one, as in tests, counts as
// connected.
func natsScalars() []column[agentRow] {
	return []column[agentRow]{
		{object{19, "NatsState", syntaxEnum("connected", "disconnected"), "", "Whether the agent is connected to NATS, the transport of the sources' messages. While it is disconnected no message arrives: ages grow, counters do not change, sources keep their state, and no alarm about a net or a source is raised or cleared. pnAgentNatsReason has the reason. An alarm natsDisconnected is raised when it lasts.", 0, false},
			agentNATSState},
		{object{20, "NatsSince", syntaxDate(), "", "Since when pnAgentNatsState has its value. While it is disconnected, all numbers about nets and sources are as of then, or of a few seconds before.", 0, false},
			func(r *agentRow) smi.Value {
				if r.view.NATS == nil {
					return r.at.date(0)
				}
				return r.at.date(r.view.NATS.Since)
			}},
		{object{21, "NatsReason", syntaxText(), "", "Why the agent is not connected to NATS, in the words of the server if it answered; while it is connected, what the server refuses, such as a subject that is not permitted. Empty if there is no reason.", 0, false},
			func(r *agentRow) smi.Value {
				if r.view.NATS == nil {
					return text("")
				}
				return text(r.view.NATS.Reason)
			}},
	}
}

func agentNATSState(r *agentRow) smi.Value {
	if r.view.NATS != nil && !r.view.NATS.Connected {
		return smi.Integer(2)
	}
	return smi.Integer(1)
}
