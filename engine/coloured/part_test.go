// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// regional returns a net made of two or three random nets, and its plan. Each
// of them is a region named by its number. Their transitions put tokens into
// each other's places.
func regional(t testing.TB, r *rand.Rand, change func(*petri.Net)) (*petri.Tables, []Binding, *split.Plan) {
	t.Helper()
	for {
		n, of, bindings := &petri.Net{ID: "regional"}, map[string]string{}, []Binding(nil)
		for k := range 2 + r.IntN(2) {
			one, theirs := randomNet(r)
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
				n.Arcs = append(n.Arcs, a)
			}
			bindings = append(bindings, theirs...)
		}
		for k := range 1 + r.IntN(6) {
			t := r.IntN(len(n.Transitions))
			a := petri.Arc{ID: fmt.Sprint("x", k), Weight: 1 + r.Uint32N(2), Source: n.Transitions[t].ID, Target: n.Places[r.IntN(len(n.Places))].ID}
			if r.IntN(3) == 0 {
				a.Kind = petri.Branch
				if bindings[t].Branches != nil {
					bindings[t].Branches = append(bindings[t].Branches, nil)
				}
			}
			n.Arcs = append(n.Arcs, a)
		}
		change(n)
		tables := petritest.Compile(t, n)
		for tr := range bindings {
			if bindings[tr].Guard != nil && tables.Source(tr) {
				bindings[tr].Guard = nil
			}
			if len(bindings[tr].Branches) != len(tables.Branches(tr)) {
				bindings[tr].Branches = nil
			}
		}
		plan, err := split.Split(tables, func(id string) string { return of[id] }, nil)
		if err == nil && tables.Transitions() < 60 {
			return tables, bindings, plan
		} // otherwise a join would depend on another region
	}
}

// courier returns a net in which each transition takes one token, so that the
// path of a token depends on its data alone, and in which all tokens reach an
// end.
func courier(r *rand.Rand) (*petri.Net, []Binding) {
	n := &petri.Net{ID: "courier"}
	var bindings []Binding
	places := 4 + r.IntN(9)
	for p := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", p)})
	}
	for p := range places - 1 {
		t, b := fmt.Sprint("t", p), Binding{Action: r.IntN(3) == 0}
		n.Transitions = append(n.Transitions, petri.Transition{ID: t})
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("i", p), Source: fmt.Sprint("p", p), Target: t, Weight: 1})
		split := r.IntN(2) == 0
		for k := range 1 + r.IntN(3) {
			a := petri.Arc{ID: fmt.Sprint("o", p, k), Source: t, Target: fmt.Sprint("p", p+1+r.IntN(places-p-1)), Weight: 1 + r.Uint32N(2)/2}
			if split {
				a.Kind, a.Default = petri.Branch, k == 0
				b.Branches = append(b.Branches, nil)
				if k > 0 {
					b.Branches[k] = byData(r.Uint32())
				}
			}
			n.Arcs = append(n.Arcs, a)
		}
		bindings = append(bindings, b)
	}
	return n, bindings
}

func byData(salt uint32) Guard {
	return func(tokens []Placed, _ int64) Verdict {
		h := fnv.New32a()
		fmt.Fprint(h, salt, string(tokens[0].Token.Data))
		return Verdict{OK: h.Sum32()%2 == 0}
	}
}

