// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

// For the only instance of a shard, Inside and Look agree about the oldest
// tokens of each place and the reasons why they wait.
func TestInsideAnInstanceIsWhatLookSees(t *testing.T) {
	r := rand.New(rand.NewPCG(72, 1))
	wide := 0
	for range 400 {
		tables, s, now := afterSteps(t, r, 1, 4, 1000)
		if s.cells[0].n == isWide {
			wide++
		}
		held := stats.HeldList{Limit: 1 << 20}
		s.Inside(0, nil, &held)
		got := make([][]stats.Token, tables.Places())
		marking := make([]uint32, tables.Places())
		for _, h := range held.Oldest() {
			marking[h.Place] += uint32(h.Tokens)
			for range h.Tokens {
				got[h.Place] = append(got[h.Place], stats.Token{Injected: h.Injected, Waits: h.Waits})
			}
		}
		if !slices.Equal(marking, s.Marking(0)) || held.LeftOut != 0 {
			t.Fatalf("%v, want %v", marking, s.Marking(0))
		}
		for p := range got {
			if d := difference(got[p], foundIn(s, p)); d != "" {
				t.Fatalf("place %d (-inside +found):\n%s", p, d)
			}
		}
		rows := rowsOf(s, now)
		for p := range got {
			want := slices.Clone(rows.Places[p].Stuck)
			for i := range want {
				want[i].Instance = ""
			}
			if d := difference(want, got[p][:min(len(got[p]), stats.MaxStuck)]); d != "" && len(want) > 0 {
				t.Fatalf("place %d (-look +inside):\n%s", p, d)
			}
		}
	}
	if wide < 20 || wide > 380 {
		t.Errorf("%d of 400 instances were in wide form", wide)
	}
}

// foundIn returns the tokens that Find offers of a place, one by one and oldest first.
func foundIn(s *Shard, place int) (out []stats.Token) {
	search := stats.NewSearch(&stats.Query{Limit: 1 << 20})
	s.Find(place, 0, "", nil, search)
	for _, t := range search.Found().Tokens {
		for n := max(t.N, 1); n > 0; n-- {
			out = append(out, stats.Token{Injected: t.Injected, Waits: t.Waits})
		}
	}
	return out
}
