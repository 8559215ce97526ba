// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// TestDelayedJob holds the adapter against Delayed Job's model of its jobs. Jobs have the ids 1, 2, …
func TestDelayedJob(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and Ruby")
	}
	t.Parallel()
	ruby := enginetest.Program(t, "ruby")
	if out, err := exec.CommandContext(t.Context(), ruby, "-e", "require 'delayed_job_active_record'; require 'pg'").CombinedOutput(); err != nil {
		t.Skipf("Delayed Job is not installed; scripts/deps peers installs it: %v: %.200s", err, out)
	}
	s := newPostgres(t)
	e, reader := &engine{enginetest.Start(t, exec.Command(ruby, filepath.Join("testdata", "delayedjob", "engine.rb"), s.address))}, s.reader()
	w := newWatch(t)
	cfg := newConfig(t, reader, "delayed-job")
	end := w.run(cfg)

	// No worker runs. What is scheduled ahead is not there.
	for _, job := range []string{"Quick -100", "Dead -60", "Fails -50", "Press 0", "Quick 86400"} {
		e.Do("enqueue " + job)
	}
	const waits = "enabled: no worker has taken it"
	w.waitsAt(e, "job", map[string]string{"Quick 1": waits, "Dead 2": waits, "Fails 3": waits, "Press.print 4": "enabled: in queue print, no worker has taken it"})

	// A worker runs until it has a job that holds. What has no try left stays, because the worker is configured so.
	e.Do("enqueue Holds 0")
	e.Do("work one")
	e.ends("Holds locked", "Dead failed")
	db := s.open("pgx", s.address)
	change(t, db, "UPDATE delayed_jobs SET locked_at = date_trunc('minute', timezone('UTC', now())) WHERE locked_at IS NOT NULL")
	const clock = `'YYYY-MM-DD"T"HH24:MI:SS"Z"'`
	locked := s.word("pgx", "SELECT CONCAT(TO_CHAR(locked_at, "+clock+"), ', held by worker one until ', TO_CHAR(locked_at + INTERVAL '4 hours', "+clock+")) FROM delayed_jobs WHERE locked_at IS NOT NULL")
	stuck := map[string]string{
		"Holds 6": "running: running, try 1, locked since " + locked,
		"Dead 2":  "incident: failed, try 1, no try is left",
		"Fails 3": "delayed: failed, try 1",
	}
	w.waitsAt(e, "job", stuck)
	w.delayed(e, "Fails")

	// The worker is killed: nothing but the time of the lock shows it. A retry is due.
	e.Do("kill one")
	w.waitsAt(e, "job", stuck)
	end()
	change(t, db, "UPDATE delayed_jobs SET locked_at = TIMESTAMP '2026-01-02 03:04:05' WHERE locked_at IS NOT NULL",
		"UPDATE delayed_jobs SET run_at = timezone('UTC', now()) WHERE attempts > 0 AND failed_at IS NULL")
	cfg.Database, cfg.Show = newConfig(t, reader, "delayed-job").Database, Show{Detail: true}
	w.run(cfg)
	w.waitsAt(e, "job", map[string]string{
		"Holds 6": "noWorker: lock expired, try 1, locked since 2026-01-02T03:04:05Z, the lock of worker one ended at 2026-01-02T07:04:05Z",
		"Dead 2":  "incident: failed, try 1, no try is left: out of paper",
		"Fails 3": "enabled: failed, try 1, no worker has taken it: out of paper",
	})

	// An operator has the job without a try left tried again, and another worker takes the one whose lock has expired.
	rails := t.TempDir()
	script := `exec ruby -e 'require "logger"; require "delayed_job_active_record"; ActiveRecord::Base.establish_connection(ARGV[0]); eval(ARGV[2])' "$DATABASE_URL" "$@"`
	if err := os.WriteFile(filepath.Join(rails, "rails"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.act("Dead", "2", "DATABASE_URL="+s.address, "PATH="+rails+":"+os.Getenv("PATH"))
	w.waitsFor("Dead", "2", map[string]string{"job job enabled": "no worker has taken it: out of paper"})
	e.Do("work two")
	e.ends("Holds locked")
	if got, err := checked(t, newConfig(t, reader, "delayed-job")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
}
