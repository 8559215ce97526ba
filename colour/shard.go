// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/pool"
	"github.com/pnagent/pnagent/stats"
)

// What a Shard refuses, and then nothing has changed; besides game.ErrNoInstance,
// petri.ErrNotEnabled, petri.ErrOverflow and pool.ErrFull.
var (
	ErrTooLarge = errors.New("a token carries at most 1048576 bytes")
	ErrLate     = errors.New("the run is over")
	ErrOutcome  = errors.New("bad outcome")
)

// defaultQuota is how many firings one instance gets before the next has its
// turn.
const defaultQuota = 64

// work is one thing that happened to an instance. What it did to the tokens is
// done; that the instance has to be played is all there is left of it.
type work struct{}

// Shard is a number of instances of one net, for one goroutine.
type Shard struct {
	tables      *petri.Tables
	rules       []rule
	triggered   [][]int32 // by place: immediate transitions that it triggers
	untriggered []int32   // immediate transitions that need no token
	waiting     [][]int32 // the same for transitions that have a clock or wait for the outside
	unwaiting   []int32
	users       [][]int32   // by place: transitions that take or test its tokens
	timed       bool        // some transition has a clock or waits for the outside
	barren      bool        // the initial marking is empty
	openEnded   bool        // tokens may come from outside at any time: by a source transition, or from another part
	part        *split.Part // nil for all of the net

	first, stride int
	numbers       []int32 // instead, if not nil
	instances     []instance
	orders        []uint16 // tables.OrderLen() for each instance; nil without rivals or if shuffled
	seed          uint64
	shuffle       bool
	merge         func([][]byte) []byte
	bound         int
	batch         int
	running       uint32 // runs that an instance may have at once
	quota         int    // firings that an instance gets before the next has its turn

	pool      *pool.Pool[work]
	channels  []pool.Channel // by instance
	notes     notes
	runs      map[RunID]int32 // to notes
	loads     []load          // by the ref of their notes
	unloaded  []int32         // unused ones
	lastRun   uint64
	runStep   uint64            // from one run's number to the next one's
	era       uint64            // of the runs that start
	tellRuns  bool              // see Config.Runs
	unended   map[RunID]unended // of a log or a state that was read
	starts    []Start
	stops     []RunID
	crossings []split.Crossing // see TakeCrossings

	logging    bool
	log        []byte // see TakeLog
	deadlocked uint64
	rec        *stats.Recorder
	random     stream
	delays     *rand.Rand // draws from random

	// Memory that is used again.
	works   []work
	before  petri.Order // of the latest choice
	found   []candidate // see choose
	picked  []Placed    // of found: what guards said yes to
	search  search
	took    []held
	out     []held
	datas   [][]byte
	flown   []Placed
	touched []int32 // places whose tokens changed since changed was last called
	spare   [][]lot
}

