// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/x/term"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/sidecar/doctor"
)

// Run looks at the sidecar and its surroundings, and prints what it finds.
func (c *doctorCmd) Run(ctx context.Context, k *kong.Context, s streams) error {
	cfg, err := c.config(k, s)
	if err != nil {
		return err
	}
	var saw func(done, all int)
	if file, ok := raw(s.err).(*os.File); ok && term.IsTerminal(file.Fd()) {
		saw = func(done, all int) { fmt.Fprintf(file, "\r%d of %d checks\x1b[K", done, all) }
		defer fmt.Fprintln(file)
	}
	found := doctor.Run(ctx, cfg, saw)
	switch {
	case c.JSON:
		if err := doctor.PrintJSON(s.out, found); err != nil {
			return err
		}
	case c.FixHints:
		doctor.PrintHints(s.out, found)
	default:
		doctor.Print(s.out, found)
	}
	if code := doctor.Code(found); code != doctor.AllOK {
		return exitCode(code)
	}
	return nil
}

// config returns what the doctor looks at: what the flags of serve say, and how to reach it.
func (c *doctorCmd) config(k *kong.Context, s streams) (cfg doctor.Config, err error) {
	if c.JSON && c.FixHints {
		return cfg, cli.Usage(errors.New("--json and --fix-hints; expected one of them"))
	}
	if c.Within <= 0 {
		return cfg, cli.Usage(errors.New("--within: expected more than 0"))
	}
	quiet := slog.New(slog.DiscardHandler)
	cfg = doctor.Config{File: c.Serve.Config, UsersFile: c.Serve.Users, JetStream: c.JetStream, Within: c.Within, Matchers: c.Serve.Archive.Matchers, Given: map[string]bool{}}
	cfg.Sidecar, err = c.Serve.sidecar(s, quiet)
	if err != nil {
		return cfg, err
	}
	cfg.NATS = c.Serve.NATS
	for _, part := range k.Path { // of the command line, the environment and the file
		if part.Flag != nil {
			cfg.Given[part.Flag.Name] = true
		}
	}
	at := apiFlags{URL: cmp.Or(c.URL, c.Serve.Web), HTTPConfig: c.HTTPConfig}
	cfg.HTTP, err = at.clientOf("url", "http.config.file")
	if err != nil {
		return cfg, err
	}
	cfg.URL = at.URL
	if c.Serve.Archive.URL != "" {
		prom := apiFlags{URL: c.Serve.Archive.URL, HTTPConfig: c.Serve.Archive.HTTPConfig}
		cfg.Prometheus.HTTP, err = prom.clientOf("web.prometheus", "web.prometheus.config.file")
		if err != nil {
			return cfg, err
		}
		cfg.Prometheus = promquery.Server{URL: prom.URL, HTTP: cfg.Prometheus.HTTP, Timeout: c.Within}
	}
	cfg.Master = doctor.Manager{User: c.User, UsersFile: cmp.Or(c.UsersFile, c.Serve.Users), Snmpd: c.Snmpd, State: c.SnmpdState}
	if c.Serve.AgentX != "" {
		cfg.Master.Address = c.Address
	}
	if c.User == "" {
		cfg.Master.Community = cmp.Or(cfg.Sidecar.Community, defaultCommunity)
		if c.Community != "" {
			cfg.Master.Community, err = readCommunity(c.Community)
		}
	}
	return cfg, err
}
