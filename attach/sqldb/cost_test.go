// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// historyRows is for TestTheCostOfHistory, with which the figures of the document are
// measured.
var historyRows = flag.Int("history", 0, "rows of history of Camunda 7 with which the cost of the queries is measured")

// TestTheCostOfHistory measures what a poll of Camunda 7 costs with -history rows of history
// and 2,000 tokens, beside a tenth of the rows.
func TestTheCostOfHistory(t *testing.T) {
	if *historyRows == 0 {
		t.Skip("measures for minutes, with -history 10000000")
	}
	for name, start := range map[string]func(*testing.T) *server{"PostgreSQL": startPostgres, "MariaDB": startMaria} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			e := newEngine(t, "camunda7", s.driver, "audit")
			e.Do("deploy child.bpmn stuck.bpmn")
			costs(t, s, e, 156, *historyRows/10, *historyRows)
		})
	}
}

// costs starts instances, fills the history of Camunda 7 in two steps, and fails if a
// query of a poll reads more pages after the second.
func costs(t *testing.T, s *server, e *engine, instances, few, many int) {
	t.Helper()
	h := &history{t: t, s: s, cfg: newConfig(t, s.address, "camunda7"), begin: time.Now().UTC().AddDate(0, 0, -400), since: time.Now().UTC().Add(-time.Second)}
	e.Do("deploy hourly.bpmn")
	for i := range instances {
		e.Do(fmt.Sprint("start stuck cost-", i))
	}
	until(t, func() string {
		if n := len(e.report().incidents); n < instances {
			return fmt.Sprintf("%d jobs have failed; expected %d", n, instances)
		}
		return ""
	})
	h.fill(few)
	before := h.measure()
	h.fill(many)
	after := h.measure()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		b, a := before[name], after[name]
		t.Logf("| `%s` | %d | %d | %d | %.1f ms |", name, a.rows, b.pages, a.pages, a.millis)
		if a.rows != b.rows || a.rows == 0 && name != "finished" {
			t.Errorf("%s: %d rows, and %d with more history", name, b.rows, a.rows)
		}
		if 2*a.pages > 3*b.pages+20 {
			t.Errorf("%s reads %d pages with %d rows of history, and %d with %d", name, b.pages, few, a.pages, many)
		}
		if a.whole != "" {
			t.Errorf("%s reads the whole table %s", name, a.whole)
		}
	}
}

// steady fails the test if a query of a poll of a PostgreSQL reads more pages, or returns more rows, with more
// jobs that have ended: 50,000, or -history. fill adds those of the seconds from %d to %d, an hour ago and earlier.
// It logs a row for the table of the document: the pages of all queries with few and with many of these jobs, and how
// much longer a poll takes with many.
func (s *server) steady(t *testing.T, mapping, fill string) {
	t.Helper()
	h := &history{t: t, s: s, cfg: newConfig(t, s.address, mapping), since: time.Now().UTC().Add(-time.Minute)}
	db := s.open("pgx", s.address)
	change(t, db, fmt.Sprintf(fill, 3600, 10_000), "VACUUM ANALYZE")
	before, few := h.measure(), h.poll()
	change(t, db, fmt.Sprintf(fill, 10_001, 10_000+max(50_000, *historyRows)), "VACUUM ANALYZE")
	if got, err := checked(t, h.cfg); err != nil || slices.ContainsFunc(got.Notes, func(n string) bool { return strings.Contains(n, "reads all of the table") }) {
		t.Errorf("the check with many jobs that have ended: %+v, %v", got, err)
	}
	fewer, pages := 0, 0
	for name, after := range h.measure() {
		t.Logf("%s: %d rows, %d pages, %.1f ms", name, after.rows, after.pages, after.millis)
		b := before[name]
		if after.pages > 2*b.pages+50 || after.rows != b.rows {
			t.Errorf("%s reads %d pages and returns %d rows; with fewer jobs that have ended, %d and %d", name, after.pages, after.rows, b.pages, b.rows)
		}
		fewer, pages = fewer+b.pages, pages+after.pages
	}
	many := h.poll()
	t.Logf("| `%s` | %d | %d | %v | %.1f |", mapping, fewer, pages, many.Round(time.Millisecond/10), many.Seconds()/few.Seconds())
	s.moved(t, h.cfg)
}

