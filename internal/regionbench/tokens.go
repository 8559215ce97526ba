// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/internal/regiontest"
	"github.com/pnagent/pnagent/journal/stream"
	"github.com/pnagent/pnagent/region"
	"github.com/pnagent/pnagent/telemetry"
)

func logName(part string) string { return telemetry.DefaultPrefix + "/" + netID + "/" + part }

// conserves folds the logs of all regions, which nobody plays any more. Every
// token has to be in a place or between two regions, and the logs have to hold
// the firings that were told.
func (w *world) conserves(ctx context.Context, told uint64) error {
	cfg := region.Config{Parts: w.parts, Engine: engine.Config{Source: "count", Nets: []engine.Net{w.bound}, Instances: w.instances, Workers: 1}}
	cfg.Open = func(ctx context.Context, part string, keep func() uint64) (region.Log, error) {
		return stream.Open(ctx, stream.Config{Conn: w.conn, Name: logName(part), Keep: keep})
	}
	tally, err := regiontest.Count(ctx, &cfg)
	if err != nil {
		return fmt.Errorf("counting tokens: %w", err)
	}
	if want := uint64(w.tokens * w.instances); tally.Total() != want {
		return fmt.Errorf("%d tokens; want %d: %+v", tally.Total(), want, tally)
	}
	var firings uint64
	for _, n := range tally.Firings {
		firings += n
	}
	if firings < told {
		return fmt.Errorf("%d firings in the logs; %d were told", firings, told)
	}
	return nil
}
