// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// batch is the log of one time.
type batch struct {
	now int64
	ops []byte
}

// live plays random events and returns their log, and the state at some time
// between.
func live(t *testing.T, r *rand.Rand, s *Shard, steps int) (before []batch, state []byte, after []batch) {
	t.Helper()
	now := now0
	all := &before
	for k := range steps {
		now += r.Int64N(1e6)
		i, p := r.IntN(s.Count), r.IntN(s.Tables.Places())
		if r.IntN(3) == 0 {
			if err := s.Inject(i, p, r.Uint32N(4), now); err != nil {
				t.Fatal(err)
			}
		}
		s.Step(1+r.IntN(30), now)
		*all = append(*all, batch{now, bytes.Clone(s.Ready().Log)})
		if k == steps/2 {
			state, all = s.AppendState(nil), &after
		}
	}
	return before, state, after
}

// presentOf returns what Look finds about the tokens that are present.
func presentOf(s *Shard, now int64) []stats.Place {
	rows := rowsOf(s, now)
	for p := range rows.Places { // without the counters, which a state does not contain
		rows.Places[p].Arrivals, rows.Places[p].Departures, rows.Places[p].LastInjection, rows.Places[p].Dwell = 0, 0, 0, stats.Histogram{}
		for k := range rows.Places[p].Stuck {
			rows.Places[p].Stuck[k].Waits = nil
		}
		rows.Places[p].Groups = nil
	}
	return rows.Places
}

// Replay of everything, or of the log after a state, gives the same tokens with
// the same ages, in one shard or in several.
func TestReplayGivesTheSameTokensAndAges(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		n := petritest.RandomNet(r)
		cfg := Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 4, Log: true}
		s := newShard(t, cfg)
		before, state, after := live(t, r, s, 40)
		later := now0 + int64(1e9)
		want := presentOf(s, later)

		whole := newShard(t, cfg)
		for _, b := range append(before, after...) {
			if err := whole.Replay(b.ops, b.now); err != nil {
				t.Fatal(err)
			}
		}
		if d := difference(want, presentOf(whole, later)); d != "" {
			t.Fatalf("replayed (-want +got):\n%s", d)
		}
		sum := stats.NewRows(s.Tables.Places(), s.Tables.Transitions())
		for k := range 2 {
			half := newShard(t, Config{Tables: cfg.Tables, First: k, Stride: 2, Count: 2})
			if rest, err := half.LoadState(state); err != nil || len(rest) != 0 {
				t.Fatalf("%v, %d bytes left", err, len(rest))
			}
			for _, b := range after {
				if err := half.Replay(b.ops, b.now); err != nil {
					t.Fatal(err)
				}
			}
			half.Resume(later)
			for p, row := range presentOf(half, later) {
				sum.Places[p].Merge(&row)
			}
		}
		if d := difference(want, sum.Places); d != "" {
			t.Fatalf("state and log over two shards (-want +got):\n%s", d)
		}
	}
}

// Firings of one instance, one after the other, take little more than their transitions, and are
// replayed as all others are, by shards with and without that instance.
func TestFiringsOfOneInstanceShareItsNumber(t *testing.T) {
	const number, firings = 5000, 1000
	for _, places := range []int{3, 300} { // transitions of one byte and of two
		cfg := Config{Tables: petritest.Compile(t, petritest.Ring(places)), First: number, Stride: 7, Count: 1, Log: true}
		s := newShard(t, cfg)
		if fired := s.Step(firings, now0); fired != firings {
			t.Fatalf("%d firings, want %d", fired, firings)
		}
		log := bytes.Clone(s.Ready().Log)
		bare := 0 // bytes of the transitions alone
		for k := range firings {
			bare += len(binary.AppendUvarint(nil, uint64(k%places)))
		}
		if most := bare + bare/10; len(log) > most {
			t.Errorf("ring of %d: %d bytes for %d firings, want at most %d", places, len(log), firings, most)
		}
		again, other := newShard(t, cfg), newShard(t, Config{Tables: cfg.Tables, First: number + 1, Stride: 7, Count: 1})
		if err := errors.Join(again.Replay(log, now0), other.Replay(log, now0)); err != nil {
			t.Fatal(err)
		}
		if got := again.Marking(0); !slices.Equal(got, s.Marking(0)) || other.Marking(0)[0] != 1 {
			t.Errorf("ring of %d: replayed to %v and, elsewhere, %v; want %v and an initial marking", places, got, other.Marking(0), s.Marking(0))
		}
		s.Step(1, now0+1) // a new log begins with an instance again
		if log = s.Ready().Log; again.Replay(log, now0+1) != nil || !slices.Equal(again.Marking(0), s.Marking(0)) {
			t.Errorf("ring of %d: the next log %v is replayed to %v, want %v", places, log, again.Marking(0), s.Marking(0))
		}
	}
}

func TestReplayRefusesWhatCannotHaveBeen(t *testing.T) {
	cfg := Config{Tables: petritest.Compile(t, petritest.Ring(3)), Stride: 1, Count: 2, Log: true}
	for name, ops := range map[string][]byte{
		"a transition that is not enabled": {0, 2},
		"no such transition":               {0, 3},
		"no such place":                    {1, 3, 1},
		"half a number":                    {0, 0x80},
		"nothing after the instance":       {0},
		"a run without an end":             {0, 3 + opRun, 1, 2},
		"a run of no such transition":      {0, 3 + opRun, 1, 4, 0},
		"a run of what is not enabled":     {0, 3 + opRun, 1, 1, 0},
	} {
		if err := newShard(t, cfg).Replay(ops, now0); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, state := range map[string][]byte{"empty": {}, "half": {1, 0, 1, 0}, "more runs than bytes": {1, 0, 200, 1}, "no end": {1, 0, 0}} {
		if _, err := newShard(t, cfg).LoadState(state); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 1, 2, 5}, []byte{1, 1, 2, 0, 9, 1, 2, 9, 3, 1, 2, 7, 0})
	f.Add([]byte{0, 6, 1, 2, 3, 0, 2, 0}, []byte{})
	f.Fuzz(func(t *testing.T, ops, state []byte) {
		modes := []Mode{{}, {Kind: Delayed, Delay: Delay{Shape: Exponential, A: 1e6}}, {Kind: Manual}}
		s, err := New(Config{Tables: petritest.Compile(t, petritest.Ring(3)), Modes: modes, Stride: 1, Count: 2}, now0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.LoadState(state)
		_ = s.Replay(ops, now0)
		s.Resume(now0)
		s.Step(100, now0)
		rowsOf(s, now0)
	})
}
