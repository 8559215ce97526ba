// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"github.com/pnagent/pnagent/petri"
)

// wide is an instance with more tokens than fit into a cell.
type wide struct {
	state  *petri.State
	queues []queue // by place
	tokens uint64
}

// queue holds the injection times of one place's tokens, oldest first, as runs
// of tokens that were injected together.
type queue struct {
	runs []run
	head int // the index of the first run that has tokens left
}

type run struct {
	time int64
	n    uint32
}

func (q *queue) push(time int64, n uint32) {
	if k := len(q.runs); k > q.head && q.runs[k-1].time == time {
		q.runs[k-1].n += n
		return
	}
	if q.head > 0 && q.head*2 >= len(q.runs) {
		q.runs = q.runs[:copy(q.runs, q.runs[q.head:])]
		q.head = 0
	}
	q.runs = append(q.runs, run{time, n})
}

func (q *queue) left() []run { return q.runs[q.head:] }

// pop takes the n oldest tokens.
func (q *queue) pop(n uint32, each func(time int64, n uint32)) {
	for n > 0 {
		r := &q.runs[q.head]
		k := min(n, r.n)
		each(r.time, k)
		if r.n -= k; r.n == 0 {
			q.head++
		}
		n -= k
	}
}

// widen moves a cell to wide form.
func (s *Shard) widen(c *cell) {
	w := s.takeWide()
	for p := range w.queues {
		w.state.Set(p, 0)
	}
	for i := range int(c.n) {
		p := int(c.places[i])
		w.state.Set(p, w.state.Tokens(p)+1)
		w.queues[p].push(c.times[i], 1)
	}
	w.tokens = uint64(c.n)
	s.link(c, w)
}

// takeWide returns an unused wide form.
func (s *Shard) takeWide() *wide {
	if k := len(s.spare); k > 0 {
		w := s.spare[k-1]
		s.spare = s.spare[:k-1]
		return w
	}
	return &wide{state: s.Tables.NewState(), queues: make([]queue, s.Tables.Places())}
}

// link makes a cell refer to a wide form.
func (s *Shard) link(c *cell, w *wide) {
	k := len(s.wide)
	if free := len(s.holes); free > 0 {
		k = s.holes[free-1]
		s.holes = s.holes[:free-1]
		s.wide[k] = w
	} else {
		s.wide = append(s.wide, w)
	}
	c.n, c.times[0] = isWide, int64(k)
}

// maxSpare bounds the number of unused wide forms that are kept.
const maxSpare = 64

// narrow moves an instance back to its cell once it holds far fewer tokens than
// the limit, so that an instance near the limit does not move back and forth.
func (s *Shard) narrow(c *cell) {
	w := s.wideOf(c)
	if w.tokens > inline/2 {
		return
	}
	s.wide[c.times[0]] = nil
	s.holes = append(s.holes, int(c.times[0]))
	c.n = 0
	for p := range w.queues {
		for _, r := range w.queues[p].left() {
			for range r.n {
				c.places[c.n], c.times[c.n] = uint16(p), r.time
				c.n++
			}
		}
		w.queues[p] = queue{runs: w.queues[p].runs[:0]}
	}
	if len(s.spare) < maxSpare {
		s.spare = append(s.spare, w)
	}
}

func (s *Shard) wideOf(c *cell) *wide { return s.wide[c.times[0]] }

// fireWide fires an enabled transition, or returns petri.ErrOverflow.
func (s *Shard) fireWide(i int, w *wide, t int, now int64) error {
	effects := s.rules[t].effects
	for k := range effects { // the marking before the firing decides how many tokens leave
		e := &effects[k]
		take := e.Take
		if e.Reset {
			take = w.state.Tokens(int(e.Place))
		}
		s.taken[k] = take
	}
	if err := w.state.Fire(t); err != nil {
		return err
	}
	for k := range effects {
		e := &effects[k]
		if take := s.taken[k]; take > 0 {
			w.tokens -= uint64(take)
			w.queues[e.Place].pop(take, func(time int64, n uint32) { s.Rec.LeftMany(int(e.Place), i, time, now, uint64(n)) })
		}
		if e.Put > 0 {
			w.tokens += uint64(e.Put)
			w.queues[e.Place].push(now, e.Put)
			s.Rec.Arrived(int(e.Place), now)
		}
	}
	for _, e := range s.rules[t].crosses { // the state does not contain parts
		w.state.Set(int(e.Place), 0)
	}
	s.Rec.Fired(t, now)
	return nil
}

// putWide adds tokens from outside.
func (s *Shard) putWide(w *wide, place int, n uint32, now int64) error {
	if err := w.state.Add(place, n); err != nil {
		return err
	}
	w.tokens += uint64(n)
	w.queues[place].push(now, n)
	s.Rec.Arrived(place, now)
	return nil
}
