// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"testing"

	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	var c Counters
	for op := range numOperations {
		c.requests[op].Store(uint64(op) + 1)
	}
	for r := range numReasons {
		c.dropped[r].Store(10 + uint64(r))
	}
	c.variables.Store(20)
	c.tooBig.Store(21)
	selfmetricstest.Show(t, responderFamilies, &c,
		"pnagent_snmp_requests_total get 1", "pnagent_snmp_requests_total getnext 2",
		"pnagent_snmp_requests_total getbulk 3", "pnagent_snmp_requests_total set 4",
		"pnagent_snmp_dropped_total malformed 11", "pnagent_snmp_dropped_total version 12", "pnagent_snmp_dropped_total community 13",
		"pnagent_snmp_dropped_total not_request 14", "pnagent_snmp_dropped_total rate 15", "pnagent_snmp_dropped_total send 16",
		"pnagent_snmp_variables_total 20", "pnagent_snmp_too_big_total 21")

	var s sinkCounters
	s.queued.Store(1)
	s.sent.Store(2)
	s.retried.Store(3)
	s.acknowledged.Store(4)
	s.unreachable.Store(5)
	s.ignored.Store(6)
	for l := range numLosses {
		s.lost[l].Store(10 + uint64(l))
	}
	selfmetricstest.Show(t, senderFamilies, []SinkStats{s.read("noc:162")},
		"pnagent_snmp_notifications_queued noc:162 1", "pnagent_snmp_notifications_sent_total noc:162 2",
		"pnagent_snmp_informs_retried_total noc:162 3", "pnagent_snmp_informs_acknowledged_total noc:162 4",
		"pnagent_snmp_trap_sink_unreachable_total noc:162 5", "pnagent_snmp_inform_answers_ignored_total noc:162 6",
		"pnagent_snmp_notifications_lost_total noc:162 queue_full 11", "pnagent_snmp_notifications_lost_total noc:162 stopped 12",
		"pnagent_snmp_notifications_lost_total noc:162 network 13", "pnagent_snmp_notifications_lost_total noc:162 unanswered 14",
		"pnagent_snmp_notifications_lost_total noc:162 refused 15")
}
