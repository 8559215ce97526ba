// SPDX-License-Identifier: Apache-2.0

package web

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[Counters]{
	selfmetrics.Number("pnagent_web_viewers", "Viewers of the live page that are connected.", func(c Counters) int { return c.Viewers }),
	selfmetrics.ByLabel("pnagent_web_events_total", "kind", "Events with the state of a net that were sent to viewers, by kind: diff, or frame for a whole state.",
		func(c Counters) map[string]uint64 { return map[string]uint64{"diff": c.Diffs, "frame": c.Frames} }),
	selfmetrics.Number("pnagent_web_bytes_total", "Bytes of events that were sent to viewers, after compression if the viewer accepts it.", func(c Counters) uint64 { return c.Bytes }),
	selfmetrics.Number("pnagent_web_viewers_dropped_total", "Viewers that read nothing for too long, or closed the connection during an event.", func(c Counters) uint64 { return c.Dropped }),
	selfmetrics.ByLabel("pnagent_web_requests_refused_total", "reason", "Requests to the live page, and viewers, that were refused because too many were active, by reason: requests, viewers, or address for viewers of one address.",
		func(c Counters) map[string]uint64 {
			return map[string]uint64{"requests": c.Refused.Requests, "viewers": c.Refused.Viewers, "address": c.Refused.Address}
		}),
	selfmetrics.Number("pnagent_history_bytes", "Memory of the frames and moments of the last hour.", func(c Counters) int64 { return c.History.Bytes }),
	selfmetrics.Number("pnagent_history_frames", "Frames of the last hour that are kept, over all nets.", func(c Counters) int { return c.History.Frames }),
	selfmetrics.ByLabel("pnagent_history_left_out_total", "reason", "Frames that are not kept, by reason: passed because the step was not over, or dropped before their hour was over for lack of room.",
		func(c Counters) map[string]uint64 {
			return map[string]uint64{"passed": c.History.Passed, "dropped": c.History.Dropped}
		}),
	selfmetrics.Number("pnagent_history_moments", "Moments of the last hour of which alarms, sources and connections are kept.", func(c Counters) int { return c.History.Moments }),
	selfmetrics.Number("pnagent_history_moments_dropped_total", "Moments that were dropped before their hour was over, for lack of room.", func(c Counters) uint64 { return c.History.Lost }),
	selfmetrics.Number("pnagent_history_sightings", "Sightings that are kept: periods of an instance among the oldest tokens of a place.", func(c Counters) int { return c.History.Sightings }),
	selfmetrics.Number("pnagent_history_sightings_forgotten_total", "Sightings that were dropped before their hour was over, or never kept, for lack of room.", func(c Counters) uint64 { return c.History.Forgotten }),
}

// Metrics returns the metrics of the live page. For nil they have descriptions and
// no series.
func Metrics(s *Server) *selfmetrics.Collector {
	return selfmetrics.Of(families, s, (*Server).Counters)
}
