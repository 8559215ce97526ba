// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// rings returns a net of rings beside each other, each with a token of its own:
// size to the power of count markings.
func rings(count, size int) *petri.Net {
	n := &petri.Net{ID: "rings"}
	for c := range count {
		for i := range size {
			p, next, tr := fmt.Sprintf("p%d.%d", c, i), fmt.Sprintf("p%d.%d", c, (i+1)%size), fmt.Sprintf("t%d.%d", c, i)
			n.Places = append(n.Places, petri.Place{ID: p, Initial: uint32(1 - min(i, 1))})
			n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
			n.Arcs = append(n.Arcs, petri.Arc{Source: p, Target: tr, Weight: 1}, petri.Arc{Source: tr, Target: next, Weight: 1})
		}
	}
	return n
}

const ringMarkings = 7 * 7 * 7 * 7 * 7

// BenchmarkVisit visits the 16,807 markings of five rings of seven places.
func BenchmarkVisit(b *testing.B) {
	t := petritest.Compile(b, rings(5, 7))
	for b.Loop() {
		if r := Visit(t, 1e6); r.Markings != ringMarkings || !r.Complete {
			b.Fatal(r.Markings)
		}
	}
}

// BenchmarkRememberMarkings is the base: as many markings encoded and put into
// a map, each as often as BenchmarkVisit comes to it.
func BenchmarkRememberMarkings(b *testing.B) {
	m := make([]uint32, 35)
	for b.Loop() {
		known, key := map[string]int32{}, []byte(nil)
		for range 5 {
			for i := range ringMarkings {
				for p, rest := 0, i; p < len(m); p, rest = p+7, rest/7 {
					clear(m[p : p+7])
					m[p+rest%7] = 1
				}
				key = key[:0]
				for _, n := range m {
					key = append(key, byte(n))
				}
				if _, is := known[string(key)]; !is {
					known[string(key)] = int32(i)
				}
			}
		}
		if len(known) != ringMarkings {
			b.Fatal(len(known))
		}
	}
}
