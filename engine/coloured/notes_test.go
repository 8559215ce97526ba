// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
)

// Each run of a scope has a list of its own notes, so that looking for one of them does not pass
// those of other runs.
func TestARunHasItsOwnNotes(t *testing.T) {
	r, found := rand.New(rand.NewPCG(79, 1)), 0
	for round := range 400 {
		n, bindings := randomOf(round)(r)
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: bindings})
		for now := now0; now < now0+10*100_000; now += 100_000 {
			if err := s.Inject(0, r.IntN(s.Tables.Places()), dataFor(r, s), r.Uint32N(4), now); err != nil {
				t.Fatal(err)
			}
			s.Step(10, now)
			in := &s.instances[0]
			for _, f := range s.opened(in) {
				var all, own []int32
				for id := in.notes; id != none; id = s.notes.all[id].next {
					if s.notes.all[id].frame == f.number {
						all = append(all, id)
					}
				}
				for id := s.notes.firstOf(in, f); id != none; id = s.notes.after(id) {
					own = append(own, id)
				}
				if !slices.Equal(all, own) {
					t.Fatalf("run %d has the notes %v, expected %v", f.number, own, all)
				}
				found += len(own)
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d notes were found", found)
	}
}