// New returns a shard with its instances at the initial marking as of now. The
// error names what does not fit; that of a binding wraps [ErrBinding].
func New(cfg Config, now int64) (*Shard, error) {
	if cfg.Bindings == nil {
		cfg.Bindings = make([]Binding, cfg.Tables.Transitions())
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Numbers != nil {
		cfg.Count = len(cfg.Numbers)
	}
	if cfg.Part != nil && cfg.Part.Whole() {
		cfg.Part = nil
	}
	t := cfg.Tables
	s := &Shard{
		first: cfg.First, stride: cfg.Stride, numbers: cfg.Numbers, instances: make([]instance, cfg.Count),
		seed: cfg.Seed, shuffle: cfg.Shuffle, merge: cfg.Merge, bound: cfg.Bound, batch: cfg.Batch,
		running: uint32(cfg.Running), quota: defaultQuota, logging: cfg.Log, tellRuns: cfg.Runs, part: cfg.Part,
		pool: pool.New[work](cfg.Dispatch), channels: make([]pool.Channel, cfg.Count),
		notes: notes{free: none}, runs: map[RunID]int32{}, runStep: 1, rec: stats.NewRecorder(t.Places(), t.Transitions()),
	}
	if s.batch == 0 {
		s.batch = defaultBatch
	}
	if s.running == 0 {
		s.running = defaultRunning
	}
	s.delays = rand.New(&s.random)
	s.compile(t, cfg.Bindings)
	if !s.shuffle {
		s.orders = make([]uint16, cfg.Count*s.tables.OrderLen())
	}
	return s, s.create(cfg.Priority, now)
}

// create puts all instances at the initial marking.
func (s *Shard) create(priority func(int) pool.Priority, now int64) error {
	var marked []int32
	for p, m := range s.tables.Initial {
		if m > 0 && !s.outside(int32(p)) {
			marked = append(marked, int32(p))
		}
	}
	s.barren = len(marked) == 0
	k := len(marked)
	piles, lots := make([]pile, k*len(s.instances)), make([]lot, k*len(s.instances))
	for i := range s.instances {
		in := &s.instances[i]
		in.notes, in.runs = none, none
		in.piles = piles[i*k : i*k : (i+1)*k]
		for j, p := range marked {
			m := s.tables.Initial[p]
			in.piles = append(in.piles, pile{place: p, lots: lots[i*k+j : i*k+j : i*k+j+1]})
			in.piles[j].add(lot{id: in.lastID + 1, injected: now, n: m})
			in.lastID += uint64(m)
			s.rec.Arrived(int(p), now)
		}
		rank := pool.Priority(0)
		if priority != nil {
			rank = priority(s.Number(i))
		}
		if rank > pool.Highest {
			return fmt.Errorf("net %q: instance %d has priority %v; expected %v at most", s.tables.Net.ID, s.Number(i), rank, pool.Highest)
		}
		var err error
		if s.channels[i], err = s.pool.Register(int32(i), rank, s.bound); err != nil {
			return fmt.Errorf("net %q: instance %d: %w", s.tables.Net.ID, s.Number(i), err)
		}
		s.rec.Net.Created++
		s.wake(i, now)
	}
	return nil
}

// Len returns how many instances the shard holds.
func (s *Shard) Len() int { return len(s.instances) }

// Number returns the number of the shard's i-th instance.
func (s *Shard) Number(i int) int {
	if s.numbers != nil {
		return int(s.numbers[i])
	}
	return s.first + i*s.stride
}

// Index returns which of the shard's instances has a number, or
// game.ErrNoInstance.
func (s *Shard) Index(number int) (int, error) {
	i, ok := 0, false
	if s.numbers != nil {
		i = sort.Search(len(s.numbers), func(k int) bool { return int(s.numbers[k]) >= number })
		ok = i < len(s.numbers) && int(s.numbers[i]) == number
	} else if number >= s.first {
		i = (number - s.first) / s.stride
		ok = (number-s.first)%s.stride == 0 && i < len(s.instances)
	}
	if !ok {
		return 0, fmt.Errorf("instance %d: %w", number, game.ErrNoInstance)
	}
	return i, nil
}

// Marking returns an instance's tokens by place. Those in flight count where
// they came from.
func (s *Shard) Marking(i int) []uint32 {
	m := make([]uint32, s.tables.Places())
	for k := range s.instances[i].piles {
		p := &s.instances[i].piles[k]
		m[p.place] = p.total()
	}
	return m
}

// Tokens returns the tokens of an instance, at most a number, by place and the
// oldest first; those in flight, too.
func (s *Shard) Tokens(i, most int) []Placed {
	var out []Placed
	for k := range s.instances[i].piles {
		for _, l := range s.standing(i, &s.instances[i].piles[k]) {
			for j := range l.n {
				if len(out) >= most {
					return out
				}
				tok := l.token()
				tok.ID += uint64(j)
				out = append(out, Placed{Place: s.instances[i].piles[k].place, Token: tok})
			}
		}
	}
	return out
}

// standing returns all tokens of a place in order, those in flight, too.
func (s *Shard) standing(i int, p *pile) []lot {
	if p.flying == 0 {
		return p.left()
	}
	all := slices.Clone(p.left())
	for id := s.instances[i].runs; id != none; id = s.notes.all[id].next {
		for _, t := range s.load(id).taken {
			if t.Place == p.place {
				all = append(all, lot{id: t.Token.ID, injected: t.Token.Injected, data: t.Token.Data, n: 1})
			}
		}
	}
	slices.SortFunc(all, func(a, b lot) int { return a.compare(&b) })
	return all
}

// Firings returns how many firings there were.
func (s *Shard) Firings() uint64 { return s.rec.Firings() }

// Work returns what was counted of the work of the instances.
func (s *Shard) Work() pool.WorkStats { return s.pool.Stats() }

// Head returns the priority of the instance that Step would play next, and
// since when that is ready, if there is one.
func (s *Shard) Head() (priority pool.Priority, since int64, ok bool) { return s.pool.Head() }

// Starts returns the actions to perform, in order, that there are since the
// last call. The slice is used again by the next call that plays; what is in
// it may be kept.
func (s *Shard) Starts() []Start {
	out := s.starts
	s.starts = s.starts[:0]
	return out
}

// Stops returns the runs that ended without a Done since the last call: whoever
// performs them may give up. Some may be in Starts of the same time. The slice
// is used again by the next call that plays.
func (s *Shard) Stops() []RunID {
	out := s.stops
	s.stops = s.stops[:0]
	return out
}
