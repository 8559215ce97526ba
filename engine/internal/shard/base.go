// SPDX-License-Identifier: Apache-2.0

// Package shard holds what the shards of packages plain and coloured have in
// common: which instances they hold, what triggers their transitions, what they
// count and write down, and chance.
//
// Both embed a [Base]. All here is pure and belongs to one goroutine.
package shard

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// MaxNodes is how many places, and how many transitions, a net that is played
// may have: an instance names a place in 16 bits.
const MaxNodes = math.MaxUint16

// Errors of both machines.
var (
	ErrNoInstance = errors.New("no such instance")
	ErrElsewhere  = errors.New("it belongs to another part of the net")
	ErrLog        = errors.New("what was logged does not fit the net")
)

// Immediate are transitions that fire by themselves.
type Immediate struct {
	Triggered   [][]int32 // by place: those that it triggers
	Untriggered []int32   // those that need no token
}

// Base is what a shard is in either machine.
type Base struct {
	Members
	Tables *petri.Tables
	Part   *split.Part // nil for all of the net

	Immediate            // all that fire by themselves
	Urgent    *Immediate // those that are urgent; nil for none
	Stirred   []int32    // instances in which an urgent transition may have become enabled: see Stir
	Waiting   [][]int32  // the same for transitions that have a clock or wait for the outside
	Unwaiting []int32
	Timed     bool // some transition has a clock or waits for the outside
	OpenEnded bool // tokens may come from outside at any time: by a source transition that catches no event, or from another part
	Barren    bool // the initial marking is empty

	Shuffle    bool
	orders     []uint16 // Tables.OrderLen() for each instance; nil without rivals or if shuffled
	Deadlocked uint64   // instances
	Rec        *stats.Recorder
}

// New returns the base of a shard. held returns which transitions do not fire
// by themselves, and delayed which of them have a clock. Joins are checked if
// the machine plays them. The error reports what cannot be played.
func New(t *petri.Tables, m Members, part *split.Part, shuffle bool, held, delayed func(transition int) bool) (Base, error) {
	if t.Places() > MaxNodes || t.Transitions() > MaxNodes {
		return Base{}, fmt.Errorf("net %q has %d places and %d transitions; expected at most %d of each", t.Net.ID, t.Places(), t.Transitions(), MaxNodes)
	}
	if err := m.check(); err != nil {
		return Base{}, fmt.Errorf("net %q: %w", t.Net.ID, err)
	}
	if part != nil {
		if err := part.Check(t); err != nil {
			return Base{}, err
		}
		if part.Whole() {
			part = nil
		}
	}
	b := Base{Members: m, Part: part, Shuffle: shuffle, Rec: stats.NewRecorder(t.Places(), t.Transitions()), Barren: true,
		Immediate: Immediate{Triggered: make([][]int32, t.Places())}, Waiting: make([][]int32, t.Places()), OpenEnded: part != nil && len(part.Upstream) > 0}
	kinds := make([]bool, t.Transitions())
	for tr := range kinds {
		kinds[tr] = held(tr) || b.Elsewhere(tr)
	}
	b.Tables = t.WithHeld(kinds)
	for tr := range kinds {
		if !b.Elsewhere(tr) {
			b.trigger(tr, delayed(tr))
		}
	}
	b.findUrgent()
	for p, n := range t.Initial {
		b.Barren = b.Barren && (n == 0 || b.Outside(p))
	}
	b.orders = make([]uint16, m.Count*b.OrderLen())
	return b, nil
}

// trigger files a transition under the places without which it is not enabled:
// of its inputs in the scope in which it acts the one that shows the fewest
// others so far; of an inclusive join without such an input all that it joins.
func (b *Base) trigger(tr int, delayed bool) {
	if b.Tables.Source(tr) && !delayed {
		// An event or a timer begins an instance only if it is at its end, and so does not keep it open.
		on := &b.Tables.Net.Transitions[tr].Trigger
		b.OpenEnded = b.OpenEnded || on.Event.Kind == petri.EventNone && !on.Begins
		return
	}
	by, rest := b.Triggered, &b.Untriggered
	if b.Tables.Held(tr) {
		by, rest = b.Waiting, &b.Unwaiting
		b.Timed = true
	}
	best := int32(-1)
	for _, c := range b.Tables.Conds(tr) {
		if c.Lo > 0 && b.Tables.ScopeOf(c.Place) == b.Tables.ActsIn(tr) && (best < 0 || len(by[c.Place]) < len(by[best])) {
			best = c.Place
		}
	}
	join := b.Tables.Join(tr)
	switch {
	case best >= 0:
		by[best] = append(by[best], int32(tr))
	case join != nil:
		for _, p := range join.Places {
			by[p] = append(by[p], int32(tr))
		}
	default:
		*rest = append(*rest, int32(tr))
	}
}

// findUrgent finds the urgent ones of the immediate transitions.
func (b *Base) findUrgent() {
	some := false
	urgent := func(transitions []int32) (out []int32) {
		for _, tr := range transitions {
			if b.Tables.Urgent(int(tr)) {
				out = append(out, tr)
			}
		}
		some = some || len(out) > 0
		return out
	}
	of := &Immediate{make([][]int32, len(b.Triggered)), urgent(b.Untriggered)}
	for p := range of.Triggered {
		of.Triggered[p] = urgent(b.Triggered[p])
	}
	if some {
		b.Urgent = of
	}
}

