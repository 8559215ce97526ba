// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// BlockedAfter is the age of a token, in microseconds, from which the conditions
// that block its transitions are counted in Rows.Blocks.
const BlockedAfter = 10_000_000

// MaxWaits is the largest number of reasons that a row names for one token.
const MaxWaits = 16

// Present counts the state of a net's instances at one moment: the tokens of each
// place with their ages and the oldest ones, the enabled and running transitions
// with their times, and what blocks transitions. The caller visits the instances
// one after the other, numbers them from 0, and then adds the result to rows. H
// identifies the holder of a token. Present allocates per place, not per token.
type Present[H any] struct {
	// Tie orders holders whose tokens were injected at one time, if a row has no
	// room for all. If it is nil, the first ones stay.
	Tie func(a, b H) int

	now, old    int64
	rungs       *Rungs
	places      []presentPlace[H]
	transitions []presentTransition
	seen        []int64 // by transition: 1 + its last mark, see Once
	blocks      map[Block]uint64
}

type presentPlace[H any] struct {
	tokens, instances uint64
	last              int32             // 1 + the last instance with a token here
	high, low         uint64            // the sum of the injection times, in microseconds
	ladder            []uint64          // by rung; nil before the first token
	oldest            []old[H]          // oldest first, at most MaxStuck
	groups            []presentGroup[H] // by reason; nil before the first
}

// presentGroup counts the tokens of a place that wait for one reason.
type presentGroup[H any] struct {
	tokens uint64
	due    int64
	oldest old[H]
}

type presentTransition struct {
	enabled, running           uint64
	enabledSince, runningSince int64
}

// old is one of the oldest tokens of a place.
type old[H any] struct {
	injected int64
	holder   H
}

// NewPresent returns an empty count, as of now, for a net of the given size.
func NewPresent[H any](now int64, places, transitions int) *Present[H] {
	return &Present[H]{now: now, old: now - BlockedAfter, rungs: NewRungs(now), places: make([]presentPlace[H], places),
		transitions: make([]presentTransition, transitions), seen: make([]int64, transitions), blocks: map[Block]uint64{}}
}

// Now returns the moment at which the count is made.
func (p *Present[H]) Now() int64 { return p.now }

// Old reports whether a token that was injected at a time has been there for
// BlockedAfter.
func (p *Present[H]) Old(injected int64) bool { return injected <= p.old }

// Tokens counts n tokens of an instance in a place with one injection time, and
// reports whether they are the first of the instance in that place. All tokens of
// an instance are counted before those of the next. AddTo passes holder to its
// name function.
func (p *Present[H]) Tokens(place int, instance int32, injected int64, n uint32, holder H) (first bool) {
	row := &p.places[place]
	row.tokens += uint64(n)
	if first = row.last != instance+1; first {
		row.last = instance + 1
		row.instances++
	}
	high, low := bits.Mul64(uint64(injected), uint64(n))
	sum, carry := bits.Add64(row.low, low, 0)
	row.high, row.low = row.high+high+carry, sum
	if row.ladder == nil {
		row.ladder = make([]uint64, p.rungs.Len())
	}
	row.ladder[p.rungs.Index(injected)] += uint64(n)
	if k := len(row.oldest); k < MaxStuck || injected < row.oldest[k-1].injected || p.Tie != nil && p.before(injected, holder, &row.oldest[k-1]) {
		p.remember(row, old[H]{injected, holder}, n)
	}
	return first
}

// before reports whether a token comes before one that was counted earlier.
func (p *Present[H]) before(injected int64, holder H, o *old[H]) bool {
	return injected < o.injected || injected == o.injected && p.Tie != nil && p.Tie(holder, o.holder) < 0
}

// Group counts n tokens by their Foremost wait, beside Tokens. Tokens of which that is not known need
// not be counted so.
func (p *Present[H]) Group(place int, w Wait, injected int64, n uint32, holder H) {
	if w.Reason == ReasonUnknown {
		return
	}
	row := &p.places[place]
	if row.groups == nil {
		row.groups = make([]presentGroup[H], reasons)
	}
	g := &row.groups[w.Reason]
	if g.tokens == 0 || p.before(injected, holder, &g.oldest) {
		g.oldest = old[H]{injected, holder}
	}
	g.tokens += uint64(n)
	g.due = Earlier(g.due, cmp.Or(w.Until, injected))
}

