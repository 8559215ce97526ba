// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// tasksMapping is a mapping whose model is a query for tasks: a, then b and c, then d.
const tasksMapping = `-- mapping: tasks
-- query: probe
SELECT '1' AS version
-- query: definitions
SELECT 'd' AS definition, 'p' AS net, 1 AS version, NULL AS name
-- query: tasks
SELECT 'a' AS task, 'b' AS downstream, 'Begin' AS name WHERE :definition = 'd'
UNION ALL SELECT 'a', 'c', NULL UNION ALL SELECT 'b', 'd', NULL UNION ALL SELECT 'c', 'd', NULL UNION ALL SELECT 'd', NULL, NULL
-- query: open
SELECT CONCAT(id, node) AS token, 'd' AS definition, node AS activity, id AS instance, came AS since, NULL AS label FROM work WHERE gone IS NULL LIMIT :limit
-- query: done
SELECT 'd' AS definition, id AS instance, node AS activity, gone AS at FROM work WHERE gone IS NOT NULL LIMIT :limit
-- query: why
SELECT CONCAT(id, node) AS token, node AS activity, CASE WHEN came IS NULL THEN 'missing' ELSE 'running' END AS reason, NULL AS until, 'work' AS what, NULL AS detail, came AS heartbeat
FROM work WHERE gone IS NULL LIMIT :limit
-- query: started
SELECT CONCAT(id, node) AS id, came AS at, 'd' AS definition, node AS activity FROM work WHERE came >= :since AND :after = :after ORDER BY came LIMIT :limit
-- query: ended
SELECT CONCAT(id, node) AS id, gone AS at, 'd' AS definition, node AS activity, came AS millis, 0 AS canceled FROM work WHERE gone >= :since AND :after = :after ORDER BY gone LIMIT :limit
`

func TestATaskWaitsForThoseBeforeIt(t *testing.T) {
	db, address := ownDatabase(t)
	hour, minute := at(time.Hour), at(time.Minute)
	change(t, db, "DROP TABLE work", "CREATE TABLE work (id TEXT, node TEXT, came TEXT, gone TEXT)",
		// One of two has ended: the token came with it.
		"INSERT INTO work VALUES ('one', 'a', '"+hour+"', '"+hour+"'), ('one', 'b', '"+hour+"', '"+minute+"'), ('one', 'c', '"+hour+"', NULL), ('one', 'd', NULL, NULL)",
		// Nothing has ended: there is no token at d.
		"INSERT INTO work VALUES ('two', 'b', '"+at(0)+"', NULL), ('two', 'c', '"+at(0)+"', NULL), ('two', 'd', NULL, NULL)",
		// All have ended: it waits for its turn.
		"INSERT INTO work VALUES ('all', 'b', '"+hour+"', '"+hour+"'), ('all', 'c', '"+hour+"', '"+minute+"'), ('all', 'd', NULL, NULL)")
	cfg := ownConfig(t, address)
	var err error
	if cfg.Mapping, err = ReadMapping(strings.NewReader(tasksMapping), "tasks.sql"); err != nil {
		t.Fatal(err)
	}
	w := newWatch(t)
	w.run(cfg)
	w.until(func() string {
		if n := len(w.held()); n != 5 {
			return fmt.Sprintf("%v; expected 5 tokens", w.held())
		}
		return ""
	})
	ages := map[string]int64{}
	w.mu.Lock()
	for _, h := range w.held() {
		ages[h.instance+" "+h.node] = (time.Now().UnixMilli() - h.since) / 60_000
	}
	n := w.net("p")
	w.mu.Unlock()
	if diff := cmp.Diff(map[string]int64{"one c": 60, "one d": 1, "two b": 0, "two c": 0, "all d": 60}, ages); diff != "" {
		t.Error("minutes:", diff)
	}
	late := "work, no heartbeat since " + hour[:10] + "T" + hour[11:19] + "Z"
	for instance, want := range map[string]map[string]string{"one": {"c c noWorker": late, "d d missing": "1"}, "two": {"b b running": "work", "c c running": "work"}, "all": {"d d enabled": "work"}} {
		if diff := cmp.Diff(want, w.waits("p", instance)); diff != "" {
			t.Error(instance, diff)
		}
	}
	var arcs []string
	for _, a := range n.Arcs {
		arcs = append(arcs, a.Source+" > "+a.Target)
	}
	if diff := cmp.Diff([]string{"a/in > a", "b/in > b", "c/in > c", "d/in > d", "a > b/in", "a > c/in", "b > d/in", "c > d/in"}, arcs); diff != "" || n.Places[0].Name != "Begin" {
		t.Error(diff, n.Places[0])
	}
}

