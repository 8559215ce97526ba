// SPDX-License-Identifier: Apache-2.0

// Command orders is a small engine that publishes its tokens to pnagent:
//
//	go run . nats://127.0.0.1:4222 ../orders.pnml shop-go [SECONDS]
//
// Five orders came in SECONDS ago (0 by default); two are shipped, three are
// stuck. Ctrl-C ends it with a bye.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New("usage: orders URL NET.PNML SOURCE [SECONDS]")
	}
	var ago float64
	if len(args) > 3 {
		var err error
		if ago, err = strconv.ParseFloat(args[3], 64); err != nil {
			return err
		}
	}
	src, err := telemetry.Attach(telemetry.Attachment{URL: args[0], File: args[1], Source: args[2]})
	if err != nil {
		return err
	}
	err = work(src, time.Now().Add(-time.Duration(ago*float64(time.Second))).UnixMicro())
	if err == nil {
		<-ctx.Done()
	}
	bye, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, src.Close(bye))
}

// work is the engine: five orders arrive, two of them are shipped.
func work(src *telemetry.Source, came int64) error {
	inbox, err1 := src.Place("inbox")
	shipped, err2 := src.Place("shipped")
	ship, err3 := src.Transition("ship")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	rec := src.Recorder()
	rec.Inject(inbox, 5, came)
	for range 2 {
		now := time.Now().UnixMicro()
		rec.Take(inbox, 1, came, now)
		rec.Inject(shipped, 1, now)
		rec.Fire(ship, now)
	}
	return nil
}
