// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math/rand/v2"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
)

// defaultQuota is the number of firings of one instance before the next gets
// its turn.
const defaultQuota = 64

// Config is the configuration of a shard.
type Config struct {
	Tables *petri.Tables
	Modes  []Mode // by transition; nil for all immediate
	// The shard holds Count instances: First, First+Stride and so on; or, if
	// Numbers is not nil, those, in ascending order.
	First, Stride, Count int
	Numbers              []int32
	// Seed makes delays repeatable. If Shuffle is set, the shard chooses at
	// random among the enabled transitions of the highest priority, all equally
	// likely.
	Seed    uint64
	Shuffle bool
	// Dispatch specifies which ready instance is played next; nil plays them in
	// turn, which costs least. For Dispatch, Priority returns the priority of
	// the instance with a number; nil is p0 for all.
	Dispatch *ready.Discipline
	Priority func(number int) ready.Priority
	// Log makes the shard record its firings: see Ready.
	Log bool
	// Part restricts the shard to one region of the net: see Ready. nil
	// is the whole net.
	Part *split.Part
}

// Shard is a number of instances of one net, for use by one goroutine.
type Shard struct {
	shard.Base
	modes []Mode
	rules []rule

	cells   []cell
	streams []shard.Stream // by instance; nil without random decisions
	found   []int32        // see enabledNarrow
	delays  *rand.Rand
	current shard.Stream // the stream from which delays are drawn

	wide  []*wide
	holes []int // unused entries of wide
	spare []*wide
	taken []uint32 // of fireWide

	created   int64 // when the instances were created
	log       log
	crossings []split.Crossing // since then
	noting    bool             // firings are recorded, or may put tokens into other parts
	loaded    bool             // LoadState was called

	dispatch *dispatch // nil: ready is in use
	ready    ring
	fetched  int   // how many of the ready instances, from the first on, fetch has read
	sink     uint8 // keeps the compiler from removing fetch's reads
	quota    int   // firings of one instance before the next gets its turn
	clocks   clocks
}

// New returns a shard with its instances at the initial marking as of now.
func New(cfg Config, now int64) (*Shard, error) {
	if cfg.Modes == nil {
		cfg.Modes = make([]Mode, cfg.Tables.Transitions())
	}
	kind := func(k Kind) func(int) bool { return func(t int) bool { return cfg.Modes[t].Kind == k } }
	immediate := kind(Immediate)
	base, err := shard.New(cfg.Tables, shard.MembersOf(cfg.First, cfg.Stride, cfg.Count, cfg.Numbers), cfg.Part, cfg.Shuffle,
		func(t int) bool { return !immediate(t) }, kind(Delayed))
	if err != nil {
		return nil, err
	}
	s := &Shard{Base: base, modes: cfg.Modes, created: now, noting: cfg.Log || base.Part != nil,
		cells: make([]cell, base.Count), quota: defaultQuota}
	if s.dispatch, err = s.newDispatch(&cfg); err != nil {
		return nil, err
	}
	if s.dispatch == nil {
		s.ready = newRing(s.Count)
	}
	s.delays = rand.New(&s.current)
	s.compile()
	if s.Timed {
		s.clocks.init(s.Count)
	}
	if s.Timed || s.Shuffle {
		s.streams = make([]shard.Stream, s.Count)
	}
	if cfg.Log {
		s.log = newLog(len(s.rules), &s.Members)
	}
	for i := range s.cells {
		if s.streams != nil {
			s.streams[i] = shard.NewStream(cfg.Seed, uint64(s.Number(i)))
		}
		s.create(i, now)
	}
	return s, nil
}

// compile fills in the rules.
func (s *Shard) compile() {
	s.rules = make([]rule, s.Tables.Transitions())
	longest := 0
	for tr, rank := range s.Ranks() {
		r := makeRule(s.Tables, tr, s.Part)
		r.rank, r.held = rank, s.Tables.Held(tr)
		s.rules[tr] = r
		longest = max(longest, len(r.effects))
	}
	s.taken = make([]uint32, longest)
}

func makeRule(t *petri.Tables, tr int, part *split.Part) rule {
	r := rule{conds: t.Conds(tr), effects: t.Effects(tr)}
	if part != nil {
		r.effects, r.crosses = divide(r.effects, part)
	}
	r.single = len(r.conds) == 1 && r.conds[0].Lo == 1 && r.conds[0].Hi == 0
	var from, to []uint16
	simple := true
	for _, e := range r.effects {
		switch (petri.Effect{Take: e.Take, Put: e.Put, Reset: e.Reset}) {
		case petri.Effect{Take: 1}:
			from = append(from, uint16(e.Place))
		case petri.Effect{Put: 1}:
			to = append(to, uint16(e.Place))
		default:
			simple = false
		}
	}
	if simple && len(from) == 1 && len(to) == 1 && len(r.crosses) == 0 {
		r.move, r.from, r.to = true, from[0], to[0]
	}
	return r
}

// create puts an instance at the initial marking.
func (s *Shard) create(i int, now int64) {
	c := &s.cells[i]
	s.Rec.Net.Created++
	for p, m := range s.Tables.Initial {
		if m > 0 && !s.Outside(p) {
			_ = s.put(c, p, m, now) // an initial marking fits its 32 bits
		}
	}
	s.enqueue(i, now)
}

// put adds tokens to a place of a cell in either form.
func (s *Shard) put(c *cell, place int, n uint32, now int64) error {
	if c.n != isWide && uint32(c.n)+n <= inline && n <= inline {
		s.putNarrow(c, uint16(place), n, now)
		return nil
	}
	if c.n != isWide {
		s.widen(c)
	}
	return s.putWide(s.wideOf(c), place, n, now)
}

// Marking returns the number of an instance's tokens by place.
func (s *Shard) Marking(i int) []uint32 {
	m := make([]uint32, s.Tables.Places())
	for p := range m {
		m[p] = s.tokens(&s.cells[i], p)
	}
	return m
}

// TokensIn returns the number of an instance's tokens in one place.
func (s *Shard) TokensIn(i, place int) uint32 { return s.tokens(&s.cells[i], place) }

func (s *Shard) tokens(c *cell, place int) uint32 {
	if c.n == isWide {
		return s.wideOf(c).state.Tokens(place)
	}
	return c.count(int32(place))
}

func (s *Shard) enabled(c *cell, t int) bool {
	if c.n == isWide {
		return s.wideOf(c).state.Enabled(t)
	}
	for _, cond := range s.rules[t].conds {
		if !cond.Holds(c.count(cond.Place)) {
			return false
		}
	}
	return true
}
