// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/attach/lines"
)

// input is one input: run takes what comes until it has ended or ctx has, and
// close lets go of what was opened for it.
type input struct {
	run   func(ctx context.Context) error
	close func() error
}

type inputs []input

func (in inputs) close() error {
	var errs []error
	for _, one := range in {
		if one.close != nil {
			errs = append(errs, one.close())
		}
	}
	return errors.Join(errs...)
}

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
	return errors.Join(err, in.close())
}

// inputs opens the inputs that the flags ask for.
func (c *attachLinesCmd) inputs(a *lines.Attachment, nc *nats.Conn, s streams, log *slog.Logger) (in inputs, err error) {
	if c.Stdin || len(in) == 0 {
		in = append(in, input{run: func(ctx context.Context) error { return a.Stream(ctx, s.in) }})
	}
	return in, nil
}
