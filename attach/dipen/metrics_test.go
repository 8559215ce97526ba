// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"testing"

	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
	"github.com/pnagent/pnagent/telemetry"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	selfmetricstest.Show(t, families, Status{Connected: true, Sessions: 2, Looks: 3, Changes: 4, StateErrors: 5, Revision: 6, Head: 7,
		Gaps: replica.Gaps{Since: 8e6, Count: 9, Revisions: 10}, Dropped: map[replica.Fault]uint64{"odd": 11},
		InFlight: []replica.Held{{Name: "t", N: 12}}, Leaders: []replica.Leadership{{Region: "r", Node: "n", Since: 13e6, Waiting: 14}},
		Snapshots: telemetry.PublisherStats{Messages: 16, Missed: 17, Errors: 18}},
		"pnagent_dipen_connected 1", "pnagent_dipen_watches_total 2", "pnagent_dipen_looks_total 3", "pnagent_dipen_changes_total 4",
		"pnagent_dipen_state_errors_total 5", "pnagent_dipen_revision 6", "pnagent_dipen_newest_revision 7",
		"pnagent_dipen_counts_since_timestamp_seconds 8", "pnagent_dipen_gaps_total 9", "pnagent_dipen_missed_revisions_total 10",
		"pnagent_dipen_dropped_total reason=odd 11", "pnagent_dipen_tokens_in_flight transition=t 12",
		"pnagent_dipen_region_leader_since_timestamp_seconds node=n region=r 13", "pnagent_dipen_region_standby region=r 14",
		"pnagent_dipen_snapshots_total 16", "pnagent_dipen_snapshots_missed_total 17", "pnagent_dipen_snapshot_errors_total 18")
}
