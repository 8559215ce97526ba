// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// TestATimerThatStartsInstancesIsDueNext has a process that starts each hour, and moves its time into the past.
func TestATimerThatStartsInstancesIsDueNext(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and Java")
	}
	t.Parallel()
	for kind, jobs := range map[string]string{"camunda7": "act_ru_job", "flowable": "act_ru_timer_job"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newPostgres(t)
			e, w := newEngine(t, kind, s.driver, "audit"), newWatch(t)
			w.run(newConfig(t, s.address, kind))
			e.Do("deploy hourly.bpmn")
			shows := func(next, last time.Duration) {
				t.Helper()
				w.until(func() string {
					var row stats.Transition
					n := w.net("hourly")
					if n == nil {
						return "no net"
					}
					for i, tr := range n.Transitions {
						if tr.ID == "tick" {
							row = w.last["hourly"].Rows.Transitions[i]
						}
					}
					if !around(row.NextDue, next) || !around(row.LastFiring, last) {
						return fmt.Sprintf("due %v, fired %v", time.UnixMicro(row.NextDue), time.UnixMicro(row.LastFiring))
					}
					return ""
				})
			}
			shows(time.Hour, 0)
			change(t, s.open("pgx", s.address), "UPDATE "+jobs+" SET duedate_ = duedate_ - INTERVAL '70 minutes'")
			shows(time.Hour, -time.Second) // both count from when it was executed
		})
	}
}
