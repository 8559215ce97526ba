// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// secured is PostgreSQL with the table of ownMapping, which has two rows, and a user that is allowed to read all rows.
func secured(t *testing.T) (s *server, reader string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts PostgreSQL")
	}
	t.Parallel()
	s = newPostgres(t)
	reader = s.reader()
	change(t, s.open("pgx", s.address), "CREATE TABLE work (id VARCHAR(9) PRIMARY KEY, node VARCHAR(9), came TIMESTAMP NULL, gone TIMESTAMP NULL)",
		"CREATE INDEX a ON work(came)", "CREATE INDEX b ON work(gone)", "CREATE TABLE model (text TEXT)",
		"INSERT INTO model VALUES ('<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"><process id=\"p\"><userTask id=\"desk\"/></process></definitions>')",
		"INSERT INTO work VALUES ('a', 'desk', '"+at(time.Hour)+"', NULL), ('b', 'desk', '"+at(time.Hour)+"', NULL)")
	return s, reader
}

// A policy hides the rows of a table from the user. PostgreSQL refuses the query instead, so
// the check and a poll name the table, and the tokens that the adapter found before stay.
//
//promise:unknown hostile
func TestRowsThatAPolicyHidesAreNoEmptyTable(t *testing.T) {
	s, reader := secured(t)
	admin := s.open("pgx", s.address)
	w := newWatch(t)
	w.run(ownConfig(t, reader))
	w.until(w.tokens(2))
	change(t, admin, "ALTER TABLE work ENABLE ROW LEVEL SECURITY")
	w.until(w.fails)
	w.until(w.tokens(2))
	_, err := checked(t, ownConfig(t, reader))
	if !errors.Is(err, ErrProbe) || !errors.Is(err, errFiltered) || !strings.Contains(err.Error(), `row-level security policy for table "work"`) {
		t.Errorf("the check: %v; expected the table", err)
	}

	// Tables that the mapping does not name as needed are asked, too.
	change(t, admin, "ALTER TABLE work DISABLE ROW LEVEL SECURITY", "ALTER TABLE model ENABLE ROW LEVEL SECURITY")
	if _, err := checked(t, ownConfig(t, reader)); !errors.Is(err, errFiltered) || !strings.Contains(err.Error(), "query model: ") {
		t.Errorf("the check: %v; expected the query of the model", err)
	}

	change(t, admin, "ALTER TABLE work ENABLE ROW LEVEL SECURITY", "ALTER ROLE "+s.role+" BYPASSRLS", "UPDATE work SET gone = '"+at(0)+"' WHERE id = 'a'")
	w.until(w.tokens(1))
	if got, err := checked(t, ownConfig(t, reader)); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check of a user that sees all rows: %+v, %v", got, err)
	}
}

