// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// timesMapping reads both types of time that MariaDB has.
const timesMapping = `-- mapping: times
-- query: probe
SELECT SLEEP(20) AS version
-- query: definitions
SELECT 'd' AS definition, 'p' AS net, 1 AS version, NULL AS name
-- query: model
SELECT NULL AS model WHERE :definition = 'd'
-- query: open
SELECT CONCAT(id, ' stamp ', stamp > :now) AS token, 'd' AS definition, 'x' AS activity, 'i' AS instance, stamp AS since, NULL AS label FROM times
UNION ALL
SELECT CONCAT(id, ' date ', date > :now), 'd', 'x', 'i', date, NULL FROM times LIMIT :limit
-- query: why
SELECT NULL AS token, NULL AS activity, NULL AS reason, NULL AS until, NULL AS what, NULL AS detail FROM times LIMIT :limit
-- query: started
SELECT id, stamp AS at, 'd' AS definition, 'x' AS activity FROM times WHERE stamp >= :since AND :after = :after LIMIT :limit
-- query: ended
SELECT id, stamp AS at, 'd' AS definition, 'x' AS activity, 1 AS millis, 0 AS canceled FROM times WHERE stamp >= :since AND :after = :after LIMIT :limit
`

// mariaDB connects to a server as an engine does.
func mariaDB(t *testing.T, s *server, params map[string]string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User = "pn"
	cfg.Net = "tcp"
	cfg.Addr = "127.0.0.1:" + s.port
	cfg.DBName = s.database
	cfg.Params = params
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestTimesOfMariaDBAreThoseThatTheEngineWrote writes local times of Berlin into columns of
// both types, as an engine does whose process is there, and reads them again.
func TestTimesOfMariaDBAreThoseThatTheEngineWrote(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MariaDB")
	}
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	m := mapping(t, timesMapping)
	winter, summer := time.Date(2025, 1, 15, 12, 0, 0, 0, zone), time.Date(2025, 7, 15, 12, 0, 0, 0, zone)
	now := winter.Add(time.Minute).UnixMicro()
	for server, s := range map[string]*server{"UTC": newMariaDB(t), "Europe/Berlin": startMariaDB(t, "Europe/Berlin")} {
		for session, suffix := range map[string]string{"": "", "'+00:00'": "?time_zone=%2B00:00"} {
			rule := fmt.Sprintf("server %s, sessions %q", server, session)
			params := map[string]string{}
			if session != "" {
				params["time_zone"] = session
			}
			db := mariaDB(t, s, params)
			db.SetMaxOpenConns(1)
			change(t, db, "CREATE OR REPLACE TABLE times (id VARCHAR(9), stamp TIMESTAMP(3) NULL, date DATETIME(3))")
			for id, at := range map[string]time.Time{"winter": winter, "summer": summer} {
				local := at.Format("'2006-01-02 15:04:05.000'")
				change(t, db, "INSERT INTO times VALUES ('"+id+"', "+local+", "+local+")")
			}
			got := map[string]string{}
			err := open(t, s.address+suffix, time.Minute).read(t.Context(), func(tx *transaction) error {
				return tx.each(t.Context(), m, "open", map[string]any{"now": param(now, zone), "limit": 9}, func(row []any) error {
					at, ok := asTime(row[4], zone)
					got[asText(row[0])] = fmt.Sprint(time.UnixMicro(at).UTC().Format(time.RFC3339), ok)
					return nil
				})
			})
			if err != nil {
				t.Fatal(rule, err)
			}
			want := map[string]string{"winter stamp 0": "2025-01-15T11:00:00Ztrue", "winter date 0": "2025-01-15T11:00:00Ztrue",
				"summer stamp 1": "2025-07-15T10:00:00Ztrue", "summer date 1": "2025-07-15T10:00:00Ztrue"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(rule, diff)
			}
		}
	}
}

