// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

// Clients fill all connections with requests, and read none of the answers. More of
// them take the places of those that are blocked, and the metrics are reachable.
func TestClientsThatReadNothingLeaveTheMetricsReachable(t *testing.T) {
	t.Parallel()
	side := kit.Serve(t, kit.StartNATS(t), "--mib-dir", "", "--web.viewers", "12", "--web.viewers-per-address", "10")
	const limit, page = 524, "/api/v1/openapi.json" // connections in all, 138 of an address
	side.Pipelined(t, 6, 120, page, 500)
	blocked := time.Now()
	kit.Until(t, "a scrape at a new connection is answered", func() error { return side.Newly(10 * time.Second) })
	kit.Within(t, "a scrape is answered", 30*time.Second, blocked, time.Now()) // no client blocks for longer
	kit.Until(t, "connections are closed whose client does not read", func() error {
		s := side.Self(t)
		open, _ := s.Value("pnagent_http_connections")
		if n, _ := s.Value("pnagent_http_connections_closed_total", "reason", "blocked"); n == 0 {
			side.Pipelined(t, 6, 1+max(0, limit-int(open))/6, page, 500) // the next scrape finds no room, and these at work
			return fmt.Errorf("none is, of %v", open)
		}
		return nil
	})
	side.Alarmed(t, "PnagentHTTPRefused", "pnagent_http_connections_closed_total")
	blocked = time.Now()
	kit.Until(t, "another scrape at a new connection is answered", func() error { return side.Newly(10 * time.Second) })
	kit.Within(t, "another scrape is answered", time.Second, blocked, time.Now())
}
