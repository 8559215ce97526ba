// SPDX-License-Identifier: Apache-2.0

package dashboards

// The names of families that parts of a sidecar register themselves. A test of the command
// compares all names in dashboards and alerts with those of the program.
const (
	agentXUp                   = "pnagent_agentx_up"
	agentXRequestsTotal        = "pnagent_agentx_requests_total"
	agentXFaultsTotal          = "pnagent_agentx_faults_total"
	snmpRequestsTotal          = "pnagent_snmp_requests_total"
	snmpDroppedTotal           = "pnagent_snmp_dropped_total"
	httpConnectionsClosedTotal = "pnagent_http_connections_closed_total"
	httpRequestsRefusedTotal   = "pnagent_http_requests_refused_total"
	webRequestsRefusedTotal    = "pnagent_web_requests_refused_total"
	natsConnected              = "pnagent_nats_connected"
	natsDisconnectsTotal       = "pnagent_nats_disconnects_total"
	sidecarRejectedTotal       = "pnagent_sidecar_messages_rejected_total"
	stateSaveFailuresTotal     = "pnagent_state_save_failures_total"
	upNATSConnected            = "pnagent_up_nats_connected"
	upNATSDisconnectsTotal     = "pnagent_up_nats_disconnects_total"
)
