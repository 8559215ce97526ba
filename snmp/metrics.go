// SPDX-License-Identifier: Apache-2.0

package snmp

import "github.com/pnagent/pnagent/internal/selfmetrics"

var responderFamilies = []selfmetrics.Family[*counters]{
	selfmetrics.ByLabel("pnagent_snmp_requests_total", "operation", "SNMP requests that the built-in responder understood, by operation.", func(c *counters) map[string]uint64 { return counted(opGet, c.requests[:]) }),
	selfmetrics.Number("pnagent_snmp_variables_total", "Variables that the built-in responder sent.", func(c *counters) uint64 { return c.variables.Load() }),
	selfmetrics.Number("pnagent_snmp_too_big_total", "SNMP requests answered with tooBig.", func(c *counters) uint64 { return c.tooBig.Load() }),
	selfmetrics.Number("pnagent_snmp_shortened_total", "Responses to GETBULK that were cut because the address had not yet proven that it receives them.", func(c *counters) uint64 { return c.shortened.Load() }),
	selfmetrics.ByLabel("pnagent_snmp_reports_total", "reason", "SNMPv3 requests that were answered with a Report, or only counted, by the counter of RFC 3414 or RFC 3412.", func(c *counters) map[string]uint64 { return counted(noProblem+1, c.problems[:]) }),
	selfmetrics.ByLabel("pnagent_snmp_dropped_total", "reason", "SNMP packets without an answer, by reason.", func(c *counters) map[string]uint64 { return counted(noReason+1, c.dropped[:]) }),
}

// ResponderMetrics returns the metrics of a responder; nil has descriptions and
// no series.
func ResponderMetrics(r *Responder) *selfmetrics.Collector {
	return selfmetrics.Of(responderFamilies, r, func(r *Responder) *counters { return &r.counters })
}

var senderFamilies = []selfmetrics.Family[[]SinkStats]{
	perSink("pnagent_snmp_notifications_sent_total", "Datagrams with notifications that were sent to a trap sink, repeated informs included.", func(s *SinkStats) uint64 { return s.Sent }),
	perSink("pnagent_snmp_informs_retried_total", "Informs that were sent to a trap sink again.", func(s *SinkStats) uint64 { return s.Retried }),
	perSink("pnagent_snmp_informs_acknowledged_total", "Informs that a trap sink acknowledged.", func(s *SinkStats) uint64 { return s.Acknowledged }),
	perSink("pnagent_snmp_trap_sink_unreachable_total", "Times that the network reported that no process listens at a trap sink.", func(s *SinkStats) uint64 { return s.Unreachable }),
	perSink("pnagent_snmp_notifications_queued", "Notifications that wait for a trap sink.", func(s *SinkStats) uint64 { return uint64(s.Queued) }),
	perSink("pnagent_snmp_inform_answers_ignored_total", "Datagrams from a trap sink that acknowledged nothing.", func(s *SinkStats) uint64 { return s.Ignored }),
	{Name: "pnagent_snmp_notifications_lost_total", Help: "Notifications that a trap sink did not get, by reason.", Labels: []string{"sink", "reason"},
		Read: func(all []SinkStats, emit selfmetrics.Emit) {
			for i := range all {
				for reason, n := range all[i].Lost {
					emit(float64(n), all[i].Sink, reason)
				}
			}
		}},
}

func perSink(name, help string, read func(*SinkStats) uint64) selfmetrics.Family[[]SinkStats] {
	return selfmetrics.ByLabel(name, "sink", help, func(all []SinkStats) map[string]uint64 {
		by := map[string]uint64{}
		for i := range all {
			by[all[i].Sink] = read(&all[i])
		}
		return by
	})
}

// SenderMetrics returns the metrics of a sender of notifications; nil has
// descriptions and no series.
func SenderMetrics(s *Sender) *selfmetrics.Collector {
	return selfmetrics.Of(senderFamilies, s, (*Sender).Stats)
}