// TestAStatementThatTakesTooLongEnds asks servers to sleep; the context has no end.
func TestAStatementThatTakesTooLongEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and MariaDB")
	}
	t.Parallel()
	for name, c := range map[string]struct {
		start func(*testing.T) *server
		sleep string
	}{"PostgreSQL": {newPostgres, "1 FROM pg_sleep(20)"}, "MariaDB": {newMariaDB, "SLEEP(20)"}} {
		t.Run(name, func(t *testing.T) {
			begin, address := time.Now(), c.start(t).address
			err := open(t, address, 200*time.Millisecond).read(t.Context(), func(tx *transaction) error {
				begin = time.Now()
				var n int
				return tx.QueryRowContext(t.Context(), "SELECT "+c.sleep).Scan(&n)
			})
			if took := time.Since(begin); err == nil || took > 10*time.Second {
				t.Errorf("after %v: %v; expected that the server ends the statement", took, err)
			}
		})
	}
}

// TestATransactionOfAServerSeesOneState does the same with PostgreSQL and MariaDB.
func TestATransactionOfAServerSeesOneState(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and MariaDB")
	}
	t.Parallel()
	t.Run("PostgreSQL", func(t *testing.T) {
		address := newPostgres(t).address
		seesOneState(t, postgresDB(t, address), address)
	})
	t.Run("MariaDB", func(t *testing.T) {
		s := newMariaDB(t)
		seesOneState(t, mariaDB(t, s, nil), s.address)
	})
}

func postgresDB(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// newPgBouncer starts PgBouncer, which pools transactions of a server, or skips the test.
func newPgBouncer(t *testing.T, s *server) (address string) {
	t.Helper()
	program, dir, port := enginetest.Program(t, "pgbouncer"), s.dir, porttest.Port(t)
	file := dir + "/pgbouncer-" + s.database + ".ini"
	text := "[databases]\n" + s.database + " = host=127.0.0.1 port=" + s.port + " user=pn\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " + port +
		"\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, file)
	cmd.SysProcAttr, cmd.Dir = s.as, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address = "postgres://pn@127.0.0.1:" + port + "/" + s.database + "?sslmode=disable"
	db := postgresDB(t, address)
	until(t, func() string {
		if err := db.Ping(); err != nil {
			return "PgBouncer does not start: " + err.Error()
		}
		return ""
	})
	return address
}

// TestPgBouncerBetween reads by connections that alternate from transaction to transaction.
func TestPgBouncerBetween(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	address := newPgBouncer(t, s)
	change(t, postgresDB(t, s.address), "CREATE TABLE work (id TEXT PRIMARY KEY, node TEXT, came TIMESTAMP, gone TIMESTAMP)", "CREATE INDEX a ON work(came)",
		"CREATE INDEX b ON work(gone)", "CREATE TABLE model (text TEXT)", "INSERT INTO work VALUES ('a', 'desk', '"+at(time.Hour)+"', NULL)")
	cfg := ownConfig(t, address)
	if _, err := Probe(t.Context(), cfg.Database, cfg.Mapping); err != nil {
		t.Fatal(err)
	}
	poll := func() error {
		return cfg.Database.read(t.Context(), func(tx *transaction) error {
			rows := 0
			err := tx.each(t.Context(), cfg.Mapping, "open", map[string]any{"limit": 9}, func([]any) error {
				rows++
				return nil
			})
			if err == nil && rows != 1 {
				err = fmt.Errorf("%d rows; expected 1", rows)
			}
			return err
		})
	}
	if err := poll(); err != nil {
		t.Fatal(err)
	}
	// A transaction that is open holds that connection of the pool, so the next one gets another.
	err := open(t, address, time.Minute).read(t.Context(), func(tx *transaction) error {
		if err := poll(); err != nil {
			t.Error(err)
		}
		_, err := tx.ExecContext(t.Context(), "DELETE FROM work")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a statement that writes: %v; expected that the server refuses it", err)
	}
}
