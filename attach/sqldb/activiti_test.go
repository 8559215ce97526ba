// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"maps"
	"path/filepath"
	"testing"
)

// TestActiviti holds the adapter against the engine's own API. One instance of the process stuck has a token at each of its tasks.
func TestActiviti(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newJava(t, "activiti", s.driver, "pn", filepath.Join("testdata", "activiti")), s.reader()
	w := newWatch(t)
	cfg := newConfig(t, reader, "activiti")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("stuck", "child")

	// No executor runs.
	instance := e.Do("start")[0]
	r := w.same(e)
	want := map[string]string{
		"approve approve manual": "user task",
		"approve remind delayed": "timer",
		"wait wait delayed":      "timer",
		"payment payment manual": "message paid",
		"charge charge enabled":  "job, no executor has taken it",
		"hold hold enabled":      "job, no executor has taken it",
		"call call running":      "in called process child " + r.instance("child"),
		"join join missing":      "6",
	}
	w.waitsFor("stuck", instance, want)

	// An executor runs, and looks for jobs five times a second. A job without a retry left is in the dead-letter table. Until
	// then it has a lock, too, which may be another one than that of the job that holds.
	e.Do("work one")
	delete(want, "charge charge enabled")
	delete(want, "hold hold enabled")
	stuck := maps.Clone(want)
	stuck["charge charge incident"], stuck["hold hold running"] = "job in the dead-letter table", "job, held by executor "+s.word("pgx", `SELECT CONCAT(LOCK_OWNER_, ' until ', TO_CHAR(LOCK_EXP_TIME_, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
FROM ACT_RU_JOB WHERE LOCK_OWNER_ IS NOT NULL AND EXECUTION_ID_ IN (SELECT ID_ FROM ACT_RU_EXECUTION WHERE ACT_ID_ = 'hold')`)
	w.waitsFor("stuck", instance, stuck)
	w.same(e)
	w.traps()

	// The executor is killed, and the adapter is restarted while the engine works.
	e.Do("kill one")
	w.waitsFor("stuck", instance, stuck)
	end()
	e.Do("complete approve")
	e.Do("message paid")
	change(t, s.open("pgx", s.address), "UPDATE ACT_RU_JOB SET LOCK_OWNER_ = 'one', LOCK_EXP_TIME_ = TIMESTAMP '2026-01-02 03:04:05' WHERE LOCK_EXP_TIME_ IS NOT NULL")
	cfg.Database, cfg.Show = newConfig(t, reader, "activiti").Database, Show{Detail: true}
	w.run(cfg)
	w.same(e)
	stuck = map[string]string{
		"wait wait delayed":      "timer",
		"charge charge incident": "job in the dead-letter table: Could not execute service task expression",
		"hold hold noWorker":     "job, the lock of executor one ended at 2026-01-02T03:04:05Z",
		"call call running":      "in called process child " + r.instance("child"),
		"join join missing":      "4",
	}
	w.waitsFor("stuck", instance, stuck)
	w.traps()

	// Instances that have ended cost nothing.
	if got, err := checked(t, newConfig(t, reader, "activiti")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	s.steady(t, "activiti", endedProcesses)

	// What is suspended waits for an operator.
	e.Do("complete decide")
	e.Do("suspend " + instance)
	w.waitsFor("stuck", instance, map[string]string{
		"wait wait manual":       "job, suspended; suspended",
		"charge charge incident": stuck["charge charge incident"] + "; suspended",
		"hold hold manual":       "job, suspended; suspended",
		"join join manual":       "suspended",
	})
	w.traps()
	e.Do("cancel " + instance)
	w.until(w.tokens(0))
}

// endedProcesses adds instances that have ended to the history of Activiti or Flowable.
const endedProcesses = `WITH i AS (SELECT CONCAT('old-', i) AS id, LOCALTIMESTAMP - i * INTERVAL '1 second' AS at, (SELECT MIN(ID_) FROM ACT_RE_PROCDEF WHERE KEY_ = 'stuck') AS of FROM generate_series(%d, %d) i),
p AS (INSERT INTO ACT_HI_PROCINST (ID_, PROC_INST_ID_, PROC_DEF_ID_, START_ACT_ID_, START_TIME_, END_TIME_, DURATION_) SELECT id, id, of, 'start', at, at, 0 FROM i)
INSERT INTO ACT_HI_ACTINST (ID_, PROC_INST_ID_, EXECUTION_ID_, PROC_DEF_ID_, ACT_ID_, ACT_TYPE_, START_TIME_, END_TIME_, DURATION_) SELECT id, id, id, of, 'start', 'startEvent', at, at, 0 FROM i`
