// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// batch is the log of one time.
type batch struct {
	now int64
	ops []byte
}

// live makes random events happen to random instances.
func live(t *testing.T, r *rand.Rand, s *Shard, steps int, now int64) (all []batch, end int64) {
	t.Helper()
	var runs []RunID
	for range steps {
		now += r.Int64N(1000)
		i := r.IntN(s.Count)
		switch r.IntN(5) {
		case 0:
			if err := s.Inject(i, r.IntN(s.Tables.Places()), dataFor(r, s), r.Uint32N(3), now); err != nil {
				t.Fatal(err)
			}
		case 1:
			if err := s.Fire(i, r.IntN(len(s.rules)), nil, now); err != nil && !errors.Is(err, petri.ErrNotEnabled) {
				t.Fatal(err)
			}
		case 2, 3:
			if len(runs) == 0 {
				break
			}
			k := r.IntN(len(runs))
			o, _ := randomOutcome(r, s.Tables, &modelRun{t: int(runs[k] & MaxNodes)})
			if err := s.Done(runs[k], o, now); err != nil && !errors.Is(err, ErrLate) && !errors.Is(err, ErrOutcome) {
				t.Fatal(err)
			}
			runs = slices.Delete(runs, k, k+1)
		}
		s.Step(1+r.IntN(10), now)
		ready := s.Ready()
		for _, st := range ready.Starts {
			runs = append(runs, st.Run)
		}
		all = append(all, batch{now, bytes.Clone(ready.Log)})
	}
	return all, now
}

func replay(t *testing.T, s *Shard, all []batch) {
	t.Helper()
	for _, b := range all {
		if err := s.Replay(b.ops, b.now); err != nil {
			t.Fatal(err)
		}
	}
}

func allTokens(s *Shard) map[int][]Placed {
	out := map[int][]Placed{}
	for i := range s.Count {
		out[s.Number(i)] = s.Tokens(i, 1e6)
	}
	return out
}

// dues returns the due times that depend on data and are known, by transition and run.
func dues(s *Shard) map[[2]uint32]int64 {
	out := map[[2]uint32]int64{}
	for id := range s.notes.each(&s.instances[0]) {
		if n := &s.notes.all[id]; n.kind == noteClock && s.rules[n.transition].Until != nil && n.due > 0 {
			out[[2]uint32{uint32(n.transition), n.frame}] = n.due
		}
	}
	return out
}

// Replay of everything, or of the log after a state, gives the same tokens,
// with identity, age and data, in one shard or in several.
func TestReplayGivesTheSameTokens(t *testing.T) {
	for round := range seeds.Of(20, 2400, 1979, 635, 1873, 2171, 1849, 1164, 831, 1456, 660, 1829, 1529, 779, 655, 2016, 157, 539, 1045, 1133, 1006, 2059, 332, 868, 931, 85, 672, 1000, 57, 105, 120, 255, 587, 808, 991, 993, 1040, 1619) {
		r := rand.New(rand.NewPCG(6, round))
		n, bindings := randomOf(int(round % 1200))(r)
		cfg := Config{Tables: petritest.Compile(t, n), Bindings: bindings, Count: 4, Log: true}
		s, steps := newShard(t, cfg), []int{4, 30}[r.IntN(2)]
		before, now := live(t, r, s, steps, now0)
		state := s.AppendState(nil)
		after, _ := live(t, r, s, steps, now)
		want := allTokens(s)

		whole := newShard(t, cfg)
		replay(t, whole, append(slices.Clone(before), after...))
		if d := difference(want, allTokens(whole)); d != "" {
			t.Fatalf("round %d: replayed (-want +got):\n%s", round, d)
		}
		if len(whole.log.text) > 0 {
			t.Fatal("the shard records again what it replays")
		}
		loaded := newShard(t, cfg)
		if _, err := loaded.LoadState(state); err != nil || !bytes.Equal(state, loaded.AppendState(nil)) {
			t.Fatalf("round %d: the loaded state differs: %v", round, err)
		}
		got := map[int][]Placed{}
		for k := range 2 {
			half := newShard(t, Config{Tables: cfg.Tables, Bindings: bindings, First: k, Stride: 2, Count: 2})
			if rest, err := half.LoadState(append(slices.Clone(state), "rest"...)); err != nil || string(rest) != "rest" {
				t.Fatalf("%v, %q left", err, rest)
			}
			replay(t, half, after)
			for i, tokens := range allTokens(half) {
				got[i] = tokens
			}
		}
		if d := difference(want, got); d != "" {
			t.Fatalf("round %d: state and log over two shards (-want +got):\n%s", round, d)
		}
	}
}

