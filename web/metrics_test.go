// SPDX-License-Identifier: Apache-2.0

package web

import (
	"testing"

	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	selfmetricstest.Show(t, families, Counters{Viewers: 1, Diffs: 2, Frames: 3, Bytes: 4, Dropped: 5, Refused: Refused{6, 7, 8},
		History: history.Counters{Bytes: 7, Frames: 8, Passed: 9, Dropped: 10, Moments: 13, Lost: 14, Sightings: 11, Forgotten: 12}},
		"pnagent_web_viewers 1", "pnagent_web_events_total kind=diff 2", "pnagent_web_events_total kind=frame 3", "pnagent_web_bytes_total 4",
		"pnagent_web_viewers_dropped_total 5",
		"pnagent_web_requests_refused_total reason=requests 6", "pnagent_web_requests_refused_total reason=viewers 7", "pnagent_web_requests_refused_total reason=address 8",
		"pnagent_history_bytes 7", "pnagent_history_frames 8", "pnagent_history_left_out_total reason=passed 9", "pnagent_history_left_out_total reason=dropped 10",
		"pnagent_history_moments 13", "pnagent_history_moments_dropped_total 14", "pnagent_history_sightings 11", "pnagent_history_sightings_forgotten_total 12")
}
