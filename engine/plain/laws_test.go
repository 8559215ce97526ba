// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// restful returns modes with which every instance of the net comes to rest. A
// transition is immediate only if it takes from a place and puts only into
// later ones; delays are at least a tenth of a second.
func restful(r *rand.Rand, t *petri.Tables) []Mode {
	modes := make([]Mode, t.Transitions())
	for tr := range modes {
		if descends(t.Effects(tr)) && r.IntN(4) > 0 {
			continue
		}
		modes[tr] = []Mode{
			{Kind: Manual},
			{Kind: Delayed, Delay: Delay{Fixed, 1e5 * float64(1+r.IntN(30)), 0}},
			{Kind: Delayed, Delay: Delay{Uniform, 1e5, 2e6}},
		}[r.IntN(3)]
	}
	return modes
}

func descends(effects []petri.Effect) bool {
	from := slices.IndexFunc(effects, func(e petri.Effect) bool { return e.Take > 0 && e.Put == 0 })
	return from >= 0 && !slices.ContainsFunc(effects[:from], func(e petri.Effect) bool { return e.Put > 0 })
}

// act makes a random change to one instance, the same for the same r.
func act(t *testing.T, r *rand.Rand, number int, shards []*Shard, now int64) {
	t.Helper()
	tables := shards[0].Tables
	place, n, tr, what := r.IntN(tables.Places()), r.Uint32N(4), r.IntN(tables.Transitions()), r.IntN(3)
	for _, s := range shards {
		i, err := s.Index(number)
		if errors.Is(err, ErrNoInstance) {
			continue
		}
		switch what {
		case 0:
			err = s.Inject(i, place, n, now)
		case 1:
			if err = s.Fire(i, tr, now); errors.Is(err, petri.ErrNotEnabled) {
				err = nil
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// For every place, exactly: Σ dwell of the tokens that left + Σ age so far of
// those that are present = ∫ tokens dt (J. Little, A Proof for the Queuing
// Formula L = λW, Operations Research 9(3), 1961).
func TestLittlesLawHoldsExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for range 300 {
		tables := petritest.Compile(t, petritest.RandomNet(r))
		s := newShard(t, Config{Tables: tables, Modes: restful(r, tables), Stride: 1, Count: 3, Seed: r.Uint64()})
		integral := make([]uint64, tables.Places())
		now := now0
		for range 60 {
			dt := r.Int64N(1 << r.IntN(24))
			for i := range s.Count {
				for p, m := range s.Marking(i) {
					integral[p] += uint64(m) * uint64(dt)
				}
			}
			now += dt
			s.Step(r.IntN(50), now)
			act(t, r, r.IntN(3), []*Shard{s}, now)
		}
		for p, row := range rowsOf(s, now).Places {
			// The two products exceed 64 bits by far. Their difference does
			// not, so it is exact.
			ages := row.Tokens*uint64(now) - (row.Injected.Sec*1e6 + row.Injected.Micro)
			if got := row.Dwell.Sum + ages; got != integral[p] {
				t.Fatalf("place %d: %d of the departed and %d of the present, want %d in all", p, row.Dwell.Sum, ages, integral[p])
			}
		}
	}
}

// renumbered returns the net with its places and transitions in another order;
// place i becomes places[i].
func renumbered(r *rand.Rand, n *petri.Net) (m *petri.Net, places, transitions []int) {
	places, transitions = r.Perm(len(n.Places)), r.Perm(len(n.Transitions))
	m = &petri.Net{ID: n.ID, Places: make([]petri.Place, len(places)), Transitions: make([]petri.Transition, len(transitions)), Arcs: slices.Clone(n.Arcs)}
	for i, to := range places {
		m.Places[to] = n.Places[i]
	}
	for i, to := range transitions {
		m.Transitions[to] = n.Transitions[i]
	}
	r.Shuffle(len(m.Arcs), func(i, j int) { m.Arcs[i], m.Arcs[j] = m.Arcs[j], m.Arcs[i] })
	return m, places, transitions
}

// inOrderOf returns the rows of a renumbered net in the original order.
func inOrderOf(rows *stats.Rows, places, transitions []int) *stats.Rows {
	out := *rows
	out.Places, out.Transitions, out.Blocks = nil, nil, slices.Clone(rows.Blocks)
	for _, to := range places {
		p := rows.Places[to]
		tokens := slices.Clone(p.Stuck)
		for _, g := range p.Groups {
			tokens = append(tokens, g.Oldest)
		}
		for _, token := range tokens {
			for k, w := range token.Waits {
				token.Waits[k].Transition = int32(slices.Index(transitions, int(w.Transition)))
				if w.Place >= 0 {
					token.Waits[k].Place = int32(slices.Index(places, int(w.Place)))
				}
			}
			slices.SortFunc(token.Waits, stats.Wait.Compare)
		}
		out.Places = append(out.Places, p)
	}
	for _, to := range transitions {
		out.Transitions = append(out.Transitions, rows.Transitions[to])
	}
	for k, b := range out.Blocks {
		out.Blocks[k].Transition, out.Blocks[k].Place = int32(slices.Index(transitions, int(b.Transition))), int32(slices.Index(places, int(b.Place)))
	}
	slices.SortFunc(out.Blocks, stats.Block.Compare)
	return &out
}

// same returns the identity permutation.
func same(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// conflictFree returns a net that comes to rest and in which no transition can
// disable another: each place has one consumer, and puts go to later places.
func conflictFree(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "conflict-free"}
	for i := range 2 + r.IntN(8) {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i), Initial: r.Uint32N(6)})
	}
	arc := func(from, to string) {
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint(len(n.Arcs)), Source: from, Target: to, Weight: 1 + r.Uint32N(2)})
	}
	for i := 0; i < len(n.Places)-1; {
		tr := fmt.Sprint("t", i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr, Priority: r.IntN(3)})
		for k := 1 + r.IntN(2); k > 0 && i < len(n.Places)-1; k-- {
			arc(n.Places[i].ID, tr)
			i++
		}
		for range r.IntN(3) {
			arc(tr, n.Places[i+r.IntN(len(n.Places)-i)].ID)
		}
	}
	return n
}

