// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

// Clients fill all connections with requests, and read none of the answers. More of
// them take the places of those that are blocked, and the metrics are reachable.
func TestClientsThatReadNothingLeaveTheMetricsReachable(t *testing.T) {
	t.Parallel()
	side := kit.Serve(t, kit.StartNATS(t), "--mib-dir", "", "--web.viewers", "12", "--web.viewers-per-address", "10")
	side.Pipelined(t, 6, 120, "/main.js", 2000) // of 524 connections in all, 138 of an address
	blocked := time.Now()
	kit.Until(t, "a scrape at a new connection is answered", func() error { return side.Newly(10 * time.Second) })
	kit.Within(t, "a scrape is answered", 30*time.Second, blocked, time.Now()) // no client blocks for longer
	polls := 0
	kit.Until(t, "connections are closed whose client does not read", func() error {
		if polls++; polls%250 == 0 { // those of before are over after 30 seconds
			side.Pipelined(t, 6, 100, "/main.js", 2000)
		}
		side.Pipelined(t, 2, 1, "/main.js", 2000)
		s, err := side.ReadMetrics()
		if n, _ := s.Value("pnagent_http_connections_closed_total", "reason", "blocked"); err == nil && n == 0 {
			err = errors.New("none is")
		}
		return err
	})
	side.Alarmed(t, "PnagentHTTPRefused", "pnagent_http_connections_closed_total")
	blocked = time.Now()
	kit.Until(t, "another scrape at a new connection is answered", func() error { return side.Newly(10 * time.Second) })
	kit.Within(t, "another scrape is answered", time.Second, blocked, time.Now())
}
