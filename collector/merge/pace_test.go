// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"testing"
	"time"
)

// The message in which a source states that it follows may be lost: the collector asked for
// rarer messages, so it does not take their absence for a loss.
func TestASourceThatWasAskedForRarerMessagesMayBeSilentForLonger(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define("d", lineNet("n", 1, 1), t0); err != nil {
		t.Fatal(err)
	}
	state := func(name string, at int64) SourceState {
		view, _ := m.Tick(t0 + at*1e6)
		for _, s := range view.Sources {
			if s.Name == name {
				return s.State
			}
		}
		t.Fatalf("no source %q", name)
		return 0
	}
	send := func(name string, seq uint64, at int64) {
		if _, err := m.Take(fired(name, t0, t0, seq, 1, 0), 0, t0+at*1e6); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"follows", "ends", "ignores"} {
		send(name, 1, 0)
	}
	m.Slow(10*time.Second, t0+1e6)
	send("ignores", 2, 2)
	for _, c := range []struct {
		at   int64
		want SourceState
	}{{10, Up}, {30, Up}, {32, Stale}} {
		if got := state("ends", c.at); got != c.want {
			t.Errorf("%s after %d s of silence, want %s", got, c.at, c.want)
		}
	}
	send("ignores", 3, 33)
	if got := state("ignores", 37); got != Stale {
		t.Errorf("a source that publishes as before is %s after 4 s of silence", got)
	}
}
