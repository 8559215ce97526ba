// SPDX-License-Identifier: Apache-2.0

package game

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/pool"
	"github.com/pnagent/pnagent/stats"
)

// MaxNodes is how many places, and how many transitions, a net that is played
// may have: a cell names a place in 16 bits.
const MaxNodes = math.MaxUint16

// defaultQuota is how many firings one instance gets before the next has its
// turn.
const defaultQuota = 64

// ErrNoInstance is returned for an instance that the shard does not hold.
var ErrNoInstance = errors.New("no such instance")

// Config says what a shard plays.
type Config struct {
	Tables *petri.Tables
	Modes  []Mode // by transition; nil for all immediate
	// The shard holds instances First, First+Stride, … , Count of them; or, if
	// Numbers is not nil, those, which rise.
	First, Stride, Count int
	Numbers              []int32
	// Seed makes delays repeatable. If Shuffle is set, chance decides between
	// the enabled transitions of the highest priority, each as likely as another.
	Seed    uint64
	Shuffle bool
	// Dispatch says which ready instance is played next; nil is in turn, which
	// costs least. Priority gives the priority of the instance with a number, by
	// which Dispatch goes; nil is p0 for all.
	Dispatch *pool.Discipline
	Priority func(number int) pool.Priority
	// Log has the shard write down what it fires, for TakeLog.
	Log bool
	// Part has the shard play one region of the net only: see TakeCrossings. nil
	// is all of it.
	Part *split.Part
}

// Shard is a number of instances of one net, for one goroutine.
type Shard struct {
	tables      *petri.Tables
	modes       []Mode
	rules       []rule
	triggered   [][]int32 // by place: immediate transitions that it triggers
	untriggered []int32   // immediate transitions that need no token
	waiting     [][]int32 // the same for transitions that have a clock or wait for the outside
	unwaiting   []int32
	openEnded   bool        // tokens may come from outside at any time: by a source transition, or from another part
	part        *split.Part // nil for all of the net

	first, stride int
	numbers       []int32 // if not nil, instead of first and stride
	cells         []cell
	streams       []stream // by instance; nil if nothing is random
	orders        []uint16 // tables.OrderLen() for each instance; nil without rivals or if shuffled
	found         []int32  // see enabledNarrow
	shuffle       bool
	delays        *rand.Rand
	current       stream // what delays draws from

	wide  []*wide
	holes []int // unused entries of wide
	spare []*wide
	taken []uint32 // of fireWide

	created   int64 // when the instances were
	logging   bool
	log       []byte           // see TakeLog
	began     int              // how long a log is that tells nothing
	touched   []int32          // by Replay
	noting    bool             // what fires is written down, or may put tokens into other parts
	crossings []split.Crossing // see TakeCrossings
	exact     bool             // Replay: the log says when instances came to rest
	loaded    bool             // by LoadState
	repeats   bool             // see ReplayOlder
	barren    bool             // the initial marking is empty

	dispatch   *dispatch // nil: ready is in use
	ready      ring
	fetched    int   // of the ready instances, the first ones that fetch has read
	sink       uint8 // keeps fetch's reads from being left out
	quota      int   // firings that an instance gets before the next has its turn
	clocks     clocks
	timed      bool // some transition has a clock or waits for the outside
	deadlocked uint64
	rec        *stats.Recorder
}

// New returns a shard with its instances at the initial marking as of now.
func New(cfg Config, now int64) (*Shard, error) {
	t := cfg.Tables
	if t.Places() > MaxNodes || t.Transitions() > MaxNodes {
		return nil, fmt.Errorf("net %q has %d places and %d transitions; expected at most %d of each",
			t.Net.ID, t.Places(), t.Transitions(), MaxNodes)
	}
	if cfg.Part != nil {
		if err := cfg.Part.Check(t); err != nil {
			return nil, err
		}
		if cfg.Part.Whole() {
			cfg.Part = nil
		}
	}
	if cfg.Modes == nil {
		cfg.Modes = make([]Mode, t.Transitions())
	}
	if cfg.Numbers != nil {
		if err := rising(cfg.Numbers); err != nil {
			return nil, err
		}
		cfg.Count = len(cfg.Numbers)
	}
	s := &Shard{
		modes: cfg.Modes, first: cfg.First, stride: cfg.Stride, numbers: cfg.Numbers, shuffle: cfg.Shuffle, created: now,
		logging: cfg.Log, noting: cfg.Log || cfg.Part != nil, part: cfg.Part,
		cells: make([]cell, cfg.Count), quota: defaultQuota, rec: stats.NewRecorder(t.Places(), t.Transitions()),
	}
	var err error
	if s.dispatch, err = s.newDispatch(&cfg); err != nil {
		return nil, err
	}
	if s.dispatch == nil {
		s.ready = newRing(cfg.Count)
	}
	s.delays = rand.New(&s.current)
	s.compile(t)
	s.timed = len(s.unwaiting) > 0 || slices.ContainsFunc(s.waiting, func(l []int32) bool { return len(l) > 0 })
	if s.timed {
		s.clocks = newClocks(cfg.Count)
	}
	if s.timed || s.shuffle {
		s.streams = make([]stream, cfg.Count)
	}
	if !s.shuffle {
		s.orders = make([]uint16, cfg.Count*s.tables.OrderLen())
	}
	if s.logging {
		s.startLog()
	}
	s.barren = true
	for p, m := range t.Initial {
		s.barren = s.barren && (m == 0 || s.outside(p))
	}
	for i := range s.cells {
		if s.streams != nil {
			s.streams[i] = newStream(cfg.Seed, uint64(s.Number(i)))
		}
		s.create(i, now)
	}
	return s, nil
}

