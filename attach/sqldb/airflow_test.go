// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/stats"
)

// newAirflow starts Airflow 2 or 3 on a database.
func newAirflow(t *testing.T, version, database string) *engine {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "airflow"))
	if err != nil {
		t.Fatal(err)
	}
	dags := filepath.Join(dir, "dags")
	cmd := exec.Command(enginetest.Python(t, filepath.Join(dir, version+".txt")), filepath.Join(dir, "engine.py"), dags)
	cmd.Env = append(cmd.Environ(), "AIRFLOW_HOME="+t.TempDir(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1", "TZ=UTC",
		"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN="+database, "AIRFLOW__CORE__EXECUTOR=engine.Executor", "AIRFLOW__CORE__LOAD_EXAMPLES=False",
		"AIRFLOW__CORE__DAGS_FOLDER="+dags, "AIRFLOW__LOGGING__LOGGING_LEVEL=CRITICAL", "AIRFLOW__API_AUTH__JWT_SECRET="+strings.Repeat("k", 64))
	return &engine{enginetest.Start(t, cmd)}
}

// states steps the scheduler until the tasks that are not finished have these states.
func (e *engine) states(dag string, want ...string) {
	e.T.Helper()
	slices.Sort(want)
	deadline := time.Now().Add(3 * time.Minute)
	for {
		var got []string
		for _, line := range e.Do("report") {
			if f := strings.Fields(line); f[0] == "state" && f[1] == dag {
				got = append(got, f[3])
			}
		}
		slices.Sort(got)
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			e.T.Fatalf("tasks of %s: %v; expected %v", dag, got, want)
		}
		e.Do("step")
	}
}

// TestAirflow2, TestAirflow3 and TestAirflow33 hold the adapter against Airflow's ORM.
func TestAirflow2(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and Airflow")
	}
	t.Parallel()
	s := startPostgres(t)
	airflow(t, newAirflow(t, "airflow2", "postgresql+psycopg2"+strings.TrimPrefix(s.address, "postgres")), s.address, "airflow2", s)
	s.steady(t, "airflow2", endedRuns)
}

// endedRuns adds copies of the run of quick and of its task that succeeded, which have ended.
const endedRuns = `WITH i AS (SELECT i, now() - i * INTERVAL '1 second' AS at FROM generate_series(%d, %d) i),
n AS (SELECT jsonb_build_object('id', -i, 'run_id', CONCAT('old-', i), 'state', 'success', 'logical_date', at, 'execution_date', at, 'start_date', at, 'end_date', at, 'updated_at', at) AS run FROM i),
r AS (INSERT INTO dag_run SELECT (jsonb_populate_record(q, n.run)).* FROM dag_run q, n WHERE q.dag_id = 'quick' AND q.run_id = 'q1' RETURNING 1)
INSERT INTO task_instance SELECT (jsonb_populate_record(q, n.run || jsonb_build_object('id', gen_random_uuid()))).* FROM task_instance q, n WHERE q.dag_id = 'quick' AND q.run_id = 'q1' AND q.task_id = 'one'`

func TestAirflow3(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Airflow")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "airflow.db")
	airflow(t, newAirflow(t, "airflow3", "sqlite:///"+file), "sqlite:"+file, "airflow3", nil)
}

func TestAirflow33(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	airflow(t, newAirflow(t, "airflow33", "postgresql+psycopg2"+strings.TrimPrefix(s.address, "postgres")), s.address, "airflow3", nil)
	s.steady(t, "airflow3", endedRuns)
}

// airflow compares the adapter with the engine, and, with a server, what all faces show
// if one follows the document.
func airflow(t *testing.T, e *engine, address, mapping string, s *server) {
	config := func(show Show) Config {
		cfg := newConfig(t, address, mapping)
		cfg.Show = show
		return cfg
	}
	w, watched := newWatch(t), newWatch(t) // watched sees the adapter of the page
	var page *enginetest.Page
	if s != nil {
		page = enginetest.Follow(t, document, "Airflow", watched.url, "postgres://pnagent:secret@127.0.0.1:5432/airflow", s.reader(),
			"--state", "--interval 1s --timeout 10s --state")
		watched.shows("stuck")
	}
	cfg := config(Show{})
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.shows("stuck")
	e.Do("run stuck r1")
	e.states("stuck", "backoff=up_for_retry", "deferred=deferred", "flaky=up_for_retry", "full=scheduled", "holds=running", "load=None", "mapped=queued", "mapped=queued",
		"queued=queued", "sensor=up_for_reschedule")
	r, held := w.agrees(e), "running"+host(t, cfg)
	want := map[string]string{
		"backoff backoff unknown":  "failed, try 1 of 4, time of the next try not known",
		"deferred deferred manual": "deferred to a triggerer",
		"flaky flaky delayed":      "failed, try 1 of 3",
		"full full enabled":        "pool one is full, 1 of 1 slots",
		"holds holds running":      held,
		"load load missing":        "8",
		"mapped mapped enabled":    "in queue idle, no worker has taken it, map index 1",
		"queued queued enabled":    "in queue idle, no worker has taken it",
		"sensor sensor delayed":    "sensor, waits for its next poke",
	}
	w.waitsFor("stuck", "r1", want)
	w.traps()
	w.until(func() string { return w.due(r, 2) })

	if s != nil { // SQLite's file is open for reading
		w.silences(cfg.Database.db, want)
	}
	net := w.net("stuck")
	if n := len(net.Transitions); n != 12 || len(net.Places) != 12 {
		t.Errorf("%d places and %d transitions; expected 12 tasks", len(net.Places), n)
	}

	// What ends while the adapter does not run is counted after its restart, once. A retry
	// is no departure.
	again := func() {}
	if page != nil {
		watched.until(func() string { return page.Faces(r.shown(), airflowShown(r, held)) })
		again = page.Kill()
	}
	end()
	e.Do("run quick q1")
	e.states("quick")
	again()
	if page != nil {
		watched.agrees(e)
		watched.outage(e, page, s, r, held)
	}
	cfg.Database, cfg.Show = config(Show{}).Database, Show{Detail: true}
	w.run(cfg)
	w.agrees(e)
	w.until(func() string {
		if text := w.waits("stuck", "r1")["flaky flaky delayed"]; !strings.Contains(text, ": owner") || !strings.Contains(text, "Ann") {
			return "with Show.Detail: " + text + "; expected the owner"
		}
		return ""
	})

	// A task that is cleared runs again.
	e.Do("clear quick q1 one")
	e.Do("pause paused")
	e.Do("run paused p1")
	e.states("quick")
	w.until(func() string {
		if got := w.counts("quick")["one"]; got != (count{2, 2, 2}) {
			return fmt.Sprintf("%+v; expected the second run of the task", got)
		}
		return ""
	})
	w.waitsFor("paused", "p1", map[string]string{"begin begin enabled": "the DAG is paused: owner airflow"})
	w.traps()

	// The first task of a DAG with a schedule is due when the scheduler is to make a run, unless the DAG is paused.
	w.dueAt("timed", "wake", e.Do("next timed")[0])
	w.dueAt("timed", "wake", e.Do("miss timed")[0])
	e.Do("pause timed")
	w.dueAt("timed", "wake", "0")
	if got, err := checked(t, config(Show{})); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	e.Do("release")
}

