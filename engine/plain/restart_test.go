// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// life is a shard, with the snapshot and the log that a journal would hold.
type life struct {
	*Shard
	t     *testing.T
	cfg   Config
	state []byte
	since []batch // after state
}

func newLife(t *testing.T, cfg Config) *life {
	cfg.Log = true
	return &life{Shard: newShard(t, cfg), t: t, cfg: cfg}
}

// to plays up to a time and then calls do.
func (l *life) to(now int64, do func(s *Shard) error) (fired int) {
	l.t.Helper()
	if do != nil {
		if err := do(l.Shard); err != nil {
			l.t.Fatal(err)
		}
	}
	fired = l.Step(1<<20, now)
	l.since = append(l.since, batch{now, bytes.Clone(l.Ready().Log)})
	return fired
}

// save makes a snapshot.
func (l *life) save() { l.state, l.since = l.AppendState(nil), nil }

// restarted returns another shard that continues from the snapshot, if there is
// one, and the log after it.
func (l *life) restarted() *Shard {
	l.t.Helper()
	s := newShard(l.t, l.cfg)
	if l.state != nil {
		if rest, err := s.LoadState(l.state); err != nil || len(rest) > 0 {
			l.t.Fatalf("%v, %d bytes left", err, len(rest))
		}
	}
	for _, b := range l.since {
		if err := s.Replay(b.ops, b.now); err != nil {
			l.t.Fatal(err)
		}
	}
	s.Resume(now0)
	return s
}

const second = int64(1e6)

func fixed(seconds float64) Mode { return Mode{Kind: Delayed, Delay: Delay{A: seconds * 1e6}} }

// slowNet returns a net with a delay of 10 s that starts when p holds a token,
// unless stop holds one, which clear takes away.
func slowNet(tokens uint32) (*petri.Net, []Mode) {
	return &petri.Net{ID: "n",
		Places:      []petri.Place{{ID: "p", Initial: tokens}, {ID: "stop"}, {ID: "q"}},
		Transitions: []petri.Transition{{ID: "late"}, {ID: "clear"}},
		Arcs: []petri.Arc{
			{ID: "a", Source: "p", Target: "late", Weight: 1}, {ID: "b", Source: "late", Target: "q", Weight: 1},
			{ID: "c", Source: "stop", Target: "late", Weight: 1, Kind: petri.Inhibitor}, {ID: "d", Source: "stop", Target: "clear", Weight: 1},
		}}, []Mode{fixed(10), {Kind: Manual}}
}

// A running delay continues after a restart and ends at the same time as
// without it.
func TestARunningDelayKeepsItsDueTimeAcrossARestart(t *testing.T) {
	inject := func(place int, at int64) func(*Shard) error {
		return func(s *Shard) error { return s.Inject(0, place, 1, now0+at) }
	}
	for _, c := range []struct {
		rule   string
		tokens uint32
		play   func(l *life)
		due    int64
	}{
		{"it runs since the instance was created", 1, func(*life) {}, 10 * second},
		{"since the instance was created, though it has moved", 1, func(l *life) { l.to(now0+4*second, inject(0, 4*second)) }, 10 * second},
		{"since its token was put", 0, func(l *life) { l.to(now0+3*second, inject(0, 3*second)) }, 13 * second},
		{"though another token follows", 0, func(l *life) {
			l.to(now0+3*second, inject(0, 3*second))
			l.to(now0+8*second, inject(0, 8*second))
		}, 13 * second},
		{"since the last firing, though the next token was there before", 2, func(l *life) { l.to(now0+10*second, nil) }, 20 * second},
		{"since nothing inhibits it any more", 1, func(l *life) {
			l.to(now0+5*second, inject(1, 5*second))
			l.to(now0+7*second, func(s *Shard) error { return s.Fire(0, 1, now0+7*second) })
		}, 17 * second},
	} {
		for _, snapshot := range []string{"no snapshot", "a snapshot at the end"} {
			t.Run(c.rule+", "+snapshot, func(t *testing.T) {
				n, modes := slowNet(c.tokens)
				l := newLife(t, Config{Tables: petritest.Compile(t, n), Modes: modes, Stride: 1, Count: 1})
				l.to(now0, nil)
				c.play(l)
				if snapshot != "no snapshot" {
					l.save()
				}
				s := l.restarted()
				if due, ok := s.NextDue(); !ok || due != now0+c.due {
					t.Errorf("due at %d s, %v; want %d s", (due-now0)/second, ok, c.due/second)
				}
			})
		}
	}
}

func TestADelayThatIsOverMeanwhileFiresAtOnce(t *testing.T) {
	n, modes := slowNet(2)
	l := newLife(t, Config{Tables: petritest.Compile(t, n), Modes: modes, Stride: 1, Count: 3})
	l.to(now0, nil)
	s := l.restarted()
	if n := s.Step(100, now0+500*second); n != 3 {
		t.Errorf("%d firings, want one of each instance", n)
	}
	if due, ok := s.NextDue(); !ok || due != now0+510*second {
		t.Errorf("next due at %d s, %v", (due-now0)/second, ok)
	}
}

