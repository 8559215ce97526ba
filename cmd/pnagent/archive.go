// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"

	"github.com/pnagent/pnagent/archive"
	"github.com/pnagent/pnagent/cli"
)

// archiveFlags say which Prometheus has what is older than the last hour.
type archiveFlags struct {
	URL        string `name:"prometheus" placeholder:"URL" help:"URL of the Prometheus that scrapes this sidecar. The live page and the API then show older moments than the last hour from it."`
	HTTPConfig string `name:"prometheus.config.file" type:"path" placeholder:"FILE" help:"YAML file with HTTP client settings for --web.prometheus, in promtool's format: basic_auth, authorization, tls_config, proxy_url."`
	Matchers   string `name:"prometheus.matchers" placeholder:"MATCHERS" help:"Matchers of the series of this sidecar at --web.prometheus, such as job=\"pnagent\",instance=\"host:9797\". Without them all sidecars that it scrapes count as one."`
}

// open returns the archive, or nil without one.
func (f *archiveFlags) open(log *slog.Logger) (*archive.Archive, error) {
	if f.URL == "" {
		return nil, nil
	}
	at := apiFlags{URL: f.URL, HTTPConfig: f.HTTPConfig}
	client, err := at.clientOf("--web.prometheus")
	if err != nil {
		return nil, err
	}
	a, err := archive.New(archive.Config{URL: at.URL, HTTP: client, Matchers: f.Matchers, Log: log})
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--web.prometheus.matchers: %w", err))
	}
	return a, nil
}
