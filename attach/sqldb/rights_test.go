// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestTheUserOfAServerNeedsToReadAndCannotWrite runs the probe of ownMapping as a user without
// rights, and statements that write as one with all rights.
func TestTheUserOfAServerNeedsToReadAndCannotWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and MariaDB")
	}
	t.Parallel()
	for name, start := range map[string]func(*testing.T) *server{"PostgreSQL": newPostgres, "MariaDB": newMariaDB} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			kind, address, writes := "pgx", s.address, []string{"WITH x AS (DELETE FROM work RETURNING id) SELECT id AS version FROM x", "SELECT nextval('numbers') AS version"}
			if name == "MariaDB" {
				writes = []string{"SELECT written() AS version"}
				cfg := mysql.NewConfig()
				cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "pn", "tcp", "127.0.0.1:"+s.port, s.database
				kind, address = "mysql", cfg.FormatDSN()
			}
			db, err := sql.Open(kind, address)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			change(t, db, "CREATE TABLE work (id VARCHAR(9) PRIMARY KEY, node VARCHAR(9), came TIMESTAMP NULL, gone TIMESTAMP NULL)",
				"CREATE INDEX a ON work(came)", "CREATE INDEX b ON work(gone)")
			if name == "MariaDB" {
				change(t, db, "CREATE FUNCTION written() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM work; RETURN 1; END")
			} else {
				change(t, db, "CREATE SEQUENCE numbers")
			}
			own := ownConfig(t, s.address)
			if version, err := Probe(t.Context(), own.Database, own.Mapping); err != nil || version != "1" {
				t.Errorf("a database that has everything: %q, %v", version, err)
			}
			for _, statement := range writes {
				m, err := ReadMapping(strings.NewReader(strings.Replace(ownMapping, "SELECT '1' AS version", statement, 1)), "own.sql")
				if err != nil {
					t.Fatal(err)
				}
				_, err = Probe(t.Context(), own.Database, m)
				if err == nil || !strings.Contains(strings.ReplaceAll(strings.ToLower(err.Error()), "-", " "), "read only") {
					t.Errorf("%s: %v; expected that the database refuses it", statement, err)
				}
			}
			if name == "PostgreSQL" {
				change(t, db, "CREATE ROLE "+s.role+" LOGIN PASSWORD 'secret'", "GRANT SELECT (id, node, came) ON work TO "+s.role)
				d, err := Open(strings.Replace(s.address, "pn@", s.role+":secret@", 1), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				_, err = Probe(t.Context(), d, ownConfig(t, s.address).Mapping)
				if err == nil || !strings.Contains(err.Error(), "permission denied for table work") {
					t.Errorf("a column that the user may not read: %v", err)
				}
			}
		})
	}
}

// TestAQueryHasNoCompilerAndNoWorkers has a server that compiles each query and starts workers for it, as others do with large
// tables.
func TestAQueryHasNoCompilerAndNoWorkers(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	for _, setting := range []string{"jit_above_cost", "parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"} {
		change(t, s.open("pgx", s.address), "ALTER DATABASE "+s.database+" SET "+setting+" = 0")
	}
	own := ownConfig(t, s.address)
	const explain, jit, workers = "EXPLAIN (ANALYZE, FORMAT JSON) SELECT SUM(LENGTH(relname)) FROM pg_class", `"JIT"`, `"Workers Launched"`
	if plan := s.word("pgx", explain); !strings.Contains(plan, jit) || !strings.Contains(plan, workers) {
		t.Skip("this PostgreSQL has no compiler: ", plan)
	}
	err := own.Database.read(t.Context(), func(tx *transaction) error {
		var plan string
		err := tx.QueryRowContext(t.Context(), explain).Scan(&plan)
		if strings.Contains(plan, jit) || strings.Contains(plan, workers) {
			t.Errorf("%s; expected neither a compiler nor workers", plan)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
