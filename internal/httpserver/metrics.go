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
	{Name: "pnagent_http_connections", Help: "HTTP connections that are open.",
		Read: selfmetrics.Number(func(c counters) int { return c.connections })},
	{Name: "pnagent_http_connections_limit", Help: "HTTP connections that may be open. A quarter of the limit of open files remains for the rest of the process.",
		Read: selfmetrics.Number(func(c counters) int { return c.limit })},
	{Name: "pnagent_http_connections_closed_total", Help: "HTTP connections that were closed because too many were open, by reason: waiting for a request when another one was opened, blocked by a client that did not read then, or new at the limit of its address or of all.", Labels: []string{"reason"},
		Read: func(c counters, emit selfmetrics.Emit) {
			emit(float64(c.closed.waiting), "waiting")
			emit(float64(c.closed.blocked), "blocked")
			emit(float64(c.closed.address), "address")
			emit(float64(c.closed.all), "all")
		}},
	{Name: "pnagent_http_requests_refused_total", Help: "HTTP requests that were refused for their headers, by reason: an unknown host, or the origin: a page of another site.", Labels: []string{"reason"},
		Read: func(c counters, emit selfmetrics.Emit) {
			emit(float64(c.host), "host")
			emit(float64(c.origin), "origin")
		}},
}

// Metrics returns the metrics of a Server. For nil they have descriptions and no
// series.
func Metrics(s *Server) *selfmetrics.Collector {
	return selfmetrics.Of(families, s, (*Server).counters)
}
