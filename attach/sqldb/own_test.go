// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

// ownMapping is a mapping for an engine with two tables, whose model is a BPMN file.
const ownMapping = `-- mapping: own
-- about: an engine with two tables
-- needs: work(id, node, came, gone)
-- index: work(came)
-- index: work(gone)

-- query: probe
SELECT '1' AS version

-- query: definitions
SELECT 'd' AS definition, 'p' AS net, 1 AS version, NULL AS name

-- query: model
SELECT text AS model FROM model WHERE :definition = 'd'

-- query: open
SELECT id AS token, 'd' AS definition, node AS activity, id AS instance, came AS since, NULL AS label FROM work WHERE gone IS NULL LIMIT :limit

-- query: why
SELECT id AS token, node AS activity, CASE WHEN came > :now THEN 'unknown' ELSE 'manual' END AS reason, NULL AS until, 'a clerk' AS what, 'Ann' AS detail
FROM work WHERE gone IS NULL LIMIT :limit

-- query: started
SELECT id, came AS at, 'd' AS definition, node AS activity FROM work
WHERE came >= :since AND (came > :since OR id > :after) ORDER BY came, id LIMIT :limit

-- query: ended
SELECT id, gone AS at, 'd' AS definition, node AS activity, 1 AS millis, 0 AS canceled FROM work
WHERE gone >= :since AND (gone > :since OR id > :after) ORDER BY gone, id LIMIT :limit
`

// ownDatabase returns a SQLite file with the tables of ownMapping, to write to, and its address.
func ownDatabase(t *testing.T) (*sql.DB, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	change(t, db, "PRAGMA journal_mode = WAL", "CREATE TABLE work (id TEXT PRIMARY KEY, node TEXT, came TEXT, gone TEXT)", "CREATE INDEX a ON work(came)",
		"CREATE INDEX b ON work(gone)", "CREATE TABLE model (text TEXT)",
		`INSERT INTO model VALUES ('<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><userTask id="desk"/></process></definitions>')`)
	return db, "sqlite:" + file
}

