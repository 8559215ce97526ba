// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/stats"
)

// newPrefect starts the server of a version of Prefect on a database.
func newPrefect(t *testing.T, version, database string) *engine {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "prefect"))
	if err != nil {
		t.Fatal(err)
	}
	port, home := porttest.Port(t), t.TempDir()
	cmd := exec.Command(enginetest.Python(t, filepath.Join(dir, version+".txt")), filepath.Join(dir, "engine.py"), port)
	cmd.Env = append(cmd.Environ(), "PREFECT_HOME="+home, "PREFECT_PROFILES_PATH="+home+"/profiles.toml", "PREFECT_API_DATABASE_CONNECTION_URL="+database,
		"PREFECT_API_URL=http://127.0.0.1:"+port+"/api", "PREFECT_SERVER_EPHEMERAL_ENABLED=false", "PREFECT_SERVER_ANALYTICS_ENABLED=false", "DO_NOT_TRACK=1",
		"PREFECT_SERVER_UI_ENABLED=false", "PREFECT_SERVER_MEMO_STORE_PATH="+home+"/memo.toml", "PREFECT_SERVER_SERVICES_LATE_RUNS_LOOP_SECONDS=1",
		"PYTHONDONTWRITEBYTECODE=1", "TZ=UTC")
	return &engine{enginetest.Start(t, cmd)}
}

// TestPrefectOnSQLite and TestPrefectOnPostgreSQL hold the adapter against Prefect's
// REST API.
func TestPrefectOnSQLite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Prefect")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "prefect.db")
	prefect(t, newPrefect(t, "prefect39", "sqlite+aiosqlite:///"+file), "sqlite:"+file, nil)
}

func TestPrefectOnPostgreSQL(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	database, _, _ := strings.Cut("postgresql+asyncpg"+strings.TrimPrefix(s.address, "postgres"), "?")
	t.Run("the engine", func(t *testing.T) { prefect(t, newPrefect(t, "prefect34", database), s.address, s.reader) })
	// Prefect has ended, so that it begins and ends no runs while polls are measured.
	s.steady(t, "prefect3", `WITH i AS (SELECT md5(CONCAT('old-', i)) AS id, now() - i * INTERVAL '1 second' AS at FROM generate_series(%d, %d) i),
n AS (SELECT jsonb_build_object('id', id, 'flow_run_id', id, 'state_id', NULL, 'idempotency_key', NULL, 'expected_start_time', at, 'start_time', at, 'end_time', at, 'state_timestamp', at) AS run FROM i),
f AS (SELECT MIN(CAST(r.id AS text)) AS id FROM flow_run r JOIN flow f ON f.id = r.flow_id WHERE f.name = 'quick'),
r AS (INSERT INTO flow_run SELECT (jsonb_populate_record(q, n.run)).* FROM flow_run q, n WHERE CAST(q.id AS text) = (SELECT id FROM f) RETURNING 1)
INSERT INTO task_run SELECT (jsonb_populate_record(q, n.run)).* FROM task_run q, n
WHERE CAST(q.id AS text) = (SELECT MIN(CAST(t.id AS text)) FROM task_run t WHERE CAST(t.flow_run_id AS text) = (SELECT id FROM f) AND t.state_type = 'COMPLETED')`)
}

