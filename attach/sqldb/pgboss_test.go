// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestPgBoss holds the adapter against pg-boss' findJobs. The net of each queue has one job, of
// which the adapter does not count that of the queue idle, which was there before; the queue
// fail-first has had one more.
func TestPgBoss(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader, db := newNode(t, "pgboss", s.address), s.reader(), s.open("pgx", s.address)
	e.Do("send idle")
	w := newWatch(t)
	cfg := newConfig(t, reader, "pg-boss")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// No instance has a worker. A job that is scheduled ahead comes at its time, and tomorrow's is not there.
	e.Do(`queue hold {"retryDelay":3600}`)
	e.Do(`queue hold-late {"retryDelay":3600}`)
	e.Do(`queue fail-first {"policy":"key_strict_fifo","retryLimit":0}`)
	e.Do("send hold")
	e.Do("send hold-late")
	e.Do("flow hold-parent child")
	e.Do("flow fail-parent orphan")
	e.Do(`send fail-retried {"retryDelay":3600}`)
	e.Do(`send fail-last {"retryLimit":0}`)
	first := e.Do(`send fail-first {"singletonKey":"k"}`)[0]
	e.Do("send quick")
	e.Do(`send tomorrow {"startAfter":86400}`)
	e.Do(`send due {"startAfter":2}`)
	const none = "noWorker: no worker works the queue"
	stuck := map[string]string{
		"idle": none, "due": none, "hold": none, "hold-late": none, "hold-parent": none, "fail-parent": none,
		"fail-retried": none, "fail-last": none, "fail-first": none, "quick": none, "child": "missing: 1", "orphan": "missing: 1",
	}
	w.waitFor(e, stuck)

	// A worker runs. Jobs that have ended are not there, also those that had their last try.
	e.Do("work hold hold-late hold-parent fail-parent fail-retried fail-last fail-first quick")
	e.ends("hold active", "hold-late active", "hold-parent active", "fail-parent failed", "fail-retried retry", "fail-last failed", "fail-first failed", "quick completed")
	e.Do(`send fail-first {"singletonKey":"k"}`)
	const running = "running: running, try 1 of 3"
	stuck = map[string]string{
		"idle": none, "due": none, "hold": running, "hold-late": running, "hold-parent": "running: running, try 1 of 1", "child": "missing: 1",
		"orphan":       "incident: a job before it failed or was cancelled",
		"fail-retried": "delayed: failed, try 1 of 3",
		"fail-first":   "incident: job " + first + " of its key is failed",
	}
	w.waitFor(e, stuck)
	w.delayed(e, "fail-retried")

	// The worker is killed. Its instance is late after three intervals of a second.
	e.Do("kill")
	e.Do("send quick")
	change(t, db, "UPDATE pgboss.instance SET heartbeat_on = TIMESTAMPTZ '2026-01-02 03:04:05Z' WHERE workers <> '[]'",
		"UPDATE pgboss.job SET heartbeat_on = TIMESTAMPTZ '2026-01-02 03:05:06Z' WHERE name = 'hold-parent'",
		"UPDATE pgboss.job SET started_on = started_on - INTERVAL '1 hour' WHERE name = 'hold-late'")
	const silent = ", no heartbeat since 2026-01-02T03:04:05Z"
	stuck["quick"] = "noWorker: no worker has taken it" + silent
	stuck["hold"] = "noWorker: running, try 1 of 3" + silent
	stuck["hold-late"] = "noWorker: expired, try 1 of 3, no instance has failed it" + silent
	stuck["hold-parent"] = "noWorker: running, try 1 of 1, no heartbeat since 2026-01-02T03:05:06Z"
	w.waitFor(e, stuck)

	// An instance supervises: it fails what had no heartbeat, or ran longer than it may, and deletes instances
	// that have been silent for a week. What ends while the adapter does not run is counted after its restart, once. A retry is no departure.
	end()
	e.Do("supervise")
	e.Do("cancel fail-retried")
	e.Do("retry fail-last")
	cfg.Database, cfg.Show = newConfig(t, reader, "pg-boss").Database, Show{Detail: true}
	w.run(cfg)
	delete(stuck, "fail-retried")
	delete(stuck, "hold-parent")
	stuck["fail-last"] = "noWorker: failed, try 1 of 2, no worker works the queue: no route to Ann"
	stuck["hold"] = "noWorker: running, try 1 of 3, no worker works the queue"
	stuck["quick"] = none
	stuck["hold-late"] = "delayed: failed, try 1 of 3: job timed out"
	stuck["child"] = stuck["orphan"]
	w.waitFor(e, stuck)
	w.delayed(e, "hold-late")

	// What an operator retries departs again at its end. What has ended costs nothing.
	e.Do("work fail-last quick")
	e.ends("fail-last failed", "quick completed")
	delete(stuck, "fail-last")
	delete(stuck, "quick")
	w.waitFor(e, stuck)
	preview, err := strconv.ParseInt(e.Do("schedule nightly 0 3 * * *")[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	w.next("nightly", time.UnixMilli(preview))
	change(t, db, "UPDATE pgboss.schedule SET updated_on = TIMESTAMPTZ '2026-01-02 02:59:00Z'")
	w.next("nightly", time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC))
	if got, err := checked(t, newConfig(t, reader, "pg-boss")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	s.steady(t, "pg-boss", `INSERT INTO pgboss.job (name, state, created_on, start_after, started_on, completed_on)
SELECT 'quick', 'completed', t, t, t, t FROM (SELECT now() - i * INTERVAL '1 second' AS t FROM generate_series(%d, %d) i) s`)
}
