// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// A token is dead if its instance is deadlocked. The other reasons why it waits
// are still listed, and counted in no block.
func TestATokenIsDeadIfNothingInItsInstanceCanMove(t *testing.T) {
	missing := func(tr int32, place int32) stats.Wait {
		return stats.Wait{Transition: tr, Reason: stats.ReasonMissing, Place: place, Count: 1}
	}
	dead := func(tr int32) stats.Wait {
		return stats.Wait{Transition: tr, Reason: stats.ReasonDead, Place: stats.NoPlace}
	}
	// p waits for q (ship) and for r (cancel); the transition other depends on
	// the case.
	net := func(other bool, arcs ...petri.Arc) *petri.Net {
		n := &petri.Net{ID: "n", Places: []petri.Place{{ID: "p", Initial: 1}, {ID: "q"}, {ID: "r"}, {ID: "s", Initial: 1}},
			Transitions: []petri.Transition{{ID: "ship"}, {ID: "cancel"}}}
		if other {
			n.Transitions = append(n.Transitions, petri.Transition{ID: "other"})
		}
		for _, a := range append([]petri.Arc{{Source: "p", Target: "ship"}, {Source: "q", Target: "ship"}, {Source: "p", Target: "cancel"}, {Source: "r", Target: "cancel"}}, arcs...) {
			a.ID, a.Weight = fmt.Sprint(len(n.Arcs)), 1
			n.Arcs = append(n.Arcs, a)
		}
		return n
	}
	alive := []stats.Wait{missing(0, 1), missing(1, 2)}
	for _, c := range []struct {
		rule string
		net  *petri.Net
		mode Mode // of other
		want []stats.Wait
	}{
		{"nothing enabled: dead, and why", net(false), Mode{}, []stats.Wait{dead(0), missing(0, 1), dead(1), missing(1, 2)}},
		{"another waits for its delay", net(true, petri.Arc{Source: "s", Target: "other"}), fixed(1000), alive},
		{"another waits for the outside", net(true, petri.Arc{Source: "s", Target: "other"}), Mode{Kind: Manual}, alive},
		{"a source transition may fire from outside", net(true, petri.Arc{Source: "other", Target: "s"}), Mode{}, alive},
		{"a source transition has a rate", net(true, petri.Arc{Source: "other", Target: "s"}), fixed(1000), alive},
	} {
		t.Run(c.rule, func(t *testing.T) {
			modes := make([]Mode, len(c.net.Transitions))
			modes[len(modes)-1] = c.mode
			s := newShard(t, Config{Tables: petritest.Compile(t, c.net), Modes: modes, Stride: 1, Count: 1})
			if d := difference(alive, rowsOf(s, now0).Places[0].Stuck[0].Waits); d != "" {
				t.Errorf("before it came to rest: %s", d)
			}
			s.Step(100, now0)
			rows := rowsOf(s, now0+stats.BlockedAfter)
			if d := difference(c.want, rows.Places[0].Stuck[0].Waits); d != "" {
				t.Error(d)
			}
			blocks := []stats.Block{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Instances: 1}, {Transition: 1, Place: 2, Reason: stats.ReasonMissing, Instances: 1}}
			if d := difference(blocks, rows.Blocks); d != "" {
				t.Errorf("blocks: %s", d)
			}
			if err := s.Inject(0, 0, 1, now0+stats.BlockedAfter); err != nil {
				t.Fatal(err)
			}
			if d := difference(alive, rowsOf(s, now0+stats.BlockedAfter).Places[0].Stuck[0].Waits); d != "" {
				t.Errorf("after an injection: %s", d)
			}
		})
	}
}

// afterSteps returns a shard of a random net after eight steps with up to actions
// external actions after each, less than apart from the next.
func afterSteps(t *testing.T, r *rand.Rand, instances, actions int, apart int64) (tables *petri.Tables, s *Shard, now int64) {
	t.Helper()
	tables = petritest.Compile(t, petritest.RandomNet(r))
	s = newShard(t, Config{Tables: tables, Modes: restful(r, tables), Stride: 1, Count: instances})
	now = now0
	for range 8 {
		s.Step(20, now)
		act(t, r, r.IntN(actions), []*Shard{s}, now)
		now += r.Int64N(apart)
	}
	return tables, s, now
}

// The blocks equal a simple count over all instances, transitions and
// conditions, without tokens in final places.
func TestBlocksCountEveryConditionThatHoldsAnOldTokenBack(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 1))
	counted := 0
	for range 400 {
		tables, s, now := afterSteps(t, r, 3, 3, stats.BlockedAfter/2)
		var want []stats.Block
		ref := petritest.NewReference(tables.Net)
		for i := range s.Count {
			marking := s.Marking(i)
			for tr := range tables.Transitions() {
				if !slices.ContainsFunc(tables.Conds(tr), func(c petri.Cond) bool {
					return c.Lo > 0 && !ref.Final(tables.Net.Places[c.Place].ID) && oldest(s, i, int(c.Place)) <= now-stats.BlockedAfter
				}) {
					continue
				}
				for _, c := range tables.Conds(tr) {
					b := stats.Block{Transition: int32(tr), Place: c.Place, Reason: stats.ReasonInhibited, Instances: 1}
					if marking[c.Place] < c.Lo {
						b.Reason = stats.ReasonMissing
					}
					if !c.Holds(marking[c.Place]) {
						want = stats.MergeBlocks(want, []stats.Block{b})
						counted++
					}
				}
			}
		}
		if d := difference(want, rowsOf(s, now).Blocks); d != "" {
			t.Fatalf("(-plain +look):\n%s", d)
		}
	}
	if counted < 1000 {
		t.Errorf("only %d conditions blocked an instance", counted)
	}
}

