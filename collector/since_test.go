// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

// The counters of a net begin with its first definition. A further one changes nothing.
func TestANetCountsSinceItsFirstDefinition(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	for i, digest := range []string{"first", "second"} {
		if _, err := m.Define(digest, lineNet("n", 1+i, 1), t0+1+int64(i)); err != nil {
			t.Fatal(err)
		}
		view, _ := m.Tick(t0 + 10)
		if got := view.Net("n").Since; got != t0+1 {
			t.Errorf("after the %s definition the net counts since %d µs; want 1", digest, got-t0)
		}
	}
}

// A collector does not start from a state that it cannot read: it would count again what
// the state has.
func TestACollectorDoesNotStartFromADamagedState(t *testing.T) {
	nc := connect(t, startServer(t))
	whole := keptBy(t, firedBy(t, "a"))
	for name, cfg := range map[string]Config{
		"the state":       {State: whole[:len(whole)/2]},
		"what was shown":  {State: whole, Shown: []byte("none")},
		"not even a part": {State: []byte("none")},
	} {
		cfg.Conn, cfg.Log = nc, slog.New(slog.DiscardHandler)
		c, err := New(cfg)
		if err == nil || c != nil || !strings.Contains(err.Error(), "restore the state of the previous process") {
			t.Errorf("%s: %v, and a collector: %t", name, err, c != nil)
		}
	}
}

func TestMessagesOfOtherSharesAreShownByAShareOnly(t *testing.T) {
	c := &Collector{}
	c.sift.passed.Store(3)
	for count, shown := range map[int]int{0: 0, 1: 1, 2: 1} {
		c.cfg.Share = Share{Index: min(1, count), Count: count}
		if got := selfmetricstest.Series(t, ShareMetrics(c)); len(got) != shown || shown == 1 && got[0] != "pnagent_messages_passed_over_total 3" {
			t.Errorf("of %d shares: %q", count, got)
		}
	}
	if got := selfmetricstest.Series(t, ShareMetrics(nil)); len(got) != 0 {
		t.Errorf("without a collector: %q", got)
	}
}
