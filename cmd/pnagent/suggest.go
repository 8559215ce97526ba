// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/archive"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
)

type alarmsSuggestCmd struct {
	Prometheus string        `required:"" placeholder:"URL" help:"URL of the Prometheus that scrapes the sidecars."`
	HTTPConfig string        `name:"prometheus.config.file" type:"path" placeholder:"FILE" help:"YAML file with HTTP client settings for --prometheus, in promtool's format: basic_auth, authorization, tls_config, proxy_url."`
	Matchers   string        `name:"prometheus.matchers" placeholder:"MATCHERS" help:"Matchers of the series of one sidecar, such as job=\"pnagent\"."`
	Since      time.Duration `default:"7d" placeholder:"DURATION" help:"How much of the past to learn from, such as 6h or 14d. A shorter one also shows transitions that fire more often."`
	Net        string        `placeholder:"ID" help:"The only net."`
}

// leastFirings is how many firings the past must have.
const leastFirings = 11

// Run prints a file of rules for what fires regularly.
func (c *alarmsSuggestCmd) Run(ctx context.Context, s streams) error {
	if c.Since < time.Hour || c.Since > 400*24*time.Hour {
		return cli.Usage(fmt.Errorf("--since: %s; expected a duration from 1h to 400d, such as 6h or 7d", c.Since))
	}
	at := apiFlags{URL: c.Prometheus, HTTPConfig: c.HTTPConfig}
	client, err := at.clientOf("prometheus", "prometheus.config.file")
	if err != nil {
		return err
	}
	past, err := archive.New(archive.Config{URL: at.URL, HTTP: client, Matchers: c.Matchers})
	if err != nil {
		return cli.Usage(fmt.Errorf("--prometheus.matchers: %w", err))
	}
	to := time.Now()
	all, step, err := past.Firings(ctx, c.Net, to.Add(-c.Since), to, leastFirings)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# What fired regularly from %s to %s, by samples %s apart. Keep what is meant to.\n", to.Add(-c.Since).UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), step)
	out.WriteString("overrides:\n")
	return c.write(&out, all, step, s)
}

// write writes the rules, and how many transitions have none.
func (c *alarmsSuggestCmd) write(out *bytes.Buffer, all []archive.Firings, step time.Duration, s streams) error {
	irregular := 0
	for _, f := range all {
		l, regular := alarm.Learn(f.Times)
		if !regular || l.Shortest < 3*step { // firings between two samples are not seen
			irregular++
			continue
		}
		fmt.Fprintln(out, l.Override(f.Net, f.Transition))
	}
	if irregular == len(all) {
		out.Truncate(out.Len() - 1)
		out.WriteString(" []\n")
	}
	fmt.Fprintf(out, "# Transitions that fired %d times or more, and not regularly or more often than each %s: %d\n", leastFirings, 3*step, irregular)
	_, err := s.out.Write(out.Bytes())
	return err
}
