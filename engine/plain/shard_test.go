// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

const now0 = int64(1_790_000_000_000_000)

// difference describes how two values differ; it returns "" if they are equal.
// It is fast for equal values.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return gocmp.Diff(want, got)
}

func newShard(t testing.TB, cfg Config) *Shard {
	t.Helper()
	s, err := New(cfg, now0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func name(i int) string { return fmt.Sprintf("i/%06d", i) }

// slow is one instance played by the reference, with the injection time of
// every token in a list.
type slow struct {
	*petritest.Reference
	number int
	turn   int
	tokens map[string][]int64
	rows   *stats.Rows
}

func newSlow(n *petri.Net, number int, rows *stats.Rows) *slow {
	s := &slow{number: number, Reference: petritest.NewReference(n), tokens: map[string][]int64{}, rows: rows}
	for i, p := range n.Places {
		s.put(i, p.ID, uint64(p.Initial), now0)
	}
	return s
}

func (s *slow) put(i int, id string, k uint64, now int64) {
	for range k {
		s.tokens[id] = append(s.tokens[id], now)
		s.rows.Places[i].Arrivals++
		s.rows.Places[i].LastInjection = now
	}
}

// step fires the next transition, if one is enabled, and reports whether it
// did.
func (s *slow) step(now int64) bool {
	t := s.Next(s.turn)
	if t < 0 {
		return false
	}
	id := s.Net.Transitions[t].ID
	var puts []int
	for _, a := range s.Net.Arcs {
		if a.Target != id || (a.Kind != petri.Normal && a.Kind != petri.Reset) {
			continue
		}
		p := slices.IndexFunc(s.Net.Places, func(p petri.Place) bool { return p.ID == a.Source })
		k := int(a.Weight)
		if a.Kind == petri.Reset {
			puts = append(puts, p)
			continue
		}
		s.leave(p, k, now)
	}
	for _, p := range puts {
		s.leave(p, len(s.tokens[s.Net.Places[p].ID]), now)
	}
	for _, a := range s.Net.Arcs {
		if a.Source == id {
			p := slices.IndexFunc(s.Net.Places, func(p petri.Place) bool { return p.ID == a.Target })
			s.put(p, a.Target, uint64(a.Weight), now)
		}
	}
	if !s.Fire(id) {
		panic("the reference chose a transition that is not enabled")
	}
	s.rows.Transitions[t].Firings++
	s.rows.Transitions[t].LastFiring = now
	s.turn = (t + 1) % len(s.Net.Transitions)
	return true
}

func (s *slow) leave(p, k int, now int64) {
	id := s.Net.Places[p].ID
	for _, at := range s.tokens[id][:k] {
		s.rows.Places[p].Departures++
		s.rows.Places[p].Dwell.Observe(now - at)
		if now-at > s.rows.Places[p].Slowest.Micros {
			s.rows.Places[p].Slowest = stats.Slowest{Instance: name(s.number), Micros: now - at, At: now}
		}
	}
	s.tokens[id] = s.tokens[id][k:]
}

// present adds what Look counts, in the simplest way.
func present(n *petri.Net, all []*slow, now int64, rows *stats.Rows) {
	for p, place := range n.Places {
		row := &rows.Places[p]
		var list []stats.Token
		for i, s := range all {
			tokens := s.tokens[place.ID]
			if len(tokens) > 0 {
				row.Instances++
			}
			for _, at := range tokens {
				row.Tokens++
				row.Oldest = stats.Earlier(row.Oldest, at)
				row.Injected.Add(at)
				row.Ages.Add(at, now, 1)
				list = append(list, stats.Token{Instance: name(i), Injected: at})
			}
		}
		slices.SortFunc(list, func(a, b stats.Token) int {
			return cmp.Or(cmp.Compare(a.Injected, b.Injected), cmp.Compare(a.Instance, b.Instance))
		})
		row.Stuck = list[:min(len(list), stats.MaxStuck)]
	}
}

// comparable returns only the columns that the reference computes.
func comparable(rows *stats.Rows) *stats.Rows {
	rows.Blocks, rows.Columns, rows.Net = nil, 0, stats.NetRow{}
	for p := range rows.Places {
		if len(rows.Places[p].Ages.Slots) == 0 {
			rows.Places[p].Ages = stats.Ladder{}
		}
		for i := range rows.Places[p].Stuck {
			rows.Places[p].Stuck[i].Waits = nil
		}
		rows.Places[p].Groups = nil
		if len(rows.Places[p].Stuck) == 0 {
			rows.Places[p].Stuck = nil
		}
	}
	for t := range rows.Transitions {
		rows.Transitions[t].Enabled, rows.Transitions[t].EnabledSince = 0, 0
	}
	return rows
}

func TestShardPlaysAndRecordsAsTheReferenceDoes(t *testing.T) {
	for seed := range seeds.Of(10, 800, 17, 90, 131, 139, 156, 14, 33, 63, 78, 143) {
		r := rand.New(rand.NewPCG(1, seed))
		n := petritest.RandomNet(r)
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 3})
		want := stats.NewRows(len(n.Places), len(n.Transitions))
		var all []*slow
		for i := range s.Count {
			all = append(all, newSlow(n, i, want))
		}
		now := now0
		for range 80 {
			now += r.Int64N(1 << r.IntN(30))
			i := r.IntN(s.Count)
			if r.IntN(8) == 0 {
				p, k := r.IntN(len(n.Places)), r.Uint32N(6)
				if err := s.Inject(i, p, k, now); err != nil {
					t.Fatal(err)
				}
				all[i].Marking[n.Places[p].ID] += uint64(k)
				all[i].put(p, n.Places[p].ID, uint64(k), now)
			}
			if fired := s.run(i, &s.cells[i], 1, now) == 1; fired != all[i].step(now) {
				t.Fatalf("fired %v, the reference %v", fired, !fired)
			}
			if s.cells[i].n == isWide {
				s.narrow(&s.cells[i])
			}
			for p, m := range s.Marking(i) {
				if uint64(m) != all[i].Marking[n.Places[p].ID] {
					t.Fatalf("place %d holds %d, want %d", p, m, all[i].Marking[n.Places[p].ID])
				}
			}
		}
		got := stats.NewRows(len(n.Places), len(n.Transitions))
		s.Look(now, name, got)
		s.TakeSlowest(name, got)
		present(n, all, now, want)
		if d := difference(comparable(want), comparable(got)); d != "" {
			t.Fatalf("seed %d: rows (-reference +shard):\n%s", seed, d)
		}
	}
}

