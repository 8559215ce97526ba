// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checked is a check of a mapping as it is by default.
func checked(t *testing.T, cfg Config) (*Report, error) {
	t.Helper()
	return Check(t.Context(), cfg.Database, cfg.Mapping, time.UTC, 2*time.Minute)
}

// changed is ownMapping with some text replaced.
func changed(t *testing.T, replace ...string) *Mapping {
	t.Helper()
	m, err := ReadMapping(strings.NewReader(strings.NewReplacer(replace...).Replace(ownMapping)), "own.sql")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// faults are queries that a poll would fail at, some of them only if there are rows.
var faults = []struct{ rule, old, new, want string }{
	{"a column that is not there", "SELECT text AS model FROM model", "SELECT test AS model FROM model", "query model: "},
	{"no table", "'Ann' AS detail\nFROM work", "'Ann' AS detail\nFROM labour", "query why: "},
	{"another column", "node AS activity, 1 AS millis", "node AS activity, 1 AS seconds", "query ended: columns "},
}

var faultsOfRows = []struct{ rule, old, new, want string }{
	{"an invalid time", "id AS instance, came AS since", "id AS instance, 'soon' AS since", `query open: column since: "soon"; expected a time`},
	{"no activity", "node AS activity, id AS instance", "NULL AS activity, id AS instance", "query open: column activity is NULL; expected a value in each row"},
	{"no reason", "CASE WHEN came > :now THEN 'unknown' ELSE 'manual' END AS reason", "NULL AS reason", "query why: column reason is NULL"},
}

func TestACheckRunsEveryQueryWithAndWithoutRows(t *testing.T) {
	db, address := ownDatabase(t)
	cfg := ownConfig(t, address)
	counts := func(open, started, ended int) []Rows {
		return []Rows{{"definitions", 1}, {"model", 1}, {"open", open}, {"why", open}, {"started", started}, {"ended", ended}}
	}
	for _, rows := range []struct{ open, started, ended int }{{0, 0, 0}, {2, 1, 1}} {
		got, err := checked(t, cfg)
		if diff := cmp.Diff(&Report{Version: "1", Queries: counts(rows.open, rows.started, rows.ended)}, got); err != nil || diff != "" {
			t.Errorf("%v -want +got\n%s", err, diff)
		}
		for _, f := range slices.Concat(faults, faultsOfRows) {
			cfg := cfg
			cfg.Mapping = changed(t, f.old, f.new)
			_, err := checked(t, cfg)
			seen := rows.open > 0 || slices.Contains(faults, f)
			if (err != nil) != seen || err != nil && (!errors.Is(err, ErrProbe) || !strings.Contains(err.Error(), f.want)) {
				t.Errorf("%s, with %d tokens: %v; expected %s", f.rule, rows.open, err, f.want)
			}
		}
		if rows.open == 0 {
			change(t, db, "INSERT INTO work VALUES ('old', 'desk', '"+at(time.Hour)+"', NULL), ('new', 'desk', '"+at(time.Second)+"', NULL), ('over', 'desk', '"+at(time.Hour)+"', '"+at(time.Second)+"')")
		}
	}
}

func TestACheckOfADatabaseWithNothingSaysSo(t *testing.T) {
	_, address := ownDatabase(t)
	cfg := ownConfig(t, address)
	cfg.Mapping = changed(t, "NULL AS name", "NULL AS name WHERE 1 = 0")
	got, err := checked(t, cfg)
	if err != nil || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "no definition and no token") {
		t.Errorf("%+v, %v", got, err)
	}
}

// tokens returns a check of how many there are.
func (w *watch) tokens(n int) func() string {
	return func() string {
		if got := len(w.held()); got != n {
			return fmt.Sprintf("%d tokens; expected %d", got, n)
		}
		return ""
	}
}

// fails reports that the last poll did not fail.
func (w *watch) fails() string {
	if s := w.status(); s.Connected || s.Failures == 0 {
		return "the poll does not fail"
	}
	return ""
}

// The table of definitions that models are stored for is empty: its rows are hidden, or another
// database answers. Tokens are not over, and the source is silent.
func TestDefinitionsThatVanishEndNoToken(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "INSERT INTO work VALUES ('a', 'desk', '"+at(time.Hour)+"', NULL)", "CREATE TABLE kept (id TEXT)", "INSERT INTO kept VALUES ('d')")
	w := newWatch(t)
	cfg := ownConfig(t, address)
	cfg.Mapping = changed(t, "NULL AS name", "NULL AS name FROM kept")
	w.run(cfg)
	w.until(w.tokens(1))
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"DELETE FROM kept", "UPDATE work SET gone = '" + at(time.Hour) + "'"} {
		if _, err := tx.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	w.until(w.fails)
	w.until(w.tokens(1))
	change(t, db, "INSERT INTO kept VALUES ('d')")
	w.until(w.tokens(0))
}
