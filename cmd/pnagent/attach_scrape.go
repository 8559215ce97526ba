// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pnagent/pnagent/attach/scrape"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// Run scrapes until ctx ends, or does what is asked of mappings.
func (c *attachScrapeCmd) Run(ctx context.Context, s streams, log *slog.Logger) error {
	switch {
	case c.List:
		return listMappings(s.out, scrape.Shipped, func(m *scrape.Mapping) (string, string) { return m.Name, m.About })
	case c.Print != "":
		return printMapping(s.out, c.Print, scrape.Source)
	case c.Check != "":
		return c.check(ctx, s)
	case c.Mapping == "" || len(c.Targets) == 0 || c.NATS.URL == "":
		return usageError{errors.New("attach scrape: expected --nats, --mapping and at least one URL to scrape; or --list, --print or --check")}
	}
	return c.attach(ctx, log)
}

// check prints what a mapping makes of a scrape; without one it only reads the
// mapping.
func (c *attachScrapeCmd) check(ctx context.Context, s streams) error {
	m, err := scrape.Load(c.Check)
	if err != nil {
		return err
	}
	switch {
	case c.From == "":
		_, err = fmt.Fprintf(s.out, "%s: nothing wrong with it; --from shows what it makes of a scrape\n", c.Check)
		return err
	case c.From == "-":
		return scrape.Explain(s.out, m, s.in, time.Now())
	case strings.Contains(c.From, "://"):
		target, err := c.target(c.From)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, c.timeout())
		defer cancel()
		return scrape.ExplainURL(ctx, s.out, m, target.Client, c.From)
	}
	f, err := os.Open(c.From)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer f.Close()
	return scrape.Explain(s.out, m, f, time.Now())
}

func (c *attachScrapeCmd) timeout() time.Duration {
	if c.Timeout != 0 {
		return c.Timeout
	}
	return min(c.Interval, 10*time.Second)
}

// target returns a target of a URL, without its name.
func (c *attachScrapeCmd) target(text string) (scrape.Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return scrape.Target{}, usageError{fmt.Errorf("%w; expected http://HOST:PORT/metrics", withoutURL(err))}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return scrape.Target{}, usageError{fmt.Errorf("%s; expected http://HOST:PORT/metrics or https://HOST:PORT/metrics", u.Redacted())}
	}
	client, err := httpClient(c.HTTPConfig)
	return scrape.Target{URL: text, Source: u.Host, Client: client}, err
}

// targets returns all targets with their names.
func (c *attachScrapeCmd) targets() ([]scrape.Target, error) {
	var all []scrape.Target
	for _, text := range c.Targets {
		t, err := c.target(text)
		if err != nil {
			return nil, err
		}
		switch {
		case c.Source != "" && len(c.Targets) == 1:
			t.Source = c.Source
		case c.Source != "":
			t.Source = c.Source + "-" + t.Source
		}
		all = append(all, t)
	}
	return all, nil
}

func (c *attachScrapeCmd) attach(ctx context.Context, log *slog.Logger) error {
	m, err := scrape.Load(c.Mapping)
	if err != nil {
		return err
	}
	targets, err := c.targets()
	if err != nil {
		return err
	}
	link, subjects, err := c.NATS.connect("pnagent attach scrape", log, withoutBuffer)
	if err != nil {
		return err
	}
	defer link.Close()
	registry := registryOf(natsmetrics.Of(link))
	log.Info("attached", "mapping", m.Name, "targets", len(targets))
	err = c.Web.beside(ctx, log, registry, func(ctx context.Context) error {
		return scrape.Run(ctx, scrape.Config{Conn: link.Conn, Subjects: subjects, Mapping: m, Targets: targets,
			Interval: c.Interval, Timeout: c.timeout(), Log: log, Registry: registry})
	})
	return usageIf(err, scrape.ErrConfig)
}