// traffic returns a net with every mode: arrivals at a rate, a delay, a race
// between two delays, a manual step, an immediate join with a weight and an
// inhibitor.
func traffic() (*petri.Net, []Mode) {
	n := &petri.Net{ID: "traffic"}
	for _, id := range []string{"queue", "served", "approved", "out", "busy"} {
		n.Places = append(n.Places, petri.Place{ID: id})
	}
	n.Places[0].Initial = 1
	for _, id := range []string{"arrive", "serve", "escalate", "approve", "join"} {
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
	}
	arc := func(from, to string, w uint32, k petri.ArcKind) {
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint(len(n.Arcs)), Source: from, Target: to, Weight: w, Kind: k})
	}
	arc("arrive", "queue", 1, petri.Normal)
	arc("queue", "serve", 1, petri.Normal)
	arc("busy", "serve", 3, petri.Inhibitor)
	arc("serve", "served", 1, petri.Normal)
	arc("queue", "escalate", 2, petri.Normal)
	arc("escalate", "busy", 1, petri.Normal)
	arc("served", "approve", 1, petri.Normal)
	arc("approve", "approved", 1, petri.Normal)
	arc("approved", "join", 2, petri.Normal)
	arc("busy", "join", 1, petri.Normal)
	arc("join", "out", 1, petri.Normal)
	return n, []Mode{
		{Kind: Delayed, Delay: Delay{Shape: Exponential, A: 2e6}},
		{Kind: Delayed, Delay: Delay{Shape: Uniform, A: 1e6, B: 3e6}},
		{Kind: Delayed, Delay: Delay{Shape: Normal, A: 2e6, B: 1e6}},
		{Kind: Manual},
		{},
	}
}

