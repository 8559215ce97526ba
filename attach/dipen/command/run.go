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
	"path"
	"strings"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/dipen"
	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// Looks implements attach.Adapter.
func (*Command) Looks() []attach.Look { return nil }

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	return []attach.Row{
		{"is DiPeN, with its state in etcd", "[dipen](dipen.md)", "read access to etcd", "tokens, in flight or not, ages, starts, finishes, cancels", "arcs and guards, unless there is a net file; firings that take no token"},
	}
}

// Run reads etcd and publishes until ctx ends.
func (c *flags) Run(ctx context.Context, in io.Reader, log *slog.Logger) error {
	if c.NATS.URL == "" || c.Prefix == "" {
		return cli.Usage(errors.New("attach dipen: expected --nats and --etcd.prefix"))
	}
	cfg, err := c.config(in, log)
	if err != nil {
		return err
	}
	link, subjects, err := c.NATS.Connect("pnagent attach dipen "+cfg.Source, log, cli.WithoutBuffer())
	if err != nil {
		return err
	}
	defer link.Close()
	cfg.Conn, cfg.Subjects = link.Conn, subjects
	registry := cli.Registry(natsmetrics.Of(link))
	cfg.Status = func(status func() dipen.Status) { registry.MustRegister(dipen.Metrics(status)) }
	err = c.Web.Beside(ctx, log, registry, func(ctx context.Context) error { return dipen.Run(ctx, cfg) })
	return cli.UsageIf(err, dipen.ErrConfig)
}

func (c *flags) config(in io.Reader, log *slog.Logger) (dipen.Config, error) {
	cfg := dipen.Config{Etcd: dipen.Etcd{Endpoints: c.Endpoints, User: c.User}, Prefix: c.Prefix, State: c.State,
		Limits: replica.DefaultLimits(), Interval: c.Interval, Log: log}
	cfg.Limits.Tokens = c.Tokens
	var err error
	cfg.Source, err = cli.SourceName("source", c.Source, "-dipen")
	if err != nil {
		return cfg, err
	}
	cfg.Net, err = c.net(in, log)
	if err != nil {
		return cfg, err
	}
	cfg.Etcd.TLS, err = cli.TLSConfig("etcd", c.CA, c.Cert, c.Key)
	if err != nil {
		return cfg, err
	}
	if (c.User == "") != (c.Password == "") {
		return cfg, cli.Usage(errors.New("--etcd.user and --etcd.password-file: expected both or none"))
	}
	if c.Password != "" {
		text, err := os.ReadFile(c.Password)
		if err != nil {
			return cfg, fmt.Errorf("reading the password for etcd: %w", err)
		}
		cfg.Etcd.Password = strings.TrimRight(string(text), "\r\n")
	}
	return cfg, nil
}

// net returns the net of the file, or one that has nothing but a name.
func (c *flags) net(in io.Reader, log *slog.Logger) (*petri.Net, error) {
	n := &petri.Net{ID: path.Base(strings.Trim(c.Prefix, "/"))}
	if c.File != "" {
		tables, err := cli.CompileNets([]string{c.File}, in, c.Limit, log)
		if err != nil {
			return nil, err
		}
		if len(tables) != 1 {
			return nil, fmt.Errorf("%s: %d nets; expected one", c.File, len(tables))
		}
		n = tables[0].Net
	}
	if c.Name != "" {
		n.ID = c.Name
	}
	if err := telemetry.CheckName(n.ID); err != nil {
		return nil, cli.Usage(fmt.Errorf("--net: %w", err))
	}
	return n, nil
}
