// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"testing"

	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
	"github.com/pnagent/pnagent/telemetry"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	selfmetricstest.Show(t, families, Stats{Nets: 1, PublisherStats: telemetry.PublisherStats{Messages: 2, Bytes: 3, Errors: 4, Missed: 5}},
		"pnagent_up_nets 1", "pnagent_up_snapshots_total 2", "pnagent_up_bytes_total 3", "pnagent_up_errors_total 4", "pnagent_up_missed_total 5")
}
