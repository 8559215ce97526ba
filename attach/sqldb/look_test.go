// SPDX-License-Identifier: Apache-2.0

package sqldb_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/sqldb/command"
)

const queue = `-- mapping: queue
-- about: a queue of jobs
-- task: job
-- command: incident: queue retry {token}
-- query: probe
SELECT '1' AS version
-- query: flow
SELECT 0 AS flow
-- query: definitions
SELECT 'mail' AS definition, 'mail' AS net, 1 AS version, NULL AS name
-- query: open
SELECT id AS token, 'mail' AS definition, 'job' AS activity, id AS instance, since, NULL AS label FROM jobs LIMIT :limit
-- query: why
SELECT id AS token, 'job' AS activity, reason, until, what, NULL AS detail FROM jobs LIMIT :limit
`

// lookAt runs the command with --once at a database with a failed job, a delayed one, and twelve that wait.
func lookAt(t *testing.T, asJSON bool) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("2006-01-02 15:04:05") }
	if _, err := db.Exec("CREATE TABLE jobs (id TEXT, since TEXT, reason TEXT, until TEXT, what TEXT); INSERT INTO jobs VALUES ('1', ?, 'incident', NULL, 'failed'), ('2', ?, 'delayed', '2099-01-02 03:04:05', 'failed, try 1')",
		at(-2*time.Hour), at(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 21) INSERT INTO jobs SELECT i, ?, 'enabled', NULL, 'no worker' FROM n", at(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	var c command.Command
	c.SQL.Mapping, c.SQL.DSN, c.SQL.Zone = write("queue.sql", queue), write("dsn", "sqlite:"+filepath.Join(dir, "jobs.db")), "UTC"
	c.SQL.Interval, c.SQL.Timeout, c.SQL.Once, c.SQL.JSON = time.Second, 10*time.Second, true, asJSON
	var out bytes.Buffer
	if err := c.SQL.Run(t.Context(), &out, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestALookPrintsTheOldestTokensOfEachPlace(t *testing.T) {
	want := `^NET   PLACE   TOKENS  INSTANCE  AGE     REASON    WAITS FOR
mail  job/in  14      1         2h0m[0-9]s  incident  failed
mail  job/in  14      2         1h0m[0-9]s  delayed   failed, try 1, until 2099-01-02T03:04:05Z
(mail  job/in  14      1[0-7]        1m[0-9]s    enabled   no worker
){8}$`
	if got := lookAt(t, false); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("printed:\n%s", got)
	}
}

func TestALookAsJSONHasTheCommandsOfTheEngine(t *testing.T) {
	var got []ledger.Standing
	if err := json.Unmarshal([]byte(lookAt(t, true)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Tokens != 14 || len(got[0].Oldest) != 10 {
		t.Fatalf("found %+v", got)
	}
	first := got[0].Oldest[0]
	age := time.Duration(got[0].At-first.Injected) * time.Microsecond
	if first.Instance != "1" || age < 2*time.Hour || age > 2*time.Hour+10*time.Second || first.Waits[0].Command != "queue retry 1" {
		t.Errorf("the oldest is %+v, %v old", first, age)
	}
}
