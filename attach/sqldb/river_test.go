// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// newRiver makes River's tables in a database, and starts the program that inserts jobs and
// starts clients.
func newRiver(t *testing.T, database string) *engine {
	t.Helper()
	return &engine{enginetest.Start(t, exec.Command(enginetest.Module(t, "river"), database))}
}

// TestRiver holds the adapter against River's client. The net of each kind of job has one
// job, of which the adapter does not count that of the kind idle, which was there before.
func TestRiver(t *testing.T) {
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
		"idle":  "noWorker: in queue idle, no client works the queue",
		"holds": "noWorker: in queue default, no client works the queue",
		"held":  "noWorker: in queue default, no client works the queue",
	})

	// A client works, and none is the leader that makes jobs available at their time. Jobs that
	// have ended, and one whose time has not come, are not there.
	e.Do("work one")
	e.Do("pause paused")
	e.Do("insert paused flaky dead snoozes stops quick pends due tomorrow")
	stuck := map[string]string{
		"idle":    "noWorker: in queue idle, no client works the queue",
		"holds":   "running: running in queue default, try 1 of 25, held by client one",
		"held":    "running: running in queue default, try 1 of 25, held by client one",
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
	stuck["quick"] = "noWorker: in queue default" + silent
	stuck["holds"] = "noWorker: running in queue default, try 1 of 25" + silent + ", held by client one"
	stuck["held"] = "noWorker: running in queue default, try 1 of 25, to be cancelled" + silent + ", held by client one"
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
	s.steady(t, "river", `INSERT INTO river_job (id, args, kind, max_attempts, state, attempt, attempted_at, created_at, scheduled_at, finalized_at)
SELECT -i, '{}', 'quick', 25, 'completed', 1, t, t, t, t FROM (SELECT i, now() - i * INTERVAL '1 second' AS t FROM generate_series(%d, %d) i) s`)
}

// waitFor waits until the tokens and counts are those of the engine, and the only job of each
// kind waits for what is wanted: the reason and the text, in which DUE is when it is due. A trap has come of each.
func (w *watch) waitFor(e *engine, want map[string]string) {
	w.t.Helper()
	w.agrees(e)
	w.until(func() string {
		got, r := map[string]string{}, e.report()
		for _, h := range r.held {
			for key, text := range w.waits(h.net, h.instance) {
				text = strings.ReplaceAll(text, time.UnixMilli(r.due[h.net]).UTC().Format(time.RFC3339), "DUE")
				got[h.net] = key[strings.LastIndex(key, " ")+1:] + ": " + text
			}
		}
		return cmp.Diff(want, got)
	})
	w.traps()
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

// next waits until the only transition of a net is due next at a time of the engine's clock, to the second.
func (w *watch) next(net string, at time.Time) {
	w.t.Helper()
	w.until(func() string {
		if w.net(net) == nil {
			return "no net " + net
		}
		got := time.UnixMicro(w.last[net].Rows.Transitions[0].NextDue)
		if got.Sub(at).Abs() >= time.Second {
			return fmt.Sprintf("%s is due next at %v; expected %v", net, got, at)
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
