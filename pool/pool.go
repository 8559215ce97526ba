// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"fmt"
	"math"
)

// What a Pool refuses, and then it has changed nothing.
var (
	ErrRegistered    = errors.New("channel is registered already")
	ErrNotRegistered = errors.New("channel is not registered")
	ErrFull          = errors.New("channel is full")
	ErrNotInProgress = errors.New("channel is not in progress")
)

// Channel names one registration of an instance. A later registration of the
// same index is another channel.
type Channel struct {
	Index      int32
	generation uint32
}

// Run is one visit to a channel, from Start to End.
type Run struct {
	Channel Channel
	visit   uint32
}

// State is where a channel is.
type State uint8

// The states. Dormant, Ready and InProgress partition the registered channels.
const (
	Absent     State = iota // not registered
	Dormant                 // without work
	Ready                   // with work, in the ready list
	InProgress              // somebody plays its work, and more may wait
)

// Pool is the work of many channels. It belongs to one goroutine. A channel
// costs 48 bytes and a piece of work its own size and 4 bytes. There is room for
// 2^31 - 1 pieces.
type Pool[W any] struct {
	turns     turns
	ready     [Priorities]list
	slots     []slot
	works     works[W]
	states    [InProgress + 1]int // channels in each state; Absent is not kept
	discarded uint64
}

// slot is one index of channels.
type slot struct {
	since      int64 // when it became ready
	prev, next int32 // its neighbours in the ready list
	work       fifo
	bound      int32 // 0: none
	generation uint32
	visit      uint32 // of the latest Start
	list       uint8  // by its priority
	state      State
	held       bool // somebody is inside, maybe of an older generation
}

// New returns an empty pool.
func New[W any](d Discipline) *Pool[W] {
	p := &Pool[W]{turns: newTurns(d), works: works[W]{free: none}}
	for i := range p.ready {
		p.ready[i] = list{first: none, last: none}
	}
	return p
}

// Register makes the channel of an index, without work. bound is how much work
// may wait in it, 0 for any. There is room for all indexes up to the largest
// that was ever registered. A priority above [Highest] panics. The error is
// [ErrRegistered].
//
// If somebody still plays work of an earlier registration the channel is in
// progress until that ends, so what is delivered now cannot meet it.
func (p *Pool[W]) Register(index int32, priority Priority, bound int) (Channel, error) {
	list := p.turns.lists[priority]
	for int(index) >= len(p.slots) {
		p.slots = append(p.slots, slot{work: fifo{first: none, last: none}})
	}
	s := &p.slots[index]
	if s.state != Absent {
		return Channel{}, fmt.Errorf("registering %d: %w", index, ErrRegistered)
	}
	s.generation++
	s.list = list
	s.bound = int32(min(bound, math.MaxInt32))
	if s.held {
		p.enter(s, InProgress)
	} else {
		p.enter(s, Dormant)
	}
	return Channel{Index: index, generation: s.generation}, nil
}

// Unregister ends a channel. It appends to buf what waited in it, which nobody
// will play; what was handed out by Start is still with whoever has it. The
// error is [ErrNotRegistered].
func (p *Pool[W]) Unregister(c Channel, buf []W) ([]W, error) {
	s, err := p.slot(c)
	if err != nil {
		return buf, err
	}
	if s.state == Ready {
		p.unlink(s)
	}
	p.discarded += uint64(s.work.size)
	buf = p.works.take(&s.work, int(s.work.size), buf)
	p.enter(s, Absent)
	return buf, nil
}

// Deliver adds work to a channel, which becomes ready if it was dormant. The
// error is [ErrNotRegistered] or [ErrFull].
func (p *Pool[W]) Deliver(c Channel, work W, now int64) error {
	s, err := p.slot(c)
	if err != nil {
		return err
	}
	if s.bound > 0 && s.work.size >= s.bound {
		return ErrFull
	}
	p.works.add(&s.work, work)
	if s.state == Dormant {
		p.link(c.Index, s, now)
	}
	return nil
}

