// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

var families = []selfmetrics.Family[Stats]{
	{Name: "pnagent_agentx_up", Help: "Whether the AgentX session is up and registered: 1 or 0.",
		Read: selfmetrics.Bool(func(s Stats) bool { return s.State == StateUp })},
	{Name: "pnagent_agentx_sessions_total", Help: "AgentX sessions opened.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Sessions })},
	{Name: "pnagent_agentx_requests_total", Help: "AgentX requests served, by PDU type.", Labels: []string{"type"},
		Read: func(s Stats, emit selfmetrics.Emit) {
			for t, n := range s.Requests {
				emit(float64(n), t.String())
			}
		}},
	{Name: "pnagent_agentx_variables_total", Help: "Variables sent to the AgentX master.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Variables })},
	{Name: "pnagent_agentx_notifications_total", Help: "Notifications that the AgentX master accepted.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Notifications })},
	{Name: "pnagent_agentx_faults_total", Help: "Faults on the AgentX session: what was refused, dropped or given up, by reason.", Labels: []string{"reason"},
		Read: func(s Stats, emit selfmetrics.Emit) {
			for fault, n := range s.Faults {
				emit(float64(n), fault.String())
			}
		}},
}

// Metrics returns the metrics of a subagent; nil has descriptions and no series.
func Metrics(s *Subagent) *selfmetrics.Collector {
	return selfmetrics.Of(families, s, (*Subagent).Stats)
}