// prefect compares the adapter with the engine, and, if reader makes the user of the
// document, what all faces show if one follows it.
func prefect(t *testing.T, e *engine, address string, reader func() string) {
	config := func(show Show) Config {
		cfg := newConfig(t, address, "prefect3")
		cfg.Show = show
		return cfg
	}
	e.Do("late")
	w, faces := newWatch(t), prefectFaces(t, reader)
	cfg := config(Show{})
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("nightly")
	e.Do("run stuck")
	w.awaits(e, "stuck flow-run=Running", "stuck holds=Running", "stuck full=Pending", "stuck flaky=AwaitingRetry", "stuck load=Pending", "stuck after=NotReady",
		"stuck child=Paused", "child flow-run=Paused", "nightly flow-run=Late", "nightly flow-run=Scheduled")
	r := w.agrees(e)
	instance := map[string]string{"stuck": r.instance("stuck"), "child": r.instance("child"), "nightly": r.instance("nightly")}
	faces(e, r)
	w.waitsFor("stuck", instance["stuck"], map[string]string{
		"flow-run flow-run running": "running",
		"holds holds running":       "running",
		"full full enabled":         "limit tag:one is full, 1 of 1 slots",
		"flaky flaky delayed":       "failed, try 1 of 3",
		"load load missing":         "2",
		"after after incident":      "a task before it failed",
		"child child running":       "in called flow child " + instance["child"],
	})
	for _, c := range []struct{ command, reason, text string }{
		{"report", "noWorker", "late, in queue default of pool idle, no worker has polled it"},
		{"pause /work_pools/idle/queues/default", "manual", "late, in queue default of pool idle, the queue is paused"},
		{"pause /work_pools/idle", "manual", "late, in queue default of pool idle, the pool is paused"},
		{"force SCHEDULED AwaitingConcurrencySlot", "manual", "deployment d is full, 0 of 1 slots"}, // and the pool is paused
		{"force PAUSED Suspended", "manual", "suspended"},
	} {
		e.Do(c.command)
		w.waitsFor("nightly", instance["nightly"], map[string]string{"flow-run flow-run " + c.reason: c.text})
		w.traps()
	}
	w.until(func() string {
		text := w.waits("child", instance["child"])["flow-run flow-run manual"]
		if !strings.HasPrefix(text, "paused, waits for input, until 20") {
			return "the paused flow waits for " + text
		}
		return w.due(r, 1)
	})
	w.until(func() string {
		return w.arcs("stuck", "extract flaky", "extract full", "extract holds", "extract load", "fails after", "flaky load", "holds load")
	})

	// What ends while the adapter does not run is counted after its restart, once. A retry
	// is no departure.
	end()
	e.Do("run quick")
	w.awaits(e, "stuck flow-run=Running", "stuck holds=Running", "stuck full=Pending", "stuck flaky=AwaitingRetry", "stuck load=Pending", "stuck after=NotReady",
		"stuck child=Paused", "child flow-run=Paused", "nightly flow-run=Suspended", "nightly flow-run=Scheduled", "quick ended")
	cfg.Database, cfg.Show = config(Show{}).Database, Show{Detail: true}
	w.run(cfg)
	w.agrees(e)
	w.until(func() string {
		if text := w.waits("stuck", instance["stuck"])["after after incident"]; !strings.Contains(text, ": Upstream task run") {
			return "with Show.Detail: " + text + "; expected Prefect's message"
		}
		return w.arcs("quick", "one twice", "twice never")
	})
	e.Do("cancel stuck")
	e.Do("cancel child")
	w.agrees(e)
}

// prefectFaces follows the document as the user that reader makes, and returns what compares
// all faces with the engine; nothing if reader is nil.
func prefectFaces(t *testing.T, reader func() string) func(*engine, report) {
	t.Helper()
	if reader == nil {
		return func(*engine, report) {}
	}
	watched := newWatch(t)
	page := enginetest.Follow(t, document, "Prefect", watched.url, "postgres://pnagent:secret@127.0.0.1:5432/prefect", reader())
	watched.shows("nightly")
	return func(e *engine, r report) {
		t.Helper()
		watched.agrees(e)
		watched.until(func() string { return page.Faces(r.shown(), prefectShown(r)) })
		page.End()
	}
}

// prefectShown is what SNMP and the page say of the tokens.
func prefectShown(r report) map[string][]enginetest.Why {
	until := time.UnixMilli(r.due["flow-run"]).UTC().Format(time.RFC3339)
	return map[string][]enginetest.Why{
		"stuck flow-run":   {why("flow run", "running", stats.ReasonRunning)},
		"stuck holds":      {why("holds", "running", stats.ReasonRunning)},
		"stuck full":       {why("full", "limit tag:one is full, 1 of 1 slots", stats.ReasonEnabled)},
		"stuck flaky":      {delayed("flaky", "failed, try 1 of 3", r.due["flaky"])},
		"stuck load":       {{SNMP: "load: 2 tokens short in load", Page: "waits for 2 tokens in load"}},
		"stuck after":      {why("after", "a task before it failed", stats.ReasonIncident)},
		"stuck child":      {why("child", "in called flow child "+r.instance("child"), stats.ReasonRunning)},
		"child flow-run":   {why("flow run", "paused, waits for input, until "+until, stats.ReasonManual)},
		"nightly flow-run": {why("flow run", "late, in queue default of pool idle, no worker has polled it", stats.ReasonNoWorker)},
	}
}

// awaits waits until the runs that have not ended have these states.
func (w *watch) awaits(e *engine, want ...string) {
	w.t.Helper()
	slices.Sort(want)
	w.until(func() string {
		var got []string
		for _, line := range e.Do("report") {
			switch f := strings.Fields(line); {
			case f[0] == "state":
				got = append(got, f[1]+" "+f[3])
			case f[0] == "count" && f[1] == "quick" && f[2] == "instances" && f[3] == "1" && f[5] == "1":
				got = append(got, "quick ended")
			}
		}
		slices.Sort(got)
		return cmp.Diff(want, got)
	})
}