// relay plays all parts of a net and delivers the tokens that cross.
type relay struct {
	*testing.T
	r      *rand.Rand
	plan   *split.Plan
	parts  []*Shard
	flight [][]split.Crossing // by the part that put them
	runs   []Start
	of     []int // the part of each run
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

// gather collects the tokens that leave a part.
func (x *relay) gather(k int) {
	ready := x.parts[k].Ready()
	x.flight[k] = append(x.flight[k], ready.Crossings...)
	for _, st := range ready.Starts {
		x.runs, x.of = append(x.runs, st), append(x.of, k)
	}
}

// play steps one part, ends some of its runs, and delivers some of the tokens
// that another part has put.
func (x *relay) play(budget int, outcome func(Start) Outcome) {
	k := x.r.IntN(len(x.parts))
	x.parts[k].Step(budget, x.now)
	x.gather(k)
	if len(x.runs) > 0 {
		j := x.r.IntN(len(x.runs))
		k := x.of[j]
		if err := x.parts[k].Done(x.runs[j].Run, outcome(x.runs[j]), x.now); err != nil && !errors.Is(err, ErrLate) && !errors.Is(err, ErrOutcome) {
			x.Fatal(err)
		}
		x.runs, x.of = slices.Delete(x.runs, j, j+1), slices.Delete(x.of, j, j+1)
		x.gather(k)
	}
	from := x.r.IntN(len(x.parts))
	for range min(len(x.flight[from]), x.r.IntN(4)) {
		c := x.flight[from][0]
		to := x.parts[x.plan.Owner(int(c.Place))]
		i, err := to.Index(c.Instance)
		if err == nil {
			err = to.Inject(i, int(c.Place), c.Data, c.Tokens, x.now)
		}
		if err != nil {
			x.Fatal(err)
		}
		x.flight[from] = x.flight[from][1:]
	}
}

func (x *relay) rest() bool {
	for k, s := range x.parts {
		if s.Present() != 0 || len(x.flight[k]) > 0 {
			return false
		}
	}
	return len(x.runs) == 0
}

// found lists the tokens of an instance by place and data.
func found(instance int, shards ...*Shard) []string {
	var out []string
	for _, s := range shards {
		for _, p := range s.Tokens(instance, 1e6) {
			out = append(out, fmt.Sprint(p.Place, " ", string(p.Token.Data)))
		}
	}
	slices.Sort(out)
	return out
}

// If tokens do not compete, the parts of a net together do what the whole net
// does, including data, branches and actions.
func TestPartsDoTogetherWhatTheNetDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	several := 0
	longer := func(st Start) Outcome { return Outcome{Data: append(slices.Clone(st.Taken[0].Token.Data), 'a')} }
	for range 300 {
		net, bindings := courier(r)
		tables := petritest.Compile(t, net)
		salt := r.IntN(3)
		plan, err := split.Split(tables, func(id string) string { return fmt.Sprint("r", (int(id[len(id)-1])+salt)%3) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		several += min(len(plan.Regions)-1, 1)
		cfg := Config{Tables: tables, Bindings: bindings, First: 3, Stride: 2, Count: 3}
		whole, x := newShard(t, cfg), newRelay(t, r, cfg, plan)
		for k := range 10 {
			i, p := r.IntN(3), r.IntN(tables.Places())
			for _, s := range []*Shard{whole, x.parts[plan.Owner(p)]} {
				if err := s.Inject(i, p, []byte(fmt.Sprint("d", k)), 1+r.Uint32N(2)/2, now0); err != nil {
					t.Fatal(err)
				}
			}
			x.play(3, longer)
		}
		for more := true; more; {
			whole.Step(1<<20, now0)
			starts := slices.Clone(whole.Ready().Starts)
			for _, st := range starts {
				if err := whole.Done(st.Run, longer(st), now0); err != nil {
					t.Fatal(err)
				}
			}
			more = len(starts) > 0
		}
		for range 200_000 {
			if x.rest() {
				break
			}
			x.play(1+r.IntN(9), longer)
		}
		for i := range 3 {
			if d := difference(found(i, whole), found(i, x.parts...)); d != "" {
				t.Fatalf("instance %d (-net +parts):\n%s", i, d)
			}
		}
	}
	if several < 200 {
		t.Errorf("only %d of several regions", several)
	}
}

// At any time the marking over all parts, plus the tokens under way between
// them, is the initial marking plus the injected tokens and the effect of the
// firings: with guards, delays, actions, cancels and preemption.
func TestNoTokenIsLostOrDoubledBetweenParts(t *testing.T) {
	n, crossed := 0, 0
	for seed := range seeds.Of(5, 200, 170, 120, 16, 194, 66, 85, 96, 156, 97, 139, 15, 18, 19, 25, 123) {
		n++
		r := rand.New(rand.NewPCG(17, seed))
		tables, bindings, plan := regional(t, r, func(n *petri.Net) {
			n.Arcs = slices.DeleteFunc(n.Arcs, func(a petri.Arc) bool { return a.Kind == petri.Reset })
			for k := range n.Arcs {
				if a := &n.Arcs[k]; a.Kind == petri.Join || a.Kind == petri.Branch {
					a.Kind, a.Default = petri.Normal, false
				}
			}
		})
		x := newRelay(t, r, Config{Tables: tables, Bindings: bindings, Count: 1, Shuffle: r.IntN(2) == 0}, plan)
		put := make([]int64, tables.Places())
		for p, n := range tables.Initial {
			put[p] = int64(n)
		}
		for range 40 {
			x.now += r.Int64N(150)
			p := r.IntN(tables.Places())
			if err := x.parts[plan.Owner(p)].Inject(0, p, []byte(fmt.Sprint(r.IntN(9))), 1, x.now); err != nil {
				t.Fatal(err)
			}
			put[p]++
			tr := r.IntN(tables.Transitions())
			for k, s := range x.parts {
				if err := s.Fire(0, tr, nil, x.now); errors.Is(err, plain.ErrElsewhere) == plan.Regions[k].Transitions[tr] {
					t.Fatalf("transition %d fired in part %d: %v", tr, k, err)
				}
				x.gather(k)
				crossed += len(x.flight[k])
			}
			x.play(1+r.IntN(20), func(st Start) Outcome {
				o, _ := randomOutcome(r, tables, &modelRun{t: int(st.Transition)})
				o.Puts = nil
				return o
			})
			checkEquation(t, x, tables, put)
		}
	}
	if n > 1 && crossed < 5*n {
		t.Errorf("only %d crossings of %d nets", crossed, n)
	}
}

func checkEquation(t *testing.T, x *relay, tables *petri.Tables, put []int64) {
	t.Helper()
	want, got := slices.Clone(put), make([]int64, tables.Places())
	for k, s := range x.parts {
		for tr, row := range rowsOf(s, x.now).Transitions {
			for _, e := range tables.Effects(tr) {
				want[e.Place] += int64(row.Firings) * (int64(e.Put) - int64(e.Take))
			}
		}
		for p, n := range s.Marking(0) {
			got[p] += int64(n)
			if n > 0 && s.Outside(p) {
				t.Fatalf("a part holds %d tokens of place %d of another part", n, p)
			}
		}
		for _, c := range x.flight[k] {
			got[c.Place] += int64(c.Tokens)
		}
	}
	if d := difference(want, got); d != "" {
		t.Fatalf("tokens by place (-want +over all parts):\n%s", d)
	}
}

// split2 cuts a net into the regions of the transitions a and b.
func split2(t testing.TB, n *petri.Net) (*petri.Tables, *split.Plan) {
	t.Helper()
	tables := petritest.Compile(t, n)
	plan, err := split.Split(tables, func(id string) string { return strings.Trim(id, "123") }, nil)
	if err != nil || len(plan.Regions) != 2 {
		t.Fatalf("%v", err)
	}
	return tables, plan
}

func TestDataCrossWithTheirTokens(t *testing.T) {
	tables, plan := split2(t, build("p own q r", "a b", `p>a a>own a/q a\r q>b r>b`))
	yes := func([]Placed, int64) Verdict { return Verdict{OK: true} }
	up := newShard(t, Config{Tables: tables, Bindings: []Binding{{Branches: []Guard{yes, nil}}, {}}, Count: 1, Part: &plan.Regions[0], Log: true})
	if err := up.Inject(0, 0, []byte("data"), 1, now0); err != nil {
		t.Fatal(err)
	}
	up.Step(10, now0)
	want := []split.Crossing{{Instance: 0, Place: 2, Tokens: 1, Data: []byte("data")}}
	ready := up.Ready()
	if d := difference(want, ready.Crossings); d != "" {
		t.Errorf("(-want +crossed):\n%s", d)
	}
	if got := found(0, up); !slices.Equal(got, []string{"1 data"}) {
		t.Errorf("left: %v", got)
	}
	again := newShard(t, Config{Tables: tables, Count: 1, Part: &plan.Regions[0]})
	ops := slices.Clone(ready.Log)
	if err := again.Replay(ops, now0); err != nil || len(again.Ready().Crossings) != 0 || !slices.Equal(found(0, again), found(0, up)) {
		t.Errorf("replayed: %v, %v", found(0, again), err)
	}
	if err := newShard(t, Config{Tables: tables, Count: 1, Part: &plan.Regions[1]}).Replay(ops, now0); !errors.Is(err, ErrLog) || !errors.Is(err, plain.ErrElsewhere) {
		t.Errorf("the log of another part: %v", err)
	}
	if _, err := newShard(t, Config{Tables: tables, Count: 1, Part: &plan.Regions[1]}).LoadState(up.AppendState(nil)); !errors.Is(err, plain.ErrElsewhere) {
		t.Errorf("the state of another part: %v", err)
	}
}

func TestAnActionPutsIntoOtherParts(t *testing.T) {
	tables, plan := split2(t, build("p q", "a b", "p>a a>q q>b"))
	s := newShard(t, Config{Tables: tables, Bindings: []Binding{{Action: true}, {}}, Count: 1, Part: &plan.Regions[0]})
	if err := s.Inject(0, 0, []byte("in"), 1, now0); err != nil {
		t.Fatal(err)
	}
	s.Step(10, now0)
	ready := s.Ready()
	if len(ready.Crossings) != 0 || s.Marking(0)[0] != 1 {
		t.Error("a token crosses before its run has ended")
	}
	st := ready.Starts[0]
	puts := []Put{{Place: 1, Moved: st.Taken[0].Token.ID}, {Place: 1, Data: []byte("new")}}
	if err := s.Done(st.Run, Outcome{Puts: puts}, now0); err != nil {
		t.Fatal(err)
	}
	want := []split.Crossing{{Place: 1, Tokens: 1, Data: []byte("in")}, {Place: 1, Tokens: 1, Data: []byte("new")}}
	if d := difference(want, s.Ready().Crossings); d != "" {
		t.Errorf("(-want +crossed):\n%s", d)
	}
}

func TestWhatAPartCounts(t *testing.T) {
	tables, plan := split2(t, build("p:1 q more", "a b", "p>a a>q q>b*1 b>more more>b"))
	up := newShard(t, Config{Tables: tables, Count: 1, Part: &plan.Regions[0]})
	down := newShard(t, Config{Tables: tables, Count: 1, Part: &plan.Regions[1]})
	up.Step(10, now0)
	if err := down.Inject(0, 1, nil, 1, now0); err != nil {
		t.Fatal(err)
	}
	down.Step(10, now0)
	if rows := rowsOf(up, now0); rows.Net != (stats.NetRow{}) || rows.Columns.Has(stats.ColInstances) {
		t.Errorf("the first part counts %+v", rows.Net)
	}
	rows := rowsOf(down, now0)
	if rows.Net != (stats.NetRow{}) || rows.Columns.Has(stats.ColInstances) {
		t.Errorf("another part counts %+v", rows.Net)
	}
	want := []stats.Wait{{Transition: 1, Reason: stats.ReasonMissing, Place: 2, Count: 1}}
	if d := difference(want, rows.Places[1].Stuck[0].Waits); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The transitions of other parts need no bindings and are not fired.
func TestBindingsOfOtherPartsAreNotLookedAt(t *testing.T) {
	n := build("p:1 q", "a b", "p>a a>q q>b")
	n.Transitions[1].Guard = "x > 1"
	tables, plan := split2(t, n)
	s := newShard(t, Config{Tables: tables, Count: 1, Part: &plan.Regions[0]})
	if err := s.Fire(0, 1, nil, now0); !errors.Is(err, plain.ErrElsewhere) {
		t.Errorf("fired: %v", err)
	}
	if err := s.Inject(0, 1, nil, 1, now0); !errors.Is(err, plain.ErrElsewhere) {
		t.Errorf("injected: %v", err)
	}
	if _, err := New(Config{Tables: tables, Count: 1, Stride: 1, Part: &plan.Regions[1]}, now0); !errors.Is(err, ErrBinding) {
		t.Errorf("a missing guard of its own: %v", err)
	}
	plan.Regions[0].Transitions = nil
	if _, err := New(Config{Tables: tables, Count: 1, Stride: 1, Part: &plan.Regions[0]}, now0); err == nil {
		t.Error("a part of another net is accepted")
	}
}
