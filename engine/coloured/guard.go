// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"fmt"

	"github.com/pnagent/pnagent/stats"
)

// search iterates over the combinations of tokens with which a transition could
// fire.
type search struct {
	tokens []Placed // to choose from, by sight
	spans  []span   // by sight
	at     []int    // the chosen tokens, by sight: ascending indexes into its tokens
}

// span is where the tokens and the choices of one sight start in a search. They
// end where those of the next sight start.
type span struct{ tokens, at int }

// answer is the result of a call of a guard.
type answer struct {
	Verdict
	panicked error // why; nil if it did not
}

// pick returns the tokens with which a transition may fire that is enabled
// in a frame, and that a second guard accepts, too; nil accepts all. The transition's own guard
// sees the tokens with data, if that is not nil.
func (x *change) pick(f *frame, t int, also Guard, data []byte) (candidate, answer) {
	r := &x.s.rules[t]
	yes := answer{Verdict: Verdict{OK: true}}
	if r.oldest && also == nil {
		return candidate{t: int32(t), frame: f.id(), from: oldest}, yes
	}
	most := MaxCombinations
	if also != nil {
		most = maxWaiting
	}
	x.gather(f, r, most)
	c := candidate{t: int32(t), frame: f.id(), from: int32(len(x.picked))}
	var no answer
	for asked := range most {
		x.picked = x.search.choose(x.picked[:c.from])
		c.to = int32(len(x.picked))
		a := yes
		if also != nil {
			a = ask(also, x.s.seen(x.in, x.picked[c.from:]), x.now)
		}
		if r.Guard != nil && a.OK {
			a = ask(r.Guard, x.s.with(x.in, x.picked[c.from:], data), x.now)
		}
		if a.OK || a.panicked != nil {
			return c, a
		}
		if asked == 0 {
			no.WaitsFor = a.WaitsFor
		}
		no.Again = stats.Earlier(no.Again, max(a.Again, 0))
		if !x.search.advance() {
			break
		}
	}
	x.picked = x.picked[:c.from]
	return candidate{}, no
}

// ask calls a guard and recovers if it panics.
func ask(g Guard, tokens []Placed, now int64) (a answer) {
	defer caught(&a.panicked)
	return answer{Verdict: g(tokens, now)}
}

// caught makes the panic of a user's function an error. It is deferred.
func caught(err *error) {
	if why := recover(); why != nil {
		*err = fmt.Errorf("%v", why)
	}
}

// placeOrNone returns the place that a guard names, or stats.NoPlace if that is
// invalid or belongs to another part, whose changes are not visible.
func (s *Shard) placeOrNone(place int32) int32 {
	if place < 0 || int(place) >= s.Tables.Places() || s.Outside(int(place)) {
		return stats.NoPlace
	}
	return place
}

// gather begins a search with the oldest tokens of each sight. It collects only
// as many of each as a number of combinations can use.
func (x *change) gather(f *frame, r *rule, most int) {
	q := &x.search
	q.tokens, q.spans, q.at = q.tokens[:0], q.spans[:0], q.at[:0]
	for _, v := range r.sights {
		from, need := len(q.tokens), int(v.show)
		q.spans = append(q.spans, span{from, len(q.at)})
		home := x.s.around(f, v.place)
		at := spot{v.place, home.id()}
		if p := home.in(x.in).pile(v.place); p != nil {
			q.add(p, at, need+most)
		}
		if r.preempts && v.take > 0 {
			q.tokens = append(q.tokens, x.s.flights(x.in, at)...)
		}
		if v.join {
			need = min(need, len(q.tokens)-from)
		}
		for k := range need {
			q.at = append(q.at, k)
		}
	}
	q.spans = append(q.spans, span{len(q.tokens), len(q.at)})
}

// add adds the oldest tokens of a spot, at most a given number.
func (q *search) add(p *pile, at spot, most int) {
	for _, l := range p.left() {
		for k := range l.n {
			if most == 0 {
				return
			}
			tok := l.token()
			tok.ID += uint64(k)
			q.tokens = append(q.tokens, Placed{Place: at.place, Scope: at.frame, Token: tok})
			most--
		}
	}
}

// choose appends the tokens of the current combination.
func (q *search) choose(to []Placed) []Placed {
	for k := range q.spans[:len(q.spans)-1] {
		for _, at := range q.at[q.spans[k].at:q.spans[k+1].at] {
			to = append(to, q.tokens[q.spans[k].tokens+at])
		}
	}
	return to
}

// advance moves to the next combination, if there is one.
func (q *search) advance() bool {
	for k := len(q.spans) - 2; k >= 0; k-- {
		if next(q.at[q.spans[k].at:q.spans[k+1].at], q.spans[k+1].tokens-q.spans[k].tokens) {
			return true
		}
	}
	return false
}

// next moves to the next choice of len(at) out of n in lexicographic order.
// After the last choice it goes back to the first and returns false.
func next(at []int, n int) bool {
	for k := len(at) - 1; k >= 0; k-- {
		if at[k] == n-len(at)+k {
			continue
		}
		at[k]++
		for j := k + 1; j < len(at); j++ {
			at[j] = at[j-1] + 1
		}
		return true
	}
	for k := range at {
		at[k] = k
	}
	return false
}