// Tables of one name may be in several schemas, and a user may not use each of them.
func TestACheckNamesTheSchemaOfATable(t *testing.T) {
	s, _ := secured(t)
	clerk := s.role + "_clerk"
	admin := s.open("pgx", s.address)
	change(t, admin, "CREATE SCHEMA empty", "CREATE TABLE empty.work (LIKE work INCLUDING ALL)", "CREATE TABLE empty.model (LIKE model)", "CREATE SCHEMA engine", "CREATE ROLE "+clerk+" LOGIN PASSWORD 'secret'",
		"GRANT SELECT ON ALL TABLES IN SCHEMA public, empty TO "+clerk, "GRANT USAGE ON SCHEMA empty TO "+clerk)
	asClerk := s.url(clerk+":secret@", s.database)
	got, err := checked(t, ownConfig(t, asClerk+"&search_path=empty,public"))
	if err != nil || len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], "table work is read from schema empty; there is one in public, too") {
		t.Errorf("two schemas: %+v, %v", got, err)
	}
	qualified := ownConfig(t, asClerk+"&search_path=empty")
	qualified.Mapping = changed(t, "-- needs: work(", "-- needs: public.work(", "-- index: work(", "-- index: public.work(", "FROM work", "FROM public.work", "FROM model", "FROM public.model")
	got, err = checked(t, qualified)
	if err != nil || len(got.Notes) != 0 || got.Queries[2] != (Rows{"open", 2}) {
		t.Errorf("a table with its schema: %+v, %v", got, err)
	}
	change(t, admin, "DROP SCHEMA empty CASCADE", "ALTER TABLE work SET SCHEMA engine", "DROP INDEX engine.b")
	_, err = checked(t, ownConfig(t, asClerk))
	if want := "table work: ERROR: relation \"work\" does not exist (SQLSTATE 42P01); there is one in schema engine"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a schema that the user may not use: %v; expected %s", err, want)
	}
	qualified.Database = ownConfig(t, s.address).Database
	qualified.Mapping = changed(t, "-- needs: work(", "-- needs: engine.work(", "-- index: work(", "-- index: engine.work(", "FROM work", "FROM engine.work")
	_, err = checked(t, qualified)
	if err == nil || !strings.Contains(err.Error(), "table engine.work has no index that begins with gone") {
		t.Errorf("an index of a table with its schema: %v", err)
	}
}

// Graphile Worker enables row level security for its tables itself, without a policy.
func TestTheJobsOfGraphileWorkerAreNotHidden(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	reader := s.reader()
	e := newNode(t, "graphile", s.address)
	for _, add := range []string{"mail", "post", `bill {"in":3600000}`} {
		e.Do("add " + add)
	}
	config := func() Config { return newConfig(t, reader, "graphile-worker") }
	_, err := checked(t, config())
	if !errors.Is(err, errFiltered) || !strings.Contains(err.Error(), `table graphile_worker._private_jobs: ERROR: query would be affected by row-level security policy`) {
		t.Errorf("the check: %v; expected the table", err)
	}
	change(t, s.open("pgx", s.address), "ALTER ROLE "+s.role+" BYPASSRLS")
	got, err := checked(t, config())
	if want := []Rows{{"definitions", 3}, {"open", 2}, {"why", 2}}; err != nil || !cmp.Equal(want, got.Queries) {
		t.Fatalf("the check: %+v, %v; expected %v", got, err, want)
	}
	w := newWatch(t)
	w.run(config())
	w.until(w.tokens(2))
	change(t, s.open("pgx", s.address), "ALTER ROLE "+s.role+" NOBYPASSRLS")
	w.until(w.fails)
	w.until(w.tokens(2))
}

// stuckTokens is how many tokens of an instance of stuck.bpmn wait at last: one each at approve,
// wait, payment, charge, call, ship, first, pack and the join, three at review, and that of the
// called process.
const stuckTokens = 13

// Row level security of one of Camunda's tables does not end what its instances wait for.
func TestTheInstancesOfCamundaAreNotHidden(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e := newEngine(t, "camunda7", s.driver, "audit")
	reader := s.reader()
	e.Do("deploy child.bpmn stuck.bpmn")
	e.Do("start stuck 1")
	w := newWatch(t)
	w.run(newConfig(t, reader, "camunda7"))
	w.until(w.tokens(stuckTokens))
	if got, err := checked(t, newConfig(t, reader, "camunda7")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check of a user that sees all rows: %+v, %v", got, err)
	}
	change(t, s.open("pgx", s.address), "ALTER TABLE ACT_RU_EXECUTION ENABLE ROW LEVEL SECURITY")
	w.until(w.fails)
	w.until(w.tokens(stuckTokens))
	if _, err := checked(t, newConfig(t, reader, "camunda7")); !errors.Is(err, errFiltered) || !strings.Contains(err.Error(), `table ACT_RU_EXECUTION: ERROR: query would be affected by row-level security policy for table "act_ru_execution"`) {
		t.Errorf("the check: %v; expected the table", err)
	}
}
