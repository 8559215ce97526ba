// SPDX-License-Identifier: Apache-2.0

package metrics

// The names of what a sidecar tells that is a part of a tree.
const (
	PnagentMessagesPassedOverTotal  = "pnagent_messages_passed_over_total"
	PnagentUpNets                   = "pnagent_up_nets"
	PnagentUpSnapshotsTotal         = "pnagent_up_snapshots_total"
	PnagentUpBytesTotal             = "pnagent_up_bytes_total"
	PnagentUpErrorsTotal            = "pnagent_up_errors_total"
	PnagentUpMissedTotal            = "pnagent_up_missed_total"
	PnagentUpStateSavesTotal        = "pnagent_up_state_saves_total"
	PnagentUpStateSaveFailuresTotal = "pnagent_up_state_save_failures_total"
	PnagentUpStateBytes             = "pnagent_up_state_bytes"
)