// MaxUrgent is how many urgent transitions an instance fires at once. After that it waits for
// its turn: the net may have an endless loop of them.
const MaxUrgent = 1024

// HasUrgent reports whether an immediate transition is urgent, see petri.Urgent.
func (b *Base) HasUrgent() bool { return b.Urgent != nil }

// Stir notes that an instance has changed, if that may have enabled an urgent transition.
func (b *Base) Stir(i int) {
	if n := len(b.Stirred); b.Urgent != nil && (n == 0 || b.Stirred[n-1] != int32(i)) {
		b.Stirred = append(b.Stirred, int32(i))
	}
}

// Ranks numbers the priorities of the transitions, 0 for the highest.
func (b *Base) Ranks() []uint16 {
	ranks := make([]uint16, b.Tables.Transitions())
	var all []int32
	for tr := range ranks {
		all = append(all, -b.Tables.Priority(tr))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for tr := range ranks {
		at, _ := slices.BinarySearch(all, -b.Tables.Priority(tr))
		ranks[tr] = uint16(at)
	}
	return ranks
}

// Fired returns how often a transition has fired, and when it last did; 0 if never.
func (b *Base) Fired(transition int) (firings uint64, last int64) { return b.Rec.FiringsOf(transition) }

// Ended returns how many instances have finished or failed.
func (b *Base) Ended() uint64 { return b.Rec.Net.Finished + b.Rec.Net.Failed }

// Order returns in which order an instance's rivals were chosen; nil if there
// are none or chance decides.
func (b *Base) Order(i int) petri.Order {
	if len(b.orders) == 0 {
		return nil
	}
	n := b.OrderLen()
	return petri.Order(b.orders[i*n : (i+1)*n])
}

// OrderLen returns how long an Order is.
func (b *Base) OrderLen() int {
	if b.Shuffle {
		return 0
	}
	return b.Tables.OrderLen()
}

// Elsewhere reports whether a transition is of another part.
func (b *Base) Elsewhere(t int) bool { return b.Part != nil && !b.Part.Transitions[t] }

// Refusal returns the error of a call that cannot fire a transition because of a condition. total is how
// many tokens the place holds, and available those that can be taken.
func (b *Base) Refusal(t int, c petri.Cond, available, total uint32) error {
	n, expected := total, fmt.Sprintf("fewer than %d", c.Hi)
	if available < c.Lo && (c.Hi == 0 || total < c.Hi) {
		n, expected = available, fmt.Sprintf("%d or more", c.Lo)
	}
	net := b.Tables.Net
	return fmt.Errorf("transition %q: %w: place %q holds %d tokens, expected %s", net.Transitions[t].ID, petri.ErrNotEnabled, net.Places[c.Place].ID, n, expected)
}

// Outside reports whether a place is of another part.
func (b *Base) Outside(place int) bool { return b.Part != nil && !b.Part.Places[place] }

// TakeSlowest adds to the rows, for each place, the instance whose token stayed
// longest, and for each transition the one whose firing took longest, of those
// that ended since the last call. It is for the publisher only: a call takes
// them from later calls. name returns the name of the instance with a number.
func (b *Base) TakeSlowest(name func(number int) string, rows *stats.Rows) {
	b.Rec.TakeSlowest(func(i int) string { return name(b.Number(i)) }, rows)
}

// Follow makes the shard keep the stays of the instances whose numbers are chosen, see
// stats.Recorder.
func (b *Base) Follow(chosen func(number int) bool, now int64) {
	b.Rec.Follow(b.Count, func(i int) bool { return chosen(b.Number(i)) }, now)
}

// TakeStays appends the stays since the last call, with the numbers of their instances, and
// returns how many did not fit.
func (b *Base) TakeStays(to []stats.Stay) (_ []stats.Stay, lost uint64) {
	first := len(to)
	to, lost = b.Rec.TakeStays(to)
	for k := range to[first:] {
		s := &to[first+k]
		s.Instance = b.Number(s.Instance)
	}
	return to, lost
}

// AddCounts adds what was counted along to rows with the given columns, as of
// now. What becomes of an instance is not seen in one part of several, and not
// counted there.
func (b *Base) AddCounts(rows *stats.Rows, columns stats.Columns) {
	b.addCounts(rows, columns)
	if b.Part == nil {
		rows.Net.Active += b.Rec.Net.Created - b.Rec.Net.Finished - b.Rec.Net.Failed
		rows.Net.Deadlocked += b.Deadlocked
	}
}

// Counted adds to rows of the net what is cumulative, and only that: what Recount
// needs of a shard whose AppendState is kept. Arrivals are those of the tokens
// that left.
func (b *Base) Counted(into *stats.Rows) { b.addCounts(into, stats.Cumulative) }

func (b *Base) addCounts(rows *stats.Rows, columns stats.Columns) {
	net := rows.Net
	b.Rec.AddTo(rows)
	if b.Part != nil {
		rows.Net = net
		columns &^= stats.ColInstances
	}
	rows.Columns |= columns
}

// Recount restores, after LoadState, what Counted had returned with that state.
// If the instances of one shard are now in several, one of them gets its rows,
// and the others rows of zeros. The error reports rows of another net.
func (b *Base) Recount(from *stats.Rows) error { return b.Rec.Set(from) }
