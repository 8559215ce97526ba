// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Two processes hand a region back and forth: no View shows less than an earlier
// one, and in the end everything that was counted is there.
func TestARegionIsHandedOverWithItsTokensAndCounters(t *testing.T) {
	nc := connect(t, startServer(t))
	net := lineNet("n", 1, 1)
	c, _ := run(t, Config{Conn: nc})
	var firings atomic.Uint64 // what is in the log
	firings.Store(10)
	own := func(source string, fence uint64) *telemetry.Publisher {
		p, err := telemetry.Start(telemetry.Config{
			Conn: nc, Source: source, Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
			Nets: []telemetry.SourceNet{{ID: "n", PNML: writePNML(t, net), Places: 1, Transitions: 1, Region: "north", Fence: fence, Since: t0}},
			Rows: func(_ int, _ int64, into *stats.Rows) error {
				into.Columns = stats.ColTokens | stats.ColFirings
				into.Places[0].Tokens, into.Transitions[0].Firings = 7, firings.Add(1)
				return nil
			},
			Region: func(int) *telemetry.RegionState { return &telemetry.RegionState{Position: firings.Load()} },
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	owner := func(source string, fence uint64) func(*merge.View) bool {
		shown := uint64(0)
		return func(v *merge.View) bool {
			if n := v.Net("n"); n != nil && len(n.Rows.Transitions) > 0 {
				now := n.Rows.Transitions[0].Firings
				if now < shown || shown > 0 && n.Rows.Places[0].Tokens != 7 {
					t.Errorf("%d firings after %d, with %d tokens", now, shown, n.Rows.Places[0].Tokens)
				}
				shown = now
			}
			for _, s := range v.Sources {
				if s.Name == source && s.Fence == fence && s.State == merge.Up && s.Position != nil && shown > 0 {
					return true
				}
			}
			return false
		}
	}
	for fence := uint64(1); fence < 8; fence++ {
		source := []string{"a", "b"}[fence%2]
		p := own(source, fence)
		until(t, c, source+" has the region", owner(source, fence))
		if err := p.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		firings.Add(5) // counted by an owner that sent no snapshot
	}
	view := until(t, c, "all is counted", func(v *merge.View) bool { return v.Net("n").Rows.Transitions[0].Firings == firings.Load()-5 })
	if n := view.Net("n").Rows.Places[0].Tokens; n != 7 {
		t.Errorf("got %d tokens in a region without an owner; want 0", n)
	}
	if len(view.Sources) != 2 || view.Sources[0].Setbacks+view.Sources[1].Setbacks != 0 {
		t.Errorf("sources %+v", view.Sources)
	}
}
