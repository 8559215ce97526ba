// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // registers the driver

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// dialect is how databases of one kind differ.
type dialect struct {
	name     string
	numbers  bool   // parameters are $1, $2 …; otherwise each is ?
	texts    bool   // times are text
	begin    string // what a transaction begins with, with %d for the milliseconds that a statement may take
	clock    string // returns the present time in UTC
	indexes  string // returns a row for an index of a table, whose schema or "", name and first column are given
	explain  string // begins a statement that returns the plan of another one as JSON; "" if there is none
	estimate string // returns about how many rows a table has; "" if the plan says it

	schemas string // returns the schemas that have a table of a name, and whether it is read from there
}

var (
	postgres = dialect{name: "postgres", numbers: true, explain: "EXPLAIN (VERBOSE, FORMAT JSON) ", estimate: "SELECT reltuples FROM pg_class WHERE oid = to_regclass($1)", clock: "SELECT clock_timestamp() AT TIME ZONE 'UTC'",
		// Without row_security, PostgreSQL returns an error instead of leaving out rows. At each poll it would start workers
		// for queries of large tables, and compile them with jit, which it has from version 11 on: both take many times as long as
		// these queries run. All settings end with the transaction, so a PgBouncer may be between.
		begin: "SELECT set_config('statement_timeout', '%d', true), set_config('row_security', 'off', true), set_config('max_parallel_workers_per_gather', '0', true), " +
			"CASE WHEN current_setting('jit', true) IS NOT NULL THEN set_config('jit', 'off', true) END",
		indexes: `SELECT 1 FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
WHERE t.oid = to_regclass(ltrim($1 || '.' || $2, '.')) AND lower(a.attname) = lower($3) AND i.indisvalid LIMIT 1`,
		schemas: `SELECT n.nspname::text, c.oid IS NOT DISTINCT FROM to_regclass($1) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = lower($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT pg_is_other_temp_schema(n.oid) ORDER BY 1`}
	mariadb = dialect{name: "mysql", explain: "EXPLAIN FORMAT=JSON ", clock: "SELECT UTC_TIMESTAMP(6)",
		indexes: `SELECT 1 FROM information_schema.statistics WHERE table_schema = COALESCE(NULLIF(?, ''), DATABASE()) AND lower(table_name) = lower(?)
AND lower(column_name) = lower(?) AND seq_in_index = 1 LIMIT 1`}
	sqlite = dialect{name: "sqlite", texts: true, clock: "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
		indexes: `SELECT 1 FROM (SELECT COALESCE(NULLIF(?, ''), 'main') AS is_in) s, pragma_index_list(?, s.is_in) l, pragma_index_info(l.name, s.is_in) c WHERE c.seqno = 0 AND lower(c.name) = lower(?) LIMIT 1`}
)

// Database is the engine's database.
type Database struct {
	db    *sql.DB
	limit time.Duration // of a statement
	dialect
}

// ErrConfig is wrapped by errors about a Config or an address.
var ErrConfig = ledger.ErrConfig

// Open returns the database of an address, without connecting to it:
// postgres://USER:PASSWORD@HOST/NAME, mysql://USER:PASSWORD@HOST/NAME (also for
// MariaDB) or sqlite:FILE. A statement may take as long as limit. The error
// wraps ErrConfig and does not contain the password.
func Open(address string, limit time.Duration) (*Database, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	var d *Database
	var err error
	switch scheme {
	case "postgres", "postgresql":
		d, err = openPostgres(address)
	case "mysql", "mariadb":
		d, err = openMySQL(address, limit)
	case "sqlite":
		d, err = openSQLite(rest)
	default:
		err = errors.New("expected postgres://…, mysql://… or sqlite:FILE")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: address of the database: %w", ErrConfig, err)
	}
	d.limit = limit
	d.db.SetMaxOpenConns(1)
	return d, nil
}

// Close closes the connection.
func (d *Database) Close() error { return d.db.Close() }