func change(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func ownConfig(t *testing.T, address string) Config {
	t.Helper()
	m, err := ReadMapping(strings.NewReader(ownMapping), "own.sql")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(address, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return Config{Database: d, Mapping: m}
}

func at(ago time.Duration) string {
	return time.Now().UTC().Add(-ago).Format("2006-01-02 15:04:05.000000")
}

func TestAMappingOfOnesOwnOnSQLite(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "INSERT INTO work VALUES ('old', 'desk', '"+at(time.Hour)+"', NULL)")
	w := newWatch(t)
	cfg := ownConfig(t, address)
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	shows := func(tokens int, c count) {
		t.Helper()
		w.until(func() string {
			got := w.counts("p")["desk"]
			if n := len(w.held()); n != tokens || got != c {
				return fmt.Sprintf("%d tokens and %+v; expected %d and %+v", n, got, tokens, c)
			}
			return ""
		})
	}
	shows(1, count{})
	w.mu.Lock()
	if ago := time.Now().UnixMilli() - w.held()[0].since; ago < 3_600_000 || ago > 3_660_000 {
		t.Errorf("the token is %d ms old; expected an hour", ago)
	}
	w.mu.Unlock()
	if diff := cmp.Diff(map[string]string{"desk desk manual": "a clerk"}, w.waits("p", "old")); diff != "" {
		t.Errorf("without Show, no detail is published: %s", diff)
	}
	change(t, db, "INSERT INTO work VALUES ('new', 'desk', '"+at(0)+"', NULL)", "UPDATE work SET gone = '"+at(0)+"' WHERE id = 'old'")
	shows(1, count{1, 1, 1})

	// What happens while the adapter does not run is counted after its restart, once.
	end()
	change(t, db, "UPDATE work SET gone = '"+at(0)+"' WHERE id = 'new'", "INSERT INTO work VALUES ('newer', 'desk', '"+at(0)+"', NULL)")
	cfg.Database = ownConfig(t, address).Database
	w.run(cfg)
	shows(1, count{2, 2, 2})
}

// What an engine does not store is absent: without started and ended, one that deletes what has ended, and without started,
// one that overwrites when an activity began.
//
//promise:unknown none
func TestFlowThatNoQueryReturnsIsAbsent(t *testing.T) {
	presence, flow, _ := strings.Cut(ownMapping, "-- query: started")
	started, ended, _ := strings.Cut(flow, "-- query: ended")
	started, ended = "-- query: started"+started, "-- query: ended"+ended
	if _, err := ReadMapping(strings.NewReader(presence+started), "own.sql"); err == nil || err.Error() != "own.sql:1:1: a query started without ended; expected both, ended alone, or neither" {
		t.Errorf("started without ended: %v", err)
	}
	for _, c := range []struct {
		queries string
		want    stats.Columns
	}{
		{"", 0},
		{ended, stats.ColDepartures | stats.ColFirings | stats.ColLastFiring},
		{started + ended, ledger.Flow},
	} {
		db, address := ownDatabase(t)
		change(t, db, "INSERT INTO work VALUES ('a', 'desk', '"+at(time.Hour)+"', NULL)")
		cfg := ownConfig(t, address)
		var err error
		cfg.Mapping, err = ReadMapping(strings.NewReader(presence+c.queries), "own.sql")
		if err != nil {
			t.Fatal(err)
		}
		w := newWatch(t)
		w.run(cfg)
		w.until(w.tokens(1))
		w.mu.Lock()
		if got := w.last["p"].Rows.Columns; got&(ledger.Flow|ledger.Instances) != c.want || got&stats.ColTokens == 0 {
			t.Errorf("columns %b; expected tokens, and of the flow %b", got, c.want)
		}
		w.mu.Unlock()
	}
}

// An instance of a mapping with one task is created when its token arrives, and ends with it.
func TestTheOnlyTaskOfADefinitionCountsTheInstances(t *testing.T) {
	db, address := ownDatabase(t)
	w := newWatch(t)
	cfg := ownConfig(t, address)
	cfg.Mapping = changed(t, "-- needs: work", "-- task: desk\n-- needs: work", "-- query: model\nSELECT text AS model FROM model WHERE :definition = 'd'", "", "0 AS canceled", "label AS canceled")
	change(t, db, "ALTER TABLE work ADD COLUMN label INTEGER DEFAULT 0")
	w.run(cfg)
	w.shows("p")
	change(t, db, "INSERT INTO work (id, node, came, gone, label) VALUES ('open', 'desk', '"+at(0)+"', NULL, 0), ('done', 'desk', '"+at(0)+"', '"+at(0)+"', 0), ('failed', 'desk', '"+at(0)+"', '"+at(0)+"', 1)")
	w.until(func() string {
		return cmp.Diff(map[string]count{"desk": {3, 2, 1}, "instances": {3, 1, 1}}, w.counts("p"))
	})
}

// The columns late and count of why say when a heartbeat is late, and how many tokens are missing.
func TestARowOfWhySaysWhenAHeartbeatIsLateAndHowManyAreMissing(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "ALTER TABLE work ADD COLUMN beat TEXT", "ALTER TABLE work ADD COLUMN late INTEGER", "ALTER TABLE work ADD COLUMN missing INTEGER")
	beat := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	for id, late := range map[string]string{"usual": "NULL", "within": "7200", "late": "3500"} {
		change(t, db, "INSERT INTO work (id, node, came, beat, late) VALUES ('"+id+"', 'desk', '"+at(time.Hour)+"', '"+beat.Format(time.DateTime)+"', "+late+")")
	}
	change(t, db, "INSERT INTO work (id, node, came, missing) VALUES ('waits', 'desk', '"+at(time.Hour)+"', 3)")
	w := newWatch(t)
	cfg := ownConfig(t, address)
	cfg.Mapping = changed(t, "ELSE 'manual' END AS reason", "WHEN missing > 0 THEN 'missing' ELSE 'manual' END AS reason", "'Ann' AS detail", "'Ann' AS detail, beat AS heartbeat, late, missing AS count")
	w.run(cfg)
	w.until(w.tokens(4))
	silent := "a clerk, no heartbeat since " + beat.Format(time.RFC3339)
	for id, want := range map[string]string{"usual": silent, "within": "a clerk", "late": silent} {
		reason := "manual"
		if want == silent {
			reason = "noWorker"
		}
		w.waitsFor("p", id, map[string]string{"desk desk " + reason: want})
	}
	w.waitsFor("p", "waits", map[string]string{"desk desk missing": "3"})
}

