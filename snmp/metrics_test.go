// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"testing"

	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	var c counters
	for op := range numOperations {
		c.requests[op].Store(uint64(op) + 1)
	}
	for r := range numReasons {
		c.dropped[r].Store(10 + uint64(r))
	}
	c.variables.Store(20)
	c.tooBig.Store(21)
	c.shortened.Store(22)
	for p := range numProblems {
		c.problems[p].Store(30 + uint64(p))
	}
	selfmetricstest.Show(t, responderFamilies, &c,
		"pnagent_snmp_requests_total operation=get 1", "pnagent_snmp_requests_total operation=getnext 2",
		"pnagent_snmp_requests_total operation=getbulk 3", "pnagent_snmp_requests_total operation=set 4",
		"pnagent_snmp_dropped_total reason=network 11", "pnagent_snmp_dropped_total reason=malformed 12", "pnagent_snmp_dropped_total reason=version 13",
		"pnagent_snmp_dropped_total reason=community 14", "pnagent_snmp_dropped_total reason=not_request 15", "pnagent_snmp_dropped_total reason=security_model 16",
		"pnagent_snmp_dropped_total reason=not_reportable 17", "pnagent_snmp_dropped_total reason=rate 18",
		"pnagent_snmp_dropped_total reason=octets 19", "pnagent_snmp_dropped_total reason=unproven 20", "pnagent_snmp_dropped_total reason=send 21",
		"pnagent_snmp_shortened_total 22",
		"pnagent_snmp_reports_total reason=unknownEngineIDs 31", "pnagent_snmp_reports_total reason=unknownUserNames 32",
		"pnagent_snmp_reports_total reason=unsupportedSecLevels 33", "pnagent_snmp_reports_total reason=wrongDigests 34",
		"pnagent_snmp_reports_total reason=notInTimeWindows 35", "pnagent_snmp_reports_total reason=decryptionErrors 36",
		"pnagent_snmp_reports_total reason=unknownPDUHandlers 37", "pnagent_snmp_reports_total reason=unknownContexts 38",
		"pnagent_snmp_variables_total 20", "pnagent_snmp_too_big_total 21")

	s := newSinkCounters("noc:162").read()
	s.Queued = 1
	s.Sent = 2
	s.Retried = 3
	s.Acknowledged = 4
	s.Unreachable = 5
	s.Ignored = 6
	for l := noLoss + 1; l < numLosses; l++ {
		s.Lost[l.String()] += 10 + uint64(l)
	}
	selfmetricstest.Show(t, senderFamilies, []SinkStats{s},
		"pnagent_snmp_notifications_queued sink=noc:162 1", "pnagent_snmp_notifications_sent_total sink=noc:162 2",
		"pnagent_snmp_informs_retried_total sink=noc:162 3", "pnagent_snmp_informs_acknowledged_total sink=noc:162 4",
		"pnagent_snmp_trap_sink_unreachable_total sink=noc:162 5", "pnagent_snmp_inform_answers_ignored_total sink=noc:162 6",
		"pnagent_snmp_notifications_lost_total reason=queue_full sink=noc:162 11", "pnagent_snmp_notifications_lost_total reason=stopped sink=noc:162 12",
		"pnagent_snmp_notifications_lost_total reason=network sink=noc:162 13", "pnagent_snmp_notifications_lost_total reason=unanswered sink=noc:162 14",
		"pnagent_snmp_notifications_lost_total reason=refused sink=noc:162 15")
}
