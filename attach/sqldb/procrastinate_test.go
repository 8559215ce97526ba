// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// TestProcrastinate holds the adapter against Procrastinate's API and its events. The net of
// each task has one job, of which the adapter does not count that of the task idle, which was
// there before.
func TestProcrastinate(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newPython(t, "procrastinate", "procrastinate3.txt", s.address), s.reader()
	e.Do("insert idle")
	w := newWatch(t)
	cfg := newConfig(t, reader, "procrastinate")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// No worker runs.
	e.Do("insert holds held")
	w.waitFor(e, map[string]string{
		"idle":  "noWorker: in queue idle, there is no worker",
		"holds": "noWorker: in queue default, there is no worker",
		"held":  "noWorker: in queue default, there is no worker",
	})

	// A worker runs. It takes no job of a lock that another one has, running or for later. Jobs that have ended, and one whose time has not come, are not there.
	e.Do("work one")
	e.Do("insert locked flaky dead quick tomorrow behind")
	e.ends("holds doing", "held doing", "flaky todo", "dead failed", "quick succeeded")
	stuck := map[string]string{
		"idle":   "enabled: in queue idle, no worker has taken it",
		"holds":  "running: running in queue default, try 1, held by worker 1",
		"held":   "running: running in queue default, try 1, held by worker 1",
		"locked": "enabled: in queue default, job 2 has its lock",
		"behind": "enabled: in queue default, job 8 has its lock",
		"flaky":  "delayed: failed, try 1",
	}
	w.waitFor(e, stuck)
	w.delayed(e, "flaky")
	e.stalled("")

	// The worker is killed, and sends no heartbeat any more.
	e.Do("kill one")
	e.Do("abort held")
	e.Do("insert quick")
	change(t, s.open("pgx", s.address), "UPDATE procrastinate_workers SET last_heartbeat = TIMESTAMPTZ '2026-01-02 03:04:05Z'")
	const silent = ", no heartbeat since 2026-01-02T03:04:05Z"
	stuck["quick"] = "noWorker: in queue default, no worker has taken it" + silent
	stuck["idle"] = "noWorker: in queue idle, no worker has taken it" + silent
	stuck["holds"] = "noWorker: running in queue default, try 1, held by worker 1" + silent
	stuck["held"] = "noWorker: running in queue default, try 1, to be aborted, held by worker 1" + silent
	w.waitFor(e, stuck)
	e.stalled("held holds")

	// A worker that starts deletes the one that is gone, whose job stays. What ends while the
	// adapter does not run is counted after its restart, once. A retry is no departure.
	end()
	e.Do("work two")
	e.Do("cancel flaky")
	until(t, func() string {
		for _, line := range e.Do("report") {
			if strings.HasPrefix(line, "state quick ") && !strings.HasSuffix(line, " succeeded") {
				return line
			}
		}
		return ""
	})
	cfg.Database, cfg.Show = newConfig(t, reader, "procrastinate").Database, Show{Detail: true}
	w.run(cfg)
	w.waitFor(e, map[string]string{
		"idle":   "enabled: in queue idle, no worker has taken it",
		"holds":  "incident: running in queue default, try 1, its worker is gone: lock till",
		"held":   "incident: running in queue default, try 1, its worker is gone, to be aborted",
		"locked": "enabled: in queue default, job 2 has its lock: lock till",
		"behind": "enabled: in queue default, job 8 has its lock: lock then",
	})
	e.stalled("held holds")

	// What a user retries runs again. A job that failed comes again and departs again.
	w.act("holds", "2", newShell(t, s.address)...)
	e.Do("retry held")
	e.Do("retry dead")
	e.ends("holds succeeded", "held failed", "locked succeeded", "dead failed")
	w.waitFor(e, map[string]string{
		"idle":   "enabled: in queue idle, no worker has taken it",
		"behind": "enabled: in queue default, job 8 has its lock: lock then",
	})
	w.until(func() string {
		if got := w.counts("dead")["job"]; got != (count{2, 2, 0}) {
			return fmt.Sprintf("the job that failed twice: %+v", got)
		}
		return ""
	})
	if got, err := checked(t, newConfig(t, reader, "procrastinate")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	change(t, s.open("pgx", s.address), "ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER") // they would add events of now
	s.steady(t, "procrastinate", `WITH i AS (SELECT -i AS id, now() - i * INTERVAL '1 second' AS at FROM generate_series(%d, %d) i),
j AS (INSERT INTO procrastinate_jobs (id, queue_name, task_name, status) SELECT id, 'default', 'jobs.quick', 'succeeded' FROM i RETURNING id)
INSERT INTO procrastinate_events (id, job_id, type, at) SELECT 3 * id + e.n, id, CAST(e.type AS procrastinate_job_event_type), at
FROM i CROSS JOIN (VALUES (0, 'deferred'), (1, 'started'), (2, 'succeeded')) AS e(n, type)`)
}

// newShell returns the environment in which the program procrastinate acts on the jobs of a database.
func newShell(t *testing.T, database string) []string {
	t.Helper()
	dir := t.TempDir()
	app := fmt.Sprintf("import procrastinate\napp = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=%q))\n", database)
	if err := os.WriteFile(filepath.Join(dir, "jobs.py"), []byte(app), 0o600); err != nil {
		t.Fatal(err)
	}
	python := enginetest.Python(t, filepath.Join("testdata", "procrastinate", "procrastinate3.txt"))
	return []string{"PROCRASTINATE_APP=jobs.app", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + dir, "PATH=" + filepath.Dir(python) + ":" + os.Getenv("PATH")}
}

// stalled fails the test unless the engine reports the jobs of these tasks as stalled.
func (e *engine) stalled(want string) {
	e.T.Helper()
	if got := e.Do("stalled"); len(got) != 1 || got[0] != want {
		e.T.Errorf("the engine reports %q as stalled; expected %s", got, want)
	}
}
