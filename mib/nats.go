// SPDX-License-Identifier: Apache-2.0

package mib

import "github.com/pnagent/pnagent/smi"

// natsScalars are about the agent's own connection. Of a View that has none, as
// in tests, they say that it is connected.
func natsScalars() []column[agentRow] {
	return []column[agentRow]{
		{object{19, "NatsState", syntaxEnum("connected(1), disconnected(2)"), "", "Whether the agent is connected to NATS, the transport through which it hears sources. While it is disconnected it hears nothing: ages go on, counters stand still, sources keep the state that they had, and no alarm about a net or a source is raised or cleared. agentNatsReason says why. An alarm natsDisconnected is raised when it lasts.", 0, false},
			agentNATSState},
		{object{20, "NatsSince", syntaxDate(), "", "Since when agentNatsState is what it is. While it is disconnected, everything about nets and sources is as of then, or of a few seconds before.", 0, false},
			func(r *agentRow) smi.Value {
				if r.view.NATS == nil {
					return r.at.date(0)
				}
				return r.at.date(r.view.NATS.Since)
			}},
		{object{21, "NatsReason", syntaxText(), "", "Why the agent is not connected to NATS, in the words of the server where it answered; while it is connected, what the server refuses, such as a subject that is not permitted. Empty if there is nothing to say.", 0, false},
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
