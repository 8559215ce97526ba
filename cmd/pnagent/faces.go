// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/snmp"
)

// faces shows what the SNMP faces did as metrics. Each may be nil.
type faces struct {
	subagent  *agentx.Subagent
	responder *snmp.Responder
	sender    *snmp.Sender
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	agentXUp            = desc(metrics.PnagentAgentXUp, "Whether the AgentX session is up and registered: 1 or 0.")
	agentXSessions      = desc(metrics.PnagentAgentXSessionsTotal, "AgentX sessions opened.")
	agentXRequests      = desc(metrics.PnagentAgentXRequestsTotal, "AgentX requests served, by PDU type.", "type")
	agentXVariables     = desc(metrics.PnagentAgentXVariablesTotal, "Variables sent to the AgentX master.")
	agentXNotifications = desc(metrics.PnagentAgentXNotificationsTotal, "Notifications that the AgentX master accepted.")
	agentXFaults        = desc(metrics.PnagentAgentXFaultsTotal, "What was refused, dropped or given up on the AgentX session, by reason.", "reason")
	snmpRequests        = desc(metrics.PnagentSNMPRequestsTotal, "SNMP requests that the built-in responder understood, by operation.", "operation")
	snmpVariables       = desc(metrics.PnagentSNMPVariablesTotal, "Variables that the built-in responder sent.")
	snmpTooBig          = desc(metrics.PnagentSNMPTooBigTotal, "SNMP requests answered with tooBig.")
	snmpDropped         = desc(metrics.PnagentSNMPDroppedTotal, "SNMP packets that got no answer, by reason.", "reason")
	trapsSent           = desc(metrics.PnagentSNMPNotificationsSentTotal, "Datagrams with notifications that were sent to a trap sink, repeated informs included.", "sink")
	trapsRetried        = desc(metrics.PnagentSNMPInformsRetriedTotal, "Informs that were sent to a trap sink again.", "sink")
	trapsAcknowledged   = desc(metrics.PnagentSNMPInformsAcknowledgedTotal, "Informs that a trap sink acknowledged.", "sink")
	trapsUnreachable    = desc(metrics.PnagentSNMPTrapSinkUnreachableTotal, "Times that the network reported that nobody listens at a trap sink.", "sink")
	trapsQueued         = desc(metrics.PnagentSNMPNotificationsQueued, "Notifications that wait for a trap sink.", "sink")
	trapsIgnored        = desc(metrics.PnagentSNMPInformAnswersIgnoredTotal, "Datagrams from a trap sink that acknowledged nothing.", "sink")
	trapsLost           = desc(metrics.PnagentSNMPNotificationsLostTotal, "Notifications that a trap sink did not get, by reason.", "sink", "reason")
)

// Describe implements prometheus.Collector.
func (f *faces) Describe(out chan<- *prometheus.Desc) {
	if f.subagent != nil {
		for _, d := range []*prometheus.Desc{agentXUp, agentXSessions, agentXRequests, agentXVariables, agentXNotifications, agentXFaults} {
			out <- d
		}
	}
	if f.responder != nil {
		for _, d := range []*prometheus.Desc{snmpRequests, snmpVariables, snmpTooBig, snmpDropped} {
			out <- d
		}
	}
	if f.sender != nil {
		for _, d := range []*prometheus.Desc{trapsSent, trapsRetried, trapsAcknowledged, trapsUnreachable, trapsQueued, trapsIgnored, trapsLost} {
			out <- d
		}
	}
	if f.subagent == nil && f.responder == nil && f.sender == nil {
		out <- agentXUp
	}
}

// Collect implements prometheus.Collector.
func (f *faces) Collect(out chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	if f.subagent != nil {
		s := f.subagent.Stats()
		up := 0.0
		if s.State == agentx.StateUp {
			up = 1
		}
		out <- prometheus.MustNewConstMetric(agentXUp, prometheus.GaugeValue, up)
		counter(agentXSessions, s.Sessions)
		for t, n := range s.Requests {
			counter(agentXRequests, n, t.String())
		}
		counter(agentXVariables, s.Variables)
		counter(agentXNotifications, s.Notifications)
		for fault, n := range s.Faults {
			counter(agentXFaults, n, fault.String())
		}
	}
	if f.responder != nil {
		c := f.responder.Counters()
		for operation, n := range c.Requests() {
			counter(snmpRequests, n, operation)
		}
		counter(snmpVariables, c.Variables())
		counter(snmpTooBig, c.TooBig())
		for reason, n := range c.Dropped() {
			counter(snmpDropped, n, reason)
		}
	}
	if f.sender != nil {
		for _, k := range f.sender.Stats() {
			counter(trapsSent, k.Sent, k.Sink)
			counter(trapsRetried, k.Retried, k.Sink)
			counter(trapsAcknowledged, k.Acknowledged, k.Sink)
			counter(trapsUnreachable, k.Unreachable, k.Sink)
			out <- prometheus.MustNewConstMetric(trapsQueued, prometheus.GaugeValue, float64(k.Queued), k.Sink)
			counter(trapsIgnored, k.Ignored, k.Sink)
			for reason, n := range k.Lost {
				counter(trapsLost, n, k.Sink, reason)
			}
		}
	}
}
