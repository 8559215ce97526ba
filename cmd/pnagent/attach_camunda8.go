// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/camunda8"
	"github.com/pnagent/pnagent/telemetry"
)

type attachCamunda8Cmd struct {
	pollFlags `embed:""`
	Overlap   time.Duration `default:"2m" help:"Maximum delay of the data of one partition behind another; each poll reads the element instances of this time again."`

	URL        string   `name:"url" placeholder:"URL" help:"Address of the Orchestration Cluster REST API, such as http://127.0.0.1:8080. Version 8.8 or later."`
	HTTPConfig string   `name:"http.config.file" type:"path" placeholder:"FILE" help:"YAML file with HTTP client settings, in promtool's format: basic_auth, oauth2, authorization, tls_config, proxy_url."`
	Nets       []string `name:"net" placeholder:"ID" help:"Ids of the processes to publish, comma-separated. Default: all."`
	Show       []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (assignees, correlation keys, messages of errors, names of workers). Default: none."`
	Tokens     int      `name:"max-tokens" default:"1000000" help:"Maximum number of tokens to keep; others are counted as left out."`
	Check      bool     `help:"Check that the API answers each search, and exit."`
}

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
		case errors.Is(err, camunda8.ErrConfig):
			return usageError{err}
		case err == nil && len(absent) > 0:
			_, err = fmt.Fprintf(s.out, "The API of version %s answers; it does not have %s\n", version, strings.Join(absent, ", "))
		case err == nil:
			_, err = fmt.Fprintf(s.out, "The API of version %s answers each search\n", version)
		}
		return err
	}
	cfg := camunda8.Config{Address: c.URL, Client: client, Nets: c.Nets, Detail: len(c.Show) > 0, Tokens: c.Tokens,
		State: c.State, Interval: c.Interval, Timeout: c.Timeout, Overlap: c.Overlap, Log: log}
	return c.poll(ctx, "camunda8", log, func(conn *nats.Conn, subjects telemetry.Subjects, source string) (poller, error) {
		cfg.Conn, cfg.Subjects, cfg.Source = conn, subjects, source
		a, err := camunda8.New(cfg)
		if errors.Is(err, camunda8.ErrConfig) {
			err = usageError{err}
		}
		if err != nil {
			return poller{}, err
		}
		return poller{run: a.Run, metrics: camunda8.Metrics(a.Status)}, nil
	})
}
