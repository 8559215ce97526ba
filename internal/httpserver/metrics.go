// SPDX-License-Identifier: Apache-2.0

package httpserver

import "github.com/pnagent/pnagent/internal/selfmetrics"

// counters is what a Server did since its start, and its connections.
type counters struct {
	connections, limit int
	closed             closed
	host, origin       uint64
}

func (s *Server) counters() counters {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return counters{connections: len(s.gate.conns), limit: s.gate.all, closed: s.gate.counters,
		host: s.refused.host.Load(), origin: s.refused.origin.Load()}
}

var families = []selfmetrics.Family[counters]{
	selfmetrics.Number("pnagent_http_connections", "HTTP connections that are open.", func(c counters) int { return c.connections }),
	selfmetrics.Number("pnagent_http_connections_limit", "HTTP connections that may be open. A quarter of the limit of open files remains for the rest of the process.", func(c counters) int { return c.limit }),
	selfmetrics.ByLabel("pnagent_http_connections_closed_total", "reason", "HTTP connections that were closed because too many were open, by reason: waiting for a request when another one was opened, blocked by a client that did not read then, or new at the limit of its address or of all.",
		func(c counters) map[string]uint64 {
			return map[string]uint64{"waiting": c.closed.waiting, "blocked": c.closed.blocked, "address": c.closed.address, "all": c.closed.all}
		}),
	selfmetrics.ByLabel("pnagent_http_requests_refused_total", "reason", "HTTP requests that were refused for their headers, by reason: an unknown host, or the origin: a page of another site.",
		func(c counters) map[string]uint64 { return map[string]uint64{"host": c.host, "origin": c.origin} }),
}

// Metrics returns the metrics of a Server. For nil they have descriptions and no
// series.
func Metrics(s *Server) *selfmetrics.Collector {
	return selfmetrics.Of(families, s, (*Server).counters)
}
