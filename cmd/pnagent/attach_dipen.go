// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"strings"

	"github.com/pnagent/pnagent/attach/dipen"
	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// Run reads etcd and publishes until ctx ends.
func (c *attachDipenCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if c.NATS.URL == "" || c.Prefix == "" {
		return usageError{errors.New("attach dipen: expected --nats and --etcd.prefix")}
	}
	cfg, err := c.config(s, log)
	if err != nil {
		return err
	}
	link, subjects, err := c.NATS.connect("pnagent attach dipen "+cfg.Source, log, withoutBuffer)
	if err != nil {
		return err
	}
	defer link.Close()
	cfg.Conn, cfg.Subjects = link.Conn, subjects
	registry := registryOf(natsmetrics.Of(link))
	cfg.Status = func(status func() dipen.Status) { registry.MustRegister(dipen.Metrics(status)) }
	err = c.Web.beside(ctx, log, registry, func(ctx context.Context) error { return dipen.Run(ctx, cfg) })
	return usageIf(err, dipen.ErrConfig)
}

func (c *attachDipenCmd) config(s streams, log *slog.Logger) (dipen.Config, error) {
	cfg := dipen.Config{Etcd: dipen.Etcd{Endpoints: c.Endpoints, User: c.User}, Prefix: c.Prefix, State: c.State,
		Limits: replica.DefaultLimits(), Interval: c.Interval, Log: log}
	cfg.Limits.Tokens = c.Tokens
	var err error
	if cfg.Source, err = sourceName("source", c.Source, "-dipen"); err != nil {
		return cfg, err
	}
	if cfg.Net, err = c.net(s, log); err != nil {
		return cfg, err
	}
	if cfg.Etcd.TLS, err = tlsConfig("etcd", c.CA, c.Cert, c.Key); err != nil {
		return cfg, err
	}
	if (c.User == "") != (c.Password == "") {
		return cfg, usageError{errors.New("--etcd.user and --etcd.password-file: expected both or none")}
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
func (c *attachDipenCmd) net(s streams, log *slog.Logger) (*petri.Net, error) {
	n := &petri.Net{ID: path.Base(strings.Trim(c.Prefix, "/"))}
	if c.File != "" {
		tables, err := compileNets([]string{c.File}, s, c.Limit, log)
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
		return nil, usageError{fmt.Errorf("--net: %w", err)}
	}
	return n, nil
}
