// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// regional returns a net made of a few random nets. Each of them is a region
// named by its number. Their transitions put tokens into each other's places.
func regional(r *rand.Rand) (n *petri.Net, region func(string) string) {
	n = &petri.Net{ID: "regional"}
	of := map[string]string{}
	for k := range 2 + r.IntN(2) {
		one := petritest.RandomNet(r)
		one.Transitions = one.Transitions[:min(len(one.Transitions), 12)]
		name := func(id string) string { return fmt.Sprint(k, " ", id) }
		for _, p := range one.Places {
			p.ID = name(p.ID)
			n.Places = append(n.Places, p)
		}
		for _, t := range one.Transitions {
			t.ID = name(t.ID)
			of[t.ID] = fmt.Sprint("r", k)
			n.Transitions = append(n.Transitions, t)
		}
		for _, a := range one.Arcs {
			a.ID, a.Source, a.Target = name(a.ID), name(a.Source), name(a.Target)
			if of[a.Source] != "" || of[a.Target] != "" {
				n.Arcs = append(n.Arcs, a)
			}
		}
	}
	for k := range 1 + r.IntN(6) {
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("x", k), Weight: 1 + r.Uint32N(2),
			Source: n.Transitions[r.IntN(len(n.Transitions))].ID, Target: n.Places[r.IntN(len(n.Places))].ID})
	}
	return n, func(id string) string { return of[id] }
}

// conveyor returns a net without choices in which all tokens reach an end: each
// place has one transition that takes from it, which puts only into later ones.
func conveyor(r *rand.Rand) (n *petri.Net, region func(string) string) {
	n = &petri.Net{ID: "conveyor"}
	places := 4 + r.IntN(12)
	for p := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", p), Initial: r.Uint32N(4)})
	}
	arc := func(from, to string) {
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("a", len(n.Arcs)), Source: from, Target: to, Weight: 1 + r.Uint32N(2)})
	}
	for p := 0; p < places-1; {
		t := fmt.Sprint("t", len(n.Transitions))
		n.Transitions = append(n.Transitions, petri.Transition{ID: t, Priority: r.IntN(2)})
		for range 1 + r.IntN(2) {
			if p < places-1 {
				arc(fmt.Sprint("p", p), t)
				p++
			}
		}
		for range 1 + r.IntN(2) {
			arc(t, fmt.Sprint("p", p+r.IntN(places-p)))
		}
	}
	salt := r.IntN(100)
	return n, func(id string) string { return fmt.Sprint("r", (len(id)+int(id[len(id)-1])+salt)%3) }
}

