// SPDX-License-Identifier: Apache-2.0

package web

import (
	"testing"

	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
)

func TestTheOverviewIsEncodedAndPackedOnceForAllViewersOfAView(t *testing.T) {
	s, err := New(Config{Views: make(chan *merge.View), History: history.New(history.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	s.show(newWorld(4, 5, 5).tick(1))
	b := s.board.Load()
	first := b.overview()
	for range 3 {
		if e := b.overview(); e != first || &e.packed()[0] != &first.packed()[0] {
			t.Fatal("a viewer gets an overview of its own; expected that of the other viewers")
		}
	}
}
