// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParametersAreReplacedOutsideOfQuotesAndComments(t *testing.T) {
	for _, c := range []struct{ text, postgres, other string }{
		{"SELECT 1", "SELECT 1", "SELECT 1"},
		{"SELECT a = :since AND b > :since", "SELECT a = $1 AND b > $2", "SELECT a = ? AND b > ?"},
		{"SELECT ':since' \":since\" `:since`", "SELECT ':since' \":since\" `:since`", "SELECT ':since' \":since\" `:since`"},
		{"with x as (select a::text = :limit)", "with x as (select a::text = $1)", "with x as (select a::text = ?)"},
		{"-- why\nSELECT\n1 -- it's :since\n, :limit", "-- why\nSELECT\n1 -- it's :since\n, $1", "-- why\nSELECT\n1 -- it's :since\n, ?"},
	} {
		q, err := parseQuery(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		with := map[string]any{"since": 1, "limit": 2}
		for _, d := range []struct {
			dialect
			want string
		}{{postgres, c.postgres}, {mariadb, c.other}} {
			got, args := (&Database{dialect: d.dialect}).text(q, with)
			if got != d.want || len(args) != len(q.params) {
				t.Errorf("%s in %s: %s with %v; expected %s", c.text, d.name, got, args, d.want)
			}
		}
	}
}

// wrong is a mapping with a line replaced.
func wrong(t *testing.T, old, new string) string {
	t.Helper()
	text, err := Mappings.Source("camunda7")
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Replace(string(text), old, new, 1)
	if out == string(text) {
		t.Fatalf("the mapping does not contain %q", old)
	}
	return out
}

func TestAFaultInAMappingHasItsPlace(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"-- mapping: camunda7\n", "", `m.sql:1:1: no line "-- mapping: NAME"`},
		{"-- about:", "-- abuot:", `m.sql:2:1: "abuot"; expected mapping, about, tool, command, task, needs, index or query`},
		{"ACT_RU_JOBDEF(ID_, ACT_ID_)", "ACT_RU_JOBDEF ID_", `m.sql:9:1: "ACT_RU_JOBDEF ID_"; expected TABLE(COLUMN, …) or SCHEMA.TABLE(COLUMN, …)`},
		{"ACT_RU_JOBDEF(ID_, ACT_ID_)", "a.b.ACT_RU_JOBDEF(ID_)", `m.sql:9:1: "a.b.ACT_RU_JOBDEF(ID_)"; expected TABLE(COLUMN, …) or SCHEMA.TABLE(COLUMN, …)`},
		{"ACT_RU_JOBDEF(ID_, ACT_ID_)", ".ACT_RU_JOBDEF(ID_)", `m.sql:9:1: ".ACT_RU_JOBDEF(ID_)"; expected TABLE(COLUMN, …) or SCHEMA.TABLE(COLUMN, …)`},
		{"ACT_RU_JOBDEF(ID_, ACT_ID_)", "ACT_RU_JOBDEF(ID_; DROP)", `m.sql:9:1: "ACT_RU_JOBDEF(ID_; DROP)"; expected TABLE(COLUMN, …) or SCHEMA.TABLE(COLUMN, …)`},
		{"ACT_RU_JOBDEF(ID_, ACT_ID_)", `ACT_RU_JOBDEF("ID_)`, `m.sql:9:1: "ACT_RU_JOBDEF(\"ID_)"; expected TABLE(COLUMN, …) or SCHEMA.TABLE(COLUMN, …)`},
		{"-- about:", "-- task: a job\n-- about:", `m.sql:2:1: "a job"; expected letters, digits and _`},
		{"-- about:", "-- task: job\n-- about:", `m.sql:1:1: expected a query model, a query tasks, or a line "-- task: NAME", and one of these`},
		{"-- query: probe\nSELECT", "SELECT", `m.sql:23:1: SQL before the first line "-- query: NAME"`},
		{"-- query: probe", "-- query: prone", `m.sql:23:1: query "prone"; expected one of created, definitions, done, ended, finished, floor, flow, model, open, probe, retry, schedules, started, tasks, why`},
		{"-- query: definitions", "-- query: probe", `m.sql:30:1: a second query "probe"`},
		{"DESC LIMIT 1", "DESC LIMIT :limit", `m.sql:23:1: query probe: parameter :limit; expected none`},
		{"DESC LIMIT 1", "DESC; DELETE FROM x", `m.sql:23:1: query probe: more than one statement; expected one`},
		{"SELECT VERSION_", "DROP TABLE VERSION_", `m.sql:23:1: query probe: it begins with "DROP"; expected SELECT or WITH`},
		{"SELECT VERSION_ AS version FROM ACT_GE_SCHEMA_LOG ORDER BY TIMESTAMP_ DESC LIMIT 1", "", `m.sql:23:1: query probe: it begins with ""; expected SELECT or WITH`},
		{"'timer'", "'timer", `m.sql:54:1: query why: a quote ' without its end`},
	} {
		_, err := ReadMapping(strings.NewReader(wrong(t, c.old, c.new)), "m.sql")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v; expected %s", c.new, err, c.want)
		}
	}
	river, err := Mappings.Source("river")
	if err != nil {
		t.Fatal(err)
	}
	const want = `m.sql:1:1: a query created or finished beside "-- task: job"; expected none, because started and ended have the instances`
	if _, err := ReadMapping(strings.NewReader(string(river)+"\n-- query: created\nSELECT 1"), "m.sql"); err == nil || err.Error() != want {
		t.Errorf("a task and created: %v; expected %s", err, want)
	}
	if _, err := ReadMapping(strings.NewReader("-- mapping: x\n"), "m.sql"); err == nil || err.Error() != `m.sql:1:1: no query "definitions"` {
		t.Errorf("a mapping without queries: %v", err)
	}
}

func TestEveryShippedMappingCanBeReadAndSaysWhatItIs(t *testing.T) {
	all, err := Mappings.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.About == "" || m.Tool == "" || len(m.needs) == 0 {
			t.Errorf("mapping %s has no about or tool, or needs nothing", m.Name)
		}
	}
	if len(all) == 0 {
		t.Error("no mapping is shipped")
	}
}

func TestAnAddressThatIsNoneIsRefusedWithoutItsPassword(t *testing.T) {
	for _, address := range []string{"", "secret", "oracle://u:secret@h/d", "postgres://u:secret@h:port/d", "mysql://u:secret@h", "mysql://u:sec%ret@h/d", "sqlite:", "mysql://u@h/d?time_zone=x'"} {
		_, err := Open(address, 1e9)
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func FuzzReadMapping(f *testing.F) {
	text, err := Mappings.Source("camunda7")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("-- mapping: x\n-- query: probe\nSELECT ':a', :a -- :b\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadMapping(strings.NewReader(text), "m.sql")
		if (m == nil) != (err != nil) {
			t.Fatal("neither a mapping nor an error")
		}
		if m == nil {
			return
		}
		for name, q := range m.queries {
			for _, p := range q.params {
				if !slices.Contains(shapes[name].params, p) {
					t.Errorf("query %s has the parameter %s", name, p)
				}
			}
			if diff := cmp.Diff(len(q.params)+1, len(q.parts)); diff != "" {
				t.Error(diff)
			}
		}
	})
}
