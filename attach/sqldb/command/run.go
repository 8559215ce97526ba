// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/attach/sqldb"
	"github.com/pnagent/pnagent/cli"
)

// Looks implements attach.Adapter.
func (*Command) Looks() (looks []attach.Look) {
	all, _ := sqldb.Mappings.All() // a test reads them all
	for _, m := range all {
		looks = append(looks, attach.Look{Engine: m.About, Command: "pnagent attach sql --once --mapping " + m.Name + " --dsn-file FILE"})
	}
	return looks
}

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	all, _ := sqldb.Mappings.All() // a test reads them all
	engines := make([]string, len(all))
	for i, m := range all {
		engines[i], _, _ = strings.Cut(m.About, ", on ")
	}
	return []attach.Row{
		{"has its state in PostgreSQL, MySQL, MariaDB or SQLite, and is one of these: " + strings.Join(engines, "; "), "[sql](sql.md)", "a user that may read its tables", "which instance is stuck, since when and why; arrivals, firings, dwell times", "guards, variables, which flow a gateway took"},
	}
}

// Run polls until ctx ends, or does what is asked of mappings.
func (c *flags) Run(ctx context.Context, out io.Writer, log *slog.Logger) error {
	switch {
	case c.List:
		return sqldb.Mappings.List(out)
	case c.Print != "":
		return sqldb.Mappings.Print(out, c.Print)
	case c.Mapping == "" || c.DSN == "" || c.NATS.URL == "" && !c.Check && !c.Once:
		return cli.Usage(errors.New("attach sql: expected --nats, --mapping and --dsn-file; --mapping and --dsn-file with --check or --once; or --list or --print"))
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	defer cfg.Database.Close() //nolint:errcheck // it only read
	if cfg.Act != nil {
		defer cfg.Act.Close() //nolint:errcheck // what it did is committed
	}
	if c.Check {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		return c.check(ctx, out, &cfg)
	}
	return poll.Run(ctx, &c.Flags, "sql", out, log, func(p ledger.Polling) (*sqldb.Adapter, error) {
		cfg.Polling = p
		return sqldb.New(cfg)
	})
}

// check writes what the database has.
func (c *flags) check(ctx context.Context, out io.Writer, cfg *sqldb.Config) error {
	found, err := sqldb.Check(ctx, cfg.Database, cfg.Mapping, cfg.Zone, cfg.Overlap)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The database has what the mapping %s needs; version of its tables: %s\n", cfg.Mapping.Name, found.Version)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, q := range found.Queries {
		fmt.Fprintf(t, "%s\t%d rows\t\n", q.Query, q.Rows)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range found.Notes {
		fmt.Fprintf(out, "note: %s\n", note)
	}
	return nil
}

func (c *flags) config() (sqldb.Config, error) {
	cfg := sqldb.Config{Nets: c.Nets, ByVersion: c.ByVersion, Overlap: c.Overlap}
	for _, what := range c.Show {
		cfg.Show.Label = cfg.Show.Label || what == "business-key"
		cfg.Show.Detail = cfg.Show.Detail || what == "detail"
	}
	var err error
	if cfg.Zone, err = time.LoadLocation(c.Zone); err != nil {
		return cfg, cli.Usage(fmt.Errorf("--time.zone: %w", err))
	}
	cfg.Mapping, err = sqldb.Mappings.Load(c.Mapping)
	if err != nil {
		return cfg, err
	}
	cfg.Database, err = c.open("--dsn-file", c.DSN)
	if err != nil || c.Act == "" {
		return cfg, err
	}
	if c.Audit != "" {
		audit, err := act.OpenLog(c.Audit)
		if err != nil {
			return cfg, err
		}
		cfg.Audit = audit.Append
	}
	cfg.Act, err = c.open("--act-dsn-file", c.Act)
	return cfg, err
}

// open opens the database whose address is in the file of a flag.
func (c *flags) open(flag, file string) (*sqldb.Database, error) {
	address, err := cli.Secret("the address of the database", file)
	if err != nil {
		return nil, err
	}
	d, err := sqldb.Open(address, c.Timeout)
	if errors.Is(err, sqldb.ErrConfig) {
		err = cli.Usage(fmt.Errorf("%s: %w", flag, err))
	}
	return d, err
}
