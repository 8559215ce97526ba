// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"database/sql/driver"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sqlitedriver "modernc.org/sqlite"

	"github.com/pnagent/pnagent/attach/internal/diagram"
)

// dagsMapping is a mapping for DAGs as Airflow stores them, in the table dag; the newest is
// the definition of all rows.
const dagsMapping = `-- mapping: dags
-- query: probe
SELECT '1' AS version
-- query: definitions
SELECT hash AS definition, 'p' AS net, 1 AS version, NULL AS name FROM dag
-- query: model
SELECT text AS model FROM dag WHERE hash = :definition
-- query: open
SELECT id AS token, (SELECT hash FROM dag) AS definition, node AS activity, 'r' AS instance, came AS since, NULL AS label FROM work WHERE gone IS NULL LIMIT :limit
-- query: done
SELECT (SELECT hash FROM dag) AS definition, 'r' AS instance, node AS activity, gone AS at FROM work WHERE gone IS NOT NULL LIMIT :limit
-- query: why
SELECT id AS token, node AS activity, CASE node WHEN 'c' THEN 'missing' ELSE 'retry' END AS reason, came AS until, 'failed' AS what, NULL AS detail FROM work WHERE gone IS NULL LIMIT :limit
-- query: started
SELECT id, came AS at, 'd' AS definition, node AS activity FROM work WHERE :since <> :since AND :after = :after LIMIT :limit
-- query: ended
SELECT id, came AS at, 'd' AS definition, node AS activity, 1 AS millis, 0 AS canceled FROM work WHERE :since <> :since AND :after = :after LIMIT :limit
`

// dags returns an adapter's configuration for a table with one DAG, and what replaces it.
func dags(t *testing.T) (cfg Config, store func(hash, tasks string)) {
	t.Helper()
	db, address := ownDatabase(t)
	change(t, db, "CREATE TABLE dag (hash TEXT, text TEXT)",
		"INSERT INTO work VALUES ('1', 'a', '"+at(0)+"', NULL), ('2', 'b', '"+at(time.Hour)+"', '"+at(time.Hour)+"'), ('3', 'c', NULL, NULL)")
	cfg = ownConfig(t, address)
	var err error
	if cfg.Mapping, err = ReadMapping(strings.NewReader(dagsMapping), "dags.sql"); err != nil {
		t.Fatal(err)
	}
	return cfg, func(hash, tasks string) {
		t.Helper()
		change(t, db, "BEGIN; DELETE FROM dag; INSERT INTO dag VALUES ('"+hash+`', '{"dag":{"tasks":[`+tasks+"]}}'); COMMIT")
	}
}

// TestADAGThatChangesKeepsTheTimeOfTheNextTry changes the delay of a task, and drops a
// dependency. The nodes stay the same.
func TestADAGThatChangesKeepsTheTimeOfTheNextTry(t *testing.T) {
	cfg, store := dags(t)
	store("one", `{"task_id":"a","downstream_task_ids":["c"],"retry_delay":3600},{"task_id":"b","downstream_task_ids":["c"]},{"task_id":"c"}`)
	w := newWatch(t)
	w.run(cfg)
	shows := func(minutes int64, left int) {
		t.Helper()
		w.until(func() string {
			got := map[string]int64{}
			if w.net("p") == nil {
				return "no net"
			}
			for _, p := range w.last["p"].Rows.Places {
				for _, s := range p.Stuck {
					for _, x := range s.Waits {
						if x.Until > 0 {
							x.Until = (x.Until - s.Injected + 1e6) / 60e6
						}
						got[fmt.Sprint(w.net("p").Transitions[x.Transition].ID, " ", x.Reason)] = x.Until + int64(x.Count)
					}
				}
			}
			want := map[string]int64{"a delayed": minutes, "c missing": int64(left)}
			if left == 0 {
				want = map[string]int64{"a delayed": minutes, "c enabled": 0}
			}
			return cmp.Diff(want, got)
		})
	}
	shows(60, 1)
	store("two", `{"task_id":"a","retry_delay":7200},{"task_id":"b","downstream_task_ids":["c"]},{"task_id":"c"}`)
	shows(120, 0)
}

// TestDefinitionsThatNoRowNamesAreForgotten changes the definition of all rows with each poll.
func TestDefinitionsThatNoRowNamesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, store := dags(t)
		a := adapter(t, cfg)
		for i := range 5 {
			store(fmt.Sprint(i), `{"task_id":"a"},{"task_id":"c"}`)
			if err := a.poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(diagram.ListEvery * time.Microsecond)
		}
		// That of the last tokens is kept although it is not listed any more.
		if n := len(a.definitions.All); n != 2 {
			t.Errorf("%d definitions; expected those of the last two polls", n)
		}
		if d := a.definitions.All["4"]; d == nil || d.Model == nil {
			t.Error("the definition of open rows, or its model, is forgotten")
		}
	})
}

// TestTheListOfDefinitionsIsReadOnceInAPoll names definitions in three rows that the list lacks.
func TestTheListOfDefinitionsIsReadOnceInAPoll(t *testing.T) {
	lists, counted := 0, fmt.Sprint("counted", time.Now().UnixNano())
	err := sqlitedriver.RegisterScalarFunction(counted, 0, func(*sqlitedriver.FunctionContext, []driver.Value) (driver.Value, error) {
		lists++
		return int64(1), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg, store := dags(t)
	store("one", `{"task_id":"a"}`)
	cfg.Mapping = mapping(t, strings.NewReplacer("(SELECT hash FROM dag) AS definition", "'absent' AS definition", "WHERE gone IS NULL", "",
		"'p' AS net, 1 AS version", "'p' AS net, "+counted+"() AS version").Replace(dagsMapping))
	a := adapter(t, cfg)
	for polls := range 3 {
		if err := a.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.definitions.TokensAt = 0 // so that the next poll reads the tokens
		if lists != polls+1 || a.Status().Dropped["definition"] != uint64(3*lists) {
			t.Errorf("after %d polls the list was read %d times; %v", polls+1, lists, a.Status().Dropped)
		}
	}
}

// adapter returns an adapter whose polls the test calls.
func adapter(t *testing.T, cfg Config) *Adapter {
	t.Helper()
	cfg.Interval, cfg.Timeout, cfg.Source, cfg.Log = time.Second, time.Minute, "s", slog.New(slog.DiscardHandler)
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
