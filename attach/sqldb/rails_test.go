// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rails is a database with the tables of a library of Rails, whose rows the test writes as the library's source
// does: no registry that tests can reach has the library.
type rails struct {
	t   *testing.T
	s   *server
	db  *sql.DB
	w   *watch
	net string
}

func newRails(t *testing.T, dir, mapping, idle string) *rails {
	t.Parallel()
	s := newPostgres(t)
	r := &rails{t: t, s: s, db: s.open("pgx", s.address), w: newWatch(t), net: "Mail"}
	text, err := os.ReadFile(filepath.Join("testdata", dir, "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	r.do(string(text), idle)
	cfg := newConfig(t, s.reader(), mapping)
	cfg.Show.Detail = true
	r.w.run(cfg)
	r.w.shows(r.net)
	if got, err := checked(t, newConfig(t, s.address, mapping)); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	return r
}

// begin is when the test began, to the second.
var begin = time.Now().UTC().Truncate(time.Second)

// do runs statements, in which {10m} is the time ten minutes before the begin.
func (r *rails) do(statements ...string) {
	r.t.Helper()
	for _, s := range statements {
		for _, ago := range []string{"-1h", "1s", "10m", "1h"} {
			d, err := time.ParseDuration(ago)
			if err != nil {
				r.t.Fatal(err)
			}
			s = strings.ReplaceAll(s, "{"+ago+"}", "TIMESTAMP '"+begin.Add(-d).Format("2006-01-02 15:04:05")+"'")
		}
		change(r.t, r.db, s)
	}
}

// shows waits until the tokens are those that are wanted: by instance, how long ago each came, the reason and the text.
func (r *rails) shows(want map[string]string) {
	r.t.Helper()
	r.w.until(func() string {
		got := map[string]string{}
		for _, h := range r.w.of(r.net) {
			for key, text := range r.w.waits(r.net, h.instance) {
				got[h.instance] = fmt.Sprint((time.Duration(begin.UnixMilli()-h.since) * time.Millisecond).Round(time.Second), " ", strings.TrimPrefix(key, "job job "), ": ", text)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			return "what tokens wait for, - want, + adapter:\n" + d
		}
		return ""
	})
	r.w.traps()
}

// counted waits until the flow of the job is that which is wanted.
func (r *rails) counted(want count) {
	r.t.Helper()
	r.w.until(func() string { return cmp.Diff(want, r.w.counts(r.net)["job"]) })
}

// TestSolidQueue has jobs in each table of Solid Queue's executions.
func TestSolidQueue(t *testing.T) {
	const job = "INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, scheduled_at, concurrency_key, created_at, updated_at) VALUES "
	r := newRails(t, "solidqueue", "solid-queue", job+`(1, 'default', 'Mail', '{"executions":0,"locale":"en"}', {-1h}, NULL, {1h}, {1h});
INSERT INTO solid_queue_scheduled_executions (job_id, queue_name, scheduled_at, created_at) VALUES (1, 'default', {-1h}, {1h})`)

	// No process runs.
	r.do(job+`(2, 'default', 'Mail', '{"executions":0,"locale":"en"}', {10m}, NULL, {10m}, {10m}), (3, 'slow', 'Mail', '{"executions":0,"locale":"en"}', {10m}, NULL, {1h}, {1h}),
(4, 'default', 'Mail', '{"executions":1,"locale":"en"}', {-1h}, NULL, {10m}, {10m})`,
		"INSERT INTO solid_queue_ready_executions (job_id, queue_name, created_at) VALUES (2, 'default', {10m})",
		"INSERT INTO solid_queue_scheduled_executions (job_id, queue_name, scheduled_at, created_at) VALUES (3, 'slow', {10m}, {1h}), (4, 'default', {-1h}, {10m})")
	r.shows(map[string]string{
		"2": "10m0s noWorker: in queue default, there is no worker",
		"3": "10m0s noWorker: in queue slow, there is no dispatcher",
		"4": "10m0s delayed: failed, try 1",
	})

	// A worker and a dispatcher run. A job has no retry left, another one waits for its limit, and a queue is paused.
	r.do("INSERT INTO solid_queue_processes (id, kind, last_heartbeat_at, pid, created_at, name) SELECT i, kind, timezone('UTC', now()) + INTERVAL '1 hour', i, {1h}, kind FROM (VALUES (1, 'Worker'), (2, 'Dispatcher')) AS p(i, kind)",
		job+`(5, 'slow', 'Mail', '{"executions":0,"locale":"en"}', {10m}, NULL, {10m}, {10m}), (6, 'default', 'Mail', '{"executions":0,"locale":"en"}', {10m}, 'Mail/ann', {10m}, {10m}),
(7, 'default', 'Mail', '{"executions":2,"locale":"en"}', {1h}, NULL, {1h}, {1h}), (8, 'default', 'Mail', '{"executions":0,"locale":"en"}', {10m}, NULL, {10m}, {10m})`,
		"INSERT INTO solid_queue_pauses (queue_name, created_at) VALUES ('slow', {1h})",
		"INSERT INTO solid_queue_ready_executions (job_id, queue_name, created_at) VALUES (5, 'slow', {10m})",
		"INSERT INTO solid_queue_blocked_executions (job_id, queue_name, concurrency_key, expires_at, created_at) VALUES (6, 'default', 'Mail/ann', {-1h}, {10m})",
		`INSERT INTO solid_queue_failed_executions (job_id, error, created_at) VALUES (7, '{"exception_class":"RuntimeError","message":"out of paper","backtrace":[]}', {10m})`,
		"INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at) VALUES (8, 1, {10m})")
	stuck := map[string]string{
		"2": "10m0s enabled: in queue default, no worker has taken it",
		"3": "10m0s enabled: in queue slow, no dispatcher has made it ready",
		"4": "10m0s delayed: failed, try 1",
		"5": "10m0s manual: in queue slow, the queue is paused",
		"6": "10m0s enabled: in queue default, waits for its concurrency limit: Mail/ann",
		"7": "10m0s incident: failed, try 3: out of paper",
		"8": "10m0s running: running in queue default, try 1, held by worker Worker",
	}
	r.shows(stuck)

	// The worker is killed: it is silent, and then another process deletes it.
	r.do("UPDATE solid_queue_processes SET last_heartbeat_at = TIMESTAMP '2026-01-02 03:04:05' WHERE kind = 'Worker'")
	stuck["2"] = "10m0s noWorker: in queue default, no worker has taken it, no heartbeat since 2026-01-02T03:04:05Z"
	stuck["8"] = "10m0s noWorker: running in queue default, try 1, held by worker Worker, no heartbeat since 2026-01-02T03:04:05Z"
	r.shows(stuck)
	r.do("DELETE FROM solid_queue_processes WHERE kind = 'Worker'")
	stuck["2"] = "10m0s noWorker: in queue default, there is no worker"
	stuck["8"] = "10m0s incident: running in queue default, try 1, its worker is gone"
	r.shows(stuck)

	// A job that ends is counted, and one that is added.
	r.do("DELETE FROM solid_queue_ready_executions WHERE job_id = 2", "UPDATE solid_queue_jobs SET finished_at = timezone('UTC', now()) WHERE id = 2",
		"INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, created_at, updated_at, finished_at) SELECT 9, 'default', 'Mail', '{}', at, at, at FROM (SELECT timezone('UTC', now()) AS at) x")
	delete(stuck, "2")
	r.shows(stuck)
	r.counted(count{1, 2, 2})

	// A recurring task was made, is run at its time, and then not any more.
	hour := begin.Truncate(time.Hour)
	r.do("INSERT INTO solid_queue_recurring_tasks (key, schedule, class_name, created_at, updated_at) VALUES ('news', '30 * * * * UTC', 'News', {1h}, {1h}), ('often', 'every hour', 'News', {1h}, {1h})")
	r.w.next("News", begin.Add(-90*time.Minute).Truncate(time.Hour).Add(90*time.Minute))
	r.do("INSERT INTO solid_queue_recurring_executions (job_id, task_key, run_at, created_at) SELECT 2, 'news', at, at FROM (SELECT TIMESTAMP '" + hour.Add(-150*time.Minute).Format("2006-01-02 15:04:05") + "' AS at) x")
	r.w.next("News", hour.Add(-90*time.Minute))
	r.s.steady(t, "solid-queue", `INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, scheduled_at, finished_at, created_at, updated_at)
SELECT -i, 'default', 'Old', '{"executions":0,"locale":"en"}', at, at, at, at FROM (SELECT i, timezone('UTC', now()) - i * INTERVAL '1 second' AS at FROM GENERATE_SERIES(%d, %d) AS s(i)) x`)
}

// TestGoodJob has jobs in each state of GoodJob.
func TestGoodJob(t *testing.T) {
	const id = "00000000-0000-0000-0000-00000000000"
	job := func(n int, columns string) string {
		return fmt.Sprintf("INSERT INTO good_jobs (id, active_job_id, queue_name, job_class, updated_at, created_at, scheduled_at, performed_at, executions_count, error, locked_by_id) VALUES ('%s%d', '%s%d', 'default', 'Mail', {1h}, %s)", id, n, id, n, columns)
	}
	r := newRails(t, "goodjob", "good-job", job(1, "{1h}, {-1h}, NULL, NULL, NULL, NULL"))

	// No process runs.
	r.do(job(2, "{10m}, {10m}, NULL, NULL, NULL, NULL"), job(3, "{10m}, {-1h}, NULL, 1, 'RuntimeError: out of paper', NULL"),
		"INSERT INTO good_job_executions (active_job_id, created_at, updated_at) VALUES ('"+id+"3', {1h}, {1h})")
	stuck := map[string]string{
		id + "2": "10m0s noWorker: in queue default, there is no process",
		id + "3": "1h0m0s delayed: failed, try 1: RuntimeError: out of paper",
	}
	r.shows(stuck)

	// A process runs, and has a job.
	r.do("INSERT INTO good_job_processes (id, created_at, updated_at, state) VALUES ('"+id+"9', {1h}, timezone('UTC', now()) + INTERVAL '1 hour', '{\"hostname\": \"shop\", \"pid\": 4711}')",
		job(4, "{1h}, {1h}, {10m}, 1, NULL, '"+id+"9'"), "INSERT INTO good_job_executions (active_job_id, created_at, updated_at) VALUES ('"+id+"4', {10m}, {10m})")
	stuck[id+"2"] = "10m0s enabled: in queue default, no process has taken it"
	stuck[id+"4"] = "10m0s running: running in queue default, try 1, held by process 4711 of shop"
	r.shows(stuck)

	// The process is killed: it is silent, and then another one deletes it. Its job is taken again.
	r.do("UPDATE good_job_processes SET updated_at = TIMESTAMP '2026-01-02 03:04:05'")
	const silent = ", no heartbeat since 2026-01-02T03:04:05Z"
	stuck[id+"2"] = "10m0s noWorker: in queue default, no process has taken it" + silent
	stuck[id+"4"] = "10m0s noWorker: running in queue default, try 1, held by process 4711 of shop" + silent
	r.shows(stuck)
	r.do("DELETE FROM good_job_processes")
	stuck[id+"2"] = "10m0s noWorker: in queue default, there is no process"
	stuck[id+"4"] = "10m0s noWorker: interrupted, try 1, in queue default, there is no process"
	r.shows(stuck)

	// Jobs that end are counted, one of them with an error, and a job that is added. A retry is no arrival.
	r.do("UPDATE good_jobs SET performed_at = {1s}, finished_at = timezone('UTC', now()), executions_count = 1 WHERE id = '"+id+"2'",
		"UPDATE good_jobs SET finished_at = timezone('UTC', now()), error = 'RuntimeError: gone' WHERE id = '"+id+"4'",
		"UPDATE good_jobs SET created_at = timezone('UTC', now()) WHERE id = '"+id+"3'",
		"INSERT INTO good_jobs (queue_name, job_class, created_at, scheduled_at, updated_at, performed_at, finished_at) SELECT 'default', 'Mail', at, at, at, at, at FROM (SELECT timezone('UTC', now()) AS at) x")
	r.shows(map[string]string{id + "3": stuck[id+"3"]})
	r.counted(count{1, 3, 2})
	r.s.steady(t, "good-job", `INSERT INTO good_jobs (queue_name, job_class, priority, created_at, scheduled_at, updated_at, performed_at, finished_at)
SELECT 'default', 'Mail', 0, at, at, at, at, at FROM (SELECT timezone('UTC', now()) - i * INTERVAL '1 second' AS at FROM GENERATE_SERIES(%d, %d) AS s(i)) x`)
}
