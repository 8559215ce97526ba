// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestJobRunr holds the adapter against JobRunr's storage provider. The net of each signature is that of a class of testdata.
func TestJobRunr(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newJava(t, "jobrunr", s.driver, "pn"), s.reader()
	e.Do("enqueue Idle 86400")
	w := newWatch(t)
	cfg := newConfig(t, reader, "jobrunr")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	net := func(class string) string { return "Engine$" + class + ".run(Engine$Request)" }
	job := func(class, id string) string { return net(class) + " " + id }

	w.shows("Engine$Idle.run(Engine$Request)")

	// No server runs. What is scheduled ahead is not there.
	quick, holds, fails, dead := e.Do("enqueue Quick")[0], e.Do("enqueue Holds")[0], e.Do("enqueue Fails")[0], e.Do("enqueue Dead")[0]
	late := e.Do("enqueue Quick -100")[0]
	e.Do("enqueue Quick 86400")
	const without = "noWorker: there is no server"
	w.waitsAt(e, "job", map[string]string{job("Quick", quick): without, job("Quick", late): without, job("Holds", holds): without, job("Fails", fails): without, job("Dead", dead): without})

	// A server runs.
	e.Do("work one")
	e.ends(net("Quick")+" SUCCEEDED", net("Holds")+" PROCESSING", net("Fails")+" SCHEDULED", net("Dead")+" FAILED")
	stuck := map[string]string{
		job("Holds", holds): "running: running, try 1, held by server one",
		job("Fails", fails): "delayed: failed, try 1",
		job("Dead", dead):   "incident: failed, try 1, no retry is left",
	}
	w.waitsAt(e, "job", stuck)
	w.delayed(e, net("Fails"))

	// The server is killed. What ends while the adapter does not run is counted after its restart, once.
	e.Do("kill one")
	end()
	e.Do("delete " + dead)
	again := e.Do("enqueue Quick")[0]
	change(t, s.open("pgx", s.address), "UPDATE jobrunr_backgroundjobservers SET lastHeartbeat = TIMESTAMP '2026-01-02 03:04:05'",
		"UPDATE jobrunr_jobs SET updatedAt = TIMESTAMP '2026-01-02 03:04:05' WHERE state = 'PROCESSING'")
	cfg.Database, cfg.Show = newConfig(t, reader, "jobrunr").Database, Show{Detail: true}
	w.run(cfg)
	const silent = ", no heartbeat since 2026-01-02T03:04:05Z"
	w.waitsAt(e, "job", map[string]string{
		job("Holds", holds): "noWorker: running, try 1, held by server one" + silent,
		job("Fails", fails): "delayed: failed, try 1: out of paper",
		job("Quick", again): "noWorker: no server has taken it" + silent,
	})

	// Another server counts a failure of what the first one had.
	e.Do("requeue " + fails)
	e.Do("work two")
	e.ends(net("Holds")+" SCHEDULED", net("Fails")+" SCHEDULED")
	w.waitsAt(e, "job", map[string]string{
		job("Holds", holds): "delayed: failed, try 1: Job was too long in PROCESSING state without being updated.",
		job("Fails", fails): "delayed: failed, try 2: out of paper",
	})

	// A recurring job is due next. Then a job of it was made for a day before, and none after that.
	next, err := strconv.ParseInt(e.Do("recur Idle 30 3")[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	idle, due := "Engine$Idle.run(Engine$Request)", time.UnixMilli(next)
	w.next(idle, due)
	change(t, s.open("pgx", s.address), "UPDATE jobrunr_jobs SET recurringJobId = 'Idle', jobAsJson = CAST(JSONB_SET(CAST(jobAsJson AS jsonb), '{jobHistory,0,scheduledAt}', '\""+due.AddDate(0, 0, -2).UTC().Format(time.RFC3339)+"\"') AS text) WHERE jobSignature LIKE 'Engine$Idle%'")
	w.next(idle, due.AddDate(0, 0, -1))
	if got, err := checked(t, newConfig(t, reader, "jobrunr")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	s.steady(t, "jobrunr", `INSERT INTO jobrunr_jobs (id, version, jobAsJson, jobSignature, state, createdAt, updatedAt)
SELECT CONCAT('old-', i), 3, '{"jobHistory": [{"state": "ENQUEUED"}, {"state": "SUCCEEDED"}]}', 'Old.run()', 'SUCCEEDED', at, at
FROM (SELECT i, LOCALTIMESTAMP - i * INTERVAL '1 second' AS at FROM GENERATE_SERIES(%d, %d) AS s(i)) x`)
}