// drive makes the same events happen at the same times on shards that together
// hold the instances 0 to 11, and returns the sum of their rows.
func drive(t *testing.T, shards []*Shard, budget int) (*stats.Rows, [][]uint32) {
	r := rand.New(rand.NewPCG(9, 9))
	now := now0
	for range 400 {
		now += r.Int64N(500_000)
		for _, s := range shards {
			for s.Step(budget, now) == budget {
			}
		}
		number, place := r.IntN(12), r.IntN(5)
		s := shards[number%len(shards)]
		i, err := s.Index(number)
		if err != nil {
			t.Fatal(err)
		}
		switch r.IntN(3) {
		case 0:
			if err := s.Inject(i, place, 1, now); err != nil {
				t.Fatal(err)
			}
		case 1:
			if err := s.Fire(i, 3, now); err != nil && !errors.Is(err, petri.ErrNotEnabled) {
				t.Fatal(err)
			}
		}
		for _, s := range shards {
			for s.Step(budget, now) == budget {
			}
		}
	}
	rows, markings := stats.NewRows(5, 5), make([][]uint32, 12)
	for _, s := range shards {
		s.Look(now, name, rows)
		for i := range s.Count {
			markings[s.Number(i)] = s.Marking(i)
		}
	}
	return rows, markings
}

// Markings and rows are the same for any number of shards and any budget.
func TestRunDoesNotDependOnShardsOrBudgets(t *testing.T) {
	n, modes := traffic()
	tables := petritest.Compile(t, n)
	for _, shuffle := range []bool{false, true} {
		shards := func(k int) (out []*Shard) {
			for i := range k {
				out = append(out, newShard(t, Config{Tables: tables, Modes: modes, First: i, Stride: k, Count: 12 / k, Seed: 42, Shuffle: shuffle}))
			}
			return out
		}
		wantRows, wantMarkings := drive(t, shards(1), 1000)
		if wantRows.Transitions[0].Firings == 0 || wantRows.Transitions[2].Firings == 0 || wantRows.Transitions[4].Firings == 0 {
			t.Fatalf("nothing happened: %+v", wantRows.Transitions)
		}
		for _, c := range []struct{ shards, budget int }{{1, 1000}, {1, 1}, {3, 7}, {4, 1000}, {12, 1}} {
			rows, markings := drive(t, shards(c.shards), c.budget)
			if d := difference(wantRows, rows); d != "" {
				t.Errorf("%d shards, budget %d (-want +got):\n%s", c.shards, c.budget, d)
			}
			if d := difference(wantMarkings, markings); d != "" {
				t.Errorf("%d shards, budget %d (-want +got):\n%s", c.shards, c.budget, d)
			}
		}
	}
}

func chain(kind petri.ArcKind, weight, tokens uint32) *petri.Net {
	return &petri.Net{ID: "chain",
		Places:      []petri.Place{{ID: "p", Initial: tokens}, {ID: "q"}},
		Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{ID: "a", Source: "p", Target: "t", Weight: weight, Kind: kind},
			{ID: "b", Source: "t", Target: "q", Weight: 1}}}
}

func rowsOf(s *Shard, now int64) *stats.Rows {
	rows := stats.NewRows(s.Tables.Places(), s.Tables.Transitions())
	s.Look(now, name, rows)
	return rows
}