func planOf(t testing.TB, tables *petri.Tables, region func(string) string) *split.Plan {
	t.Helper()
	plan, err := split.Split(tables, region, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// relay plays all parts of a net and delivers the tokens that cross.
type relay struct {
	*testing.T
	r      *rand.Rand
	plan   *split.Plan
	parts  []*Shard
	flight [][]split.Crossing // by the part that put them
	now    int64
}

func newRelay(t *testing.T, r *rand.Rand, cfg Config, plan *split.Plan) *relay {
	x := &relay{T: t, r: r, plan: plan, flight: make([][]split.Crossing, len(plan.Regions)), now: now0}
	for k := range plan.Regions {
		cfg.Part = &plan.Regions[k]
		x.parts = append(x.parts, newShard(t, cfg))
	}
	return x
}

// play steps one part, or delivers some of the tokens that another part has
// put.
func (x *relay) play(budget int) (done int) {
	k := x.r.IntN(len(x.parts))
	done = x.parts[k].Step(budget, x.now)
	x.flight[k] = append(x.flight[k], x.parts[k].Ready().Crossings...)
	from := x.r.IntN(len(x.parts))
	for range min(len(x.flight[from]), x.r.IntN(4)) {
		c := x.flight[from][0]
		to := x.parts[x.plan.Owner(int(c.Place))]
		i, err := to.Index(c.Instance)
		if err == nil {
			err = to.Inject(i, int(c.Place), c.Tokens, x.now)
		}
		if err != nil {
			x.Fatal(err)
		}
		x.flight[from] = x.flight[from][1:]
		done++
	}
	return done
}

func (x *relay) rest() bool {
	for k, s := range x.parts {
		if s.Present() != 0 || len(x.flight[k]) > 0 {
			return false
		}
	}
	return true
}

// marking returns the marking of an instance over all parts, plus the tokens
// under way between them.
func (x *relay) marking(i int) []uint64 {
	m := make([]uint64, x.parts[0].Tables.Places())
	for _, s := range x.parts {
		for p, n := range s.Marking(i) {
			m[p] += uint64(n)
			if n > 0 && s.Outside(p) {
				x.Fatalf("a part holds %d tokens of place %d of another part", n, p)
			}
		}
	}
	for k := range x.flight {
		for _, c := range x.flight[k] {
			if c.Instance == x.parts[0].Number(i) {
				m[c.Place] += uint64(c.Tokens)
			}
		}
	}
	return m
}

// In a net without choices, the parts together do what the whole net does.
func TestPartsDoTogetherWhatTheNetDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	several := 0
	for range 400 {
		net, region := conveyor(r)
		tables := petritest.Compile(t, net)
		plan := planOf(t, tables, region)
		several += min(len(plan.Regions)-1, 1)
		cfg := Config{Tables: tables, First: 3, Stride: 2, Count: 3}
		whole, x := newShard(t, cfg), newRelay(t, r, cfg, plan)
		for range 5 {
			i, p := r.IntN(3), r.IntN(tables.Places())
			n := r.Uint32N(9)
			for _, s := range []*Shard{whole, x.parts[plan.Owner(p)]} {
				if err := s.Inject(i, p, n, now0); err != nil {
					t.Fatal(err)
				}
			}
			x.play(3)
		}
		whole.Step(1<<20, now0)
		for range 100_000 {
			if x.rest() {
				break
			}
			x.play(1 + r.IntN(9))
		}
		for i := range 3 {
			var want []uint64
			for _, n := range whole.Marking(i) {
				want = append(want, uint64(n))
			}
			if d := difference(want, x.marking(i)); d != "" {
				t.Fatalf("instance %d (-net +parts):\n%s", i, d)
			}
		}
		want, got := rowsOf(whole, now0), stats.NewRows(tables.Places(), tables.Transitions())
		for _, s := range x.parts {
			got.Merge(rowsOf(s, now0))
		}
		for tr := range want.Transitions {
			if got.Transitions[tr].Firings != want.Transitions[tr].Firings {
				t.Fatalf("transition %d fired %d times, want %d", tr, got.Transitions[tr].Firings, want.Transitions[tr].Firings)
			}
		}
		for p := range want.Places {
			if a, b := &got.Places[p], &want.Places[p]; a.Tokens != b.Tokens || a.Arrivals != b.Arrivals || a.Departures != b.Departures {
				t.Fatalf("place %d: %+v, want %+v", p, a, b)
			}
		}
		if len(plan.Regions) > 1 && (got.Net != stats.NetRow{} || got.Columns.Has(stats.ColInstances)) {
			t.Fatalf("%+v: expected no counts of instances from a part", got.Net)
		}
	}
	if several < 200 {
		t.Errorf("only %d of several regions", several)
	}
}

// At any time the marking over all parts, plus the tokens under way between
// them, is the initial marking plus the injected tokens and the effect of the
// firings.
func TestNoTokenIsLostOrDoubledBetweenParts(t *testing.T) {
	n, crossed := 0, 0
	for seed := range seeds.Of(5, 300, 23, 16, 14, 44, 57, 140, 79, 94, 30, 6, 10, 15, 17, 24, 67, 128, 136) {
		n++
		r := rand.New(rand.NewPCG(17, seed))
		net, region := regional(r)
		net.Arcs = slices.DeleteFunc(net.Arcs, func(a petri.Arc) bool { return a.Kind == petri.Reset })
		tables := petritest.Compile(t, net)
		x := newRelay(t, r, Config{Tables: tables, Modes: randomModes(r, tables), Stride: 1, Count: 1, Shuffle: r.IntN(2) == 0}, planOf(t, tables, region))
		want := make([]int64, tables.Places())
		for p, n := range tables.Initial {
			want[p] = int64(n)
		}
		for range 40 {
			x.now += r.Int64N(second)
			p := r.IntN(tables.Places())
			if err := x.parts[x.plan.Owner(p)].Inject(0, p, 1, x.now); err != nil {
				t.Fatal(err)
			}
			want[p]++
			tr := r.IntN(tables.Transitions())
			for k, s := range x.parts {
				err := s.Fire(0, tr, x.now)
				if errors.Is(err, ErrElsewhere) == x.plan.Regions[k].Transitions[tr] {
					t.Fatalf("transition %d fired in part %d: %v", tr, k, err)
				}
				x.flight[k] = append(x.flight[k], s.Ready().Crossings...)
				crossed += len(x.flight[k])
			}
			x.play(1 + r.IntN(20))
			checkEquation(t, x, want)
		}
	}
	if n > 1 && crossed < 4*n {
		t.Errorf("only %d crossings of %d nets", crossed, n)
	}
}

func randomModes(r *rand.Rand, tables *petri.Tables) []Mode {
	modes := make([]Mode, tables.Transitions())
	for t := range modes {
		switch r.IntN(6) {
		case 0:
			modes[t] = Mode{Kind: Delayed, Delay: Delay{A: float64(r.IntN(2e6))}}
		case 1:
			modes[t].Kind = Manual
		}
	}
	return modes
}

func checkEquation(t *testing.T, x *relay, put []int64) {
	t.Helper()
	tables := x.parts[0].Tables
	want := slices.Clone(put)
	for _, s := range x.parts {
		for tr, row := range rowsOf(s, x.now).Transitions {
			for _, e := range tables.Effects(tr) {
				want[e.Place] += int64(row.Firings) * (int64(e.Put) - int64(e.Take))
			}
		}
	}
	for p, n := range x.marking(0) {
		if int64(n) != want[p] {
			t.Fatalf("place %d holds %d tokens over all parts, want %d", p, n, want[p])
		}
	}
}

// line returns a net of two regions: a takes from p and puts into q, from which
// b takes. No transition takes from stop, which inhibits b.
func line() (*petri.Net, func(string) string) {
	return &petri.Net{ID: "line",
			Places:      []petri.Place{{ID: "p", Initial: 2}, {ID: "q"}, {ID: "stop", Initial: 1}, {ID: "r"}},
			Transitions: []petri.Transition{{ID: "a"}, {ID: "b"}},
			Arcs: []petri.Arc{
				{ID: "1", Source: "p", Target: "a", Weight: 2}, {ID: "2", Source: "a", Target: "q", Weight: 3},
				{ID: "3", Source: "q", Target: "b", Weight: 1}, {ID: "4", Source: "b", Target: "r", Weight: 1},
				{ID: "5", Source: "stop", Target: "b", Weight: 1, Kind: petri.Inhibitor},
			}}, func(id string) string {
			return "region " + id
		}
}

func TestAPartPlaysWhatIsItsOwn(t *testing.T) {
	net, region := line()
	tables := petritest.Compile(t, net)
	plan := planOf(t, tables, region)
	up := newShard(t, Config{Tables: tables, Stride: 1, Count: 2, First: 7, Part: &plan.Regions[0]})
	down := newShard(t, Config{Tables: tables, Stride: 1, Count: 2, First: 7, Part: &plan.Regions[1]})
	if got := up.Step(10, now0); got != 2 {
		t.Errorf("%d firings, want one an instance", got)
	}
	want := []split.Crossing{{Instance: 7, Place: 1, Tokens: 3}, {Instance: 8, Place: 1, Tokens: 3}}
	if d := difference(want, up.Ready().Crossings); d != "" {
		t.Errorf("(-want +crossed):\n%s", d)
	}
	if len(up.Ready().Crossings) != 0 {
		t.Error("Ready returns the same tokens twice")
	}
	for name, err := range map[string]error{
		"a transition": up.Fire(0, 1, now0), "a place": up.Inject(0, 1, 1, now0), "the other's transition": down.Fire(0, 0, now0), "the other's place": down.Inject(0, 0, 1, now0),
	} {
		if !errors.Is(err, ErrElsewhere) {
			t.Errorf("%s of another part: %v", name, err)
		}
	}
	rows := rowsOf(up, now0)
	if rows.Net != (stats.NetRow{}) || rows.Columns.Has(stats.ColInstances) {
		t.Errorf("the first part counts %+v", rows.Net)
	}
	if err := down.Inject(0, 1, 3, now0); err != nil {
		t.Fatal(err)
	}
	down.Step(10, now0)
	rows = rowsOf(down, now0+stats.BlockedAfter)
	if rows.Net != (stats.NetRow{}) || rows.Columns.Has(stats.ColInstances) {
		t.Errorf("another part counts %+v", rows.Net)
	}
	wait := []stats.Wait{{Transition: 1, Reason: stats.ReasonInhibited, Place: 2, Count: 1}} // not dead: another part may empty stop
	if d := difference(wait, rows.Places[1].Stuck[0].Waits); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// In a part that receives no tokens, a token is dead if no transition can take
// it.
func TestATokenMayBeDeadOnlyWhereNothingArrives(t *testing.T) {
	net, region := line()
	net.Places[0].Initial = 1
	tables := petritest.Compile(t, net)
	plan := planOf(t, tables, region)
	s := newShard(t, Config{Tables: tables, Stride: 1, Count: 1, Part: &plan.Regions[0]})
	s.Step(10, now0)
	rows := rowsOf(s, now0)
	want := []stats.Wait{{Transition: 0, Reason: stats.ReasonDead, Place: stats.NoPlace}, {Transition: 0, Reason: stats.ReasonMissing, Place: 0, Count: 1}}
	if d := difference(want, rows.Places[0].Stuck[0].Waits); d != "" || rows.Net.Deadlocked != 0 {
		t.Errorf("%d deadlocked (-want +got):\n%s", rows.Net.Deadlocked, d)
	}
	if err := s.Inject(0, 0, 1, now0); err != nil || s.Step(10, now0) != 1 {
		t.Errorf("the instance does not continue: %v", err)
	}
}

func TestAReplayedPartCrossesNothing(t *testing.T) {
	net, region := line()
	tables := petritest.Compile(t, net)
	plan := planOf(t, tables, region)
	cfg := Config{Tables: tables, Stride: 1, Count: 2, Part: &plan.Regions[0], Log: true}
	s, again := newShard(t, cfg), newShard(t, cfg)
	s.Step(10, now0)
	ops := slices.Clone(s.Ready().Log)
	if err := again.Replay(ops, now0); err != nil || len(again.Ready().Crossings) != 0 {
		t.Errorf("%v", err)
	}
	if d := difference(s.Marking(1), again.Marking(1)); d != "" {
		t.Errorf("(-played +replayed):\n%s", d)
	}
	cfg.Part = &plan.Regions[1]
	if err := newShard(t, cfg).Replay(ops, now0); !errors.Is(err, ErrLog) || !errors.Is(err, ErrElsewhere) {
		t.Errorf("the log of another part: %v", err)
	}
	if _, err := newShard(t, cfg).LoadState([]byte{1, 0, 1, 0, 9, 1, 0, 0}); !errors.Is(err, ErrElsewhere) {
		t.Errorf("the state of another part: %v", err)
	}
}

// A part that contains the whole net behaves as the net.
func TestThePartOfAnUndividedNetIsTheNet(t *testing.T) {
	net, _ := line()
	tables := petritest.Compile(t, net)
	plan := planOf(t, tables, func(string) string { return "" })
	s := newShard(t, Config{Tables: tables, Stride: 1, Count: 1, Part: &plan.Regions[0]})
	s.Step(10, now0)
	if rows := rowsOf(s, now0); rows.Net.Deadlocked != 1 || s.Part != nil {
		t.Errorf("%+v", rows.Net)
	}
	plan.Regions[0].Places = nil
	if _, err := New(Config{Tables: tables, Stride: 1, Count: 1, Part: &plan.Regions[0]}, now0); err == nil {
		t.Error("a part of another net is accepted")
	}
}
