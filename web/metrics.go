// SPDX-License-Identifier: Apache-2.0

package web

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[Counters]{
	{Name: "pnagent_web_viewers", Help: "Viewers of the live page that are connected.",
		Read: selfmetrics.Number(func(c Counters) int { return c.Viewers })},
	{Name: "pnagent_web_events_total", Help: "Events with the state of a net that were sent to viewers, by kind: diff, or frame for a whole state.", Labels: []string{"kind"},
		Read: func(c Counters, emit selfmetrics.Emit) {
			emit(float64(c.Diffs), "diff")
			emit(float64(c.Frames), "frame")
		}},
	{Name: "pnagent_web_bytes_total", Help: "Bytes of events that were sent to viewers, after compression if the viewer accepts it.",
		Read: selfmetrics.Number(func(c Counters) uint64 { return c.Bytes })},
	{Name: "pnagent_web_viewers_dropped_total", Help: "Viewers that read nothing for too long, or closed the connection during an event.",
		Read: selfmetrics.Number(func(c Counters) uint64 { return c.Dropped })},
	{Name: "pnagent_web_requests_refused_total", Help: "Requests to the live page, and viewers, that were refused because too many were active, by reason: requests, viewers, or address for viewers of one address.", Labels: []string{"reason"},
		Read: func(c Counters, emit selfmetrics.Emit) {
			emit(float64(c.Refused.Requests), "requests")
			emit(float64(c.Refused.Viewers), "viewers")
			emit(float64(c.Refused.Address), "address")
		}},
	{Name: "pnagent_history_bytes", Help: "Memory of the frames and moments of the last hour.",
		Read: selfmetrics.Number(func(c Counters) int64 { return c.History.Bytes })},
	{Name: "pnagent_history_frames", Help: "Frames of the last hour that are kept, over all nets.",
		Read: selfmetrics.Number(func(c Counters) int { return c.History.Frames })},
	{Name: "pnagent_history_left_out_total", Help: "Frames that are not kept, by reason: passed because the step was not over, or dropped before their hour was over for lack of room.", Labels: []string{"reason"},
		Read: func(c Counters, emit selfmetrics.Emit) {
			emit(float64(c.History.Passed), "passed")
			emit(float64(c.History.Dropped), "dropped")
		}},
	{Name: "pnagent_history_moments", Help: "Moments of the last hour of which alarms, sources and connections are kept.",
		Read: selfmetrics.Number(func(c Counters) int { return c.History.Moments })},
	{Name: "pnagent_history_moments_dropped_total", Help: "Moments that were dropped before their hour was over, for lack of room.",
		Read: selfmetrics.Number(func(c Counters) uint64 { return c.History.Lost })},
	{Name: "pnagent_history_sightings", Help: "Sightings that are kept: periods of an instance among the oldest tokens of a place.",
		Read: selfmetrics.Number(func(c Counters) int { return c.History.Sightings })},
	{Name: "pnagent_history_sightings_forgotten_total", Help: "Sightings that were dropped before their hour was over, or never kept, for lack of room.",
		Read: selfmetrics.Number(func(c Counters) uint64 { return c.History.Forgotten })},
}

// Metrics returns the metrics of the live page. For nil they have descriptions and
// no series.
func Metrics(s *Server) *selfmetrics.Collector {
	return selfmetrics.Of(families, s, (*Server).Counters)
}