func TestRestingInstanceIsFinishedOrDeadlocked(t *testing.T) {
	for _, c := range []struct {
		rule string
		net  *petri.Net
		want stats.NetRow
	}{
		{"tokens only where nothing needs them: finished", chain(petri.Normal, 1, 1), stats.NetRow{Created: 2, Finished: 2}},
		{"a token that a transition needs: deadlocked", chain(petri.Normal, 2, 1), stats.NetRow{Created: 2, Active: 2, Deadlocked: 2}},
		{"no tokens and nothing done: not begun", chain(petri.Normal, 1, 0), stats.NetRow{Created: 2, Active: 2}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := newShard(t, Config{Tables: petritest.Compile(t, c.net), Stride: 1, Count: 2})
			s.Step(1000, now0)
			if d := difference(c.want, rowsOf(s, now0).Net); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestInjectionWakesWhatIsAtRest(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 2, 1)), Stride: 1, Count: 1})
	s.Step(10, now0)
	if err := s.Inject(0, 0, 1, now0); err != nil {
		t.Fatal(err)
	}
	if n := s.Step(10, now0+5); n != 1 {
		t.Fatalf("%d firings", n)
	}
	if d := difference(stats.NetRow{Created: 1, Finished: 1}, rowsOf(s, now0).Net); d != "" {
		t.Error(d)
	}
	if err := s.Inject(0, 0, 2, now0); err != nil {
		t.Fatal(err)
	}
	s.Step(10, now0+6)
	if d := difference(stats.NetRow{Created: 2, Finished: 2}, rowsOf(s, now0).Net); d != "" {
		t.Errorf("started again: %s", d)
	}
}

func TestOverflowFailsTheInstanceAndTouchesNothing(t *testing.T) {
	n := chain(petri.Normal, 1, 1)
	n.Places[1].Initial = math.MaxUint32
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 1})
	if fired := s.Step(10, now0); fired != 0 {
		t.Fatalf("%d firings", fired)
	}
	rows := rowsOf(s, now0)
	if rows.Net.Failed != 1 || rows.Net.Active != 0 || rows.Transitions[0].Failures != 1 || rows.Places[1].Tokens != math.MaxUint32 || rows.Places[0].Tokens != 1 {
		t.Errorf("rows %+v", rows)
	}
	if err := s.Fire(0, 0, now0); !errors.Is(err, petri.ErrOverflow) {
		t.Errorf("fired from outside: %v", err)
	}
	if err := s.Inject(0, 1, 1, now0); !errors.Is(err, petri.ErrOverflow) {
		t.Errorf("injected: %v", err)
	}
}

func TestFireFromOutsideReturnsWhyNot(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, chain(petri.Normal, 3, 1)), Modes: []Mode{{Kind: Manual}}, Stride: 1, Count: 1})
	s.Step(10, now0)
	err := s.Fire(0, 0, now0)
	if want := `transition "t": not enabled: place "p" holds 1 tokens, expected 3 or more`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := s.Index(1); !errors.Is(err, ErrNoInstance) {
		t.Errorf("instance 1: %v", err)
	}
}

