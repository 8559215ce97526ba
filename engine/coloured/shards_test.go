// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// orders returns a net with a delay, a guard, an action that sometimes fails, a
// split and a join.
func orders() (*petri.Net, []Binding) {
	n := build("new paid pack bill packed billed done", "pay split packing billing join late",
		"new>pay pay>paid paid>split split/pack split/bill pack>packing packing>packed bill>billing billing>billed packed?join billed?join join>done new>late*2 late>done")
	return n, []Binding{
		{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{Shape: plain.Exponential, A: 3e5}}},
		{Branches: []Guard{someGuard(1), someGuard(2)}},
		{Action: true, Timeout: 200_000, Retry: Retry{First: 1e5, Attempts: 4}},
		{Guard: someGuard(3)},
		{},
		{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 5e6}}},
	}
}

// drive makes the same events happen at the same times on shards that together
// hold the instances 0 to 11, and returns the sum of their rows.
func drive(t *testing.T, shards []*Shard, budget int) (*stats.Rows, [][]Placed) {
	r := rand.New(rand.NewPCG(9, 9))
	now := now0
	type running struct {
		number, transition int
		id                 RunID
	}
	var runs []running
	step := func() {
		for _, s := range shards {
			for s.Step(budget, now) == budget {
			}
			for _, st := range s.Ready().Starts {
				runs = append(runs, running{st.Instance, int(st.Transition), st.Run})
			}
		}
		slices.SortStableFunc(runs, func(a, b running) int { return a.number - b.number })
	}
	find := func(number int) (*Shard, int) {
		for _, s := range shards {
			if i, err := s.Index(number); err == nil {
				return s, i
			}
		}
		t.Fatalf("no instance %d", number)
		return nil, 0
	}
	for range 600 {
		now += r.Int64N(50_000)
		step()
		number := r.IntN(12)
		s, i := find(number)
		switch k := r.IntN(4); {
		case k == 0:
			if err := s.Inject(i, 0, []byte(fmt.Sprint("o", r.IntN(20))), 1, now); err != nil {
				t.Fatal(err)
			}
		case len(runs) > 0:
			at := r.IntN(len(runs))
			s, _ := find(runs[at].number)
			o := Outcome{Kind: OutcomeKind(r.IntN(3)), After: 50_000}
			if err := s.Done(runs[at].id, o, now); err != nil && !errors.Is(err, ErrLate) {
				t.Fatal(err)
			}
			runs = slices.Delete(runs, at, at+1)
		}
		step()
	}
	rows, tokens := stats.NewRows(7, 6), make([][]Placed, 12)
	for _, s := range shards {
		s.Look(now, name, rows)
		for i := range s.Count {
			tokens[s.Number(i)] = s.Tokens(i, 1000)
		}
	}
	return rows, tokens
}

// Tokens and rows are the same for any number of shards, any budget, any number
// of pieces of work at a time, and any discipline.
func TestRunDoesNotDependOnShardsBudgetsOrBatches(t *testing.T) {
	n, bindings := orders()
	tables := petritest.Compile(t, n)
	for _, shuffle := range []bool{false, true} {
		shards := func(k, batch int, d ready.Discipline) (out []*Shard) {
			for i := range k {
				s := newShard(t, Config{Tables: tables, Bindings: bindings, First: i, Stride: k, Count: 12 / k, Seed: 42, Shuffle: shuffle,
					Dispatch: d, Priority: func(number int) ready.Priority { return ready.Priority(number % 8) }})
				s.batch = batch
				out = append(out, s)
			}
			return out
		}
		wantRows, wantTokens := drive(t, shards(1, defaultBatch, ready.FIFO()), 1000)
		for tr, row := range wantRows.Transitions {
			if row.Firings == 0 && tr != 5 {
				t.Fatalf("nothing happened: %+v", wantRows.Transitions)
			}
		}
		quoted, err := ready.Quoted(ready.Quotes{1, 2, 3, 4, 5, 6, 7, 8})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			shards []*Shard
			budget int
		}{
			{shards(1, 1, ready.Strict()), 1}, {shards(3, 2, quoted), 7}, {shards(4, defaultBatch, ready.FIFO()), 1000}, {shards(12, 1, ready.Strict()), 1},
			{[]*Shard{
				newShard(t, Config{Tables: tables, Bindings: bindings, Numbers: []int32{0, 3, 4, 11}, Seed: 42, Shuffle: shuffle}),
				newShard(t, Config{Tables: tables, Bindings: bindings, Numbers: []int32{1, 2, 5, 6, 7, 8, 9, 10}, Seed: 42, Shuffle: shuffle}),
			}, 3},
		} {
			rows, tokens := drive(t, c.shards, c.budget)
			if d := difference(wantRows, rows); d != "" {
				t.Errorf("%d shards, budget %d (-want +got):\n%s", len(c.shards), c.budget, d)
			}
			if d := difference(wantTokens, tokens); d != "" {
				t.Errorf("%d shards, budget %d (-want +got):\n%s", len(c.shards), c.budget, d)
			}
		}
	}
}

