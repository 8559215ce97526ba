// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

var families = []selfmetrics.Family[*Member]{
	selfmetrics.Bool("pnagent_sidecar_on_duty", "Whether this sidecar sends notifications: 1, or 0 while it stands by.", (*Member).OnDuty),
	selfmetrics.Number("pnagent_sidecar_peers", "Other live sidecars that send the same notifications.", func(m *Member) int { return m.State().Live }),
	selfmetrics.Number("pnagent_sidecar_takeovers_total", "Times that this sidecar took the duty.", func(m *Member) uint64 { return m.Counters().TakeOvers }),
	selfmetrics.Number("pnagent_sidecar_messages_total", "Messages from sidecars, including this one's own and rejected ones.", func(m *Member) uint64 { return m.Counters().Received }),
	selfmetrics.ByLabel("pnagent_sidecar_messages_rejected_total", "reason", "Messages from sidecars that were rejected, by reason.", func(m *Member) map[roster.Reason]uint64 { return m.Counters().Rejected }),
}

// Metrics returns the metrics of a member; nil has descriptions and no series.
func Metrics(m *Member) *selfmetrics.Collector {
	return selfmetrics.Of(families, m, func(m *Member) *Member { return m })
}
