// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"path/filepath"
	"strings"
	"testing"
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
	s.steady(t, "n8n", `INSERT INTO execution_entity (id, finished, mode, status, "workflowId", "createdAt", "startedAt", "stoppedAt")
SELECT -i, true, 'trigger', 'success', 'quick', t, t, t FROM (SELECT i, now() - i * INTERVAL '1 second' AS t FROM generate_series(%d, %d) i) s`)
}

// of returns the instance of the newest execution of a workflow.
func (e *engine) of(net string) (instance string) {
	for _, line := range e.Do("report") {
		if f := strings.Fields(line); f[0] == "state" && f[1] == net {
			instance = f[2]
		}
	}
	return instance
}
