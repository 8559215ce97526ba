// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"testing"
	"time"
)

// TestDBScheduler holds the adapter against db-scheduler's client. The net of each task has one execution.
func TestDBScheduler(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newJava(t, "dbscheduler", s.driver, "pn"), s.reader()
	w := newWatch(t)
	cfg := newConfig(t, reader, "db-scheduler")
	end := w.run(cfg)

	// No scheduler runs. What is scheduled ahead is not there.
	for _, execution := range []string{"quick a -100", "holds b -50", "fails c -20", "dead d -5", "quick e 86400"} {
		e.Do("schedule " + execution)
	}
	const unpicked = "enabled: no scheduler has picked it"
	w.waitsAt(e, "execution", map[string]string{"quick a": unpicked, "holds b": unpicked, "fails c": unpicked, "dead d": unpicked})

	// A scheduler runs. An execution that has no retry left is deleted, as one that ended.
	e.Do("work one")
	w.waitsAt(e, "execution", map[string]string{"holds b": "running: running, try 1, held by scheduler one", "fails c": "delayed: failed, try 1"})
	w.delayed(e, "fails")
	w.next("nightly", time.UnixMilli(e.report().due["nightly"]))

	// The scheduler is killed, and the next try is due.
	e.Do("kill one")
	change(t, s.open("pgx", s.address), "UPDATE scheduled_tasks SET execution_time = now() WHERE task_name = 'fails'",
		"UPDATE scheduled_tasks SET last_heartbeat = TIMESTAMPTZ '2026-01-02 03:04:05Z' WHERE picked")
	end()
	cfg.Database = newConfig(t, reader, "db-scheduler").Database
	w.run(cfg)
	w.waitsAt(e, "execution", map[string]string{
		"holds b": "noWorker: running, try 1, held by scheduler one, no heartbeat since 2026-01-02T03:04:05Z",
		"fails c": "enabled: failed, try 1, no scheduler has picked it",
	})

	// Another scheduler takes what the first one had. db-scheduler counts a failure for that.
	e.Do("work two")
	w.waitsAt(e, "execution", map[string]string{"holds b": "running: running, try 2, held by scheduler two", "fails c": "delayed: failed, try 2"})

	// A client that sets a new time sets back the failures.
	e.Do("kill two")
	e.Do("again fails c")
	w.waitsAt(e, "execution", map[string]string{"holds b": "running: running, try 2, held by scheduler two", "fails c": unpicked})
	if got, err := checked(t, newConfig(t, reader, "db-scheduler")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
}
