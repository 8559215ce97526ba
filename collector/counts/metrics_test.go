// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"testing"

	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	selfmetricstest.Show(t, families, Stats{Saves: 1, Failures: 2, Bytes: 3},
		"pnagent_state_saves_total 1", "pnagent_state_save_failures_total 2", "pnagent_state_bytes 3")
}
