// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/camunda8"
	"github.com/pnagent/pnagent/telemetry"
)

// Run polls until ctx ends, or checks what the API answers.
func (c *attachCamunda8Cmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	if c.URL == "" || c.NATS.URL == "" && !c.Check {
		return usageError{errors.New("attach camunda8: expected --nats and --url, or --url and --check")}
	}
	client, err := httpClient(c.HTTPConfig)
	if err != nil {
		return err
	}
	if c.Check {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		version, absent, err := camunda8.Check(ctx, c.URL, client)
		switch {
		case err == nil && len(absent) > 0:
			_, err = fmt.Fprintf(s.out, "The API of version %s answers; it does not have %s\n", version, strings.Join(absent, ", "))
		case err == nil:
			_, err = fmt.Fprintf(s.out, "The API of version %s answers each search\n", version)
		}
		return usageIf(err, camunda8.ErrConfig)
	}
	cfg := camunda8.Config{Address: c.URL, Client: client, Nets: c.Nets, Detail: len(c.Show) > 0, Tokens: c.Tokens,
		State: c.State, Interval: c.Interval, Timeout: c.Timeout, Overlap: c.Overlap, Log: log}
	return c.poll(ctx, "camunda8", log, func(conn *nats.Conn, subjects telemetry.Subjects, source string) (poller, error) {
		cfg.Conn, cfg.Subjects, cfg.Source = conn, subjects, source
		a, err := camunda8.New(cfg)
		if err != nil {
			return poller{}, usageIf(err, camunda8.ErrConfig)
		}
		return poller{run: a.Run, metrics: camunda8.Metrics(a.Status)}, nil
	})
}
