// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
	"github.com/pnagent/pnagent/telemetry"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	half := 0.5
	s := &status{counters: Counters{Lines: 1, Bytes: 2, Future: 3, Undated: 4, Hurried: 5, Held: 6, Rotated: 7, SaveFailures: 8, Unwritten: 9},
		nets: []NetCounts{{Net: "n", Fitness: &half, Open: 10, Events: 11, Unfit: 12, Silent: 13, Late: 14, Refused: 15,
			Produced: 16, Consumed: 17, Missing: 18, Remaining: 19, Evicted: 20, Blurred: 21, Greedy: 26}},
		published: &telemetry.PublisherStats{Messages: 22, Missed: 23, Errors: 24},
		lost:      map[string]func() uint64{"nats": func() uint64 { return 25 }}}
	want := []string{"pnagent_lines_read_total 1", "pnagent_lines_read_bytes_total 2", "pnagent_lines_future_total 3", "pnagent_lines_undated_total 4",
		"pnagent_lines_window_overflows_total 5", "pnagent_lines_window_events 6", "pnagent_lines_files_rotated_total 7",
		"pnagent_lines_state_save_failures_total 8", "pnagent_lines_writer_dropped 9",
		"pnagent_replay_fitness net=n 0.5", "pnagent_replay_open_instances net=n 10", "pnagent_replay_events_total net=n 11", "pnagent_replay_unfit_events_total net=n 12",
		"pnagent_replay_silent_firings_total net=n 13", "pnagent_replay_late_events_total net=n 14", "pnagent_replay_refused_events_total net=n 15",
		"pnagent_replay_tokens_total kind=produced net=n 16", "pnagent_replay_tokens_total kind=consumed net=n 17", "pnagent_replay_tokens_total kind=missing net=n 18",
		"pnagent_replay_tokens_total kind=remaining net=n 19", "pnagent_replay_evicted_instances_total net=n 20", "pnagent_replay_blurred_arrivals_total net=n 21",
		"pnagent_replay_greedy_events_total net=n 26",
		"pnagent_lines_snapshots_total 22", "pnagent_lines_snapshots_missed_total 23", "pnagent_lines_snapshot_errors_total 24",
		"pnagent_lines_messages_lost_total input=nats 25"}
	for i, why := range Reasons() {
		s.counters.Dropped[why] = 30 + uint64(i)
		want = append(want, fmt.Sprintf("pnagent_lines_dropped_total reason=%s %d", why, 30+i))
	}
	selfmetricstest.Show(t, families, s, want...)
}
