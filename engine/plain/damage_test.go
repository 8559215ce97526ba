// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// stateReader reads a state number by number as AppendState describes it, and
// checks it against one shard.
type stateReader struct {
	s       *Shard
	numbers []uint64
	broken  bool
}

func (r *stateReader) next(most uint64) uint64 {
	if r.broken || len(r.numbers) == 0 || r.numbers[0] > most {
		r.broken = true
		return 0
	}
	v := r.numbers[0]
	r.numbers = r.numbers[1:]
	return v
}

// valid reports whether the numbers are one complete state.
func (r *stateReader) valid() bool {
	turns, ended := uint64(max(len(r.s.rules), 1)), -1
	for !r.broken {
		number := int(r.next(math.MaxInt64)) - 1
		if number < 0 {
			return !r.broken && len(r.numbers) == 0
		}
		if r.next(5*turns-1)/turns == shard.StateEnded {
			step, more := r.next(math.MaxInt64), r.next(math.MaxInt64)
			if r.broken || step == 0 || number <= ended || more > uint64(math.MaxInt64-number)/step {
				return false
			}
			ended = number + int(step*more)
			continue
		}
		r.instance(number)
	}
	return false
}

func (r *stateReader) instance(number int) {
	_, err := r.s.Index(number)
	mine := err == nil
	marking := make([]uint64, r.s.Tables.Places())
	left := 0 // bytes left: each run needs at least one
	for _, v := range r.numbers {
		left += len(binary.AppendUvarint(nil, v))
	}
	for range r.next(uint64(left)) {
		place := r.next(uint64(len(marking)) - 1)
		r.next(math.MaxInt64)
		if marking[place] += r.next(math.MaxUint32); r.broken || mine && marking[place] > math.MaxUint32 {
			r.broken = true
			return
		}
	}
	waits := map[uint64]bool{}
	for range r.next(uint64(len(r.s.rules))) {
		tr := r.next(uint64(len(r.s.rules)) - 1)
		r.next(maxTime)
		if mine && (waits[tr] || !r.mayWait(int(tr), marking)) {
			r.broken = true
		}
		waits[tr] = true
	}
}

// mayWait reports whether a transition is enabled and delayed or manual.
func (r *stateReader) mayWait(tr int, marking []uint64) bool {
	if !r.s.Timed || r.s.modes[tr].Kind == Immediate && !r.s.Tables.Source(tr) {
		return false
	}
	return !slices.ContainsFunc(r.s.Tables.Conds(tr), func(c petri.Cond) bool { return !c.Holds(uint32(marking[c.Place])) })
}

func numbersOf(b []byte) (out []uint64) {
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		out, b = append(out, v), b[n:]
	}
	return out
}

func bytesOf(numbers []uint64) (out []byte) {
	for _, v := range numbers {
		out = binary.AppendUvarint(out, v)
	}
	return out
}

// damaged returns states that differ from one in one number, which has another
// value, is missing or is repeated, and states that end there.
func damaged(numbers []uint64, at int) (out [][]uint64) {
	for _, v := range []uint64{0, 1, numbers[at] + 1, numbers[at] - 1, math.MaxInt64, math.MaxUint32, math.MaxUint32 + 1, maxTime + 1, 1 << 63} {
		other := slices.Clone(numbers)
		other[at] = v
		out = append(out, other)
	}
	return append(out, slices.Delete(slices.Clone(numbers), at, at+1), slices.Insert(slices.Clone(numbers), at, numbers[at]), numbers[:at])
}

// LoadState accepts a damaged state only if it is a valid state, too.
//
//promise:damage damage none
func TestADamagedStateIsRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(95, 1))
	read, refused := 0, 0
	for range 8 {
		net := petritest.RandomNet(r)
		if r.IntN(2) == 0 {
			net = conflictFree(r)
		}
		tables := petritest.Compile(t, net)
		cfg := Config{Tables: tables, Modes: restful(r, tables), First: 1, Stride: 2, Count: 3}
		s := newShard(t, cfg)
		now := now0
		for range 10 {
			act(t, r, 1+2*r.IntN(3), []*Shard{s}, now)
			s.Step(1000, now)
			now += r.Int64N(second)
		}
		numbers := numbersOf(s.AppendState(nil))
		cfg.Count = 2 // one instance of the state is not in the shard
		for at := range numbers {
			for _, other := range damaged(numbers, at) {
				reader := newShard(t, cfg)
				want := (&stateReader{s: reader, numbers: other}).valid()
				rest, err := reader.LoadState(bytesOf(other))
				if got := err == nil && len(rest) == 0; got != want || err != nil && !errors.Is(err, ErrLog) {
					t.Fatalf("%v of %v is accepted: %v, %v, left %v; want %v", other, numbers, got, err, rest, want)
				}
				if want {
					read++
				} else {
					refused++
				}
			}
		}
	}
	if read < 150 || refused < 600 {
		t.Errorf("only %d states were accepted and %d refused", read, refused)
	}
}

// A state does not contain instances that never moved, even if they hold tokens
// and wait.
func TestInstancesThatNeverMovedAreNotKept(t *testing.T) {
	for name, mode := range map[string]Mode{"played at once": {}, "waiting for the outside": {Kind: Manual}, "waiting for a delay": fixed(9)} {
		cfg := Config{Tables: petritest.Compile(t, chain(petri.Normal, 2, 1)), Modes: []Mode{mode}, Stride: 1, Count: 100}
		if mode.Kind != Immediate {
			cfg.Tables = petritest.Compile(t, chain(petri.Normal, 1, 1))
		}
		s := newShard(t, cfg)
		s.Step(1000, now0)
		if state := s.AppendState(nil); len(state) != 1 {
			t.Errorf("%s: %d bytes", name, len(state))
		}
		if err := s.Inject(40, 0, 1, now0); err != nil {
			t.Fatal(err)
		}
		if state := s.AppendState(nil); len(state) < 4 || state[0] != 41 || len(state) > 40 {
			t.Errorf("%s, one has moved: %v", name, state)
		}
	}
}
