// SPDX-License-Identifier: Apache-2.0

package web

import (
	"testing"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/stats"
)

// What sources did while there was no sidecar comes into the counters as they are
// heard again, and is not done in that second.
func TestWhatWasDoneBeforeTheStartIsNoRate(t *testing.T) {
	w, now := window{}, noon.UnixMicro()
	n := &collector.Net{Rows: stats.NewRows(1, 1)}
	firings := &n.Rows.Transitions[0].Firings
	for _, recalled := range []int{2, 1, 0} {
		n.Recalled = recalled
		*firings += 1_000_000
		if got := w.rates(n, now, minWindow); got != nil {
			t.Errorf("with %d recalled: %v", recalled, got)
		}
		now += 1e6
	}
	*firings += 100
	if got := w.rates(n, now, minWindow); len(got) != 2 || got[1] != rounded(100) {
		t.Errorf("a second later: %v, want 100", got)
	}
}
