// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// readRefused sets the refused requests from a message.
func readRefused(m *wire.Snapshot, into *Snapshot) error {
	into.Refused = nil
	if w := m.GetRefusedRequests(); w != nil {
		into.Refused = &stats.RefusedRequests{stats.RefusedTokens: w.Tokens, stats.RefusedPlace: w.Place, stats.RefusedQueue: w.Queue, stats.RefusedSize: w.Size}
	}
	return checkRefused(into.Refused)
}

// checkRefused rejects a count that is too large; nil is allowed.
func checkRefused(r *stats.RefusedRequests) error {
	if r == nil {
		return nil
	}
	for _, n := range r {
		if n > MaxCount {
			return fmt.Errorf("refused requests: %w: %d, of at most %d", BadValue, n, uint64(MaxCount))
		}
	}
	return nil
}

// refusedRequests returns the wire form of a snapshot's refused requests.
func refusedRequests(s *Snapshot) *wire.RefusedRequests {
	if s.Refused == nil {
		return nil
	}
	return &wire.RefusedRequests{Tokens: s.Refused[stats.RefusedTokens], Place: s.Refused[stats.RefusedPlace], Queue: s.Refused[stats.RefusedQueue], Size: s.Refused[stats.RefusedSize]}
}
