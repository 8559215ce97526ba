// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// memoryOfALargeNetDoesNotGrow uses the page for some rounds, or for
// PNAGENT_TEST_PAGE_MINUTES, while numbers change twice a second. What is held at the
// end is compared with what was held after the first round that ended in the second
// fifth of that time.
func memoryOfALargeNetDoesNotGrow(t *testing.T, chromium *browsertest.Browser) {
	minutes, _ := strconv.ParseFloat(os.Getenv("PNAGENT_TEST_PAGE_MINUTES"), 64)
	whole := time.Duration(minutes * float64(time.Minute))
	for _, n := range []int{1000, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, plant(n, nowMS()))
			b := chromium.Tab(t)
			b.Motion()
			b.Open(f.url())
			begun, rounds := time.Now(), 0
			for rounds == 0 || time.Since(begun) < whole/5 {
				useAll(b)
				rounds++
			}
			before, early := b.Held(), time.Since(begun)
			for first := rounds; rounds < first+2 || time.Since(begun) < whole; rounds++ {
				useAll(b)
			}
			after := b.Held()
			t.Logf("%d nodes: %+v after %v, %+v after %v and %d rounds", n, before, early.Round(time.Second), after, time.Since(begun).Round(time.Second), rounds)
			if after.Bytes > 1.1*before.Bytes+1e6 { // 1 MB is for the lists of the last minutes
				t.Errorf("scripts hold %.1f MB first and %.1f MB at last", before.Bytes/1e6, after.Bytes/1e6)
			}
			if after.Nodes > before.Nodes*11/10 || after.Listeners > before.Listeners*11/10 {
				t.Errorf("the page holds %d nodes and %d listeners first, %d and %d at last", before.Nodes, before.Listeners, after.Nodes, after.Listeners)
			}
			b.Clean(f.addr, false)
		})
	}
}

// useAll pans, zooms, and shows and closes what a large net is looked at with.
func useAll(b *browsertest.Tab) {
	for _, script := range []string{pan, zoomed} {
		browsertest.Eval[[]float64](b, script)
	}
	b.Keys("h", "n")
	b.Until(`!document.querySelector('#sight').hidden`)
	b.Keys(">", ">", "q", "q", "n", "[", "l", "t", "t", "\x1b", "0")
	b.Until(`document.querySelector('#sight').hidden && document.querySelector('#panel').hidden`)
}
