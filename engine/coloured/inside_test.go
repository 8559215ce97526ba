// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// For the only instance of a shard, Inside and Look agree, also about tokens in
// flight: the oldest tokens of each place and the reasons why they wait.
func TestInsideAnInstanceIsWhatLookSees(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 1))
	flights, compared := 0, 0
	for round := range 600 {
		n, bindings := randomOf(round)(r)
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: bindings})
		now := now0
		for range 10 {
			now += r.Int64N(100_000)
			if err := s.Inject(0, r.IntN(s.Tables.Places()), dataFor(r, s), r.Uint32N(4), now); err != nil {
				t.Fatal(err)
			}
			s.Step(10, now)
			flights += len(s.Ready().Starts)
		}
		held := stats.HeldList{Limit: 1 << 20}
		s.Inside(0, asItIs, &held)
		got := make([][]stats.Token, s.Tables.Places())
		for _, h := range held.Oldest() {
			h.Waits = slices.Clone(h.Waits)
			for k := range h.Waits {
				h.Waits[k].What = "" // only answers about an instance have it
			}
			for range h.Tokens {
				got[h.Place] = append(got[h.Place], stats.Token{Instance: name(0), Injected: h.Injected, Waits: h.Waits})
			}
		}
		if d := cmp.Diff(held.Oldest(), foundIn(s)); d != "" {
			t.Fatalf("(-inside +found):\n%s", d)
		}
		rows := rowsOf(s, now)
		for p := range got {
			if uint64(len(got[p])) != rows.Places[p].Tokens {
				t.Fatalf("%d tokens in place %d, want %d", len(got[p]), p, rows.Places[p].Tokens)
			}
			if len(got[p]) > stats.MaxStuck {
				continue // Look names any of several tokens with the same age
			}
			compared++
			if d := difference(rows.Places[p].Stuck, got[p]); d != "" {
				t.Fatalf("place %d (-look +inside):\n%s", p, d)
			}
		}
	}
	if flights < 100 || compared < 500 {
		t.Errorf("only %d runs and %d places were compared", flights, compared)
	}
}

func asItIs(data []byte) string { return string(data) }

// foundIn returns what Find offers of all places, as Inside has it.
func foundIn(s *Shard) (out []stats.Held) {
	for p := range s.Tables.Places() {
		search := stats.NewSearch(&stats.Query{Limit: 1 << 20})
		s.Find(p, 0, "", asItIs, search)
		for _, t := range search.Found().Tokens {
			out = append(out, stats.Held{Place: int32(p), Tokens: max(t.N, 1), Injected: t.Injected, Waits: t.Waits, Data: t.Data})
		}
	}
	slices.SortStableFunc(out, func(a, b stats.Held) int { return a.Compare(&b) })
	return out
}
