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

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/npmtest"
	"github.com/pnagent/pnagent/stats"
)

// newNode starts an engine of testdata that is written in JavaScript, or skips the test.
func newNode(t *testing.T, dir, address string) *engine {
	t.Helper()
	return startNode(t, dir, address, npmtest.Install(t, filepath.Join("testdata", dir)))
}

// startNode does that with packages of a directory.
func startNode(t *testing.T, dir, address, lib string) *engine {
	t.Helper()
	node := enginetest.Program(t, "node")
	if version, err := exec.CommandContext(t.Context(), node, "--version").Output(); err != nil || string(version) < "v20" {
		t.Skipf("Node.js %s, %v; the engine needs 20 or later", version, err)
	}
	file, err := filepath.Abs(filepath.Join("testdata", dir, "engine.js"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, file, address) // it ends with its input
	cmd.Env = append(cmd.Environ(), "NODE_PATH="+filepath.Join(lib, "node_modules"), "TZ=UTC")
	return &engine{enginetest.Start(t, cmd)}
}

// job is what the only job of a net waits for. In the text, {due}, {lock} and {hold} are
// when it is due, when it was locked, and when the job of the net hold was; {end} is when the lock ends.
type job struct{ net, reason, text string }

// jobsWait waits until each job waits for what is wanted, word for word.
func (w *watch) jobsWait(r report, jobs []job) {
	w.t.Helper()
	for _, j := range jobs {
		w.waitsFor(j.net, r.instance(j.net), map[string]string{"job job " + j.reason: r.times(j.net, j.text)})
	}
}

// times returns a text with the times that the engine reports.
func (r report) times(net, text string) string {
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
	return strings.NewReplacer("{due}", at(r.due[net]), "{lock}", at(r.due[net+"-locked"]), "{hold}", at(r.due["hold-locked"]), "{end}", at(r.due[net+"-locked"]+4*3600_000)).Replace(text)
}

// TestGraphileWorker holds the adapter against the library's own view of its jobs.
func TestGraphileWorker(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, w := newNode(t, "graphile", s.address), newWatch(t)
	for _, add := range []string{"mail", `later {"in":86400000}`, `ahead {"in":2500}`, `hold {"queueName":"q"}`, `behind {"queueName":"q"}`, `fail {"maxAttempts":1}`, "fails", "quick", "given-up"} {
		e.Do("add " + add)
	}
	address := s.reader()
	change(t, s.open("pgx", s.address), "ALTER ROLE "+s.role+" BYPASSRLS")
	cfg := newConfig(t, address, "graphile-worker")
	var audit audits
	cfg.Act, cfg.Audit = newConfig(t, s.address, "graphile-worker").Database, audit.add
	w.run(cfg)
	page := enginetest.Follow(t, document, "Graphile Worker", newWatch(t).url, "postgres://pnagent:secret@127.0.0.1:5432/jobs", address)
	e.Do(`reschedule fails {"attempts":8}`)
	e.Do("work hold fail fails quick")
	e.Do("kill")
	e.Do("fail given-up")
	var r report
	w.until(func() string {
		r = e.report()
		if r.instance("ahead") == "" {
			return "the job that is scheduled ahead is not due yet"
		}
		return agree(slices.Clone(r.held), w.held())
	})
	worker := s.word("pgx", "SELECT locked_by FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL")
	stuck := []job{
		{"mail", "enabled", "no worker has taken it"},
		{"ahead", "enabled", "no worker has taken it"},
		{"hold", "running", "running, try 1 of 25, locked since {lock}, held by " + worker + " until {end}"}, // by a worker that was killed
		{"behind", "enabled", "its queue is locked since {hold}"},
		{"fail", "incident", "failed, try 1 of 1"},
		{"fails", "delayed", "failed, try 9 of 25"},
		{"given-up", "incident", "failed, try 25 of 25"},
	}
	w.jobsWait(r, stuck)
	w.traps()
	if d := w.looks(cfg); d != "" {
		t.Errorf("--once: %s", d)
	}
	w.until(func() string {
		for _, never := range []string{"later", "quick"} {
			if w.net(never) == nil || r.instance(never) != "" {
				return never + " has no net, or a token"
			}
		}
		if w.last["quick"].Rows.Columns&ledger.Flow != 0 {
			return "firings are published; the library deletes what has ended"
		}
		if until := w.last["fails"].Rows.Places[0].Stuck[0].Waits[0].Until / 1000; until/1000 != r.due["fails"]/1000 {
			return fmt.Sprintf("the retry is due at %d; expected %d", until, r.due["fails"])
		}
		return ""
	})
	faces := map[string][]enginetest.Why{}
	for _, j := range stuck {
		text := r.times(j.net, j.text)
		faces[j.net+" job"] = []enginetest.Why{why("job", text, stats.ReasonNamed(j.reason))}
		if j.reason == "delayed" {
			faces[j.net+" job"] = []enginetest.Why{delayed("job", text, r.due[j.net])}
		}
	}
	w.until(func() string { return page.Faces(r.shown(), faces) })
	page.End()

	// A retry is due, and locks are older than the four hours after which the next worker takes them away.
	e.Do(`reschedule fails {"runAt":"2026-01-02T03:04:05Z"}`)
	change(t, s.open("pgx", s.address), "UPDATE graphile_worker._private_jobs SET locked_at = locked_at - INTERVAL '5 hours'",
		"UPDATE graphile_worker._private_job_queues SET locked_at = locked_at - INTERVAL '5 hours'")
	w.jobsWait(e.report(), []job{
		{"fails", "enabled", "failed, try 9 of 25, due since 2026-01-02T03:04:05Z"},
		{"hold", "noWorker", "lock expired, try 1 of 25, locked since {lock}, the lock of " + worker + " ended at {end}"},
		{"behind", "enabled", "its queue is locked since {hold}"},
	})
	w.traps()
	w.act("given-up", e.report().instance("given-up"), "DATABASE_URL="+s.address)
	w.jobsWait(e.report(), []job{{"given-up", "enabled", "no worker has taken it"}})
	w.retry("fail", r.instance("fail"), "")
	w.jobsWait(e.report(), []job{{"fail", "enabled", "no worker has taken it"}})
	w.retry("fail", r.instance("fail"), "is no incident")
	w.retry("hold", r.instance("hold"), "is no incident")
	w.retry("fail", "4711", "no source that answers has instance")
	audit.are(t, "fail "+r.instance("fail")+" job true")
	e.Do("work mail given-up fail") // given-up ends, and fail fails again
	w.jobsWait(w.agrees(e), []job{
		{"hold", "enabled", "no result, try 1 of 25, due since {due}"},
		{"behind", "enabled", "no worker has taken it"},
	})

	shown := newWatch(t)
	cfg.Database, cfg.Show, cfg.Act = newConfig(t, address, "graphile-worker").Database, Show{Detail: true}, nil
	shown.run(cfg)
	shown.jobsWait(shown.agrees(e), []job{
		{"fail", "incident", "failed, try 1 of 1: out of paper"},
		{"behind", "enabled", "no worker has taken it: queue q"},
	})

	// What ends is gone, and a job of a worker that runs is running.
	e.Do("work ahead behind")
	e.Do("work hold")
	r, worker = w.agrees(e), s.word("pgx", "SELECT locked_by FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL")
	w.jobsWait(r, []job{{"hold", "running", "running, try 2 of 25, locked since {lock}, held by " + worker + " until {end}"}})
}