// A delay counts from the moment when the transition became enabled, without
// interruption.
func TestDelayStartsAgainAfterAnInterruption(t *testing.T) {
	n := &petri.Net{ID: "n",
		Places:      []petri.Place{{ID: "p", Initial: 1}, {ID: "stop"}, {ID: "q"}},
		Transitions: []petri.Transition{{ID: "late"}, {ID: "clear"}},
		Arcs: []petri.Arc{
			{ID: "a", Source: "p", Target: "late", Weight: 1}, {ID: "b", Source: "late", Target: "q", Weight: 1},
			{ID: "c", Source: "stop", Target: "late", Weight: 1, Kind: petri.Inhibitor}, {ID: "d", Source: "stop", Target: "clear", Weight: 1},
		}}
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Modes: []Mode{{Kind: Delayed, Delay: Delay{A: 10e6}}, {Kind: Manual}}, Stride: 1, Count: 1})
	s.Step(10, now0)
	if due, ok := s.NextDue(); !ok || due != now0+10e6 {
		t.Fatalf("due %d %v", due-now0, ok)
	}
	if err := s.Inject(0, 1, 1, now0+9e6); err != nil { // inhibits
		t.Fatal(err)
	}
	s.Step(10, now0+9e6)
	if _, ok := s.NextDue(); ok {
		t.Error("an inhibited transition has a due time")
	}
	if err := s.Fire(0, 1, now0+12e6); err != nil {
		t.Fatal(err)
	}
	if n := s.Step(10, now0+12e6); n != 0 {
		t.Errorf("%d firings at 12 s", n)
	}
	if due, ok := s.NextDue(); !ok || due != now0+22e6 {
		t.Errorf("due %d %v, want 22 s", due-now0, ok)
	}
	rows := rowsOf(s, now0+13e6)
	if tr := rows.Transitions[0]; tr.Enabled != 1 || tr.EnabledSince != now0+12e6 {
		t.Errorf("enabled %d since %d", tr.Enabled, tr.EnabledSince-now0)
	}
	want := []stats.Wait{{Reason: stats.ReasonDelayed, Place: stats.NoPlace, Until: now0 + 22e6}}
	if d := difference(want, rows.Places[0].Stuck[0].Waits); d != "" {
		t.Error(d)
	}
	if n := s.Step(10, now0+22e6); n != 1 {
		t.Errorf("%d firings at 22 s", n)
	}
}

func TestLookListsWhatHoldsOldTokensBack(t *testing.T) {
	n := chain(petri.Normal, 2, 1)
	n.Places = append(n.Places, petri.Place{ID: "full", Initial: 5})
	n.Arcs = append(n.Arcs, petri.Arc{ID: "c", Source: "full", Target: "t", Kind: petri.Inhibitor, Weight: 3})
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Stride: 1, Count: 7})
	s.Step(100, now0)
	if b := rowsOf(s, now0+stats.BlockedAfter-1).Blocks; b != nil {
		t.Errorf("young tokens are blocked: %v", b)
	}
	rows := rowsOf(s, now0+stats.BlockedAfter)
	want := []stats.Block{{Transition: 0, Place: 0, Reason: stats.ReasonMissing, Instances: 7}, {Transition: 0, Place: 2, Reason: stats.ReasonInhibited, Instances: 7}}
	if d := difference(want, rows.Blocks); d != "" {
		t.Error(d)
	}
	waits := []stats.Wait{{Reason: stats.ReasonDead, Place: stats.NoPlace}, {Reason: stats.ReasonMissing, Place: 0, Count: 1}, {Reason: stats.ReasonInhibited, Place: 2, Count: 3}}
	if d := difference(waits, rows.Places[0].Stuck[0].Waits); d != "" {
		t.Error(d)
	}
}

func TestDelaysFollowTheirDistribution(t *testing.T) {
	for _, c := range []struct {
		d        Delay
		mean, sd float64
	}{
		{Delay{Fixed, 5e6, 0}, 5e6, 0},
		{Delay{Uniform, 2e6, 4e6}, 3e6, 2e6 / math.Sqrt(12)},
		{Delay{Exponential, 3e6, 0}, 3e6, 3e6},
		{Delay{Normal, 50e6, 2e6}, 50e6, 2e6},
	} {
		st := shard.NewStream(7, 3)
		r := rand.New(&st)
		const n = 200_000
		var sum, squares float64
		for range n {
			v := float64(c.d.Draw(r))
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / n
		sd := math.Sqrt(max(squares/n-mean*mean, 0))
		if math.Abs(mean/c.mean-1) > 0.02 || math.Abs(sd-c.sd) > 0.02*c.mean {
			t.Errorf("%+v: mean %g, deviation %g; want %g, %g", c.d, mean, sd, c.mean, c.sd)
		}
	}
	st := shard.NewStream(1, 1)
	if v := (Delay{Normal, 0, 1e9}).Draw(rand.New(&st)); v < 0 {
		t.Errorf("negative delay %d", v)
	}
}
