// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// A collector below that stops is no evidence that the tokens of its sources moved, as the bye of an engine is
// about its own. Its rows leave the sums, and what they held is a remnant until it is back.
//
//promise:evidence stop
func TestTheByeOfACollectorBelowEndsNothing(t *testing.T) {
	for name, test := range map[string]struct {
		remnants *telemetry.Remnants
		lost     bool
	}{
		"an engine":         {nil, false},
		"a collector below": {&telemetry.Remnants{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewMerger(Rules{}, t0)
			if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
				t.Fatal(err)
			}
			says := func(seq uint64, now int64, bye bool) {
				t.Helper()
				msg := &telemetry.Snapshot{Source: "low", Net: "n", Digest: "d", Epoch: t0, Seq: seq, SentAt: now, Interval: time.Second, Full: true, Bye: bye,
					Rows: *stats.NewRows(1, 1), Remnants: test.remnants}
				msg.Rows.Columns = stats.ColTokens | stats.ColOldest
				msg.Rows.Places[0] = stats.Place{Tokens: 1, Oldest: t0}
				if _, err := m.Take(msg, 0, now); err != nil {
					t.Fatal(err)
				}
			}
			lost := func(now int64) bool {
				view, _ := m.Tick(now)
				n := view.Nets[0]
				if forgotten := view.Sources[0].Forgotten; forgotten != (len(n.Remnants) > 0) {
					t.Errorf("forgotten: %t, with %d remnants", forgotten, len(n.Remnants))
				}
				return len(n.Remnants) == 1 && n.Remnants[0].Source == "low" && len(n.Remnants[0].Places) == 1 && n.Rows.Places[0].Tokens == 0
			}
			says(1, t0+1e6, false)
			says(2, t0+2e6, true)
			for _, after := range []int64{3, 10} {
				if got := lost(t0 + after*1e6); got != test.lost {
					t.Errorf("after %d s its tokens are lost: %t; want %t", after-2, got, test.lost)
				}
			}
			says(3, t0+12e6, false)
			if view, _ := m.Tick(t0 + 13e6); view.Nets[0].Rows.Places[0].Tokens != 1 || view.Sources[0].Forgotten {
				t.Errorf("once it is back, it has %d tokens", view.Nets[0].Rows.Places[0].Tokens)
			}
		})
	}
}
