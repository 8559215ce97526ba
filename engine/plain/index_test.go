// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"errors"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
)

// An invalid index is an error. It does not stand for place 0.
func TestABadIndexChangesNothing(t *testing.T) {
	play := func(do func(s *Shard) error) {
		t.Helper()
		s := newShard(t, Config{Tables: petritest.Compile(t, petritest.Ring(3)), Modes: []Mode{fixed(1), fixed(1), fixed(1)}, Stride: 1, Count: 1, Log: true})
		before := slices.Clone(s.Marking(0))
		if err := do(s); !errors.Is(err, ErrLog) {
			t.Errorf("%v; want ErrLog", err)
		}
		if after := s.Marking(0); !slices.Equal(before, after) {
			t.Errorf("marking %v after %v", after, before)
		}
	}
	for _, place := range []byte{3, 9, 0x7f} {
		play(func(s *Shard) error { return s.Replay([]byte{opInject, place, 2}, now0) })
	}
	// The state has one token, in place 0, and a clock of a transition that
	// does not exist.
	for _, clock := range []byte{3, 9, 0x7f} {
		play(func(s *Shard) error {
			_, err := s.LoadState([]byte{1, 0, 1, 0, 9, 1, 1, clock, 5, 0})
			return err
		})
	}
}
