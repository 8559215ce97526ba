// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"iter"

	"github.com/pnagent/pnagent/internal/selfmetrics"
)

var responderFamilies = []selfmetrics.Family[*Counters]{
	{Name: "pnagent_snmp_requests_total", Help: "SNMP requests that the built-in responder understood, by operation.", Labels: []string{"operation"},
		Read: func(c *Counters, emit selfmetrics.Emit) { emitAll(c.Requests(), emit) }},
	{Name: "pnagent_snmp_variables_total", Help: "Variables that the built-in responder sent.",
		Read: selfmetrics.Number((*Counters).Variables)},
	{Name: "pnagent_snmp_too_big_total", Help: "SNMP requests answered with tooBig.",
		Read: selfmetrics.Number((*Counters).TooBig)},
	{Name: "pnagent_snmp_shortened_total", Help: "Responses to GETBULK that were cut because the address had not yet proven that it receives them.",
		Read: selfmetrics.Number((*Counters).Shortened)},
	{Name: "pnagent_snmp_reports_total", Help: "SNMPv3 requests that were answered with a Report, or only counted, by the counter of RFC 3414 or RFC 3412.", Labels: []string{"reason"},
		Read: func(c *Counters, emit selfmetrics.Emit) { emitAll(c.Problems(), emit) }},
	{Name: "pnagent_snmp_dropped_total", Help: "SNMP packets without an answer, by reason.", Labels: []string{"reason"},
		Read: func(c *Counters, emit selfmetrics.Emit) { emitAll(c.Dropped(), emit) }},
}

func emitAll(counts iter.Seq2[string, uint64], emit selfmetrics.Emit) {
	for label, n := range counts {
		emit(float64(n), label)
	}
}

// ResponderMetrics returns the metrics of a responder; nil has descriptions and
// no series.
func ResponderMetrics(r *Responder) *selfmetrics.Collector {
	return selfmetrics.Of(responderFamilies, r, (*Responder).Counters)
}

var senderFamilies = []selfmetrics.Family[[]SinkStats]{
	{Name: "pnagent_snmp_notifications_sent_total", Help: "Datagrams with notifications that were sent to a trap sink, repeated informs included.", Labels: []string{"sink"},
		Read: perSink(func(s *SinkStats) uint64 { return s.Sent })},
	{Name: "pnagent_snmp_informs_retried_total", Help: "Informs that were sent to a trap sink again.", Labels: []string{"sink"},
		Read: perSink(func(s *SinkStats) uint64 { return s.Retried })},
	{Name: "pnagent_snmp_informs_acknowledged_total", Help: "Informs that a trap sink acknowledged.", Labels: []string{"sink"},
		Read: perSink(func(s *SinkStats) uint64 { return s.Acknowledged })},
	{Name: "pnagent_snmp_trap_sink_unreachable_total", Help: "Times that the network reported that no process listens at a trap sink.", Labels: []string{"sink"},
		Read: perSink(func(s *SinkStats) uint64 { return s.Unreachable })},
	{Name: "pnagent_snmp_notifications_queued", Help: "Notifications that wait for a trap sink.", Labels: []string{"sink"},
		Read: perSink(func(s *SinkStats) uint64 { return uint64(s.Queued) })},
	{Name: "pnagent_snmp_inform_answers_ignored_total", Help: "Datagrams from a trap sink that acknowledged nothing.", Labels: []string{"sink"},
		Read: perSink(func(s *SinkStats) uint64 { return s.Ignored })},
	{Name: "pnagent_snmp_notifications_lost_total", Help: "Notifications that a trap sink did not get, by reason.", Labels: []string{"sink", "reason"},
		Read: func(all []SinkStats, emit selfmetrics.Emit) {
			for i := range all {
				for reason, n := range all[i].Lost {
					emit(float64(n), all[i].Sink, reason)
				}
			}
		}},
}

func perSink(read func(*SinkStats) uint64) func([]SinkStats, selfmetrics.Emit) {
	return func(all []SinkStats, emit selfmetrics.Emit) {
		for i := range all {
			emit(float64(read(&all[i])), all[i].Sink)
		}
	}
}

// SenderMetrics returns the metrics of a sender of notifications; nil has
// descriptions and no series.
func SenderMetrics(s *Sender) *selfmetrics.Collector {
	return selfmetrics.Of(senderFamilies, s, (*Sender).Stats)
}
