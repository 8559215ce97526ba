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
