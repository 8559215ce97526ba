// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDagster holds the adapter against Dagster's instance. The net of each job has one run, of which the adapter
// does not count that of the job idle, which was there before.
func TestDagster(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newPython(t, "dagster", "dagster1.txt", "postgresql"+strings.TrimPrefix(s.address, "postgres")), s.reader()
	e.Do("create idle QUEUED")
	w := newWatch(t)
	cfg := newConfig(t, reader, "dagster")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// No daemon runs.
	e.Do("create launched STARTING")
	stuck := map[string]string{
		"idle":     "noWorker: queued, there is no daemon",
		"launched": "running: launched, its process has not begun",
	}
	w.waitFor(e, stuck)

	// The daemon has died.
	e.Do("beat 1767323045")
	stuck["idle"] = "noWorker: queued, the daemon has not launched it, no heartbeat since 2026-01-02T03:04:05Z"
	w.waitFor(e, stuck)

	// Runs are executed. A run that has failed or succeeded is not there.
	for _, command := range []string{"beat 0", "work holds", "work retries", "execute fails", "execute quick"} {
		e.Do(command)
	}
	e.ends("holds STARTED", "retries STARTED", "fails FAILURE", "quick SUCCESS")
	steps := map[string]string{"holds": ", step hangs runs since DUE", "retries": ", step flaky failed, to be tried again, since DUE"}
	stuck["idle"] = "enabled: queued, the daemon has not launched it"
	stuck["holds"] = "running: running" + steps["holds"]
	stuck["retries"] = "running: running" + steps["retries"]
	w.waitFor(e, stuck)

	// A process is killed: Dagster stores no sign of life of it. What ends while the adapter does not run is counted
	// after its restart, once.
	end()
	e.Do("kill holds")
	e.Do("cancel retries")
	e.Do("execute quick")
	cfg.Database = newConfig(t, reader, "dagster").Database
	w.run(cfg)
	stuck["retries"] = "running: running, to be canceled" + steps["retries"]
	w.waitFor(e, stuck)
	if got, err := checked(t, newConfig(t, reader, "dagster")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	s.steady(t, "dagster", `INSERT INTO runs (id, run_id, pipeline_name, status, create_timestamp, update_timestamp, end_time)
SELECT -i, 'old' || i, 'quick', 'SUCCESS', t, t, EXTRACT(EPOCH FROM t) FROM (SELECT i, now() AT TIME ZONE 'UTC' - i * INTERVAL '1 second' AS t FROM generate_series(%d, %d) i) s`)
}
