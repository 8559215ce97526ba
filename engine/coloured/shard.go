// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
)

// Errors of a Shard, besides plain.ErrNoInstance, petri.ErrNotEnabled, petri.ErrOverflow and ready.ErrFull. A
// call that returns one of them has changed nothing.
var (
	ErrTooLarge = errors.New("a token carries at most 1048576 bytes")
	ErrLate     = errors.New("the run is over")
	ErrOutcome  = errors.New("bad outcome")
)

// Shard is a number of instances of one net, for use by one goroutine.
type Shard struct {
	shard.Base
	scopes
	rules []rule
	users [][]int32 // by place: transitions that take or test its tokens
	// By place: a transition looks at it that acts in a scope which is not around it, or neither around nor inside.
	inward, wide []bool
	asks         bool // the guard of a transition that is held can depend on a variable

	instances    []instance
	seed         uint64
	merge        func([][]byte) []byte
	quota, batch int // see defaultQuota and defaultBatch
	running      uint16
	weights      []float64 // see Config.Weights
	ended        func(i int, now int64)

	// A piece of work is one event of an instance. Its effect on the tokens is
	// complete; it only records that the instance has to be played.
	pool  *ready.Pool
	notes notes
	runs  runs

	log    log
	done   Ready // since the last call of Ready
	random shard.Stream
	delays *rand.Rand // draws from random

	// Reused memory.
	flown []Placed
	spare [][]lot
	empty extent // never changed

	change change
}

// New returns a shard with its instances at the initial marking as of now. The
// error describes what is invalid; for a binding it wraps [ErrBinding].
func New(cfg Config, now int64) (*Shard, error) {
	t := cfg.Tables
	if cfg.Bindings == nil {
		cfg.Bindings = make([]Binding, t.Transitions())
	}
	if len(cfg.Bindings) != t.Transitions() {
		return nil, fmt.Errorf("net %q: %w: %d bindings; expected %d, one for each transition", t.Net.ID, ErrBinding, len(cfg.Bindings), t.Transitions())
	}
	base, err := shard.New(t, shard.MembersOf(cfg.First, cfg.Stride, cfg.Count, cfg.Numbers), cfg.Part, cfg.Shuffle,
		func(t int) bool { return cfg.Bindings[t].Mode.Kind != plain.Immediate }, func(t int) bool { return cfg.Bindings[t].Mode.Kind == plain.Delayed })
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if t.Scoped() && base.Part != nil {
		return nil, fmt.Errorf("net %q has scopes; expected none in a net of which parts are played", t.Net.ID)
	}
	s := &Shard{
		Base: base, instances: make([]instance, base.Count), seed: cfg.Seed, merge: cfg.Merge, batch: defaultBatch,
		running: uint16(cmp.Or(cfg.Running, defaultRunning)), quota: defaultQuota,
		weights: cfg.Weights, ended: cfg.Ended,
		pool: ready.NewPool(cfg.Dispatch, base.Count, cfg.Bound), notes: notes{free: none}, runs: runs{active: map[RunID]int32{}, unended: map[RunID]*run{}, step: 1},
	}
	s.tables, s.notes.scopes = s.Tables, &s.scopes
	if t.Scoped() {
		s.frames = make([]frames, base.Count)
	}
	s.shared = t.Net.Shared && base.Part == nil
	s.notes.due.Before = s.notes.before
	s.delays = rand.New(&s.random)
	s.change.s = s
	format := codec{rules: t.Transitions(), places: t.Places(), scopes: t.Scopes(), orders: s.OrderLen(), turns: int(s.Turns()), scoped: t.Scoped()}
	s.log = log{codec: format, on: cfg.Log, members: &s.Members}
	s.compile(cfg.Bindings)
	return s, s.create(cfg.Priority, cfg.Spare, now)
}

// create puts all instances at the initial marking.
func (s *Shard) create(priority func(int) ready.Priority, spare func(int) bool, now int64) error {
	var marked []int32
	for p, m := range s.Tables.Initial {
		if m > 0 && !s.Outside(p) {
			marked = append(marked, int32(p))
		}
	}
	k := len(marked)
	piles, lots := make([]pile, k*len(s.instances)), make([]lot, k*len(s.instances))
	for i := range s.instances {
		in := &s.instances[i]
		*in = s.blank(int32(i))
		if priority != nil {
			rank := priority(s.Number(i))
			if rank > ready.Highest {
				return fmt.Errorf("net %q: instance %d has priority %v; expected at most %v", s.Tables.Net.ID, s.Number(i), rank, ready.Highest)
			}
			s.pool.Rank(i, rank)
		}
		if !s.Barren && spare != nil && spare(s.Number(i)) {
			in.flags = finished | everMoved
			continue
		}
		in.piles = piles[i*k : i*k : (i+1)*k]
		for j, p := range marked {
			m := s.Tables.Initial[p]
			in.piles = append(in.piles, pile{place: p, lots: lots[i*k+j : i*k+j : i*k+j+1]})
			in.piles[j].add(lot{id: in.lastID + 1, injected: now, n: m})
			in.lastID += uint64(m)
			s.Rec.Arrived(int(p), now)
		}
		s.Rec.Net.Created++
		s.wake(i, now)
	}
	return nil
}

// blank returns an instance that holds nothing.
func (s *Shard) blank(index int32) instance {
	e := &s.empty
	if s.frames != nil || s.shared {
		e = &extent{}
	}
	return instance{frame: frame{extent: e, notes: none, index: index}, runs: none}
}

// Marking returns the number of an instance's tokens by place, in all runs of the place's scope. Tokens in
// flight count in the places from which they were taken.
func (s *Shard) Marking(i int) []uint32 {
	m := make([]uint32, s.Tables.Places())
	for _, p := range s.filled(&s.instances[i]) {
		m[p.place] = add(m[p.place], p.total())
	}
	return m
}

// TokensIn returns the number of an instance's tokens in one place, as Marking counts them.
func (s *Shard) TokensIn(i, place int) uint32 {
	in := &s.instances[i]
	_, total := s.amount(in, &in.frame, int32(place))
	return total
}

// Tokens returns the tokens of an instance, at most a given number, including those in flight: by the number
// of the run of their scope, then by place and oldest first.
func (s *Shard) Tokens(i, most int) []Placed {
	var out []Placed
	in := &s.instances[i]
	for f, p := range s.filled(in) {
		for _, l := range s.standing(in, f, p) {
			h := held{l, spot{p.place, f.number}}
			out = h.single(out, most-len(out))
		}
	}
	return s.seen(in, out)
}

// standing returns all tokens of a place in order, including those in flight.
func (s *Shard) standing(in *instance, f *frame, p *pile) []lot {
	if p.flying == 0 {
		return p.left()
	}
	all := slices.Clone(p.left())
	for _, h := range s.inFlight(in) {
		if h.spot == (spot{p.place, f.number}) {
			all = append(all, h.lot)
		}
	}
	slices.SortFunc(all, func(a, b lot) int { return a.compare(&b) })
	return all
}

// Work returns the counters of the instances' work, and how much work waits.
func (s *Shard) Work() (ready.Stats, int) { return s.pool.Stats() }