// Without actions nothing is in flight. After a replay, all that decides about
// the next firings is the same: turns, choices, random decisions.
func TestAReplayedShardContinuesAsTheOneThatLived(t *testing.T) {
	for round := range seeds.Of(20, 900, 827, 849, 841, 507, 59, 797, 813, 733, 270, 499, 746, 703, 761, 377, 672, 843, 63, 119, 130, 278, 463, 31, 86, 98, 127, 362, 718, 881, 883, 37, 80, 206, 209, 238, 311, 355, 376, 487, 514, 895) {
		r := rand.New(rand.NewPCG(8, round))
		n, bindings := randomOf(int(round))(r)
		timed := false
		for k := range bindings {
			bindings[k].Action, bindings[k].Timeout = false, 0
			if n.Shared { // after a restart, an incident would be tried again with other variables
				bindings[k].Branches = nil
			}
			if f := bindings[k].Scope; f != nil { // after a restart, what fails would be tried again at once
				for _, values := range [][]Value{f.In, f.Out} {
					for j := range values {
						values[j] = func([]Placed, int64) []byte { return []byte("2") }
					}
				}
			}
			switch until := bindings[k].Until; {
			case bindings[k].Mode.Kind != plain.Delayed:
			case until == nil: // a log does not record when clocks started
				bindings[k].Mode.Kind = plain.Manual
			default: // but when they are due by data. After a restart, an incident would be tried again
				timed, bindings[k].Guard, bindings[k].Branches = true, nil, nil
				bindings[k].Until = func(tokens []Placed, since int64) (int64, error) {
					if due, err := until(tokens, since); err == nil {
						return due, nil
					}
					return since + 7, nil
				}
			}
		}
		cfg := Config{Tables: petritest.Compile(t, n), Bindings: bindings, Seed: round, Shuffle: round%4 < 2, Log: true}
		s := newShard(t, cfg)
		before, now := live(t, r, s, 20, now0)
		state := s.AppendState(nil)
		after, now := live(t, r, s, 20, now)
		again := newShard(t, cfg)
		replay(t, again, append(before, after...))
		if !timed && !bytes.Equal(s.AppendState(nil), again.AppendState(nil)) {
			t.Fatal("the replayed state differs")
		}
		loaded := newShard(t, cfg)
		if _, err := loaded.LoadState(state); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(state, loaded.AppendState(nil)) {
			t.Fatal("the loaded state differs")
		}
		replay(t, loaded, after)
		if timed { // clocks that were about to start when the budget was spent start at once after a restart
			for _, x := range []*Shard{again, loaded} {
				if d := difference(dues(s), dues(x)); d != "" {
					t.Fatalf("due times (-original +replayed):\n%s", d)
				}
			}
			continue
		}
		loaded.Resume(now)
		again.Resume(now)
		for _, x := range []*Shard{s, again, loaded} {
			x.Step(200, now)
		}
		for _, x := range []*Shard{again, loaded} {
			want, got := allTokens(s), allTokens(x)
			for i := range x.instances { // a state leaves out that an instance that has ended made random decisions
				if x == loaded && cfg.Shuffle && x.instances[i].played != s.instances[i].played {
					delete(want, i)
					delete(got, i)
				}
			}
			if d := difference(want, got); d != "" {
				t.Fatalf("the next firings (-original +replayed):\n%s", d)
			}
		}
	}
}

