// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

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

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/sqldb"
	"github.com/pnagent/pnagent/telemetry"
)

// Run polls until ctx ends, or does what is asked of mappings.
func (c *attachSQLCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	switch {
	case c.List:
		return listMappings(s.out, sqldb.Shipped, func(m *sqldb.Mapping) (string, string) { return m.Name, m.About })
	case c.Print != "":
		return printMapping(s.out, c.Print, sqldb.Source)
	case c.Mapping == "" || c.DSN == "" || c.NATS.URL == "" && !c.Check:
		return usageError{errors.New("attach sql: expected --nats, --mapping and --dsn-file; or --list, --print or --check")}
	}
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	defer cfg.Database.Close() //nolint:errcheck // it only read
	if c.Check {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		return c.check(ctx, s.out, &cfg)
	}
	return c.attach(ctx, cfg, log)
}

// check writes what the database has.
func (c *attachSQLCmd) check(ctx context.Context, out io.Writer, cfg *sqldb.Config) error {
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

func (c *attachSQLCmd) config(log *slog.Logger) (sqldb.Config, error) {
	cfg := sqldb.Config{Nets: c.Nets, ByVersion: c.ByVersion, State: c.State, Interval: c.Interval, Timeout: c.Timeout, Overlap: c.Overlap, Log: log}
	for _, what := range c.Show {
		cfg.Show.Label = cfg.Show.Label || what == "business-key"
		cfg.Show.Detail = cfg.Show.Detail || what == "detail"
	}
	var err error
	if cfg.Zone, err = time.LoadLocation(c.Zone); err != nil {
		return cfg, usageError{fmt.Errorf("--time.zone: %w", err)}
	}
	if cfg.Mapping, err = sqldb.Load(c.Mapping); err != nil {
		return cfg, err
	}
	address, err := os.ReadFile(c.DSN)
	if err != nil {
		return cfg, fmt.Errorf("reading the address of the database: %w", err)
	}
	if cfg.Database, err = sqldb.Open(strings.TrimSpace(string(address)), c.Timeout); errors.Is(err, sqldb.ErrConfig) {
		err = usageError{fmt.Errorf("--dsn-file: %w", err)}
	}
	return cfg, err
}

func (c *attachSQLCmd) attach(ctx context.Context, cfg sqldb.Config, log *slog.Logger) error {
	return c.poll(ctx, "sql", log, func(conn *nats.Conn, subjects telemetry.Subjects, source string) (poller, error) {
		cfg.Conn, cfg.Subjects, cfg.Source = conn, subjects, source
		a, err := sqldb.New(cfg)
		if err != nil {
			return poller{}, usageIf(err, sqldb.ErrConfig)
		}
		return poller{run: a.Run, metrics: sqldb.Metrics(a.Status)}, nil
	})
}
