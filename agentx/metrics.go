// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

var families = []selfmetrics.Family[Stats]{
	selfmetrics.Bool("pnagent_agentx_up", "Whether the AgentX session is up and registered: 1 or 0.", func(s Stats) bool { return s.State == StateUp }),
	selfmetrics.Number("pnagent_agentx_state_since_timestamp_seconds", "Unix time when pnagent_agentx_up changed last, or of the start.", func(s Stats) float64 { return float64(s.Changed.UnixMicro()) / 1e6 }),
	selfmetrics.Number("pnagent_agentx_sessions_total", "AgentX sessions opened.", func(s Stats) uint64 { return s.Sessions }),
	selfmetrics.ByLabel("pnagent_agentx_requests_total", "type", "AgentX requests served, by PDU type.", func(s Stats) map[pdu.Type]uint64 { return s.Requests }),
	selfmetrics.Number("pnagent_agentx_variables_total", "Variables sent to the AgentX master.", func(s Stats) uint64 { return s.Variables }),
	selfmetrics.Number("pnagent_agentx_notifications_total", "Notifications that the AgentX master accepted.", func(s Stats) uint64 { return s.Notifications }),
	selfmetrics.ByLabel("pnagent_agentx_faults_total", "reason", "Faults on the AgentX session: what was refused, dropped or given up, by reason.", func(s Stats) map[Fault]uint64 { return s.Faults }),
}

// Metrics returns the metrics of a subagent; nil has descriptions and no series.
func Metrics(s *Subagent) *selfmetrics.Collector {
	return selfmetrics.Of(families, s, (*Subagent).Stats)
}
