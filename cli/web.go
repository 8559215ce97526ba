// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/config"

	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/internal/samehost"
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

// HTTPClient returns the client that a file describes, or one without settings for "".
// It follows redirects within a server only: whatever the client is for, credentials and
// questions are for the server that the user named.
func HTTPClient(file string) (*http.Client, error) {
	if file == "" {
		return &http.Client{CheckRedirect: samehost.Redirect}, nil
	}
	cfg, _, err := config.LoadHTTPConfigFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	client, err := config.NewClientFromConfig(*cfg, "pnagent")
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if client.CheckRedirect == nil { // otherwise the file says follow_redirects: false
		client.CheckRedirect = samehost.Redirect
	}
	return client, nil
}

// WithoutURL returns the cause of an error of parsing a URL, which may hold a
// password.
func WithoutURL(err error) error {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return fmt.Errorf("invalid URL: %w", inner.Err)
	}
	return err
}