// openPostgres sets nothing when it connects, and prepares nothing that outlives a
// transaction: a PgBouncer between may refuse the first, and lose the second.
func openPostgres(address string) (*Database, error) {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("expected postgres://USER:PASSWORD@HOST:PORT/NAME?sslmode=…") // the cause may contain the password
	}
	cfg.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	if set := cfg.RuntimeParams; set["application_name"] == "" {
		set["application_name"] = "pnagent"
	}
	return &Database{db: stdlib.OpenDB(*cfg), dialect: postgres}, nil
}

// zoneLetters are the letters of a time zone of MySQL.
const zoneLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/+-:"

// openMySQL leaves the session in the server's time zone, which is that of the engine's
// sessions unless it sets another one. So a TIMESTAMP comes back as the local time that the
// engine wrote, as a DATETIME does.
func openMySQL(address string, limit time.Duration) (*Database, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("expected mysql://USER:PASSWORD@HOST:PORT/NAME")
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = u.User.Username(), "tcp", u.Host, strings.Trim(u.Path, "/")
	cfg.Passwd, _ = u.User.Password()
	if u.Port() == "" {
		cfg.Addr = u.Hostname() + ":3306"
	}
	if mode := u.Query().Get("tls"); mode != "" {
		cfg.TLSConfig = mode
	}
	cfg.ParseTime, cfg.Loc, cfg.Timeout, cfg.Logger = true, time.UTC, limit, &mysql.NopLogger{} // errors are returned, too
	// The server ends a statement that takes too long, although the connection is closed.
	// Comments of a version bound it in MariaDB and in MySQL.
	cfg.Params = map[string]string{"autocommit": fmt.Sprintf("1 /*M!100101 , max_statement_time=%v */ /*!50708 , max_execution_time=%d */", limit.Seconds(), limit.Milliseconds())}
	if zone := u.Query().Get("time_zone"); zone != "" {
		if strings.Trim(zone, zoneLetters) != "" {
			return nil, fmt.Errorf("time_zone=%q; expected a zone of the server, such as Europe/Berlin", zone)
		}
		cfg.Params["time_zone"] = "'" + zone + "'"
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, errors.New("expected mysql://USER:PASSWORD@HOST:PORT/NAME?tls=true|skip-verify|preferred")
	}
	return &Database{db: sql.OpenDB(connector), dialect: mariadb}, nil
}

func openSQLite(path string) (*Database, error) {
	path = strings.TrimPrefix(path, "//")
	full, err := filepath.Abs(path)
	if path == "" || err != nil {
		return nil, errors.New("expected sqlite:FILE")
	}
	u := url.URL{Scheme: "file", Path: full, RawQuery: "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(2000)"}
	db, err := sql.Open("sqlite", u.String())
	return &Database{db: db, dialect: sqlite}, err
}

// text returns a query in the dialect, and its arguments in their order.
func (d *dialect) text(q *query, with map[string]any) (string, []any) {
	var b strings.Builder
	var args []any
	for i, part := range q.parts {
		b.WriteString(part)
		if i == len(q.params) {
			break
		}
		arg := with[q.params[i]]
		if t, is := arg.(time.Time); is && d.texts {
			arg = t.Format("2006-01-02 15:04:05.000000")
		}
		args = append(args, arg)
		if d.numbers {
			b.WriteString("$" + strconv.Itoa(len(args)))
		} else {
			b.WriteByte('?')
		}
	}
	return b.String(), args
}

// transaction reads one state of the database.
type transaction struct {
	*sql.Tx
	dialect
}

// read calls do with a transaction that cannot write. All its statements see one state of
// the database.
func (d *Database) read(ctx context.Context, do func(tx *transaction) error) error {
	return d.transact(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}, do)
}

func (d *Database) transact(ctx context.Context, options *sql.TxOptions, do func(tx *transaction) error) error {
	tx, err := d.db.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read, or failed, or was committed
	if d.begin != "" {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(d.begin, d.limit.Milliseconds())); err != nil {
			return fmt.Errorf("beginning a transaction: %w", err)
		}
	}
	if err := do(&transaction{tx, d.dialect}); err != nil || options.ReadOnly {
		return err
	}
	return tx.Commit()
}

