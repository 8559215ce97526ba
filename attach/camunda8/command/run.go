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

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/camunda8"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/cli"
)

// Looks implements attach.Adapter.
func (*Command) Looks() []attach.Look {
	return []attach.Look{{Engine: "Camunda 8", Command: "pnagent attach camunda8 --once --url http://HOST:8080"}}
}

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	return []attach.Row{
		{"is Camunda 8", "[camunda8](camunda8.md)", "credentials that may search its REST API", "which instance is stuck, since when and why; arrivals, firings, dwell times", "tokens in a parallel join, whether a worker has a job, variables"},
	}
}

// Run polls until ctx ends, or checks what the API answers.
func (c *flags) Run(ctx context.Context, out io.Writer, log *slog.Logger) error {
	if c.URL == "" || c.NATS.URL == "" && !c.Check && !c.Once {
		return cli.Usage(errors.New("attach camunda8: expected --nats and --url, or --url and --check or --once"))
	}
	client, err := cli.HTTPClient(c.HTTPConfig)
	if err != nil {
		return err
	}
	if c.Check {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		version, absent, err := camunda8.Check(ctx, c.URL, client)
		switch {
		case err == nil && len(absent) > 0:
			_, err = fmt.Fprintf(out, "The API of version %s answers; it does not have %s\n", version, strings.Join(absent, ", "))
		case err == nil:
			_, err = fmt.Fprintf(out, "The API of version %s answers each search\n", version)
		}
		return cli.UsageIf(err, camunda8.ErrConfig)
	}
	return poll.Run(ctx, &c.Flags, "camunda8", out, log, func(p ledger.Polling) (*camunda8.Adapter, error) {
		return camunda8.New(camunda8.Config{Address: c.URL, Client: client, Nets: c.Nets, Detail: len(c.Show) > 0, Tokens: c.Tokens, Overlap: c.Overlap, Polling: p})
	})
}