// A P-invariant of the net holds after every step, whatever guards and actions
// return. Tokens in flight count in the places from which they were taken.
func TestInvariantsHoldAfterEveryStep(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	checked := 0
	for checked < 3000 {
		n := petritest.RandomNet(r)
		tables := petritest.Compile(t, n)
		basis, ok := explore.Invariants(tables)
		if !ok || len(basis) == 0 {
			continue
		}
		bindings := make([]Binding, len(n.Transitions))
		for tr := range bindings {
			bindings[tr].Action = r.IntN(2) == 0
			if !tables.Source(tr) && r.IntN(2) == 0 {
				bindings[tr].Guard = someGuard(r.Uint32())
			}
			bindings[tr].Retry.First = 5
		}
		s := newShard(t, Config{Tables: tables, Bindings: bindings})
		var runs []RunID
		now := now0
		for range 60 {
			now += 3
			s.Step(1, now)
			for _, st := range s.Ready().Starts {
				runs = append(runs, st.Run)
			}
			if len(runs) > 0 && r.IntN(2) == 0 {
				err := s.Done(runs[0], Outcome{Kind: OutcomeKind(r.IntN(2))}, now)
				if err != nil && !errors.Is(err, ErrLate) { // a reset arc may have ended it
					t.Fatal(err)
				}
				runs = runs[1:]
			}
			for _, inv := range basis {
				sum := int64(0)
				for p, m := range s.Marking(0) {
					sum += inv.Weights[p] * int64(m)
				}
				if sum != inv.Sum {
					t.Fatalf("weights %v give %d, want %d", inv.Weights, sum, inv.Sum)
				}
				checked++
			}
		}
	}
}

// All tokens that arrived are either present or have left, and the sum of their
// times in the place is the integral of their number (Little's law).
func TestDwellIsTheIntegralOfTokens(t *testing.T) {
	n, bindings := orders()
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: bindings, Seed: 5})
	r := rand.New(rand.NewPCG(5, 5))
	now, area := now0, make([]uint64, s.Tables.Places())
	var runs []RunID
	for k := range 2000 {
		d := r.Int64N(20_000)
		for p, m := range s.Marking(0) {
			area[p] += uint64(m) * uint64(d)
		}
		now += d
		if k < 1000 && r.IntN(10) == 0 {
			if err := s.Inject(0, 0, []byte(fmt.Sprint(k)), 1, now); err != nil {
				t.Fatal(err)
			}
		}
		for s.Step(100, now) == 100 {
		}
		for _, st := range s.Ready().Starts {
			runs = append(runs, st.Run)
		}
		if len(runs) > 0 && r.IntN(2) == 0 {
			_ = s.Done(runs[0], Outcome{Kind: OutcomeKind(r.IntN(2))}, now)
			runs = runs[1:]
		}
		for s.Step(100, now) == 100 {
		}
	}
	for p, row := range rowsOf(s, now).Places {
		present := uint64(0)
		for _, x := range s.Tokens(0, 10000) {
			if int(x.Place) == p {
				present += uint64(now - x.Token.Injected)
			}
		}
		if row.Arrivals != row.Departures+row.Tokens || row.Dwell.Sum+present != area[p] {
			t.Errorf("place %d: %d arrived, %d left, %d present; the sum of dwell %d and %d is not %d", p, row.Arrivals, row.Departures, row.Tokens, row.Dwell.Sum, present, area[p])
		}
	}
}

//promise:refused load
func TestBoundRefusesWorkFromOutside(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, build("p q", "t", "p>t t>q")), Bindings: []Binding{manual}, Bound: 2, Count: 2})
	s.Step(10, now0)
	for k := range 3 {
		if err := s.Inject(0, 0, nil, 1, now0); (k == 2) != errors.Is(err, ready.ErrFull) {
			t.Fatalf("injection %d: %v", k, err)
		}
	}
	if err := s.Fire(0, 0, nil, now0); !errors.Is(err, ready.ErrFull) {
		t.Errorf("fired: %v", err)
	}
	if m := s.Marking(0); m[0] != 2 {
		t.Errorf("marking %v", m)
	}
	if err := s.Inject(1, 0, nil, 1, now0); err != nil {
		t.Errorf("another instance: %v", err)
	}
	if rows, waiting := s.Work(); waiting != 3 || rows.Priorities[0].Length != 2 {
		t.Errorf("%d wait, %+v", waiting, rows)
	}
	s.Step(10, now0)
	if err := s.Fire(0, 0, nil, now0); err != nil {
		t.Errorf("fired: %v", err)
	}
}

