// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A check names the large tables that a query reads as a whole, and no other.
func TestACheckNamesTheLargeTablesThatAreReadAsAWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("starts databases")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		start                  func(*testing.T) *server
		open                   func(*testing.T, *server) *sql.DB
		series, table, analyze string
	}{
		"PostgreSQL": {newPostgres, func(t *testing.T, s *server) *sql.DB { return postgresDB(t, s.address) },
			"generate_series(1, 20000) AS s(i)", `"public"."work"`, "ANALYZE work"},
		"MariaDB": {newMariaDB, func(t *testing.T, s *server) *sql.DB { return mariaDB(t, s, nil) },
			"(SELECT seq AS i FROM seq_1_to_20000) s", "work", "ANALYZE TABLE work"},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.start(t)
			change(t, c.open(t, s), "CREATE TABLE model (text TEXT)", "INSERT INTO model VALUES ('<definitions/>')",
				"CREATE TABLE work (id VARCHAR(20), node VARCHAR(20), came TIMESTAMP NULL, gone TIMESTAMP NULL)", "CREATE INDEX c ON work (came)", "CREATE INDEX g ON work (gone)",
				"INSERT INTO work SELECT CONCAT('w', i), 'desk', TIMESTAMP '2026-01-02 03:04:05', TIMESTAMP '2026-01-02 03:04:06' FROM "+c.series, c.analyze)
			cfg := newConfig(t, s.address, "river")
			for _, m := range []struct {
				what, replace string
				want          []string
			}{
				{"an index serves", "gone IS NULL", nil},
				{"no index serves", "node <> 'desk'", []string{"open", "why"}},
			} {
				cfg.Mapping = changed(t, "gone IS NULL", m.replace)
				got, err := checked(t, cfg)
				if err != nil {
					t.Fatalf("%s: %v", m.what, err)
				}
				var scanned []string
				for _, note := range got.Notes {
					if query, of, found := strings.Cut(note, " reads all of the table "+c.table+", about "); found && strings.HasSuffix(of, " rows, each time") {
						scanned = append(scanned, strings.TrimPrefix(query, "the query "))
					}
				}
				if d := cmp.Diff(m.want, scanned); d != "" {
					t.Errorf("%s: %s (notes %q)", m.what, d, got.Notes)
				}
			}
		})
	}
}
