// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/temporal"
	"github.com/pnagent/pnagent/telemetry"
)

type attachTemporalCmd struct {
	pollFlags `embed:""`

	Address    string   `group:"Temporal" env:"TEMPORAL_ADDRESS" default:"127.0.0.1:7233" help:"gRPC address of the server's front end, HOST:PORT."`
	Namespaces []string `group:"Temporal" name:"namespace" env:"TEMPORAL_NAMESPACE" default:"default" help:"Namespaces, comma-separated. With several, the name of a net is NAMESPACE/TYPE."`
	TLS        bool     `group:"Temporal" name:"tls" help:"Use TLS. The flags below and an API key imply it."`
	CA         string   `group:"Temporal" name:"tls-ca" type:"path" placeholder:"FILE" help:"File with the certificate authorities of the server's certificate."`
	Cert       string   `group:"Temporal" name:"tls-cert" type:"path" placeholder:"FILE" help:"File with the client certificate."`
	Key        string   `group:"Temporal" name:"tls-key" type:"path" placeholder:"FILE" help:"File with the key of the client certificate."`
	ServerName string   `group:"Temporal" name:"tls-server-name" placeholder:"NAME" help:"Name that the server's certificate must have, instead of the address's."`
	APIKey     string   `group:"Temporal" name:"api-key-file" type:"path" placeholder:"FILE" help:"File with an API key. Without it, the key is that of the environment variable TEMPORAL_API_KEY, if set."`

	Nets        []string `name:"net" placeholder:"TYPE" help:"Workflow types to publish, comma-separated. Default: all."`
	RPS         float64  `name:"rps" default:"50" help:"The largest number of calls of the server a second."`
	ListRPS     float64  `name:"list-rps" default:"5" help:"Of these, the largest number of pages of lists a second. Temporal allows all clients 10 a second for each namespace and front end by default."`
	StackTraces float64  `default:"1" help:"For how many workflows a second their worker is asked what they wait for, if nothing is pending. 0 for none."`
	Show        []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (messages of failures, identities of workers). Default: none."`
}

// Run polls until ctx ends.
func (c *attachTemporalCmd) Run(ctx context.Context, log *slog.Logger) error {
	if c.NATS.URL == "" {
		return usageError{errors.New("attach temporal: expected --nats")}
	}
	access, err := c.access()
	if err != nil {
		return err
	}
	server, err := temporal.Dial(access)
	if err != nil {
		return usageError{err}
	}
	defer server.Close() //nolint:errcheck // it only read
	return c.poll(ctx, "temporal", log, func(conn *nats.Conn, subjects telemetry.Subjects, source string) (poller, error) {
		a, err := temporal.New(temporal.Config{Server: server, Namespaces: c.Namespaces, Nets: c.Nets, Questions: c.StackTraces, Detail: len(c.Show) > 0,
			State: c.State, Interval: c.Interval, Timeout: c.Timeout, Conn: conn, Subjects: subjects, Source: source, Log: log})
		if errors.Is(err, temporal.ErrConfig) {
			err = usageError{err}
		}
		if err != nil {
			return poller{}, err
		}
		return poller{run: a.Run, metrics: temporal.Metrics(a.Status)}, nil
	})
}

// access returns how to reach the server.
func (c *attachTemporalCmd) access() (temporal.Access, error) {
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
	if a.TLS, err = tlsConfig("Temporal", c.CA, c.Cert, c.Key); err == nil {
		a.TLS.ServerName = c.ServerName
	}
	return a, err
}
