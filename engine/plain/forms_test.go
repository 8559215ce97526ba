// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// forms is one instance of a net in the three forms of the project: the
// reference, petri.State, and a cell of a shard.
type forms struct {
	net   *petri.Net
	ref   *petritest.Reference
	state *petri.State
	order petri.Order
	shard *Shard
	turn  int
}

func newForms(t *testing.T, n *petri.Net) *forms {
	tables := petritest.Compile(t, n)
	return &forms{net: n, ref: petritest.NewReference(n), state: tables.NewState(), order: make(petri.Order, tables.OrderLen()),
		shard: newShard(t, Config{Tables: tables, Stride: 1, Count: 1})}
}

// step fires the next transition in each form, if one is enabled.
func (f *forms) step(now int64) (fired bool, err error) {
	want := f.ref.Next(f.turn)
	if got := f.state.Next(f.turn, f.order); got != want {
		return false, fmt.Errorf("the state chooses %d, the reference %d", got, want)
	}
	c := &f.shard.cells[0]
	n := f.shard.run(0, c, 1, now)
	if (n == 1) != (want >= 0) {
		return false, fmt.Errorf("the cell fires %d times, the reference chooses %d", n, want)
	}
	if want < 0 {
		return false, f.agree()
	}
	f.turn = (want + 1) % len(f.net.Transitions)
	if int(c.turn) != f.turn {
		return false, fmt.Errorf("the turn of the cell is %d, of the reference %d", c.turn, f.turn)
	}
	if c.n == isWide {
		f.shard.narrow(c)
	}
	if err := f.state.Fire(want); err != nil || !f.ref.Fire(f.net.Transitions[want].ID) {
		return false, fmt.Errorf("firing %d: %w", want, err)
	}
	return true, f.agree()
}

func (f *forms) agree() error {
	for p := range f.net.Places {
		want := f.ref.Marking[f.net.Places[p].ID]
		if s, c := uint64(f.state.Tokens(p)), uint64(f.shard.tokens(&f.shard.cells[0], p)); s != want || c != want {
			return fmt.Errorf("place %d: the reference has %d tokens, the state %d, the cell %d", p, want, s, c)
		}
	}
	return nil
}

func (f *forms) inject(p int, n uint32, now int64) error {
	if err := f.state.Add(p, n); err != nil {
		return err
	}
	f.ref.Marking[f.net.Places[p].ID] += uint64(n)
	return f.shard.Inject(0, p, n, now)
}

// compareForms plays a random net and returns how many firings it compared.
func compareForms(t *testing.T, r *rand.Rand, steps int) (firings int) {
	t.Helper()
	f := newForms(t, petritest.RandomNet(r))
	for range steps {
		fired, err := f.step(now0)
		if err == nil && !fired || err == nil && r.IntN(16) == 0 {
			err = f.inject(r.IntN(len(f.net.Places)), r.Uint32N(6), now0)
		}
		if err != nil {
			t.Fatalf("%v\nnet %+v", err, f.net)
		}
		if fired {
			firings++
		}
	}
	return firings
}

// Reference, state and cell play the same game, transition by transition, on
// nets with every kind of arc, weights and priorities.
func TestReferenceStateAndCellAgree(t *testing.T) {
	for seed := range seeds.Of(8, 200) { // a million firings
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(31, seed))
			for n := 0; n < 5000; {
				n += compareForms(t, r, 100)
			}
		})
	}
}

func FuzzReferenceStateAndCellAgree(f *testing.F) {
	f.Add(uint64(1), uint64(1), uint16(100))
	f.Fuzz(func(t *testing.T, a, b uint64, steps uint16) {
		compareForms(t, rand.New(rand.NewPCG(a, b)), int(steps))
	})
}
