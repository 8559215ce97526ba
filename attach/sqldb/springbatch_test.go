// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// TestSpringBatch holds the adapter against Spring Batch's JobRepository. Each job has the step load, and one that may not end.
func TestSpringBatch(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newJava(t, "springbatch", s.driver, "pn"), s.reader()
	e.Do("start idle") // is execution 1
	w := newWatch(t)
	cfg := newConfig(t, reader, "spring-batch")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// What completed is not there. The newest execution of a job that failed may be restarted. A job for which there is no thread was not started.
	e.Do("work one:quick,fails,fails")
	e.ends("quick COMPLETED", "fails FAILED", "fails FAILED")
	e.Do("work two:holds,loops,late")
	e.ends("holds STARTED", "loops STARTED", "late STARTING")
	const step = "-step running: running"
	w.waitsAt(e, "", map[string]string{
		"fails 4": "fails-step fails-step incident: failed, may be restarted",
		"holds 5": "holds-step holds" + step,
		"loops 6": "loops-step loops" + step,
		"late 7":  "job job enabled: no worker has started it",
	})

	// What is stopped may be restarted, and its thread starts the job that was late.
	e.Do("stop loops")
	e.ends("loops STOPPED", "late COMPLETED")
	w.waitsAt(e, "", map[string]string{
		"fails 4": "fails-step fails-step incident: failed, may be restarted",
		"holds 5": "holds-step holds" + step,
		"loops 6": "loops-step loops-step manual: stopped, may be restarted",
	})

	// The process is killed, and its job stays STARTED. What is abandoned is over. The adapter was restarted.
	e.Do("kill two:holds,loops,late")
	end()
	e.Do("abandon fails")
	change(t, s.open("pgx", s.address), "UPDATE BATCH_STEP_EXECUTION SET LAST_UPDATED = TIMESTAMP '2026-01-02 03:04:05', COMMIT_COUNT = 1 WHERE END_TIME IS NULL")
	cfg.Database, cfg.Show = newConfig(t, reader, "spring-batch").Database, Show{Detail: true}
	w.run(cfg)
	w.waitsAt(e, "", map[string]string{
		"holds 5": "holds-step holds-step noWorker: running, no heartbeat since 2026-01-02T03:04:05Z",
		"loops 6": "loops-step loops-step manual: stopped, may be restarted",
	})

	// What an operator recovers has failed.
	e.Do("recover holds")
	w.waitsAt(e, "", map[string]string{
		"holds 5": "holds-step holds-step incident: failed, may be restarted",
		"loops 6": "loops-step loops-step manual: stopped, may be restarted",
	})
	if got, err := checked(t, newConfig(t, reader, "spring-batch")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}

	// With the indexes of the document, old executions cost nothing. Their ids are less than those of the test.
	change(t, s.open("pgx", s.address), enginetest.Block(t, document, "sql", "CREATE INDEX ON batch_job_execution"))
	s.steady(t, "spring-batch", `WITH i AS (SELECT -4 * i AS id, LOCALTIMESTAMP - i * INTERVAL '1 second' AS at FROM GENERATE_SERIES(%d, %d) AS s(i)),
n AS (INSERT INTO batch_job_instance (job_instance_id, version, job_name, job_key) SELECT id, 0, 'old', CAST(id AS text) FROM i),
e AS (INSERT INTO batch_job_execution (job_execution_id, version, job_instance_id, create_time, start_time, end_time, status, last_updated) SELECT id, 2, id, at, at, at, 'COMPLETED', at FROM i)
INSERT INTO batch_step_execution (step_execution_id, version, step_name, job_execution_id, create_time, start_time, end_time, status, last_updated)
SELECT id, 3, 'load', id, at, at, at, 'COMPLETED', at FROM i`)
}