// Start takes the next ready channel, if there is one, and appends to buf up to
// batch of its oldest work, at least one piece. A quoted discipline lets a
// channel have no more than what is left of the quote.
func (p *Pool[W]) Start(batch int, buf []W, now int64) (run Run, work []W, ok bool) {
	if p.turns.present == 0 {
		return Run{}, buf, false
	}
	l := p.turns.pick(p.turns.present)
	n := min(batch, p.turns.allowance(l))
	run, work, n = p.begin(l, n, buf, now)
	p.turns.serve(l, n)
	return run, work, true
}

// StartOf is Start for one priority, whosever turn it is, with one piece of
// work: the order is its caller's, who has a [Turn] over several pools.
func (p *Pool[W]) StartOf(priority Priority, buf []W, now int64) (run Run, work []W, ok bool) {
	l := p.turns.lists[priority]
	if p.turns.present>>l&1 == 0 {
		return Run{}, buf, false
	}
	run, work, _ = p.begin(l, 1, buf, now)
	return run, work, true
}

// begin takes the first channel of a list that is not empty, and up to batch of
// its work, at least one piece.
func (p *Pool[W]) begin(l uint8, batch int, buf []W, now int64) (Run, []W, int) {
	r := &p.ready[l&7]
	index := r.first
	s := &p.slots[index]
	n := max(min(batch, int(s.work.size)), 1)
	p.unlink(s)
	r.pieces += uint64(n)
	r.served = now
	p.enter(s, InProgress)
	s.held = true
	s.visit++
	return Run{Channel{index, s.generation}, s.visit}, p.works.take(&s.work, n, buf), n
}

// Present returns the priorities of which a channel is ready: bit p for priority
// p.
func (p *Pool[W]) Present() uint8 { return p.turns.present }

// SinceOf returns since when the first channel of one priority is ready, if
// there is one.
func (p *Pool[W]) SinceOf(priority Priority) (since int64, ok bool) {
	l := p.turns.lists[priority]
	if p.turns.present>>l&1 == 0 {
		return 0, false
	}
	return p.slots[p.ready[l&7].first].since, true
}

// End gives a channel back: it is ready again, at the end of its list, if more
// work waits, else dormant. The error is [ErrNotInProgress] for a run that has
// ended already.
func (p *Pool[W]) End(r Run, now int64) error {
	i := r.Channel.Index
	if int(i) >= len(p.slots) || !p.slots[i].held || p.slots[i].visit != r.visit {
		return ErrNotInProgress
	}
	s := &p.slots[i]
	s.held = false
	switch {
	case s.state == Absent: // unregistered meanwhile
	case s.work.size > 0:
		p.link(i, s, now)
	default:
		p.enter(s, Dormant)
	}
	return nil
}

// SetBound changes how much work may wait in a channel; 0 lifts the bound. What
// waits already stays. The error is [ErrNotRegistered].
func (p *Pool[W]) SetBound(c Channel, bound int) error {
	s, err := p.slot(c)
	if err != nil {
		return err
	}
	s.bound = int32(min(bound, math.MaxInt32))
	return nil
}

// State returns where a channel is.
func (p *Pool[W]) State(c Channel) State {
	if s, err := p.slot(c); err == nil {
		return s.state
	}
	return Absent
}

// Waiting returns how much work waits in a channel.
func (p *Pool[W]) Waiting(c Channel) int {
	if s, err := p.slot(c); err == nil {
		return int(s.work.size)
	}
	return 0
}

// Ready returns how many channels are ready.
func (p *Pool[W]) Ready() int { return p.states[Ready] }

// Head returns the priority of the channel that Start would take, and since when
// it is ready. A FIFO has one priority, p0.
func (p *Pool[W]) Head() (priority Priority, since int64, ok bool) {
	if p.turns.present == 0 {
		return 0, 0, false
	}
	l := p.turns.pick(p.turns.present)
	return Priority(l), p.slots[p.ready[l].first].since, true
}

func (p *Pool[W]) slot(c Channel) (*slot, error) {
	if uint(c.Index) >= uint(len(p.slots)) {
		return nil, ErrNotRegistered
	}
	s := &p.slots[c.Index]
	if s.state == Absent || s.generation != c.generation {
		return nil, ErrNotRegistered
	}
	return s, nil
}

func (p *Pool[W]) enter(s *slot, state State) {
	p.states[s.state]--
	p.states[state]++
	s.state = state
}
