// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

const now0 = int64(1_790_000_000_000_000)

func newShard(t testing.TB, cfg Config) *Shard {
	t.Helper()
	if cfg.Stride == 0 {
		cfg.Stride = 1
	}
	if cfg.Count == 0 && cfg.Numbers == nil {
		cfg.Count = 1
	}
	s, err := New(cfg, now0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func name(i int) string { return fmt.Sprintf("i/%06d", i) }

func rowsOf(s *Shard, now int64) *stats.Rows {
	rows := stats.NewRows(s.Tables.Places(), s.Tables.Transitions())
	s.Look(now, name, rows)
	return rows
}

// splits decides, once for a net, which branches the guards of its splits
// allow: at least one of each split.
func splits(r *rand.Rand, tables *petri.Tables) (bindings []Binding, taken func(arc int) bool) {
	pass := map[int]bool{}
	bindings = make([]Binding, tables.Transitions())
	for t := range bindings {
		branches := tables.Branches(t)
		bindings[t].Branches = make([]Guard, len(branches))
		some, otherwise := false, -1
		for k, b := range branches {
			if b.Default {
				otherwise = k
				continue
			}
			ok := r.IntN(2) == 0 || k == len(branches)-1 && otherwise < 0 && !some
			bindings[t].Branches[k] = func([]Placed, int64) Verdict { return Verdict{OK: ok} }
			pass[int(b.Arc)] = ok
			some = some || ok
		}
		if otherwise >= 0 {
			pass[int(branches[otherwise].Arc)] = !some
		} else if !some && len(branches) > 0 {
			bindings[t].Branches[0], pass[int(branches[0].Arc)] = nil, true
			tables.Net.Arcs[branches[0].Arc].Guard = ""
		}
	}
	return bindings, func(arc int) bool { return pass[arc] }
}

// If tokens alone decide about firings, the machine fires the same transitions
// as the reference.
func TestPlainNetsArePlayedAsTheReferenceDoes(t *testing.T) {
	for kind, c := range map[string]struct {
		random  func(*rand.Rand) *petri.Net
		firings int // for each seed
	}{"every kind of arc": {petritest.RandomNet, 2000}, "inclusive gateways": {petritest.RandomGateways, 300}} {
		t.Run(kind, func(t *testing.T) {
			for seed := range seeds.Of(5, 100, 5, 6, 13, 20) {
				r := rand.New(rand.NewPCG(1, seed))
				for fired := 0; fired < c.firings; {
					n := c.random(r)
					tables := petritest.Compile(t, n)
					bindings, taken := splits(r, tables)
					fired += followReference(t, r, newShard(t, Config{Tables: tables, Bindings: bindings}), taken)
				}
			}
		})
	}
}

// followReference plays a net beside the reference for a while, and returns the
// number of firings.
func followReference(t *testing.T, r *rand.Rand, s *Shard, taken func(arc int) bool) (fired int) {
	t.Helper()
	n := s.Tables.Net
	s.quota = 1
	ref, turn, now := petritest.NewReference(n), 0, now0
	for range 400 {
		now += r.Int64N(1000)
		if r.IntN(20) == 0 {
			p, k := r.IntN(len(n.Places)), r.Uint32N(6)
			if err := s.Inject(0, p, nil, k, now); err != nil {
				t.Fatal(err)
			}
			ref.Marking[n.Places[p].ID] += uint64(k)
		}
		want := ref.Next(turn)
		played := s.Step(1, now)
		if (played == 1) != (want >= 0) {
			t.Fatalf("played %d, the reference chose %d", played, want)
		}
		if want >= 0 {
			ref.FireBranches(n.Transitions[want].ID, taken)
			turn = (want + 1) % len(n.Transitions)
			fired++
		}
		if int(s.instances[0].turn) != turn {
			t.Fatalf("turn %d, the reference %d", s.instances[0].turn, turn)
		}
		for p, m := range s.Marking(0) {
			if uint64(m) != ref.Marking[n.Places[p].ID] {
				t.Fatalf("place %d holds %d, the reference %d", p, m, ref.Marking[n.Places[p].ID])
			}
		}
	}
	return fired
}

// The rows of plain nets are those of package plain: ages, dwell times,
// reasons.
func TestPlainNetsAreRecordedAsByTheOtherMachine(t *testing.T) {
	for seed := range seeds.Of(10, 300, 171, 107, 90, 117, 16) {
		r := rand.New(rand.NewPCG(2, seed))
		tables := petritest.Compile(t, petritest.RandomNet(r))
		s := newShard(t, Config{Tables: tables, Count: 3})
		g, err := plain.New(plain.Config{Tables: tables, Stride: 1, Count: 3}, now0)
		if err != nil {
			t.Fatal(err)
		}
		now := now0
		for range 40 {
			now += r.Int64N(1 << r.IntN(30))
			i, p, k := r.IntN(3), r.IntN(tables.Places()), r.Uint32N(3)
			if err := s.Inject(i, p, nil, k, now); err != nil {
				t.Fatal(err)
			}
			if err := g.Inject(i, p, k, now); err != nil {
				t.Fatal(err)
			}
			if a, b := s.Step(192, now), g.Step(192, now); a != b {
				t.Fatalf("played %d, the other %d", a, b)
			}
		}
		want := stats.NewRows(tables.Places(), tables.Transitions())
		g.Look(now, name, want)
		got := rowsOf(s, now)
		got.Columns = want.Columns
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: rows (-game +colour):\n%s", seed, d)
		}
	}
}
