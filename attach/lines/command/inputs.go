// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/attach/lines"
	"github.com/pnagent/pnagent/cli"
)

// input is one input: run takes what comes until it has ended or ctx has.
type input struct {
	run  func(ctx context.Context) error
	name string        // of what can lose something on the way to us
	lost func() uint64 // how many messages were; nil for none
}

type inputs []input

// run runs all inputs until they have ended, or one has failed. That ctx has ended is no error.
func (in inputs) run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	for _, one := range in {
		group.Go(func() error { return one.run(running) })
	}
	err := group.Wait()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil
	}
	return err
}

// lost returns, by name, the number of lost messages of each input that counts them.
func (in inputs) lost() map[string]func() uint64 {
	out := map[string]func() uint64{}
	for _, one := range in {
		if one.lost != nil {
			out[one.name] = one.lost
		}
	}
	return out
}

// inputs opens the inputs that the flags ask for; standard input if they ask for none.
func (c *flags) inputs(a *lines.Attachment, nc *nats.Conn, stdin io.Reader, log *slog.Logger) (in inputs, err error) {
	for _, path := range c.Follow {
		what := lines.Follow{Path: path, End: c.From == "end", Poll: c.Poll}
		in = append(in, input{run: func(ctx context.Context) error { return a.Follow(ctx, what) }})
	}
	for _, path := range c.XES {
		in = append(in, input{run: func(ctx context.Context) error { return a.TakeXES(ctx, path) }})
	}
	for _, path := range c.OCEL {
		in = append(in, input{run: func(ctx context.Context) error { return a.TakeOCEL(ctx, path, c.Object) }})
	}
	if c.Subject != "" {
		one, err := c.subject(a, nc)
		if err != nil {
			return nil, err
		}
		in = append(in, one)
	}
	if c.UDP != "" {
		conn, err := lines.ListenUDP(c.UDP)
		if err != nil {
			return nil, err
		}
		log.Info("receiving datagrams", "udp", conn.LocalAddr().String())
		in = append(in, input{name: "udp", run: func(ctx context.Context) error { return a.Datagrams(ctx, conn) },
			lost: func() uint64 { return lines.DatagramsLost(conn) }})
	}
	if c.HTTP != "" {
		one, err := c.post(a, log)
		if err != nil {
			return nil, err
		}
		in = append(in, one)
	}
	if c.Stdin || len(in) == 0 {
		in = append(in, input{run: func(ctx context.Context) error { return c.stdin(ctx, a, stdin) }})
	}
	return in, nil
}

func (c *flags) subject(a *lines.Attachment, nc *nats.Conn) (input, error) {
	if nc == nil {
		return input{}, cli.Usage(errors.New("--nats.subject needs --nats"))
	}
	run, lost, err := a.Subject(nc, c.Subject)
	return input{name: "nats", run: run, lost: lost}, err
}

func (c *flags) post(a *lines.Attachment, log *slog.Logger) (input, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", c.HTTP)
	if err != nil {
		return input{}, fmt.Errorf("listening for events: %w", err)
	}
	log.Info("receiving HTTP posts", "http", l.Addr().String())
	server := c.Web.Server("", c.HTTP, log)
	mux := http.NewServeMux()
	mux.Handle("POST /events", a.Handler())
	mux.Handle("POST /state", a.StateHandler())
	return input{run: func(ctx context.Context) error { return server.Serve(ctx, l, mux) }}, nil
}

// stdin reads standard input till its end, or until ctx ends: the read that it is in then
// ends with the process.
func (c *flags) stdin(ctx context.Context, a *lines.Attachment, r io.Reader) error {
	ended := make(chan error, 1)
	go func() { ended <- a.Stream(ctx, r) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
