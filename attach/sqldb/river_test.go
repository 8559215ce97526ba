// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/cachetest"
)

// newRiver makes River's tables in a database, and starts the program that inserts jobs and
// starts clients. The program is built once for all runs.
func newRiver(t *testing.T, database string) *engine {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", "river"))
	if err != nil {
		t.Fatal(err)
	}
	var of bytes.Buffer
	for _, file := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(source, file))
		if err != nil {
			t.Fatal(err)
		}
		of.Write(text)
	}
	dir := cachetest.Dir(t, "river-", of.Bytes(), func(dir string) error {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", dir+"/", ".")
		cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building the program with River: %w: %.300s", err, out)
		}
		return nil
	})
	return &engine{enginetest.Start(t, exec.Command(filepath.Join(dir, "river"), database))}
}

// TestRiver holds the adapter against River's client. The net of each kind of job has one
// job, of which the adapter does not count that of the kind idle, which was there before.
func TestRiver(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and River")
	}
	t.Parallel()
	s := newPostgres(t)
	e, reader := newRiver(t, s.address), s.reader()
	e.Do("insert idle")
	w := newWatch(t)
	cfg := newConfig(t, reader, "river")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// No client works.
	e.Do("insert holds held")
	w.waitFor(e, map[string]string{
		"idle":  "enabled: in queue idle, no client works the queue",
		"holds": "enabled: in queue default, no client works the queue",
		"held":  "enabled: in queue default, no client works the queue",
	})

	// A client works, and none is the leader that makes jobs available at their time. Jobs that
	// have ended, and one whose time has not come, are not there.
	e.Do("work one")
	e.Do("pause paused")
	e.Do("insert paused flaky dead snoozes stops quick pends due tomorrow")
	stuck := map[string]string{
		"idle":    "enabled: in queue idle, no client works the queue",
		"holds":   "running: running in queue default, try 1 of 25",
		"held":    "running: running in queue default, try 1 of 25",
		"paused":  "manual: in queue paused, the queue is paused",
		"flaky":   "delayed: failed, try 1 of 3",
		"snoozes": "delayed: snoozed",
		"pends":   "manual: pending",
		"due":     "enabled: scheduled, due since DUE",
	}
	w.waitFor(e, stuck)
	w.delayed(e, "flaky", "snoozes")

	// The client is killed. River has no sign of life of it but the time of its queues.
	e.Do("kill one")
	e.Do("insert quick")
	stuck["quick"] = "enabled: in queue default, no client has taken it"
	w.waitFor(e, stuck)
	e.Do("cancel held")
	change(t, s.open("pgx", s.address), "UPDATE river_queue SET updated_at = TIMESTAMPTZ '2026-01-02 03:04:05Z'")
	const silent = ", no client of the queue has reported since 2026-01-02T03:04:05Z"
	stuck["quick"] = "enabled: in queue default" + silent
	stuck["holds"] += silent
	stuck["held"] += ", to be cancelled" + silent
	stuck["paused"] += silent
	w.waitFor(e, stuck)

	// A client that leads rescues what the other one had. What ends while the adapter does not
	// run is counted after its restart, once. A retry is no departure.
	end()
	e.Do("lead two")
	stuck = map[string]string{
		"idle":    stuck["idle"],
		"holds":   "delayed: failed, try 1 of 25: Stuck job rescued by JobRescuer",
		"paused":  "manual: in queue paused, the queue is paused",
		"flaky":   "delayed: failed, try 1 of 3: no route to Ann",
		"snoozes": "delayed: snoozed",
		"pends":   "manual: pending",
	}
	e.ends("holds retryable", "held cancelled", "quick completed", "due completed")
	cfg.Database, cfg.Show = newConfig(t, reader, "river").Database, Show{Detail: true}
	w.run(cfg)
	w.waitFor(e, stuck)
	w.delayed(e, "flaky", "snoozes", "holds")

	// What an operator retries comes from its first try, and departs again at its end.
	e.Do("retry holds")
	e.Do("cancel flaky")
	e.ends("holds completed", "flaky cancelled")
	delete(stuck, "holds")
	delete(stuck, "flaky")
	w.waitFor(e, stuck)
	e.Do("retry dead")
	w.until(func() string {
		if got := w.counts("dead")["job"]; got != (count{1, 2, 0}) {
			return fmt.Sprintf("the job that was discarded twice: %+v", got)
		}
		return ""
	})
	if got, err := checked(t, newConfig(t, reader, "river")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
}

// waitFor waits until the tokens and counts are those of the engine, and the only job of each
// kind waits for what is wanted: the reason and the text, in which DUE is when it is due.
func (w *watch) waitFor(e *engine, want map[string]string) {
	w.t.Helper()
	w.agrees(e)
	w.until(func() string {
		got, r := map[string]string{}, e.report()
		for _, h := range r.held {
			for key, text := range w.waits(h.net, h.instance) {
				text = strings.ReplaceAll(text, time.UnixMilli(r.due[h.net]).UTC().Format(time.RFC3339), "DUE")
				got[h.net] = strings.TrimPrefix(key, "job job ") + ": " + text
			}
		}
		return cmp.Diff(want, got)
	})
}

// delayed waits until the job of each of these kinds is delayed until its next try.
func (w *watch) delayed(e *engine, kinds ...string) {
	w.t.Helper()
	due := e.report().due
	w.until(func() string {
		for _, kind := range kinds {
			for _, token := range w.last[kind].Rows.Places[0].Stuck {
				if d := token.Waits[0].Until/1000 - due[kind]; d < -1000 || d > 1000 {
					return fmt.Sprintf("%s is delayed until %d; expected %d", kind, token.Waits[0].Until, due[kind])
				}
			}
		}
		return ""
	})
}

// ends waits until the engine has jobs of these kinds in these states.
func (e *engine) ends(want ...string) {
	e.T.Helper()
	until(e.T, func() string {
		var got []string
		for _, line := range e.Do("report") {
			if f := strings.Fields(line); f[0] == "state" {
				got = append(got, f[1]+" "+f[3])
			}
		}
		for _, state := range want {
			if !slices.Contains(got, state) {
				return fmt.Sprintf("no job is %s: %q", state, got)
			}
		}
		return ""
	})
}
