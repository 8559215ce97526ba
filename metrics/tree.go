// SPDX-License-Identifier: Apache-2.0

package metrics

// The names of what a sidecar tells of the directory with its counters.
const (
	PnagentStateSavesTotal        = "pnagent_state_saves_total"
	PnagentStateSaveFailuresTotal = "pnagent_state_save_failures_total"
	PnagentStateBytes             = "pnagent_state_bytes"
)

// The names of what a sidecar tells that is a part of a tree.
const (
	PnagentMessagesPassedOverTotal = "pnagent_messages_passed_over_total"
	PnagentUpNets                  = "pnagent_up_nets"
	PnagentUpSnapshotsTotal        = "pnagent_up_snapshots_total"
	PnagentUpBytesTotal            = "pnagent_up_bytes_total"
	PnagentUpErrorsTotal           = "pnagent_up_errors_total"
	PnagentUpMissedTotal           = "pnagent_up_missed_total"
	PnagentUpNATSConnected         = "pnagent_up_nats_connected"
	PnagentUpNATSDisconnectsTotal  = "pnagent_up_nats_disconnects_total"
)
