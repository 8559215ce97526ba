// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

const (
	// closing is how long running requests may take when the server stops.
	closing = 5 * time.Second
	// writeWithin is how long an answer may take from its request on. A handler of
	// longer answers, such as a stream, sets its own deadline.
	writeWithin = 30 * time.Second
)

// Config is the configuration of a Server.
type Config struct {
	// WebConfig is exporter-toolkit's web configuration file (TLS, basic
	// authentication), read again when it changes; "" serves plain HTTP.
	WebConfig string
	// Hosts are names, without port, by which clients reach the server, beside IP
	// addresses, localhost and the name of this machine. A request with another
	// name is refused if Hosts has an element, if the listener is at a loopback
	// address, or if a browser sent it to change something.
	Hosts []string
	// Address is that of the listener as the user gave it; a name in it is known too.
	Address string
	// Streams is the number of connections in all that may be open beside those of
	// short requests, and StreamsPerAddress that of one address.
	Streams, StreamsPerAddress int
	// Frame is the page that pages of other origins may have in a frame.
	Frame Frame

	Log *slog.Logger
}

// Server serves HTTP. Serve may be called once; Counters is safe for concurrent
// use.
type Server struct {
	cfg   Config
	hosts map[string]bool // in lower case, without port
	gate  *gate
	write time.Duration // writeWithin, which tests shorten

	refused refused
}

// New returns a Server.
func New(cfg Config) *Server {
	all, each := limits(cfg.Streams, cfg.StreamsPerAddress, descriptors())
	if all < cfg.Streams {
		cfg.Log.Warn("fewer HTTP connections than viewers, because of the limit of open files (RLIMIT_NOFILE)", "connections", all, "viewers", cfg.Streams)
	}
	return &Server{cfg: cfg, hosts: names(append(slices.Clone(cfg.Hosts), cfg.Address)), gate: newGate(all, each), write: writeWithin}
}

// ListenAndServe serves handler at a TCP address, as Serve does.
func (s *Server) ListenAndServe(ctx context.Context, address string, handler http.Handler) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return s.Serve(ctx, l, handler)
}

// Serve serves handler at l until ctx ends, and closes l. When ctx ends, running
// requests have five seconds to finish. Serve returns nil after ctx ended, and else
// the error that ended it.
func (s *Server) Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	defer func() { _ = l.Close() }() // Serve of net/http may have closed it
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      s.write,
		IdleTimeout:       2 * time.Minute,
		HTTP2:             &http.HTTP2Config{WriteByteTimeout: s.write},
		MaxHeaderBytes:    64 << 10,
		ConnState:         s.gate.changed,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn),
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
	// exporter-toolkit wraps server.Handler before it accepts a connection. The
	// protection wraps that in turn, so that it covers answers with status 401 too.
	protect := sync.OnceFunc(func() { server.Handler = s.protected(server.Handler, loopback(l.Addr())) })
	err := web.Serve(&listener{Listener: l, gate: s.gate, start: protect}, server, &web.FlagConfig{WebConfigFile: &s.cfg.WebConfig}, s.cfg.Log)
	if unregister() { // it ended by itself
		return fmt.Errorf("serve HTTP at %v: %w", l.Addr(), err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("stop serving HTTP at %v: %w", l.Addr(), err)
	}
	return nil
}

// loopback reports whether only programs on this machine reach an address.
func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
