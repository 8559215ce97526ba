// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/cachetest"
)

// newPython starts an engine of testdata that is written in Python, with the packages of a file, and with others
// that pip installs by these arguments, if there are any.
func newPython(t *testing.T, dir, packages, address string, others ...string) *engine {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", dir))
	if err != nil {
		t.Fatal(err)
	}
	python := enginetest.Python(t, filepath.Join(dir, packages))
	cmd := exec.Command(python, filepath.Join(dir, "engine.py"), address)
	cmd.Env = append(cmd.Environ(), "PYTHONDONTWRITEBYTECODE=1", "TZ=UTC")
	if len(others) > 0 {
		cmd.Env = append(cmd.Env, "PYTHONPATH="+cachetest.Pip(t, python, others...))
	}
	return &engine{enginetest.Start(t, cmd)}
}

// TestDBOS holds the adapter against DBOS' client. The net of each workflow has one run, of which
// the adapter does not count that of the workflow idle, which was there before.
func TestDBOS(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newPython(t, "dbos", "dbos3.txt", s.address), s.reader()
	e.Do("enqueue idle idle")
	w := newWatch(t)
	cfg := newConfig(t, reader, "dbos")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// No executor runs. A workflow that is delayed comes at its time.
	e.Do("enqueue mail holds")
	e.Do("enqueue mail tomorrow delay_seconds=86400")
	e.Do("enqueue mail due delay_seconds=1")
	w.waitFor(e, map[string]string{
		"idle":  "enabled: in queue idle, no executor has taken it",
		"holds": "enabled: in queue mail, no executor has taken it",
		"due":   "enabled: in queue mail, no executor has ended its delay, due since DUE",
	})

	// An executor runs. It takes no workflow of another version, nor of a queue that it does not have.
	e.Do("work one")
	for _, workflow := range []string{"mail parks", "mail sleeps", "mail waits", "mail fails", "narrow narrow", "narrow narrow2", "mail quick", "mail old app_version=one"} {
		e.Do("enqueue " + workflow)
	}
	e.ends("holds PENDING", "parks PENDING", "sleeps PENDING", "waits PENDING", "fails ERROR", "narrow PENDING", "quick SUCCESS", "due SUCCESS")
	stuck := map[string]string{
		"idle":    "enabled: in queue idle, no executor has taken it",
		"holds":   "running: running, after step charge, held by executor one",
		"parks":   "running: running, after step charge, held by executor one",
		"narrow":  "running: running, after step charge, held by executor one",
		"narrow2": "enabled: queue narrow is full, 1 of 1 slots",
		"sleeps":  "delayed: sleeps, held by executor one",
		"waits":   "manual: waits for a message or an event, held by executor one",
		"old":     "enabled: in queue mail, no executor has taken it, for version one of the application, which is not the latest",
	}
	w.waitFor(e, stuck)

	// The executor is killed. DBOS stores no sign of life of it.
	end()
	e.Do("kill one")
	e.Do("enqueue mail quick")
	cfg.Database = newConfig(t, reader, "dbos").Database
	end = w.run(cfg)
	stuck["quick"] = "enabled: in queue mail, no executor has taken it"
	w.waitFor(e, stuck)

	// An executor of the same id recovers what it had, one of them too often. What ends while the adapter does
	// not run is counted after its restart, once.
	end()
	e.Do("work one")
	e.Do("cancel narrow")
	e.ends("parks MAX_RECOVERY_ATTEMPTS_EXCEEDED", "narrow CANCELLED", "narrow2 PENDING", "quick SUCCESS")
	cfg.Database = newConfig(t, reader, "dbos").Database
	w.run(cfg)
	delete(stuck, "quick")
	delete(stuck, "narrow")
	stuck["holds"] = "running: running, try 2, after step charge, held by executor one"
	stuck["parks"] = "incident: recovered too often, try 2, after step charge"
	stuck["sleeps"] = "delayed: sleeps, try 2, held by executor one"
	stuck["waits"] = "manual: waits for a message or an event, try 2, held by executor one"
	stuck["narrow2"] = "running: running, after step charge, held by executor one"
	w.waitFor(e, stuck)

	// What an operator resumes runs again, and ends once more.
	e.Do("cancel waits")
	w.act("parks", e.report().instance("parks"), "DBOS_SYSTEM_DATABASE_URL="+s.address, "PATH="+filepath.Dir(enginetest.Python(t, filepath.Join("testdata", "dbos", "dbos3.txt")))+":"+os.Getenv("PATH"))
	e.ends("waits CANCELLED", "parks PENDING")
	delete(stuck, "waits")
	stuck["parks"] = "running: running, after step charge, held by executor one"
	w.waitFor(e, stuck)
	e.Do("schedule holds 30")
	change(t, s.open("pgx", s.address), "UPDATE dbos.workflow_schedules SET last_fired_at = '2026-01-02T03:30:00+01:00'")
	w.next("holds", time.Date(2026, 1, 3, 2, 30, 0, 0, time.UTC))
	if got, err := checked(t, newConfig(t, reader, "dbos")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	s.steady(t, "dbos", `INSERT INTO dbos.workflow_status (workflow_uuid, status, name, created_at, completed_at)
SELECT gen_random_uuid(), 'SUCCESS', 'quick', t, t FROM (SELECT CAST(EXTRACT(EPOCH FROM now()) - i AS bigint) * 1000 AS t FROM generate_series(%d, %d) i) s`)
}