// A restart does not change later delays, markings or ages. The nets have no
// rivals, because a restart forgets which of them was chosen last.
func TestARestartChangesNothingThatFollows(t *testing.T) {
	n, pending := 0, 0
	for seed := range seeds.Of(10, 800, 56, 160, 166, 65, 154, 32, 44, 84, 146, 31, 47, 63, 103, 133, 138, 155, 36, 195) {
		n++
		r := rand.New(rand.NewPCG(61, seed))
		tables := petritest.Compile(t, petritest.RandomNet(r))
		cfg := Config{Tables: tables, Modes: restful(r, tables), Stride: 1, Count: 4}
		for tr := range cfg.Modes {
			cfg.Modes[tr].Delay.Shape = Fixed
		}
		l := newLife(t, cfg)
		if l.Tables.OrderLen() > 0 {
			continue
		}
		now := now0
		for range 20 {
			l.to(now, func(s *Shard) error { act(t, r, r.IntN(4), []*Shard{s}, now); return nil })
			if r.IntN(8) == 0 {
				l.save()
			}
			if r.IntN(6) == 0 {
				break
			}
			now += r.Int64N(second)
		}
		s := l.restarted()
		pending += planned(&l.clocks)
		for range 10 {
			now += r.Int64N(second)
			number, same := r.IntN(4), r.Uint64()
			for _, s := range []*Shard{l.Shard, s} {
				act(t, rand.New(rand.NewPCG(same, 1)), number, []*Shard{s}, now)
				s.Step(1<<20, now)
			}
			if d := difference(presentOf(l.Shard, now), presentOf(s, now)); d != "" {
				t.Fatalf("seed %d (-continued +restarted):\n%s", seed, d)
			}
			due, ok := l.NextDue()
			if got, gotOK := s.NextDue(); got != due || gotOK != ok {
				t.Fatalf("next due %d %v, want %d %v", got, gotOK, due, ok)
			}
		}
	}
	if n > 1 && 8*pending < 3*n {
		t.Errorf("only %d delays of %d nets were running", pending, n)
	}
}

func TestLoadStateRefusesClocksThatCannotRun(t *testing.T) {
	n, modes := slowNet(0)
	for name, state := range map[string][]byte{
		"not enabled":      {1, 0, 0, 1, 0, 5, 0},
		"twice":            {1, 0, 1, 0, 9, 1, 2, 0, 5, 0, 5, 0},
		"no such":          {1, 0, 1, 0, 9, 1, 1, 2, 5, 0},
		"more than can be": {1, 0, 1, 0, 9, 1, 3, 0, 5, 0},
		"since after time": {1, 0, 1, 0, 9, 1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0},
		"half a clock":     {1, 0, 1, 0, 9, 1, 1, 0},
	} {
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Modes: modes, Stride: 1, Count: 1})
		if _, err := s.LoadState(state); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}

func TestLoadStateReplacesRunningClocks(t *testing.T) {
	n, modes := slowNet(1)
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Modes: modes, Stride: 1, Count: 1})
	s.Step(100, now0)
	l := newLife(t, Config{Tables: petritest.Compile(t, n), Modes: modes, Stride: 1, Count: 1})
	l.to(now0, nil)
	l.to(now0+10*second, func(s *Shard) error { return s.Inject(0, 0, 1, now0+10*second) })
	l.save()
	if _, err := s.LoadState(l.state); err != nil {
		t.Fatal(err)
	}
	if due, ok := s.NextDue(); !ok || due != now0+20*second {
		t.Errorf("due at %d s, %v", (due-now0)/second, ok)
	}
}

func TestOfTwoDelaysThatAreOverTogetherTheFirstTransitionGoesFirst(t *testing.T) {
	n := &petri.Net{ID: "n", Places: []petri.Place{{ID: "p", Initial: 1}, {ID: "q"}}, Transitions: []petri.Transition{{ID: "first"}, {ID: "second"}},
		Arcs: []petri.Arc{{ID: "a", Source: "p", Target: "first", Weight: 1}, {ID: "b", Source: "p", Target: "second", Weight: 1}}}
	for _, d := range []*ready.Discipline{nil, strict()} {
		s := newShard(t, Config{Tables: petritest.Compile(t, n), Modes: []Mode{fixed(1), fixed(1)}, Stride: 1, Count: 1, Dispatch: d})
		s.Step(10, now0)
		s.Step(10, now0+2*second)
		if rows := rowsOf(s, now0+2*second); rows.Transitions[0].Firings != 1 {
			t.Errorf("first fired %d times, second %d", rows.Transitions[0].Firings, rows.Transitions[1].Firings)
		}
	}
}