// In a net without conflicts the order of places and transitions has no effect.
func TestRenumberingAConflictFreeNetChangesNoMarkingAndNoRow(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	for range 400 {
		n := conflictFree(r)
		m, places, transitions := renumbered(r, n)
		later := now0 + 2*stats.BlockedAfter
		rest := func(n *petri.Net) *stats.Rows {
			s := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 2})
			for now := now0; now <= later; now += stats.BlockedAfter / 2 {
				s.Step(1<<20, now)
				if now == now0+stats.BlockedAfter/2 {
					if err := s.Inject(0, slices.IndexFunc(n.Places, func(p petri.Place) bool { return p.ID == "p0" }), 3, now); err != nil {
						t.Fatal(err)
					}
				}
			}
			return rowsOf(s, later)
		}
		want := inOrderOf(rest(n), same(len(places)), same(len(transitions)))
		if d := difference(want, inOrderOf(rest(m), places, transitions)); d != "" {
			t.Fatalf("(-first +renumbered):\n%s", d)
		}
	}
}

// renumberLog translates a log to the numbers of a renumbered net.
func renumberLog(t *testing.T, log []byte, places, transitions []int) []byte {
	t.Helper()
	var out []byte
	next := func() uint64 {
		v, n := binary.Uvarint(log)
		if n <= 0 {
			t.Fatal("the log is incomplete")
		}
		log = log[n:]
		return v
	}
	for len(log) > 0 {
		head := next()
		out = binary.AppendUvarint(out, head)
		if head&1 == opFire {
			n := uint64(len(transitions))
			op := next()
			if op == n+opRun {
				out = binary.AppendUvarint(out, op)
				for k := next(); k > 0; k = next() {
					out = binary.AppendUvarint(out, uint64(transitions[k-1])+1)
				}
				out = binary.AppendUvarint(out, 0)
				continue
			}
			if op < n {
				op = uint64(transitions[op])
			}
			out = binary.AppendUvarint(out, op)
			if op == n+opFail {
				out = binary.AppendUvarint(out, uint64(transitions[next()]))
			}
			continue
		}
		out = binary.AppendUvarint(out, uint64(places[next()]))
		out = binary.AppendUvarint(out, next())
	}
	return out
}

// counted removes from rows what depends on whether instances have been
// settled.
func counted(rows *stats.Rows) *stats.Rows {
	rows.Net = stats.NetRow{}
	for t := range rows.Transitions {
		rows.Transitions[t].Enabled, rows.Transitions[t].EnabledSince = 0, 0
	}
	for p := range rows.Places {
		for k := range rows.Places[p].Stuck {
			rows.Places[p].Stuck[k].Waits = nil
		}
		rows.Places[p].Groups = nil
	}
	return rows
}

