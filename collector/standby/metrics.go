// SPDX-License-Identifier: Apache-2.0

package standby

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[*Member]{
	{Name: "pnagent_sidecar_on_duty", Help: "Whether this sidecar sends notifications: 1, or 0 while it stands by.",
		Read: selfmetrics.Bool((*Member).OnDuty)},
	{Name: "pnagent_sidecar_peers", Help: "Other live sidecars that send the same notifications.",
		Read: selfmetrics.Number(func(m *Member) int { return m.State().Live })},
	{Name: "pnagent_sidecar_takeovers_total", Help: "Times that this sidecar took the duty.",
		Read: selfmetrics.Number(func(m *Member) uint64 { return m.Counters().TakeOvers })},
	{Name: "pnagent_sidecar_messages_total", Help: "Messages from sidecars, including this one's own and rejected ones.",
		Read: selfmetrics.Number(func(m *Member) uint64 { return m.Counters().Received })},
	{Name: "pnagent_sidecar_messages_rejected_total", Help: "Messages from sidecars that were rejected, by reason.", Labels: []string{"reason"},
		Read: func(m *Member, emit selfmetrics.Emit) {
			for reason, n := range m.Counters().Rejected {
				emit(float64(n), string(reason))
			}
		}},
}

// Metrics returns the metrics of a member; nil has descriptions and no series.
func Metrics(m *Member) *selfmetrics.Collector {
	return selfmetrics.Of(families, m, func(m *Member) *Member { return m })
}
