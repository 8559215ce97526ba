// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/temporal"
	"github.com/pnagent/pnagent/telemetry"
)

// Run polls until ctx ends.
func (c *attachTemporalCmd) Run(ctx context.Context, log *slog.Logger) error {
	if c.NATS.URL == "" {
		return usageError{errors.New("attach temporal: expected --nats")}
	}
	access, err := c.access()
	if err != nil {
		return err
	}
	server, err := temporal.Dial(access)
	if err != nil {
		return usageError{err}
	}
	defer server.Close() //nolint:errcheck // it only read
	return c.poll(ctx, "temporal", log, func(conn *nats.Conn, subjects telemetry.Subjects, source string) (poller, error) {
		a, err := temporal.New(temporal.Config{Server: server, Namespaces: c.Namespaces, Nets: c.Nets, Questions: c.StackTraces, Detail: len(c.Show) > 0,
			State: c.State, Interval: c.Interval, Timeout: c.Timeout, Conn: conn, Subjects: subjects, Source: source, Log: log})
		if err != nil {
			return poller{}, usageIf(err, temporal.ErrConfig)
		}
		return poller{run: a.Run, metrics: temporal.Metrics(a.Status)}, nil
	})
}

// access returns how to reach the server.
func (c *attachTemporalCmd) access() (temporal.Access, error) {
	a := temporal.Access{Address: c.Address, RPS: c.RPS, ListRPS: c.ListRPS, APIKey: os.Getenv("TEMPORAL_API_KEY")}
	if c.APIKey != "" {
		text, err := os.ReadFile(c.APIKey)
		if err != nil {
			return a, fmt.Errorf("reading the API key: %w", err)
		}
		a.APIKey = strings.TrimSpace(string(text))
	}
	if !c.TLS && c.CA == "" && c.Cert == "" && c.Key == "" && c.ServerName == "" && a.APIKey == "" {
		return a, nil
	}
	var err error
	if a.TLS, err = tlsConfig("Temporal", c.CA, c.Cert, c.Key); err == nil {
		a.TLS.ServerName = c.ServerName
	}
	return a, err
}
