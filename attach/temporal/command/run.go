// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/attach/temporal"
	"github.com/pnagent/pnagent/cli"
)

// Looks implements attach.Adapter.
func (*Command) Looks() []attach.Look {
	return []attach.Look{{Engine: "Temporal", Command: "pnagent attach temporal --once --address HOST:7233"}}
}

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	return []attach.Row{
		{"is Temporal", "[temporal](temporal.md)", "access to its gRPC port", "which workflow is stuck, since when and why; arrivals, firings, dwell times", "the order in which the code of a workflow does things"},
	}
}

// Run polls until ctx ends.
func (c *flags) Run(ctx context.Context, out io.Writer, log *slog.Logger) error {
	if c.NATS.URL == "" && !c.Once {
		return cli.Usage(errors.New("attach temporal: expected --nats or --once"))
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
	return poll.Run(ctx, &c.Flags, "temporal", out, log, func(p ledger.Polling) (*temporal.Adapter, error) {
		return temporal.New(temporal.Config{Server: server, Namespaces: c.Namespaces, Nets: c.Nets, Questions: c.StackTraces, Detail: len(c.Show) > 0, Polling: p})
	})
}

// access returns how to reach the server.
func (c *flags) access() (temporal.Access, error) {
	a := temporal.Access{Address: c.Address, RPS: c.RPS, ListRPS: c.ListRPS, APIKey: os.Getenv("TEMPORAL_API_KEY")}
	if c.APIKey != "" {
		key, err := cli.Secret("the API key", c.APIKey)
		if err != nil {
			return a, err
		}
		a.APIKey = key
	}
	var err error
	a.TLS, err = c.TLS.Config("Temporal", a.APIKey != "")
	return a, err
}
