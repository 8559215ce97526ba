// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/cli"
	paper "github.com/pnagent/pnagent/dashboards/report"
)

// Bounds of --since.
const (
	shortestReport = time.Minute
	longestReport  = 400 * 24 * time.Hour
)

// Run writes the page.
func (c *reportCmd) Run(ctx context.Context, s streams) error {
	if c.Since < shortestReport || c.Since > longestReport {
		return cli.Usage(fmt.Errorf("--since: %s; expected a duration from 1m to 400d, such as 1h or 7d", c.Since))
	}
	o := paper.Options{Now: time.Now(), Since: c.Since, Net: c.Net, Progress: progressOn(s)}
	r, err := c.draw(ctx, o)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; no report was written")
	}
	if cli.IsUsage(err) {
		return err
	}
	if err != nil {
		return fmt.Errorf("reporting: %w", err)
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		return err
	}
	if err := s.write(c.Output, page.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if c.Output != "-" {
		fmt.Fprintf(s.err, "pnagent: %s written, %d kB\n", c.Output, page.Len()/1000)
	}
	return nil
}

// draw queries Prometheus if a flag names it, and the sidecar otherwise.
func (c *reportCmd) draw(ctx context.Context, o paper.Options) (*paper.Report, error) {
	from := c.apiFlags
	if c.Prometheus == "" {
		client, err := from.client()
		if err != nil {
			return nil, err
		}
		return paper.Sidecar{Client: client, Name: from.shown()}.Report(ctx, o)
	}
	from.URL = c.Prometheus
	client, err := from.clientOf("prometheus", "prometheus.config.file")
	if err != nil {
		return nil, err
	}
	return paper.Prometheus{URL: from.URL, Name: from.shown(), HTTP: client}.Report(ctx, o)
}

// progressOn says on standard error how far it is, every two seconds.
func progressOn(s streams) func(done, total int, what string) {
	last := time.Now()
	return func(done, total int, what string) {
		if time.Since(last) < 2*time.Second {
			return
		}
		last = time.Now()
		fmt.Fprintf(s.err, "pnagent: %d of %d: %s\n", done, total, what)
	}
}