// After Resume, the shard has the ages, the starts of clocks, and the counters
// of the previous one.
func TestResumeKeepsAgesAndDelaysAndCounts(t *testing.T) {
	n := build("p q:1 r", "late t", "p>late late>r p>t*9 q>t")
	cfg := Config{Tables: petritest.Compile(t, n), Bindings: []Binding{{Mode: plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{Shape: plain.Exponential, A: 1000}}}, {}}, Log: true, Seed: 3}
	s := newShard(t, cfg)
	if err := s.Inject(0, 0, []byte("a"), 3, now0+5); err != nil {
		t.Fatal(err)
	}
	s.Step(10, now0+10)
	due, _ := s.NextDue()
	first := batch{now0 + 5, bytes.Clone(s.Ready().Log)}
	s.Step(10, due) // one of three has fired
	second := batch{due, bytes.Clone(s.Ready().Log)}
	want, _ := s.NextDue()

	again := newShard(t, cfg)
	replay(t, again, []batch{first, second})
	state, counted := again.AppendState(nil), stats.NewRows(3, 2)
	again.Counted(counted)
	loaded := newShard(t, cfg)
	if _, err := loaded.LoadState(state); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Recount(counted); err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Shard{again, loaded} {
		x.Resume(due)
		x.Step(10, due+1)
		if got, ok := x.NextDue(); !ok || got != want {
			t.Errorf("due %d, want %d", got-now0, want-now0)
		}
		rows := rowsOf(x, due+1)
		if rows.Transitions[0].Firings != 1 || rows.Places[0].Oldest != now0+5 || rows.Net.Created != 1 {
			t.Errorf("rows %+v", rows)
		}
	}
}

func TestReplayRefusesWhatCannotHaveBeen(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, petritest.Ring(3)), Count: 2, Log: true})
	for name, ops := range map[string][]byte{
		"a token that is not there":     {0, 4, 1, 2, 1, 1, 1, 0, 1, 2, 1, 0},
		"too few taken":                 {0, 0, 0, 1, 1, 2, 1, 0},
		"too many taken":                {0, 0, 1, 0, 1, 2, 1, 1, 2, 1, 0},
		"a place that it has no arc to": {0, 0, 1, 0, 1, 1, 1, 2, 2, 1, 0},
		"no tokens put":                 {0, 0, 1, 0, 1, 1, 1, 1, 2, 0, 0},
		"identity 0":                    {0, 0, 1, 0, 1, 1, 1, 1, 0, 1, 0},
		"no such transition":            {0, 6},
		"no such place":                 {0, 6 + opInject, 3, 9, 1, 0},
		"no tokens injected":            {0, 6 + opInject, 0, 9, 0, 0},
		"data of a lot in an injection": {0, 6 + opInject, 0, 9, 1, 2},
		"data that end":                 {0, 6 + opInject, 0, 9, 1, 1, 9, 1},
		"half a number":                 {0, 0x80},
		"nothing after the instance":    {0},
	} {
		if err := s.Replay(ops, now0); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
		s = newShard(t, Config{Tables: s.Tables, Count: 2, Log: true})
	}
	is := []byte{0, 6 + opIs, 0, 0, 9, 1} // its last token is 1
	pile := func(tokens ...byte) []byte { return append(append(slices.Clone(is), 0, 6+opPile, 0, 1), tokens...) }
	for name, ops := range map[string][]byte{
		"half an instance":             is[:4],
		"at rest in two ways":          {0, 6 + opIs, 0, finished | failed, 0, 0},
		"more lots than bytes":         {0, 6 + opPile, 0, 200},
		"runs of scopes":               {0, 6 + opOpen, 0, 0, 0},
		"an identity beyond the last":  pile(2, 1, 1, 0),
		"tokens beyond the last":       pile(1, 1, 2, 0),
		"no tokens in a lot":           pile(1, 1, 0, 0),
		"data larger than they can be": pile(1, 1, 1, 1, 0xff, 0xff, 0xff, 1),
	} {
		if _, err := newShard(t, Config{Tables: s.Tables, Count: 2}).LoadState(stateOf(ops)); !errors.Is(err, ErrLog) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, state := range [][]byte{{}, {0}, stateOf(is)[:12]} {
		if _, err := newShard(t, Config{Tables: s.Tables, Count: 2}).LoadState(state); !errors.Is(err, ErrLog) {
			t.Errorf("a state of %d bytes: %v", len(state), err)
		}
	}
}

// stateOf is a state of some operations.
func stateOf(ops []byte) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{0}, uint64(len(ops))), ops...)
}

func TestInstancesThatNeverMovedAreNotInTheState(t *testing.T) {
	s := newShard(t, Config{Tables: petritest.Compile(t, build("p:1 q", "t", "p>t*2 t>q")), Count: 1000})
	s.Step(1000, now0)
	if got := s.AppendState(nil); !bytes.Equal(got, stateOf(nil)) {
		t.Errorf("state %v", got)
	}
}

