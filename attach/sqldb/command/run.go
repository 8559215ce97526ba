// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/attach/internal/shipped"
	"github.com/pnagent/pnagent/attach/sqldb"
	"github.com/pnagent/pnagent/cli"
)

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	all, _ := sqldb.Shipped() // a test reads them all
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
		return shipped.List(out, sqldb.Shipped, func(m *sqldb.Mapping) (string, string) { return m.Name, m.About })
	case c.Print != "":
		return shipped.Print(out, c.Print, sqldb.Source)
	case c.Mapping == "" || c.DSN == "" || c.NATS.URL == "" && !c.Check:
		return cli.Usage(errors.New("attach sql: expected --nats, --mapping and --dsn-file; or --list, --print or --check"))
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	defer cfg.Database.Close() //nolint:errcheck // it only read
	if c.Check {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		return c.check(ctx, out, &cfg)
	}
	return c.Poll(ctx, "sql", log, func(p ledger.Polling) (poll.Adapter, error) {
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
	if cfg.Mapping, err = sqldb.Load(c.Mapping); err != nil {
		return cfg, err
	}
	address, err := os.ReadFile(c.DSN)
	if err != nil {
		return cfg, fmt.Errorf("reading the address of the database: %w", err)
	}
	if cfg.Database, err = sqldb.Open(strings.TrimSpace(string(address)), c.Timeout); errors.Is(err, sqldb.ErrConfig) {
		err = cli.Usage(fmt.Errorf("--dsn-file: %w", err))
	}
	return cfg, err
}