// each runs a query of the mapping and calls take for every row, whose columns
// are in the order of the query's shape. take must not keep what the values point
// to.
func (t *transaction) each(ctx context.Context, m *Mapping, name string, with map[string]any, take func(row []any) error) error {
	text, args := t.text(m.queries[name], with)
	rows, err := t.QueryContext(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("query %s: %w", name, explained(err))
	}
	defer rows.Close() //nolint:errcheck // Err has the error
	pointers, row, err := columns(rows, shapes[name])
	if err != nil {
		return fmt.Errorf("query %s: %w", name, err)
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return fmt.Errorf("query %s: %w", name, err)
		}
		if err := take(row); err != nil {
			return fmt.Errorf("query %s: %w", name, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query %s: %w", name, explained(err))
	}
	return nil
}

// columns returns a row for each column that a query has or may have, and for each column of the result a
// pointer into it. A column that may be absent, and is, stays nil.
func columns(rows *sql.Rows, want shape) (pointers, row []any, err error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, nil, err
	}
	all, required := slices.Concat(want.columns, want.extra), 0
	row, pointers = make([]any, len(all)), make([]any, len(names))
	for i, name := range names {
		at := slices.Index(all, strings.ToLower(name))
		if at < 0 || slices.Contains(pointers, any(&row[at])) {
			required = -1
			break
		}
		pointers[i] = &row[at]
		if at < len(want.columns) {
			required++
		}
	}
	if required != len(want.columns) {
		return nil, nil, fmt.Errorf("columns %s; expected %s", strings.Join(names, ", "), strings.Join(all, ", "))
	}
	return pointers, row, nil
}

// now returns the database's clock in microseconds, and by how much it may be wrong.
func (t *transaction) now(ctx context.Context) (ahead, error) {
	before := time.Now()
	var v any
	if err := t.QueryRowContext(ctx, t.clock).Scan(&v); err != nil {
		return ahead{}, fmt.Errorf("asking for the time: %w", err)
	}
	took := time.Since(before)
	at, ok := asTime(v, time.UTC)
	if !ok {
		return ahead{}, fmt.Errorf("asking for the time: %v; expected a time", v)
	}
	return ahead{by: at - before.Add(took/2).UnixMicro(), within: took.Microseconds()/2 + 1}, nil
}

// ahead is by how many microseconds the database's clock is ahead of the host's.
type ahead struct{ by, within int64 }

// asTime returns a time without a zone in a zone, one with a zone, or one in milliseconds
// since the Unix epoch, in microseconds since then.
func asTime(v any, zone *time.Location) (int64, bool) {
	var t time.Time
	switch v := v.(type) {
	case time.Time:
		if v.Location() == time.Local { //nolint:gosmopolitan // pgx returns times with a zone in it
			return v.UnixMicro(), true
		}
		t = v
	case int64:
		return v * 1000, true
	case []byte:
		return asTime(string(v), zone)
	case string:
		var err error
		if t, err = time.Parse("2006-01-02 15:04:05.999999", v); err != nil {
			if t, err = time.Parse(time.RFC3339Nano, v); err != nil {
				return 0, false
			}
		}
	default:
		return 0, false
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone).UnixMicro(), true
}

// param returns a time as the parameter of a query: without a zone.
func param(micros int64, zone *time.Location) time.Time {
	t := time.UnixMicro(micros).In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// timed adds a time to the parameters of a query: as param has it, and in milliseconds since the
// Unix epoch.
func timed(with map[string]any, name string, micros int64, zone *time.Location) map[string]any {
	with[name], with[name+"_ms"] = param(micros, zone), micros/1000
	return with
}

// asText returns text, or "" for NULL.
func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// asNumber returns a whole number, or 0 for NULL and what is none.
func asNumber(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case int32:
		return int64(v)
	case float64:
		return int64(v)
	case bool:
		if v {
			return 1
		}
		return 0
	}
	n, _ := strconv.ParseInt(asText(v), 10, 64)
	return n
}
