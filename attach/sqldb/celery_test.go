// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCelery holds the adapter against Celery's result backend. Each task is sent once.
func TestCelery(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newPython(t, "celery", "celery5.txt", "postgresql+psycopg2"+strings.TrimPrefix(s.address, "postgres")), s.reader()
	w := newWatch(t)
	cfg := newConfig(t, reader, "celery")
	end := w.run(cfg)

	// No worker runs: the database has nothing, because the runs are in the broker.
	e.Do("send holds loads flaky dead quick")
	e.Do("report")
	w.until(w.tokens(0))

	// A worker runs. What has ended is not there, also what had its last try.
	began := time.Now()
	e.Do("work one")
	e.ends("holds STARTED", "loads LOADING", "flaky RETRY", "dead FAILURE", "quick SUCCESS")
	stuck := map[string]string{
		"holds": "running: running, try 1, queue celery, held by worker one@shop",
		"loads": "running: running, try 1, state LOADING, queue celery, held by worker one@shop",
		"flaky": "enabled: failed, try 1, time of the next try not known, queue celery, held by worker one@shop",
	}
	w.shownAs(e, stuck, began)

	// The worker is killed. Celery stores no sign of life of it, and its runs grow older.
	e.Do("kill one")
	e.Do("send quick")
	w.shownAs(e, stuck, began)
	w.until(func() string {
		return cmp.Diff(map[string]count{"dead": {0, 1, 0}, "quick": {0, 1, 1}}, map[string]count{"dead": w.counts("dead")["task"], "quick": w.counts("quick")["task"]})
	})
	end()

	// Another one has no more of them. A run of which only STARTED is stored has the age since it was first seen.
	e.Do("work two")
	until(t, func() string {
		if n := strings.Count(strings.Join(e.Do("report"), "\n"), "SUCCESS"); n != 2 {
			return fmt.Sprintf("%d runs have succeeded; expected 2", n)
		}
		return ""
	})
	cfg.Database = newConfig(t, reader, "celery").Database
	w.run(cfg)
	w.shownAs(e, stuck, began)
	if got, err := checked(t, newConfig(t, reader, "celery")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
	change(t, s.open("pgx", s.address), "CREATE INDEX ON celery_taskmeta (id) WHERE status NOT IN ('SUCCESS', 'FAILURE', 'REVOKED', 'REJECTED', 'IGNORED')")
	s.steady(t, "celery", `INSERT INTO celery_taskmeta (id, task_id, status, date_done, name)
SELECT -i, 'old-' || i, 'SUCCESS', t, 'tasks.quick' FROM (SELECT i, timezone('UTC', now()) - i * INTERVAL '1 second' AS t FROM generate_series(%d, %d) i) s`)
}

// shownAs waits until there are the tokens that the engine reports, with its ages or, where it has none, no age from
// before a time, and until they wait for what is wanted.
func (w *watch) shownAs(e *engine, want map[string]string, since time.Time) {
	w.t.Helper()
	w.until(func() string {
		r, got := e.report(), map[string]string{}
		shown := w.held()
		for i, h := range r.held {
			if h.since > 0 {
				continue
			}
			for _, s := range shown {
				if s.instance == h.instance && s.since >= since.UnixMilli() {
					r.held[i].since = s.since
				}
			}
		}
		if d := agree(r.held, shown); d != "" {
			return "tokens, - engine, + adapter:\n" + d
		}
		for _, h := range r.held {
			for key, text := range w.waits(h.net, h.instance) {
				got[h.net] = key[strings.LastIndex(key, " ")+1:] + ": " + text
			}
		}
		return cmp.Diff(want, got)
	})
	w.traps()
}
