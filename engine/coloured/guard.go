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
	chosen []choice // by sight, ascending
}

// choice is an index into the tokens of a search, between the first and the last that it can be.
type choice struct{ at, first, last int }

// pick returns the tokens with which a transition may fire that is enabled
// in a frame, and that a second guard accepts, too; nil accepts all. The transition's own guard
// sees the tokens with data, if that is not nil.
func (x *change) pick(f *frame, t int, also Guard, data []byte) (candidate, Verdict, error) {
	r := &x.s.rules[t]
	c, v, err := candidate{t: int32(t), frame: f.id(), from: oldest}, Verdict{OK: true}, error(nil)
	if r.oldest && also == nil {
		return c, v, nil
	}
	most := MaxCombinations
	if also != nil {
		most = maxWaiting
	}
	x.gather(f, r, most)
	c.from = int32(len(x.picked))
	again := int64(0)
	for range most {
		x.picked = x.search.choose(x.picked[:c.from])
		c.to = int32(len(x.picked))
		v = Verdict{OK: true}
		if also != nil {
			v, err = ask(also, x.s.seen(x.in, x.picked[c.from:]), x.now)
		}
		if r.Guard != nil && v.OK {
			v, err = ask(r.Guard, x.s.with(x.in, x.picked[c.from:], data), x.now)
		}
		if v.OK || err != nil {
			return c, v, err
		}
		again = stats.Earlier(again, max(v.Again, 0))
		if !x.search.advance() {
			break
		}
	}
	x.picked = x.picked[:c.from]
	return candidate{}, Verdict{Again: again}, nil
}

// ask calls a guard and recovers if it panics.
func ask(g Guard, tokens []Placed, now int64) (v Verdict, err error) {
	defer caught(&err)
	return g(tokens, now), nil
}

// caught makes the panic of a user's function an error. It is deferred.
func caught(err *error) {
	if why := recover(); why != nil {
		*err = fmt.Errorf("%v", why)
	}
}

// gather begins a search with the oldest tokens of each sight. It collects only
// as many of each as a number of combinations can use.
func (x *change) gather(f *frame, r *rule, most int) {
	q := &x.search
	q.tokens, q.chosen = q.tokens[:0], q.chosen[:0]
	for _, v := range r.sights {
		from, need := len(q.tokens), int(v.show)
		home := x.s.around(f, v.place)
		at := spot{v.place, home.id()}
		if p := home.in(x.in).pile(v.place); p != nil {
			for _, l := range p.left() {
				h := held{l, at}
				q.tokens = h.single(q.tokens, from+need+most-len(q.tokens))
			}
		}
		if r.preempts && v.take > 0 {
			q.tokens = append(q.tokens, x.s.flights(x.in, at)...)
		}
		if v.join {
			need = min(need, len(q.tokens)-from)
		}
		for k := range need {
			q.chosen = append(q.chosen, choice{from + k, from + k, len(q.tokens) - need + k})
		}
	}
}

// choose appends the tokens of the current combination.
func (q *search) choose(to []Placed) []Placed {
	for _, c := range q.chosen {
		to = append(to, q.tokens[c.at])
	}
	return to
}

// advance moves to the next combination in lexicographic order, if there is one.
func (q *search) advance() bool {
	for k := len(q.chosen) - 1; k >= 0; k-- {
		if q.chosen[k].at == q.chosen[k].last {
			continue
		}
		q.chosen[k].at++
		for j := k + 1; j < len(q.chosen); j++ {
			q.chosen[j].at = max(q.chosen[j].first, q.chosen[j-1].at+1)
		}
		return true
	}
	return false
}
