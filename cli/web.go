// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pnagent/pnagent/internal/httpserver"
)

// Web are flags that say where an adapter or an engine serves its own metrics.
type Web struct {
	Listen string   `name:"web.listen-address" placeholder:"ADDR" help:"TCP address for /metrics of this process, such as 127.0.0.1:9798."`
	Hosts  []string `name:"web.allowed-hosts" placeholder:"NAME" help:"${allowed_hosts}"`
	Config string   `name:"web.config.file" type:"path" placeholder:"FILE" help:"exporter-toolkit web configuration for /metrics: TLS and basic authentication."`
}

// Beside calls run, and serves the metrics of the registry until run returns. If
// they cannot be served, run's context ends.
func (f *Web) Beside(ctx context.Context, log *slog.Logger, registry *prometheus.Registry, run func(context.Context) error) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- f.Serve(running, cancel, log, registry) }()
	Notify(log, Ready)
	err := run(running)
	Notify(log, Stopping)
	cancel()
	return errors.Join(err, <-served)
}

// Serve serves the metrics of this process until ctx ends, if a flag has an address. It calls cancel when
// it ends, so that the rest ends too.
func (f *Web) Serve(ctx context.Context, cancel func(), log *slog.Logger, registry *prometheus.Registry) error {
	if f.Listen == "" {
		return nil
	}
	defer cancel()
	server := f.Server(f.Config, f.Listen, log)
	registry.MustRegister(httpserver.Metrics(server))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return server.ListenAndServe(ctx, f.Listen, mux)
}

// Server returns a server for an address; config is the file of its TLS and authentication.
func (f *Web) Server(config, address string, log *slog.Logger) *httpserver.Server {
	return httpserver.New(httpserver.Config{WebConfig: config, Hosts: f.Hosts, Address: address, Log: log})
}

// Registry returns a registry with these collectors.
func Registry(shown ...prometheus.Collector) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(shown...)
	return r
}

// States of a process, for systemd.
const (
	Ready     = daemon.SdNotifyReady
	Reloading = daemon.SdNotifyReloading
	Stopping  = daemon.SdNotifyStopping
)

// Notify notifies systemd, if it requested that.
func Notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("notifying systemd", "state", state, "err", err)
	}
}
