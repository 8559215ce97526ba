// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/scrape"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/telemetry/natsmetrics"
)

// Looks implements attach.Adapter.
func (*Command) Looks() []attach.Look { return nil }

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	return []attach.Row{
		{"has a Prometheus endpoint, and must not be touched", "[scrape](scrape.md)", "a mapping file, or one that is shipped: RabbitMQ, Temporal, Camunda 8 and 7", "tokens and rates, where available as metrics", "which instance is stuck and why; exact ages where there is only a count"},
	}
}

// Run scrapes until ctx ends, or does what is asked of mappings.
func (c *flags) Run(ctx context.Context, in io.Reader, out io.Writer, log *slog.Logger) error {
	switch {
	case c.List:
		return scrape.Mappings.List(out)
	case c.Print != "":
		return scrape.Mappings.Print(out, c.Print)
	case c.Check != "":
		return c.check(ctx, in, out)
	case c.Mapping == "" || len(c.Targets) == 0 || c.NATS.URL == "":
		return cli.Usage(errors.New("attach scrape: expected --nats, --mapping and at least one URL to scrape; or --list, --print or --check"))
	}
	return c.attach(ctx, log)
}

// check prints what a mapping makes of a scrape; without one it only reads the
// mapping.
func (c *flags) check(ctx context.Context, in io.Reader, out io.Writer) error {
	m, err := scrape.Mappings.Load(c.Check)
	if err != nil {
		return err
	}
	switch {
	case c.From == "":
		_, err = fmt.Fprintf(out, "%s: nothing wrong with it; --from shows what it makes of a scrape\n", c.Check)
		return err
	case c.From == "-":
		return scrape.Explain(out, m, in, time.Now())
	case strings.Contains(c.From, "://"):
		target, err := c.target(c.From)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, c.timeout())
		defer cancel()
		return scrape.ExplainURL(ctx, out, m, target.Client, c.From)
	}
	f, err := os.Open(c.From)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer f.Close()
	return scrape.Explain(out, m, f, time.Now())
}

func (c *flags) timeout() time.Duration {
	if c.Timeout != 0 {
		return c.Timeout
	}
	return min(c.Interval, 10*time.Second)
}

// target returns a target of a URL, without its name.
func (c *flags) target(text string) (scrape.Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return scrape.Target{}, cli.Usage(fmt.Errorf("%w; expected http://HOST:PORT/metrics", cli.WithoutURL(err)))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return scrape.Target{}, cli.Usage(fmt.Errorf("%s; expected http://HOST:PORT/metrics or https://HOST:PORT/metrics", u.Redacted()))
	}
	client, err := cli.HTTPClient(c.HTTPConfig)
	return scrape.Target{URL: text, Source: u.Host, Client: client}, err
}

// targets returns all targets with their names.
func (c *flags) targets() ([]scrape.Target, error) {
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

func (c *flags) attach(ctx context.Context, log *slog.Logger) error {
	m, err := scrape.Mappings.Load(c.Mapping)
	if err != nil {
		return err
	}
	targets, err := c.targets()
	if err != nil {
		return err
	}
	link, subjects, err := c.NATS.Connect("pnagent attach scrape", log, cli.WithoutBuffer())
	if err != nil {
		return err
	}
	defer link.Close()
	registry := cli.Registry(natsmetrics.Of(link))
	log.Info("attached", "mapping", m.Name, "targets", len(targets))
	err = c.Web.Beside(ctx, log, registry, func(ctx context.Context) error {
		return scrape.Run(ctx, scrape.Config{Conn: link.Conn, Subjects: subjects, Mapping: m, Targets: targets,
			Interval: c.Interval, Timeout: c.timeout(), Log: log, Registry: registry})
	})
	return cli.UsageIf(err, scrape.ErrConfig)
}
