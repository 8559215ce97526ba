// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math/rand/v2"
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
			noted, loud := 0, 0
			for f := range s.each(in) {
				for id := f.notes; id != none; id = s.notes.all[id].next {
					n := &s.notes.all[id]
					if n.frame != f.number || s.Tables.ActsIn(int(n.transition)) != f.scope {
						t.Fatalf("run %d has a note of transition %d in run %d", f.number, n.transition, n.frame)
					}
					noted++
					if n.kind != noteClock || n.ripe {
						loud++
					}
				}
			}
			if all := s.frames; all != nil && (int(all[0].noted) != noted || int(all[0].loud) != loud) {
				t.Fatalf("%d notes, %d of them loud, are counted as %d and %d", noted, loud, all[0].noted, all[0].loud)
			}
			found += noted
		}
	}
	if found < 1000 {
		t.Errorf("only %d notes were found", found)
	}
}
