// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pnagent/pnagent/internal/httpserver"
)

// attachCmd are the ways to attach to an existing engine.
type attachCmd struct {
	Lines    attachLinesCmd    `cmd:"" help:"Follow the log lines of an engine, one event a line, and replay them on the net."`
	Scrape   attachScrapeCmd   `cmd:"" help:"Scrape the Prometheus metrics of an engine, and publish the state of its nets."`
	Dipen    attachDipenCmd    `cmd:"" help:"Read the state of DiPeN in etcd, read-only, and publish where its tokens are."`
	SQL      attachSQLCmd      `cmd:"" name:"sql" help:"Read the tables of a workflow engine, read-only, and publish where each instance waits, since when and why."`
	Temporal attachTemporalCmd `cmd:"" help:"Poll a Temporal server, read-only, and publish where each workflow waits, since when and why."`
	Camunda8 attachCamunda8Cmd `cmd:"" name:"camunda8" help:"Poll the REST API of Camunda 8, read-only, and publish where each instance waits, since when and why."`
}

// ownWebFlags say where an adapter or an engine serves its own metrics.
type ownWebFlags struct {
	Listen string   `name:"web.listen-address" placeholder:"ADDR" help:"TCP address for /metrics of this process, such as 127.0.0.1:9798."`
	Hosts  []string `name:"web.allowed-hosts" placeholder:"NAME" help:"${allowed_hosts}"`
	Config string   `name:"web.config.file" type:"path" placeholder:"FILE" help:"exporter-toolkit web configuration for /metrics: TLS and basic authentication."`
}

// beside calls run, and serves the metrics of the registry until run returns. If
// they cannot be served, run's context ends.
func (f *ownWebFlags) beside(ctx context.Context, log *slog.Logger, registry *prometheus.Registry, run func(context.Context) error) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- f.serve(running, cancel, log, registry) }()
	notify(log, notifyReady)
	err := run(running)
	notify(log, notifyStopping)
	cancel()
	return errors.Join(err, <-served)
}

// serve serves the metrics of this process until ctx ends. It calls cancel when
// it ends, so that the rest ends too.
func (f *ownWebFlags) serve(ctx context.Context, cancel func(), log *slog.Logger, registry *prometheus.Registry) error {
	if f.Listen == "" {
		return nil
	}
	defer cancel()
	server := f.server(f.Config, f.Listen, log)
	registry.MustRegister(httpserver.Metrics(server))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return server.ListenAndServe(ctx, f.Listen, mux)
}

// server returns a server for an address.
func (f *ownWebFlags) server(config, address string, log *slog.Logger) *httpserver.Server {
	return httpserver.New(httpserver.Config{WebConfig: config, Hosts: f.Hosts, Address: address, Log: log})
}

// registryOf returns a registry with these collectors.
func registryOf(shown ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(shown...)
	return r
}