// TestTheTasksOfTheDocument runs the query for tasks that the document shows.
func TestTheTasksOfTheDocument(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "CREATE TABLE step (id INTEGER, name TEXT, title TEXT, workflow TEXT, after INTEGER)",
		"INSERT INTO step VALUES (1, 'desk', 'The desk', 'd', NULL), (2, 'shelf', NULL, 'd', 1), (3, 'other', NULL, 'e', NULL)")
	begin, rest, _ := strings.Cut(ownMapping, "-- query: model\n")
	_, rest, _ = strings.Cut(rest, "\n\n")
	cfg := ownConfig(t, address)
	var err error
	if cfg.Mapping, err = ReadMapping(strings.NewReader(begin+enginetest.Block(t, document, "sql", "-- query: tasks")+"\n\n"+rest), "own.sql"); err != nil {
		t.Fatal(err)
	}
	w := newWatch(t)
	w.run(cfg)
	w.shows("p")
	w.until(func() string { return w.arcs("p", "desk shelf") })
	if n := w.net("p"); len(n.Transitions) != 2 || n.Transitions[0].Name != "The desk" {
		t.Errorf("%+v; expected desk and shelf", n.Transitions)
	}
}

func TestTheDAGsThatAirflowStores(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"a task with its type", `{"dag":{"tasks":[{"__type":"operator","__var":{"task_id":"a","downstream_task_ids":["b"],"retry_delay":60.0}}]}}`, "[{a  [b]}] map[a:60000000]"},
		{"without a type", `{"dag":{"tasks":[{"task_id":"a"}]}}`, "[{a  []}] map[a:300000000]"},
		{"a delay with its type", `{"dag":{"tasks":[{"task_id":"a","retry_delay":{"__type":"timedelta","__var":1.5}}]}}`, "[{a  []}] map[a:1500000]"},
		{"a delay that grows", `{"dag":{"tasks":[{"task_id":"a","retry_exponential_backoff":true}]}}`, "[{a  []}] map[]"},
		{"by a factor", `{"dag":{"tasks":[{"task_id":"a","retry_exponential_backoff":2.0}]}}`, "[{a  []}] map[]"},
		{"or by none", `{"dag":{"tasks":[{"task_id":"a","retry_exponential_backoff":0}]}}`, "[{a  []}] map[a:300000000]"},
		{"tasks made from one", `{"dag":{"tasks":[{"task_id":"a","partial_kwargs":{"retry_delay":5}}]}}`, "[{a  []}] map[a:5000000]"},
		{"no DAG", `{}`, "reading the DAG: no member dag.tasks"},
		{"no JSON", `{`, "reading the DAG: unexpected end of JSON input"},
	} {
		tasks, delays, err := readAirflow([]byte(c.text))
		got := fmt.Sprint(tasks, delays)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s; expected %s", c.rule, got, c.want)
		}
	}
}

//promise:bounds hostile
func TestACompressedModelIsBounded(t *testing.T) {
	compress := func(text []byte) []byte {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		w.Close()
		return b.Bytes()
	}
	if text, err := inflate(compress([]byte("{}"))); err != nil || string(text) != "{}" {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := inflate(compress(make([]byte, maxModel+1))); err == nil || !strings.Contains(err.Error(), "a model of more than") {
		t.Error(err)
	}
	if _, err := inflate([]byte("{}")); err == nil {
		t.Error("a text that is not compressed")
	}
}

func FuzzAirflow(f *testing.F) {
	f.Add([]byte(`{"dag":{"tasks":[{"__type":"operator","__var":{"task_id":"a","downstream_task_ids":["b"],"retry_delay":60.0}},{"task_id":"b","partial_kwargs":{"retry_exponential_backoff":true}}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tasks, delays, err := readAirflow(text)
		if n, full := diagram.NewTasks("p", "", tasks); err == nil && full == nil && len(n.Def.Places) != len(n.Def.Transitions) {
			t.Errorf("%d places and %d transitions", len(n.Def.Places), len(n.Def.Transitions))
		}
		for id, delay := range delays {
			if delay < 0 {
				t.Errorf("%q: %d", id, delay)
			}
		}
	})
}
