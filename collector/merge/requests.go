// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// countRefused adds to the source, and to the net, the requests that the process of a
// message has refused since its last message. What a process refused before its first
// message is counted only if an earlier process of the source is remembered: then it
// began meanwhile, and otherwise perhaps long before this collector.
func (n *net) countRefused(s *source, msg *telemetry.Snapshot) {
	if msg.Refused == nil {
		return
	}
	p := n.remembered(s, msg.Epoch)
	before := p.refused
	p.refused = msg.Refused
	if before == nil {
		before = new(stats.RefusedRequests)
		if len(s.processes) == 1 {
			before = msg.Refused
		}
	}
	s.requests, n.requests = added(s.requests, before, msg.Refused), added(n.requests, before, msg.Refused)
}

// added returns total with what was added from one count to the next; nil stands for
// zeros. It changes no argument.
func added(total, from, to *stats.RefusedRequests) *stats.RefusedRequests {
	sum := stats.RefusedRequests{}
	if total != nil {
		sum = *total
	}
	sum.Add(from, to, telemetry.MaxCount)
	return &sum
}