// Milliseconds since the Unix epoch are times in any zone.
func TestTimesMayBeMilliseconds(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "DROP TABLE work", "CREATE TABLE work (id TEXT PRIMARY KEY, node TEXT, came INTEGER, gone INTEGER)", "CREATE INDEX a ON work(came)", "CREATE INDEX b ON work(gone)")
	cfg := ownConfig(t, address)
	cfg.Mapping = changed(t, ":since ", ":since_ms ", "came > :now ", "came > :now_ms ", "1 AS millis", "came AS millis")
	cfg.Zone = time.FixedZone("", 7200)
	w := newWatch(t)
	w.run(cfg)
	w.shows("p")
	came := time.Now().UnixMilli()
	change(t, db, fmt.Sprintf("INSERT INTO work VALUES ('open', 'desk', %d, NULL), ('gone', 'desk', %d, %d)", came, came, came))
	w.until(func() string {
		if got := w.counts("p")["desk"]; got != (count{2, 1, 1}) {
			return fmt.Sprintf("%+v", got)
		}
		// A row that comes in the millisecond of a look has the time of the look, by the database's clock.
		near := cmp.Transformer("", func(h held) held {
			if h.since == came-1 {
				h.since = came
			}
			return h
		})
		return cmp.Diff([]held{{"p", "open", "desk", came}}, w.held(), cmp.AllowUnexported(held{}), near)
	})
	w.waitsFor("p", "open", map[string]string{"desk desk manual": "a clerk"})
	if got, err := checked(t, cfg); err != nil {
		t.Errorf("the check: %+v, %v", got, err)
	}
}

// TestAKilledAdapterCountsOnce uses the state file of a running adapter, as it was at
// any time, for another one.
//
//promise:counters kill
func TestAKilledAdapterCountsOnce(t *testing.T) {
	db, address := ownDatabase(t)
	w := newWatch(t)
	cfg := ownConfig(t, address)
	cfg.State = filepath.Join(t.TempDir(), "state")
	end := w.run(cfg)
	w.until(func() string {
		if w.net("p") == nil {
			return "no net"
		}
		return ""
	})
	change(t, db, "INSERT INTO work VALUES ('a', 'desk', '"+at(0)+"', NULL)")
	w.until(func() string {
		if c := w.counts("p")["desk"]; c != (count{Started: 1}) {
			return fmt.Sprintf("%+v", c)
		}
		return ""
	})
	text, err := os.ReadFile(cfg.State)
	if err != nil {
		t.Fatal(err)
	}
	end()
	if err := os.WriteFile(cfg.State, text, 0o600); err != nil {
		t.Fatal(err)
	}
	change(t, db, "INSERT INTO work VALUES ('b', 'desk', '"+at(0)+"', NULL)")
	cfg.Database = ownConfig(t, address).Database
	w.run(cfg)
	w.until(func() string {
		if c := w.counts("p")["desk"]; c != (count{Started: 2}) {
			return fmt.Sprintf("%+v; expected 2 arrivals", c)
		}
		return ""
	})
}

func TestProbeNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ rule, change, want string }{
		{"a table", "DROP TABLE work", "table work: "},
		{"a column", "ALTER TABLE work RENAME COLUMN node TO place", "column node of table work: "},
		{"an index", "DROP INDEX b", "table work has no index that begins with gone; a poll would read the whole table"},
	} {
		db, address := ownDatabase(t)
		change(t, db, c.change)
		cfg := ownConfig(t, address)
		_, err := Probe(t.Context(), cfg.Database, cfg.Mapping)
		if !errors.Is(err, ErrProbe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; expected %s", c.rule, err, c.want)
		}
	}
	_, address := ownDatabase(t)
	cfg := ownConfig(t, address)
	if version, err := Probe(t.Context(), cfg.Database, cfg.Mapping); err != nil || version != "1" {
		t.Errorf("a database that has everything: %q, %v", version, err)
	}
}