// The same firings in the same order give the same markings and rows, for any
// net and any numbering.
func TestReplayGivesTheSameMarkingsAndRowsWhateverTheNumbering(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	for range 300 {
		n := petritest.RandomNet(r)
		m, places, transitions := renumbered(r, n)
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 3, Log: true})
		again, other := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 3}), newShard(t, Config{Tables: petritest.Compile(t, m), Stride: 1, Count: 3})
		before, _, after := live(t, r, s, 30)
		last := now0
		for _, b := range append(before, after...) {
			if err := errors.Join(again.Replay(b.ops, b.now), other.Replay(renumberLog(t, b.ops, places, transitions), b.now)); err != nil {
				t.Fatal(err)
			}
			last = b.now
		}
		want := counted(inOrderOf(rowsOf(s, last), same(len(places)), same(len(transitions))))
		if d := difference(want, counted(inOrderOf(rowsOf(again, last), same(len(places)), same(len(transitions))))); d != "" {
			t.Fatalf("replayed (-want +got):\n%s", d)
		}
		if d := difference(want, counted(inOrderOf(rowsOf(other, last), places, transitions))); d != "" {
			t.Fatalf("renumbered (-want +got):\n%s", d)
		}
	}
}

// In one instance every firing follows from the previous one, at rest or not.
func TestSplittingABatchChangesNoFiring(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	for range 150 {
		cfg := Config{Tables: petritest.Compile(t, petritest.RandomNet(r)), Stride: 1, Count: 1, Log: true, Shuffle: r.IntN(2) == 0, Seed: r.Uint64()}
		whole, split := newShard(t, cfg), newShard(t, cfg)
		now := now0
		for range 20 {
			now += r.Int64N(1e6)
			budget := r.IntN(300)
			whole.Step(budget, now)
			for left := budget; left > 0; {
				part := 1 + r.IntN(left)
				split.Step(part, now)
				left -= part
			}
			if d := difference(whole.Ready().Log, split.Ready().Log); d != "" {
				t.Fatalf("(-whole +split):\n%s", d)
			}
			act(t, r, 0, []*Shard{whole, split}, now)
		}
		if d := difference(rowsOf(whole, now), rowsOf(split, now)); d != "" {
			t.Fatalf("(-whole +split):\n%s", d)
		}
	}
}

// At rest, instances are the same for any number of shards and any budgets.
func TestShardsAndBudgetsChangeNoMarkingAndNoRowAtRest(t *testing.T) {
	const instances = 6
	r := rand.New(rand.NewPCG(26, 1))
	for range 100 {
		tables := petritest.Compile(t, petritest.RandomNet(r))
		cfg := Config{Tables: tables, Modes: restful(r, tables), Seed: r.Uint64(), Shuffle: r.IntN(2) == 0}
		var sets [][]*Shard
		for _, k := range []int{1, 2, 3, instances} {
			var set []*Shard
			for first := range k {
				cfg.First, cfg.Stride, cfg.Count = first, k, instances/k
				set = append(set, newShard(t, cfg))
			}
			sets = append(sets, set)
		}
		all, now := slices.Concat(sets...), now0
		for range 30 {
			now += r.Int64N(1e6)
			act(t, r, r.IntN(instances), all, now)
			for _, s := range all {
				for budget := 1 + r.IntN(20); s.Step(budget, now) == budget; {
				}
			}
		}
		want := rowsOf(sets[0][0], now)
		for _, set := range sets[1:] {
			sum := stats.NewRows(tables.Places(), tables.Transitions())
			for _, s := range set {
				s.Look(now, name, sum)
				for i := range s.Count {
					if d := difference(sets[0][0].Marking(s.Number(i)), s.Marking(i)); d != "" {
						t.Fatalf("instance %d in %d shards (-one +many):\n%s", s.Number(i), len(set), d)
					}
				}
			}
			if d := difference(want, sum); d != "" {
				t.Fatalf("%d shards (-one +many):\n%s", len(set), d)
			}
		}
	}
}

// P-invariants hold after every firing, whatever caused the firing.
func TestInvariantsHoldInEveryInstanceAfterEveryFiring(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 1))
	checked := 0
	for range 400 {
		tables := petritest.Compile(t, petritest.RandomNet(r))
		invariants, ok := explore.Invariants(tables)
		if !ok {
			t.Fatal("the invariants of a small net exceed the limit")
		}
		s := newShard(t, Config{Tables: tables, Modes: restful(r, tables), Stride: 1, Count: 2, Seed: r.Uint64(), Shuffle: r.IntN(2) == 0})
		now := now0
		for range 60 {
			now += r.Int64N(1e6)
			s.Step(1, now)
			_ = s.Fire(r.IntN(2), r.IntN(tables.Transitions()), now) // firing a transition that is not enabled changes nothing
			for i := range s.Count {
				for _, inv := range invariants {
					checked++
					var sum int64
					for p, m := range s.Marking(i) {
						sum += inv.Weights[p] * int64(m)
					}
					if sum != inv.Sum {
						t.Fatalf("%v gives %d at %v", inv, sum, s.Marking(i))
					}
				}
			}
		}
	}
	if checked < 20_000 {
		t.Errorf("only %d checks", checked)
	}
}
