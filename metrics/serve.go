// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

// closing is how long running requests may take when the server stops.
const closing = 5 * time.Second

// ListenAndServe serves handler at a TCP address, as Serve does.
func ListenAndServe(ctx context.Context, address, webConfig string, handler http.Handler, log *slog.Logger) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return Serve(ctx, l, webConfig, handler, log)
}

// Serve serves handler at l until ctx ends, and closes l. webConfig is
// exporter-toolkit's web configuration file (TLS, basic authentication), read
// again when it changes; "" serves plain HTTP. When ctx ends, running requests
// have five seconds to finish. Serve returns nil after ctx ended, and else the
// error that ended it.
func Serve(ctx context.Context, l net.Listener, webConfig string, handler http.Handler, log *slog.Logger) error {
	defer func() { _ = l.Close() }() // Serve of net/http may have closed it
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	stopped := make(chan error, 1)
	unregister := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err := server.Shutdown(grace)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		stopped <- err
	})
	err := web.Serve(l, server, &web.FlagConfig{WebConfigFile: &webConfig}, log)
	if unregister() { // it ended by itself
		return fmt.Errorf("serve HTTP at %v: %w", l.Addr(), err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("stop serving HTTP at %v: %w", l.Addr(), err)
	}
	return nil
}