// injected returns the sum of the injection times.
func (r *presentPlace[H]) injected() TimeSum {
	if r.high >= 1e6 {
		return TimeSum{Sec: math.MaxUint64}
	}
	sec, micro := bits.Div64(r.high, r.low, 1e6)
	return TimeSum{Sec: sec, Micro: micro}
}

// remember keeps the oldest tokens of a place in order of their age.
func (p *Present[H]) remember(row *presentPlace[H], o old[H], n uint32) {
	at, _ := slices.BinarySearchFunc(row.oldest, o, func(a, b old[H]) int {
		if p.before(b.injected, b.holder, &a) {
			return 1
		}
		return -1
	})
	for range min(int(n), MaxStuck-at) {
		row.oldest = slices.Insert(row.oldest, at, o)
	}
	row.oldest = row.oldest[:min(len(row.oldest), MaxStuck)]
}

// Count returns how many tokens were counted in a place.
func (p *Present[H]) Count(place int) uint64 { return p.places[place].tokens }

// Once reports whether mark, 0 or more, differs from the last mark for the
// transition. So a transition that follows several places is handled once per
// instance.
func (p *Present[H]) Once(transition int32, mark int64) bool {
	seen := &p.seen[transition]
	first := *seen != mark+1
	*seen = mark + 1
	return first
}

// Enabled counts an instance in which a transition is enabled since a time.
func (p *Present[H]) Enabled(transition int, since int64) {
	t := &p.transitions[transition]
	t.enabled++
	t.enabledSince = Earlier(t.enabledSince, since)
}

// Running counts a run of a transition's action that started at a time.
func (p *Present[H]) Running(transition int, since int64) {
	t := &p.transitions[transition]
	t.running++
	t.runningSince = Earlier(t.runningSince, since)
}

// Block counts instances in which a condition blocks a transition.
func (p *Present[H]) Block(w Wait, instances uint64) {
	p.blocks[Block{Transition: w.Transition, Place: w.Place, Reason: w.Reason}] += instances
}

// AddTo adds the counts to rows of the net. name returns the name of a holder, and
// what it waits for in a place. Present tokens count as arrivals too.
func (p *Present[H]) AddTo(rows *Rows, name func(place int, holder H) (string, []Wait)) {
	for i := range p.places {
		if row := &p.places[i]; row.tokens > 0 {
			sum := Place{Tokens: row.tokens, Arrivals: row.tokens, Instances: row.instances,
				Oldest: row.oldest[0].injected, Injected: row.injected(), Ages: p.rungs.Ladder(row.ladder)}
			for _, o := range row.oldest {
				instance, waits := name(i, o.holder)
				sum.Stuck = append(sum.Stuck, Token{Instance: instance, Injected: o.injected, Waits: waits})
			}
			slices.SortFunc(sum.Stuck, func(a, b Token) int { return a.Compare(&b) })
			for reason, g := range row.groups {
				if g.tokens > 0 {
					instance, waits := name(i, g.oldest.holder)
					sum.Groups = append(sum.Groups, Group{Reason(reason), g.tokens, g.due, Token{instance, g.oldest.injected, waits}})
				}
			}
			rows.Places[i].Merge(&sum)
		}
	}
	for i, t := range p.transitions {
		rows.Transitions[i].Merge(&Transition{Enabled: t.enabled, EnabledSince: t.enabledSince, Running: t.running, RunningSince: t.runningSince})
	}
	var blocks []Block
	for b, n := range p.blocks {
		b.Instances = n
		blocks = append(blocks, b)
	}
	slices.SortFunc(blocks, Block.Compare)
	rows.Blocks = MergeBlocks(rows.Blocks, blocks)
}

// Unmet returns what a transition waits for at a place, of which it needs at least
// lo and, unless hi is 0, fewer than hi tokens. available is the number that it
// can take, total the number in all. ok is false if it waits for nothing.
func Unmet(transition, place int32, lo, hi, available, total uint32) (w Wait, ok bool) {
	switch {
	case available < lo:
		return Wait{Transition: transition, Reason: ReasonMissing, Place: place, Count: lo - available}, true
	case hi > 0 && total >= hi:
		return Wait{Transition: transition, Reason: ReasonInhibited, Place: place, Count: total - hi + 1}, true
	}
	return Wait{}, false
}