func TestInstancesArePlayedByPriority(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, build("p:1 q", "t", "p>t t>q")), Count: 3, Log: true, Dispatch: ready.Strict(),
		Priority: func(number int) ready.Priority { return ready.Priority(number * 2) }})
	if since, ok := s.ReadySince(4); s.Present() != 1<<0|1<<2|1<<4 || since != now0 || !ok {
		t.Errorf("ready are %b, p4 since %d %v", s.Present(), since, ok)
	}
	var order []int
	for s.Step(1, now0) == 1 {
		log := s.Ready().Log
		for log[1] == 2+opRest { // an operation says first that the previous one has finished
			log = log[3:]
		}
		order = append(order, int(log[0]))
	}
	if !slices.Equal(order, []int{2, 1, 0}) {
		t.Errorf("order %v", order)
	}
	if s.Present() != 0 {
		t.Error("something is still ready")
	}
	// A budget of one firing leaves a piece of work. Nothing is enabled when
	// that is played.
	rows, _ := s.Work()
	for p, row := range rows.Priorities {
		want := uint64(0)
		if p == 0 || p == 2 || p == 4 {
			want = 2
		}
		if row.Served != want || row.Length != 0 {
			t.Errorf("p%d: %+v; expected %d served", p, row, want)
		}
	}
}

// An owner of several shards decides itself which priority has the turn.
func TestStepOnePlaysOneInstanceOfAPriority(t *testing.T) {
	b := after(100)
	s := newShard(t, Config{Tables: petritest.Compile(t, build("p:1 q", "t", "p>t t>q")), Bindings: []Binding{b}, Count: 3, Dispatch: ready.Strict(),
		Priority: func(number int) ready.Priority { return ready.Priority(number * 2) }})
	s.Step(10, now0)
	if s.Present() != 0 {
		t.Fatalf("ready after all was played: %b", s.Present())
	}
	s.Expire(now0 + 100)
	if got := s.Present(); got != 1<<0|1<<2|1<<4 {
		t.Fatalf("ready %b", got)
	}
	if since, ok := s.ReadySince(2); !ok || since != now0+100 {
		t.Errorf("ready since %d %v", since, ok)
	}
	if _, ok := s.ReadySince(1); ok {
		t.Error("something of p1 is ready")
	}
	for _, c := range []struct {
		p      ready.Priority
		budget int
		want   int
	}{{0, 0, 0}, {1, 10, 0}, {0, 10, 1}, {0, 10, 0}, {4, 10, 1}} {
		if got := s.StepOne(c.p, c.budget, now0+100); got != c.want {
			t.Errorf("%v played %d with a budget of %d, want %d", c.p, got, c.budget, c.want)
		}
	}
	if got := s.Present(); got != 1<<2 {
		t.Errorf("ready %b", got)
	}
}

func TestNewRefusesWhatDoesNotFit(t *testing.T) {
	action := Binding{Action: true}
	guarded := build("p q", "t s", "p>t t/q t/p s>q")
	guarded.Transitions[0].Guard = "x > 1"
	branch := build("p q", "t s", `p>t t/q t\p s>q`)
	branch.Arcs[1].Guard = "y"
	yes := func([]Placed, int64) Verdict { return Verdict{OK: true} }
	ordinary := build("p q", "t s", "p>t t/q s>q")
	for _, c := range []struct {
		rule string
		net  *petri.Net
		cfg  Config
		want string
	}{
		{"bindings for other transitions", ordinary, Config{Bindings: []Binding{{}}}, `net "net": bad binding: 1 bindings; expected 2`},
		{"a guard without tokens to look at", ordinary, Config{Bindings: []Binding{{}, {Guard: yes}}}, `net "net", transition "s": bad binding: a guard, but no input arc`},
		{"a guard of the net that is not bound", guarded, Config{}, `transition "t": bad binding: no function is bound to its guard "x > 1"`},
		{"a branch's guard that is not bound", branch, Config{}, `no function is bound to the guard "y" of arc "a1"`},
		{"a guard for the default", branch, Config{Bindings: []Binding{{Branches: []Guard{yes, yes}}, {}}}, `a guard of arc "a2", which is the default`},
		{"branches that do not fit", ordinary, Config{Bindings: []Binding{{Branches: []Guard{yes, yes}}, {}}}, "2 guards of branches; expected 1"},
		{"a time limit without an action", ordinary, Config{Bindings: []Binding{{Timeout: 5}, {}}}, "a time limit without an action"},
		{"a negative time limit", ordinary, Config{Bindings: []Binding{{Action: true, Timeout: -5}, {}}}, "a time limit of -5µs"},
		{"a due time without a delay", ordinary, Config{Bindings: []Binding{{Due: func(int64) int64 { return 0 }}, {}}}, "a due time, but not delayed"},
		{"no such kind", ordinary, Config{Bindings: []Binding{{Mode: plain.Mode{Kind: 7}}, {}}}, "kind 7"},
		{"a factor below 1", ordinary, Config{Bindings: []Binding{{Retry: Retry{Factor: 0.5}}, {}}}, "a retry factor of 0.5"},
		{"a negative wait", ordinary, Config{Bindings: []Binding{{Retry: Retry{First: -1}}, {}}}, "retries after -1µs to 0s"},
		{"negative attempts", ordinary, Config{Bindings: []Binding{{Retry: Retry{Attempts: -1}}, {}}}, "-1 attempts"},
		{"an action that takes too much", build("p q", "t", "p>t*2000 t>q"), Config{Bindings: []Binding{action}}, "it takes and tests 2000 tokens; expected at most 1024"},
		{"numbers that do not rise", ordinary, Config{Numbers: []int32{3, 3}}, "instance 3 after 3"},
		{"a negative bound", ordinary, Config{Bound: -1}, "a bound of -1"},
		{"no step", ordinary, Config{Stride: -1}, "in steps of -1"},
		{"no such priority", ordinary, Config{Priority: func(int) ready.Priority { return 9 }}, "instance 0 has priority p9"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.cfg.Tables = petritest.Compile(t, c.net)
			c.cfg.Count = 1
			if c.cfg.Stride == 0 {
				c.cfg.Stride = 1
			}
			_, err := New(c.cfg, now0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if strings.Contains(c.want, "bad binding") != errors.Is(err, ErrBinding) && strings.HasPrefix(c.want, "net") {
				t.Errorf("%v does not wrap ErrBinding", err)
			}
		})
	}
}