// An instance without tokens is not in the state, but a run of it that took no token is.
func TestAnInstanceWithoutTokensIsNotInTheState(t *testing.T) {
	n := build("p", "begin end", "begin>p p>end")
	cfg := Config{Tables: petritest.Compile(t, n), Bindings: []Binding{{Action: true, Idempotent: true}, {}}, Log: true}
	s := newShard(t, cfg)
	if err := s.Fire(0, 0, nil, now0); err != nil {
		t.Fatal(err)
	}
	run := s.Ready().Starts[0].Run
	state := s.AppendState(nil)
	loaded := newShard(t, cfg)
	if _, err := loaded.LoadState(state); err != nil || !bytes.Equal(state, loaded.AppendState(nil)) || bytes.Equal(state, stateOf(nil)) {
		t.Fatalf("state %v, loaded %v, %v", state, loaded.AppendState(nil), err)
	}
	loaded.Resume(now0)
	if err := loaded.Done(run, Outcome{Kind: Fired, Data: []byte("1")}, now0); err != nil {
		t.Fatal(err)
	}
	if got := (&world{t, loaded, now0}).tokens(); got != "p: 1" {
		t.Errorf("tokens %q", got)
	}
}

func TestDataThatArePassedOnAreWrittenOnce(t *testing.T) {
	w := newWorld(t, build("p q r", "t", "p>t t>q t>r"))
	w.inject("p", string(make([]byte, 1000)))
	if n := len(w.s.Ready().Log); n > 1100 {
		t.Errorf("%d bytes", n)
	}
}

// A shard whose log does not fit is still shown, so it has all tokens that it had.
func TestAFiringThatDoesNotFitTakesNothing(t *testing.T) {
	n := build("p q r", "t", "p>t q>t t>r")
	w, other := newWorld(t, n), newWorld(t, n)
	w.inject("p", "a")
	w.s.Ready()
	w.inject("q", "b")
	other.inject("p", "a")
	if err := other.s.Replay(w.s.Ready().Log[len(logOf(t, n, "q", "b")):], now0); !errors.Is(err, ErrLog) || !strings.Contains(err.Error(), `"q", which does not hold it`) {
		t.Errorf("%v", err)
	}
	other.want("p: a")
	if r := rowsOf(other.s, now0+1e6); r.Places[0].Tokens != 1 {
		t.Errorf("%+v", r.Places)
	}
}

// logOf returns what a shard logs of a token that is put into a place.
func logOf(t *testing.T, n *petri.Net, place, data string) []byte {
	t.Helper()
	w := newWorld(t, n)
	w.inject(place, data)
	return w.s.Ready().Log
}

//promise:damage hostile none
func FuzzReplay(f *testing.F) {
	fuzzReplay(f, randomNet)
}

func FuzzReplayWithScopes(f *testing.F) {
	fuzzReplay(f, randomScopedNet)
}

func FuzzReplayWithVariables(f *testing.F) {
	fuzzReplay(f, randomShared(randomScopedNet))
}

func fuzzReplay(f *testing.F, random func(*rand.Rand) (*petri.Net, []Binding)) {
	r := rand.New(rand.NewPCG(3, 3))
	net, bindings := random(r)
	for len(net.Transitions) < 4 {
		net, bindings = random(r)
	}
	for k := range bindings {
		if k%3 == 0 {
			bindings[k].Mode = plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 100}}
		}
	}
	tables := petritest.Compile(f, net)
	fresh := func(t testing.TB) *Shard {
		return newShard(t, Config{Tables: tables, Bindings: bindings, Count: 2, Log: true})
	}
	s := fresh(f)
	for k := range 20 {
		_ = s.Inject(k%2, k%tables.Places(), dataFor(r, s), 2, now0+int64(k))
		s.Step(20, now0+int64(k))
		f.Add(bytes.Clone(s.Ready().Log), s.AppendState(nil))
	}
	f.Fuzz(func(t *testing.T, ops, state []byte) {
		s := fresh(t)
		_, _ = s.LoadState(state)
		_ = s.Replay(ops, now0)
		s.Resume(now0)
		s.Step(100, now0+1000)
		rowsOf(s, now0+2000)
		if _, err := fresh(t).LoadState(s.AppendState(nil)); err != nil && s.instances[0].lastID < maxID && s.instances[1].lastID < maxID {
			t.Errorf("the shard cannot read what it wrote: %v", err)
		}
	})
}
