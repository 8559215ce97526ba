// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/attach/temporal"
	"github.com/pnagent/pnagent/cli"
)

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	return []attach.Row{
		{"is Temporal", "[temporal](temporal.md)", "access to its gRPC port", "which workflow is stuck, since when and why; arrivals, firings, dwell times", "the order in which the code of a workflow does things"},
	}
}

// Run polls until ctx ends.
func (c *flags) Run(ctx context.Context, log *slog.Logger) error {
	if c.NATS.URL == "" {
		return cli.Usage(errors.New("attach temporal: expected --nats"))
	}
	access, err := c.access()
	if err != nil {
		return err
	}
	server, err := temporal.Dial(access)
	if err != nil {
		return cli.Usage(err)
	}
	defer server.Close() //nolint:errcheck // it only read
	return c.Poll(ctx, "temporal", log, func(p ledger.Polling) (poll.Adapter, error) {
		return temporal.New(temporal.Config{Server: server, Namespaces: c.Namespaces, Nets: c.Nets, Questions: c.StackTraces, Detail: len(c.Show) > 0, Polling: p})
	})
}

// access returns how to reach the server.
func (c *flags) access() (temporal.Access, error) {
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
	if a.TLS, err = cli.TLSConfig("Temporal", c.CA, c.Cert, c.Key); err == nil {
		a.TLS.ServerName = c.ServerName
	}
	return a, err
}