func TestInstancesByNumber(t *testing.T) {
	tables := petritest.Compile(t, build("p", "", ""))
	for _, s := range []*Shard{
		newShard(t, Config{Tables: tables, First: 2, Stride: 3, Count: 3}),
		newShard(t, Config{Tables: tables, Numbers: []int32{2, 5, 8}}),
	} {
		for i, number := range []int{2, 5, 8} {
			if got, err := s.Index(number); err != nil || got != i || s.Number(i) != number {
				t.Errorf("instance number %d has index %d, %v", number, got, err)
			}
		}
		for _, number := range []int{-1, 0, 3, 11} {
			if _, err := s.Index(number); !errors.Is(err, plain.ErrNoInstance) {
				t.Errorf("number %d: %v", number, err)
			}
		}
	}
}

// Every place that holds tokens is found, however many there are.
func TestPlacesOfALargeInstance(t *testing.T) {
	places := ""
	for p := range 300 {
		places += fmt.Sprintf("p%d ", p)
	}
	s := newShard(t, Config{Tables: petritest.Compile(t, build(places, "", ""))})
	want := make([]uint32, 300)
	for _, p := range rand.New(rand.NewPCG(1, 2)).Perm(300)[:250] {
		want[p] = uint32(p) + 1
		if err := s.Inject(0, p, nil, want[p], now0); err != nil {
			t.Fatal(err)
		}
	}
	in := &s.instances[0]
	for p := range want {
		if n, _ := in.piles.count(int32(p)); n != want[p] {
			t.Errorf("place %d holds %d, want %d", p, n, want[p])
		}
	}
	if got := s.Marking(0); !slices.Equal(got, want) {
		t.Errorf("marking %v", got)
	}
}

func TestDataAreBounded(t *testing.T) {
	w := newWorld(t, build("p q", "t", "p>t t>q"), manual)
	if err := w.s.Inject(0, 0, make([]byte, MaxData+1), 1, w.now); !errors.Is(err, ErrTooLarge) {
		t.Errorf("injected: %v", err)
	}
	w.inject("p", string(make([]byte, MaxData)))
	if err := w.s.Fire(0, 0, make([]byte, MaxData+1), w.now); !errors.Is(err, ErrTooLarge) {
		t.Errorf("fired: %v", err)
	}
}

func TestFireFromOutsideReturnsWhyNot(t *testing.T) {
	w := newWorld(t, build("p:1 q:5", "t g", "p>t*3 q|t*9 p>g"), manual, Binding{Guard: has("x")})
	for k, want := range []string{
		`transition "t": not enabled: place "p" holds 1 tokens, expected 3 or more`,
		`transition "g": not enabled: its guard is false`,
	} {
		if err := w.fire(k, ""); err == nil || err.Error() != want || !errors.Is(err, petri.ErrNotEnabled) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	w.inject("q", "a", "b", "c", "d")
	w.inject("p", "a", "b")
	if err, want := w.fire(0, ""), `transition "t": not enabled: place "q" holds 9 tokens, expected fewer than 9`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