func TestAResultWithOtherColumnsIsRefusedByName(t *testing.T) {
	_, address := ownDatabase(t)
	cfg := ownConfig(t, address)
	m, err := ReadMapping(strings.NewReader(strings.Replace(ownMapping, "SELECT '1' AS version", "SELECT '1' AS v", 1)), "own.sql")
	if err != nil {
		t.Fatal(err)
	}
	err = cfg.Database.read(t.Context(), func(tx *transaction) error {
		return tx.each(t.Context(), m, "probe", nil, func([]any) error { return nil })
	})
	if want := "query probe: columns v; expected version"; err == nil || err.Error() != want {
		t.Errorf("%v; expected %s", err, want)
	}
}

func TestANodeThatIsNotInTheModelHasItsReason(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "INSERT INTO work VALUES ('a', 'elsewhere', '"+at(time.Minute)+"', NULL)")
	w := newWatch(t)
	w.run(ownConfig(t, address))
	w.until(func() string {
		if held := w.held(); len(held) != 1 || held[0].node != "elsewhere" {
			return fmt.Sprintf("tokens %v; expected one at elsewhere", held)
		}
		return ""
	})
	if diff := cmp.Diff(map[string]string{"elsewhere elsewhere manual": "a clerk"}, w.waits("p", "a")); diff != "" {
		t.Error(diff)
	}
}

func mapping(t *testing.T, text string) *Mapping {
	t.Helper()
	m, err := ReadMapping(strings.NewReader(text), "m.sql")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func open(t *testing.T, address string, limit time.Duration) *Database {
	t.Helper()
	d, err := Open(address, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestATransactionSeesOneState changes a table while a transaction reads it.
func TestATransactionSeesOneState(t *testing.T) {
	db, address := ownDatabase(t)
	seesOneState(t, db, address)
}

func seesOneState(t *testing.T, db *sql.DB, address string) {
	t.Helper()
	change(t, db, "CREATE TABLE counted (id INTEGER)", "INSERT INTO counted VALUES (1)")
	err := open(t, address, time.Minute).read(t.Context(), func(tx *transaction) error {
		for range 2 {
			var n int
			if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM counted").Scan(&n); err != nil {
				return err
			}
			if n != 1 {
				t.Errorf("%d rows; expected those of the first statement", n)
			}
			change(t, db, "INSERT INTO counted VALUES (2)")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestATokenWithoutATimeKeepsItsAgeOverARestart(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "INSERT INTO work VALUES ('a', 'desk', NULL, NULL)")
	w := newWatch(t)
	cfg := ownConfig(t, address)
	cfg.State = filepath.Join(t.TempDir(), "state")
	since := func() (at int64) {
		w.until(func() string {
			if held := w.held(); len(held) == 1 {
				at = held[0].since
				return ""
			}
			return "no token"
		})
		return at
	}
	end := w.run(cfg)
	first, before := since(), w.last["p"].Epoch
	end()
	const gap = 500 // milliseconds, far more than an estimate of the database's clock is off by
	time.Sleep(gap * time.Millisecond)
	cfg.Database = ownConfig(t, address).Database
	w.run(cfg)
	w.until(func() string {
		if w.last["p"].Epoch == before {
			return "the adapter does not publish again"
		}
		return ""
	})
	// Each run estimates again by how much the database's clock is ahead of the host's.
	if again := since(); max(again-first, first-again) > gap/2 {
		t.Errorf("seen first at %d; after a restart at %d", first, again)
	}
}

func TestHistoryThatTakesLongIsReadInFewerPolls(t *testing.T) {
	_, address := ownDatabase(t)
	a := adapter(t, ownConfig(t, address))
	poll := func() (flowAt int64) {
		if err := a.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		return a.flowAt
	}
	first := poll()
	a.flowTook = time.Hour
	if again := poll(); first == 0 || again != first {
		t.Errorf("the history was read at %d, and at %d, before ten hours were over", first, again)
	}
	a.flowTook = 0
	if again := poll(); again == first {
		t.Error("the history was not read again")
	}
}