// rising returns an error unless the numbers of instances are sorted, each once.
func rising(numbers []int32) error {
	last := int32(-1)
	for _, n := range numbers {
		if n <= last {
			return fmt.Errorf("instance %d after %d; expected rising numbers from 0", n, last)
		}
		last = n
	}
	return nil
}

// compile lays out the rules and who triggers what.
func (s *Shard) compile(t *petri.Tables) {
	held := make([]bool, t.Transitions())
	for tr, m := range s.modes {
		held[tr] = m.Kind != Immediate || s.elsewhere(tr)
	}
	s.openEnded = s.part != nil && len(s.part.Upstream) > 0
	s.tables = t.WithHeld(held)
	s.rules = make([]rule, t.Transitions())
	s.triggered, s.waiting = make([][]int32, t.Places()), make([][]int32, t.Places())
	ranks := ranksOf(t)
	longest := 0
	for tr := range s.rules {
		r := makeRule(t, tr, s.part)
		r.rank, r.held = ranks[t.Priority(tr)], s.tables.Held(tr)
		s.rules[tr] = r
		longest = max(longest, len(r.effects))
		if !s.elsewhere(tr) {
			s.trigger(tr, &r)
		}
	}
	s.taken = make([]uint32, longest)
}

// trigger files a transition under a place without which it is not enabled: of
// its inputs, the one that shows the fewest others so far.
func (s *Shard) trigger(tr int, r *rule) {
	if s.tables.Source(tr) && s.modes[tr].Kind != Delayed {
		s.openEnded = true
		return
	}
	by, rest := s.triggered, &s.untriggered
	if r.held {
		by, rest = s.waiting, &s.unwaiting
	}
	best := int32(-1)
	for _, c := range r.conds {
		if c.Lo > 0 && (best < 0 || len(by[c.Place]) < len(by[best])) {
			best = c.Place
		}
	}
	if best < 0 {
		*rest = append(*rest, int32(tr))
		return
	}
	by[best] = append(by[best], int32(tr))
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

// ranksOf numbers the priorities in use, 0 for the highest.
func ranksOf(t *petri.Tables) map[int32]uint16 {
	var all []int32
	for tr := range t.Transitions() {
		all = append(all, -t.Priority(tr))
	}
	slices.Sort(all)
	ranks := map[int32]uint16{}
	for i, p := range slices.Compact(all) {
		ranks[-p] = uint16(i)
	}
	return ranks
}

// create puts an instance at the initial marking.
func (s *Shard) create(i int, now int64) {
	c := &s.cells[i]
	s.rec.Net.Created++
	for p, m := range s.tables.Initial {
		if m > 0 && !s.outside(p) {
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

// Len returns how many instances the shard holds.
func (s *Shard) Len() int { return len(s.cells) }

// Number returns the number of the shard's i-th instance.
func (s *Shard) Number(i int) int {
	if s.numbers == nil {
		return s.first + i*s.stride
	}
	return int(s.numbers[i])
}

// Index returns which of the shard's instances has a number.
func (s *Shard) Index(number int) (int, error) {
	if s.numbers != nil {
		i, found := slices.BinarySearchFunc(s.numbers, number, func(n int32, want int) int { return cmp.Compare(int(n), want) })
		if !found {
			return 0, fmt.Errorf("instance %d: %w", number, ErrNoInstance)
		}
		return i, nil
	}
	i := (number - s.first) / s.stride
	if number < s.first || (number-s.first)%s.stride != 0 || i >= len(s.cells) {
		return 0, fmt.Errorf("instance %d: %w", number, ErrNoInstance)
	}
	return i, nil
}

// Marking returns an instance's tokens by place.
func (s *Shard) Marking(i int) []uint32 {
	m := make([]uint32, s.tables.Places())
	for p := range m {
		m[p] = s.tokens(&s.cells[i], p)
	}
	return m
}

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

// Firings returns how many firings there were.
func (s *Shard) Firings() uint64 { return s.rec.Firings() }
