// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/internal/natstest"
)

// A member does not own a part before all its upstream logs are open. It
// retries to open them.
func TestAPartIsNotPlayedWithoutAnUpstreamLog(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 3, 5)
		one := w.member("x", "one")
		until(t, "x plays", func() bool { return w.logs.Open("one", nil).Last() > 2 })
		one()
		var tried atomic.Int32
		cfg := w.base
		cfg.Conn, cfg.Engine.Source, cfg.Parts = natstest.Connect(t, w.nats), "y", cfg.Parts[1:]
		cfg.Open = func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
			if part == "one" && tried.Add(1) <= 2 {
				return nil, errors.New("away")
			}
			return w.open(ctx, part, create, keep)
		}
		run(t, cfg)
		until(t, "y has read what region one wrote", func() bool {
			parts := w.count().Parts["two"].Cursors
			return len(parts) == 1 && parts[0].Position > 2
		})
		if n := tried.Load(); n != 3 {
			t.Errorf("the log upstream was opened %d times; want 3", n)
		}
	})
}