// moved renames a column of each table of the engine, as a later version of it may, and fails the test if the check does
// not name each.
func (s *server) moved(t *testing.T, cfg Config) {
	t.Helper()
	db := s.open("pgx", s.address)
	for _, n := range cfg.Mapping.needs {
		if !n.index {
			change(t, db, fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO moved", n.name(), n.columns[0]))
		}
	}
	_, err := checked(t, cfg)
	for _, n := range cfg.Mapping.needs {
		if n.index {
			continue
		}
		if want := fmt.Sprintf("column %s of table %s: ", n.columns[0], n.name()); !errors.Is(err, ErrProbe) || !strings.Contains(err.Error(), want) {
			t.Errorf("the check of a table whose column has moved: %v; expected %q", err, want)
		}
		change(t, db, fmt.Sprintf("ALTER TABLE %s RENAME COLUMN moved TO %s", n.name(), n.columns[0]))
	}
}

// poll returns the shortest time of some polls that are not the first one.
func (h *history) poll() time.Duration {
	h.t.Helper()
	a, took := adapter(h.t, h.cfg), time.Hour
	for i := range 6 {
		begin := time.Now()
		a.flowTook = 0 // the history is due at each poll
		if err := a.poll(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
		if i > 0 {
			took = min(took, time.Since(begin))
		}
	}
	return took
}

// history fills the tables of the history.
type history struct {
	t            *testing.T
	s            *server
	cfg          Config
	begin, since time.Time // of the oldest row, and before the instances that are open
	rows         int
}

// fill adds rows of activity instances that have ended, ten for each process instance,
// one every three seconds.
func (h *history) fill(to int) {
	h.t.Helper()
	const batch = 500_000
	driver, series, seconds, analyze := "mysql", "(SELECT seq AS i FROM seq_%d_to_%d) s", "INTERVAL %s SECOND", "ANALYZE TABLE ACT_HI_ACTINST, ACT_HI_PROCINST"
	if h.s.replicate != nil {
		driver, series, seconds, analyze = "pgx", "generate_series(%d, %d) AS s(i)", "%s * INTERVAL '1 second'", "VACUUM ANALYZE ACT_HI_ACTINST, ACT_HI_PROCINST"
	}
	db := h.s.open(driver, h.s.writer())
	const instance, definition = "CONCAT('old-', LPAD(CAST(FLOOR(i / 10) AS CHAR(9)), 9, '0'))", "(SELECT MIN(ID_) FROM ACT_RE_PROCDEF WHERE KEY_ = 'stuck')"
	begin := "TIMESTAMP '" + h.begin.Format("2006-01-02 15:04:05") + "' + "
	start, end := begin+fmt.Sprintf(seconds, "(3 * i)"), begin+fmt.Sprintf(seconds, "(3 * i + 60)")
	for ; h.rows < to; h.rows += batch {
		from := fmt.Sprintf(series, h.rows+1, min(h.rows+batch, to))
		change(h.t, db, "INSERT INTO ACT_HI_ACTINST (ID_, PARENT_ACT_INST_ID_, PROC_DEF_KEY_, PROC_DEF_ID_, ROOT_PROC_INST_ID_, PROC_INST_ID_, EXECUTION_ID_, ACT_ID_, ACT_NAME_, ACT_TYPE_, START_TIME_, END_TIME_, DURATION_, ACT_INST_STATE_, SEQUENCE_COUNTER_)"+
			" SELECT CONCAT('old:', LPAD(CAST(i AS CHAR(9)), 9, '0')), "+instance+", 'stuck', "+definition+", "+instance+", "+instance+", "+instance+", 'pack', 'Pack', 'userTask', "+
			start+", "+end+", 60000, 4, i FROM "+from,
			"INSERT INTO ACT_HI_PROCINST (ID_, PROC_INST_ID_, PROC_DEF_KEY_, PROC_DEF_ID_, ROOT_PROC_INST_ID_, START_TIME_, END_TIME_, DURATION_, START_ACT_ID_, END_ACT_ID_, STATE_)"+
				" SELECT "+instance+", "+instance+", 'stuck', "+definition+", "+instance+", "+start+", "+end+", 60000, 'start', 'end', 'COMPLETED' FROM "+from+" WHERE i % 10 = 0")
	}
	h.rows = to
	change(h.t, db, analyze)
}

// writer returns the address for Go's driver of a user that can write.
func (s *server) writer() string {
	if s.replicate != nil {
		return s.address
	}
	return "pn@tcp(127.0.0.1:" + s.port + ")/camunda"
}

// cost is what a query costs: the rows that it returns, the pages that it reads, its
// time, and a table of the history that it reads as a whole.
type cost struct {
	rows, pages int
	millis      float64
	whole       string
}

// measure runs each query that a poll runs, twice, and returns what the second cost.
func (h *history) measure() map[string]cost {
	h.t.Helper()
	out := map[string]cost{}
	for name, q := range h.cfg.Mapping.queries {
		with := timed(map[string]any{"after": "", "limit": page, "floor": 0}, "since", h.since.UnixMicro(), time.UTC)
		timed(with, "now", time.Now().UnixMicro(), time.UTC)
		switch name {
		case "probe", "definitions", "model", acts:
			continue
		case "open", "why":
			with["limit"] = MaxTokens + 1
		}
		text, args := h.cfg.Database.text(q, with)
		explain := "ANALYZE FORMAT=JSON "
		if h.cfg.Database.numbers {
			explain = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "
		}
		var c cost
		err := h.cfg.Database.read(h.t.Context(), func(tx *transaction) error {
			for range 2 {
				var plan string
				if err := tx.QueryRowContext(h.t.Context(), explain+text, args...).Scan(&plan); err != nil {
					return err
				}
				c = h.read(plan)
			}
			return tx.each(h.t.Context(), h.cfg.Mapping, name, with, func([]any) error { c.rows++; return nil })
		})
		if err != nil {
			h.t.Fatalf("%s: %v", name, err)
		}
		out[name] = c
	}
	return out
}

// read reads a plan with what its parts did.
func (h *history) read(plan string) cost {
	h.t.Helper()
	var root any
	if err := json.Unmarshal([]byte(plan), &root); err != nil {
		h.t.Fatal(err)
	}
	var c cost
	if list, postgres := root.([]any); postgres {
		top := list[0].(map[string]any)
		p := top["Plan"].(map[string]any)
		c.pages, c.millis = int(p["Shared Hit Blocks"].(float64)+p["Shared Read Blocks"].(float64)), top["Execution Time"].(float64)
	} else if top, has := root.(map[string]any)["query_block"].(map[string]any); has {
		c.millis, _ = top["r_total_time_ms"].(float64)
	}
	h.visit(root, &c)
	return c
}

// visit looks for pages that parts of a plan of MariaDB read, and for parts that read a whole
// table or index of the history.
func (h *history) visit(part any, c *cost) {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			h.visit(p, c)
		}
	case map[string]any:
		if stats, has := part["r_engine_stats"].(map[string]any); has {
			pages, _ := stats["pages_accessed"].(float64)
			c.pages += int(pages)
		}
		relation, _ := part["Relation Name"].(string)
		if part["Node Type"] == "Seq Scan" && strings.HasPrefix(relation, "act_hi_") {
			c.whole = relation
		}
		if rows, _ := part["r_rows"].(float64); part["access_type"] == "ALL" && int(rows) >= h.rows/10 {
			c.whole = fmt.Sprint(part["table_name"])
		}
		for _, p := range part {
			h.visit(p, c)
		}
	}
}
