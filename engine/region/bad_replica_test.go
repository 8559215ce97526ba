// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/internal/natstest"
)

// misread is a log from which some readers get an invalid commit, as from a
// replica that differs from the others.
type misread struct {
	region.Log
	wrong   bool
	doubted *atomic.Int32
}

func (l misread) Doubt() { l.doubted.Add(1) }

func (l misread) Follow(ctx context.Context, from uint64, each func(journal.Commit) error) error {
	return l.Log.Follow(ctx, from, func(c journal.Commit) error {
		if l.wrong && c.Sequence > 2 {
			c.Payload = []byte{0, 9, 9}
		}
		return each(c)
	})
}

// If one replica of a log differs from the others, the part does not fail: it
// reads another replica. If all replicas have the fault, the log is damaged.
//
//promise:damage damage
func TestOneBadReplicaIsNotTakenForADamagedLog(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		for _, c := range []struct {
			bad  int32 // sessions that read the invalid commit
			ends bool
		}{{1, false}, {3, false}, {1000, true}} {
			w := newWorld(t, 3, 5)
			one := w.member("x", "one")
			until(t, "x plays", func() bool { return w.logs.Open("one", nil).Last() > 2 })
			one()
			var opened, doubted atomic.Int32
			cfg := w.base
			cfg.Conn, cfg.Engine.Source, cfg.Parts = natstest.Connect(t, w.nats), "y", cfg.Parts[1:]
			cfg.Open = func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
				log, err := w.open(ctx, part, create, keep)
				return misread{log, part == "one" && opened.Add(1) <= c.bad, &doubted}, err
			}
			m, err := region.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- m.Run(ctx) }()
			if c.ends {
				err := <-ended
				if !errors.Is(err, engine.ErrJournal) && !strings.Contains(err.Error(), "one") || opened.Load() < 5 {
					t.Errorf("after %d sessions: %v; want a damaged log after 5", opened.Load(), err)
				}
			} else {
				until(t, "y has read what region one wrote", func() bool { // to count begins a log, which y must do here
					return w.logs.Open("two", nil).Last() > 0 && w.count().Parts["two"].Cursors[0].Position > 2
				})
			}
			stop()
			if got, want := doubted.Load(), 2*min(c.bad, 5); got != want { // in each session, the part's own log and the upstream log
				t.Errorf("%d bad sessions: logs were doubted %d times; want %d", c.bad, got, want)
			}
			if c.ends {
				continue
			}
			if err := <-ended; err != nil {
				t.Errorf("%d bad sessions: the member ends with %v", c.bad, err)
			}
		}
	})
}
