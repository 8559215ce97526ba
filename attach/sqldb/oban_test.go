// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"maps"
	"path/filepath"
	"testing"
)

// TestOban holds the adapter against Oban's get_job. The net of each worker has one job that is open, of which the
// adapter does not count that of the worker idle, which was there before.
func TestOban(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newPython(t, "oban", "oban0.txt", s.address, "--no-deps", "--ignore-requires-python", "oban==0.7.0"), s.reader()
	e.Do("insert idle")
	w := newWatch(t)
	cfg := newConfig(t, reader, "oban")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("jobs.idle")

	// No instance runs that makes jobs of the queue idle available at their time.
	e.Do("insert holds")
	e.Do("insert tomorrow 86400")
	e.Do("insert due 1")
	stuck := map[string]string{
		"jobs.idle":  "noWorker: in queue idle, no instance works the queue",
		"jobs.holds": "noWorker: in queue default, no instance works the queue",
		"jobs.due":   "enabled: scheduled in queue idle, due since DUE",
	}
	w.waitFor(e, stuck)

	// An instance runs. Jobs that have ended, and one whose time has not come, are not there.
	e.Do("work one")
	for _, job := range []string{"flaky", "dead", "snoozes", "quick"} {
		e.Do("insert " + job)
	}
	e.ends("jobs.holds executing", "jobs.flaky retryable", "jobs.dead discarded", "jobs.snoozes scheduled", "jobs.quick completed")
	stuck["jobs.holds"] = "running: running in queue default, try 1 of 20, held by node one"
	stuck["jobs.flaky"] = "delayed: failed, try 1 of 20"
	stuck["jobs.snoozes"] = "delayed: snoozed"
	w.waitFor(e, stuck)
	w.delayed(e, "jobs.flaky", "jobs.snoozes")

	// The instance is killed, and reports no more that it works the queue. A leader deletes that report.
	e.Do("kill one")
	e.Do("insert quick")
	stuck["jobs.quick"] = "enabled: in queue default, no worker has taken it"
	w.waitFor(e, stuck)
	db := s.open("pgx", s.address)
	change(t, db, "UPDATE oban_producers SET updated_at = TIMESTAMP '2026-01-02 03:04:05'")
	const silent = ", no heartbeat since 2026-01-02T03:04:05Z"
	stuck["jobs.quick"] = "noWorker: in queue default, no worker has taken it" + silent
	stuck["jobs.holds"] = "noWorker: running in queue default, try 1 of 20, held by node one" + silent
	w.waitFor(e, stuck)
	change(t, db, "DELETE FROM oban_producers")
	stuck["jobs.quick"] = "noWorker: in queue default, no instance works the queue"
	stuck["jobs.holds"] = "noWorker: running in queue default, try 1 of 20, its instance is gone, held by node one"
	w.waitFor(e, stuck)

	// Free Oban for Elixir has no such reports.
	change(t, db, "ALTER TABLE oban_producers RENAME TO gone")
	elixir := maps.Clone(stuck)
	elixir["jobs.idle"], elixir["jobs.quick"] = "enabled: in queue idle, no worker has taken it", "enabled: in queue default, no worker has taken it"
	elixir["jobs.holds"] = "running: running in queue default, try 1 of 20, held by node one"
	w.waitFor(e, elixir)
	change(t, db, "ALTER TABLE gone RENAME TO oban_producers")
	e.Do("rescue")
	stuck["jobs.holds"] = "noWorker: rescued, try 1 of 20, in queue default, no instance works the queue"
	w.waitFor(e, stuck)

	// What ends while the adapter does not run is counted after its restart, once. What an operator retries departs again at its end.
	end()
	e.Do("cancel flaky")
	e.Do("retry dead")
	e.Do("work two")
	e.ends("jobs.holds executing", "jobs.flaky cancelled", "jobs.dead discarded", "jobs.quick completed")
	cfg.Database, cfg.Show = newConfig(t, reader, "oban").Database, Show{Detail: true}
	w.run(cfg)
	delete(stuck, "jobs.quick")
	delete(stuck, "jobs.flaky")
	stuck["jobs.holds"] = "running: running in queue default, try 2 of 20, held by node two"
	w.waitFor(e, stuck)
	if got, err := checked(t, newConfig(t, reader, "oban")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	s.steady(t, "oban", `INSERT INTO oban_jobs (id, state, worker, inserted_at, scheduled_at, completed_at) OVERRIDING SYSTEM VALUE
SELECT -i, 'completed', 'jobs.quick', t, t, t FROM (SELECT i, timezone('UTC', now()) - i * INTERVAL '1 second' AS t FROM generate_series(%d, %d) i) s`)
}