// oldest returns the injection time of the oldest token of a place, or the
// largest time if there is none.
func oldest(s *Shard, i, place int) int64 {
	at := int64(math.MaxInt64)
	c := &s.cells[i]
	if c.n == isWide {
		for _, r := range s.wideOf(c).queues[place].left() {
			at = min(at, r.time)
		}
		return at
	}
	for k, p := range c.places[:c.n] {
		if int(p) == place {
			at = min(at, c.times[k])
		}
	}
	return at
}

// stuckShard returns 100,000 instances of an order that waits in three places
// for tokens that never come: each place has three output transitions with
// three or four conditions each.
func stuckShard(b *testing.B) *Shard {
	n := &petri.Net{ID: "stuck"}
	for i := range 12 {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i), Initial: uint32((i + 1) % 4 / 3)})
	}
	for i := range 9 {
		tr := fmt.Sprint("t", i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
		for k, place := range []int{i/3*4 + 2, i/3*4 + i%3 - i%3/2, (i*5 + 3) % 12, 11} {
			a := petri.Arc{ID: fmt.Sprint(i, "-", k), Source: fmt.Sprint("p", place), Target: tr, Weight: 1}
			if k == 3 {
				a.Kind = petri.Inhibitor
			}
			n.Arcs = append(n.Arcs, a)
		}
	}
	s := newShard(b, Config{Tables: petritest.Compile(b, n), Stride: 1, Count: 100_000})
	if fired := s.Step(1, now0); fired > 0 {
		b.Fatal("an order moves; expected it to be stuck")
	}
	return s
}

// lookAtCounts is Look without the reasons: no blocks and no waits.
func lookAtCounts(s *Shard, now int64) *stats.Rows {
	rows := stats.NewRows(s.Tables.Places(), s.Tables.Transitions())
	s.Rec.AddTo(rows)
	l := newLook(s, now)
	for i := range s.cells {
		c := &s.cells[i]
		for k, p := range c.places[:c.n&7] {
			l.Tokens(int(p), int32(i), c.times[k], 1, int32(i))
		}
	}
	l.AddTo(rows, func(int, int32) (string, []stats.Wait) { return "", nil })
	return rows
}

// lookOnceASecond reports how much of a core one Look per second takes, in
// percent.
func lookOnceASecond(b *testing.B, s *Shard, look func(*Shard, int64) *stats.Rows) {
	for b.Loop() {
		look(s, now0+60e6)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*100, "%core")
}

// The difference between the two is the cost of the reasons why 100,000
// instances are stuck, once a second: at most 1 % of a core.
func BenchmarkLookStuck100kCounts(b *testing.B) { lookOnceASecond(b, stuckShard(b), lookAtCounts) }
func BenchmarkLookStuck100kWhy(b *testing.B)    { lookOnceASecond(b, stuckShard(b), rowsOf) }

// The instance whose token stayed longest is named once, with the time when the
// token left, both for cells and for wide forms.
func TestTheSlowestIsNamedOnce(t *testing.T) {
	for form, tokens := range map[string]uint32{"narrow": 1, "wide": 2 * inline} {
		t.Run(form, func(t *testing.T) {
			n := &petri.Net{ID: "n", Places: []petri.Place{{ID: "a"}, {ID: "b"}}, Transitions: []petri.Transition{{ID: "t"}},
				Arcs: []petri.Arc{{Source: "a", Target: "t", Weight: 1}, {Source: "t", Target: "b", Weight: 1}}}
			manual := []Mode{{Kind: Manual}}
			s := newShard(t, Config{Tables: petritest.Compile(t, n), Modes: manual, First: 3, Stride: 2, Count: 3})
			s.Step(9, now0)
			for i, after := range []int64{5, 70, 20} {
				if err := s.Inject(i, 0, tokens, now0); err != nil {
					t.Fatal(err)
				}
				if err := s.Fire(i, 0, now0+after); err != nil {
					t.Fatal(err)
				}
			}
			rows := rowsOf(s, now0+100)
			if got := rows.Places[0].Slowest; got != (stats.Slowest{}) {
				t.Errorf("Look names the slowest token, got %+v; expected only TakeSlowest to do so", got)
			}
			s.TakeSlowest(name, rows)
			if got, want := rows.Places[0].Slowest, (stats.Slowest{Instance: name(5), Micros: 70, At: now0 + 70}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got := rows.Places[1].Slowest; got != (stats.Slowest{}) {
				t.Errorf("no token left place b, got %+v", got)
			}
			again := rowsOf(s, now0+200)
			s.TakeSlowest(name, again)
			if again.Places[0].Slowest != (stats.Slowest{}) {
				t.Errorf("no token left since the last time, got %+v", again.Places[0].Slowest)
			}
		})
	}
}