// dueAt waits until a task, and none beside it, is due next at a time in milliseconds, to the second; 0 for not known.
func (w *watch) dueAt(net, task, millis string) {
	w.t.Helper()
	want, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	w.until(func() string {
		got := map[string]int64{}
		n := w.net(net)
		if n == nil {
			return "no net " + net
		}
		for i, tr := range n.Transitions {
			got[tr.ID] = w.last[net].Rows.Transitions[i].NextDue / 1000
		}
		at := got[task]
		delete(got, task)
		for _, other := range got {
			if other != 0 {
				return fmt.Sprintf("tasks beside %s are due: %v", task, got)
			}
		}
		if off := at - want; len(got) == 0 || off < -1000 || off > 1000 {
			return fmt.Sprintf("%s of %s is due at %d; expected %d", task, net, at, want)
		}
		return ""
	})
}

// silences lets the scheduler send no heartbeat for a while. Then what waits for it has no worker.
func (w *watch) silences(db *sql.DB, want map[string]string) {
	w.t.Helper()
	change(w.t, db, "UPDATE job SET latest_heartbeat = '2026-01-02 03:04:05.000000' WHERE job_type = 'SchedulerJob'")
	for _, task := range []string{"full", "queued"} {
		w.until(func() string {
			return cmp.Diff(want[task+" "+task+" enabled"]+", no heartbeat since 2026-01-02T03:04:05Z", w.waits("stuck", "r1")[task+" "+task+" noWorker"])
		})
	}
	change(w.t, db, "UPDATE job SET latest_heartbeat = CURRENT_TIMESTAMP WHERE job_type = 'SchedulerJob'")
}

// host returns where the task holds runs, as what it waits for has it.
func host(t *testing.T, cfg Config) string {
	t.Helper()
	var name string
	if err := cfg.Database.db.QueryRow("SELECT hostname FROM task_instance WHERE task_id = 'holds'").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return ", held by host " + name
}

// outage kills the database. Meanwhile the adapter of the page says so, and every face
// shows the tokens that there were, which grow older.
func (w *watch) outage(e *engine, page *enginetest.Page, s *server, r report, held string) {
	w.t.Helper()
	s.kill()
	w.until(func() string { return page.Disconnected("pnagent_sql_connected") })
	w.until(page.Stale)
	w.until(func() string { return page.Faces(r.shown(), airflowShown(r, held)) })
	if page.Stale() != "" || page.Disconnected("pnagent_sql_connected") != "" {
		w.t.Error("the faces were not read during the outage")
	}
	s.start()
	e.Do("step")
	w.agrees(e)
	w.until(func() string { return page.Faces(r.shown(), airflowShown(r, held)) })
	page.End()
}

// airflowShown is what SNMP and the page say of the tokens.
func airflowShown(r report, held string) map[string][]enginetest.Why {
	const queued = "in queue idle, no worker has taken it"
	return map[string][]enginetest.Why{
		"stuck backoff":  {why("backoff", "failed, try 1 of 4, time of the next try not known", stats.ReasonUnknown)},
		"stuck deferred": {why("deferred", "deferred to a triggerer", stats.ReasonManual)},
		"stuck flaky":    {delayed("flaky", "failed, try 1 of 3", r.due["flaky"])},
		"stuck full":     {why("full", "pool one is full, 1 of 1 slots", stats.ReasonEnabled)},
		"stuck holds":    {why("holds", held, stats.ReasonRunning)},
		"stuck load":     {{SNMP: "load: 8 tokens short in load", Page: "waits for 8 tokens in load"}},
		"stuck mapped":   {why("mapped", queued+", map index 0", stats.ReasonEnabled), why("mapped", queued+", map index 1", stats.ReasonEnabled)},
		"stuck queued":   {why("queued", queued, stats.ReasonEnabled)},
		"stuck sensor":   {delayed("sensor", "sensor, waits for its next poke", r.due["sensor"])},
	}
}
