// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/stats"
)

// candidate is a transition that may fire, in a frame. It takes the tokens from to to of change.picked, or the
// oldest if from is oldest. It is as small as it is because it is passed around for every firing.
type candidate struct {
	t        int32
	frame    uint32
	from, to int32
}

const oldest = -1

func (c candidate) picked() bool { return c.from != oldest }

// tokens returns the tokens that a candidate was picked with.
func (x *change) tokensOf(c candidate) []Placed {
	if !c.picked() {
		return nil
	}
	return x.picked[c.from:c.to]
}

// choose returns which of some transitions to fire, if one may fire. contested
// reports whether it was preferred to an enabled rival.
func (x *change) choose(of *shard.Immediate) (c candidate, contested, ok bool) {
	x.found, x.picked = x.found[:0], x.picked[:0]
	for k := range x.in.piles {
		x.find(&x.in.frame, of.Triggered[x.in.piles[k].place])
	}
	if x.s.frames != nil {
		x.findInside(of)
	}
	x.find(&x.in.frame, of.Untriggered)
	switch {
	case len(x.found) == 0:
		return candidate{}, false, false
	case len(x.found) == 1:
		return x.found[0], false, true
	case x.s.Shuffle:
		slices.SortFunc(x.found, func(a, b candidate) int { return cmp.Compare(a.t, b.t) })
		x.s.random = x.s.begin(x.i, 0, uint64(x.in.played))
		return x.found[x.byChance()], false, true
	}
	first := x.firstInTurn(int32(x.in.turn))
	order := x.s.Order(x.i)
	if order == nil {
		return x.found[first], false, true
	}
	t, contested := x.s.Tables.Preferred(int(x.found[first].t), order, func(t int) bool { return x.foundAt(int32(t)) >= 0 })
	return x.found[x.foundAt(int32(t))], contested, true
}

// byChance returns an index in found, drawn by the weights.
func (x *change) byChance() int {
	if x.s.weights == nil {
		return x.s.random.Below(len(x.found))
	}
	sum := 0.0
	for _, c := range x.found {
		sum += x.s.weights[c.t]
	}
	left := sum * x.s.delays.Float64()
	for k, c := range x.found {
		left -= x.s.weights[c.t]
		if left < 0 {
			return k
		}
	}
	return len(x.found) - 1
}

// findInside adds the transitions on the agenda that may fire to found, each for the oldest frame in
// which it may.
func (x *change) findInside(of *shard.Immediate) {
	agenda := x.s.activate(x.in)
	for k := range agenda {
		a := &agenda[k]
		r := &x.s.rules[a.t]
		if of == x.s.Urgent && !x.s.Tables.Urgent(int(a.t)) || x.outranks(r) || r.Action && x.in.running >= x.s.running {
			continue
		}
		for len(a.in) > 0 && !x.add(a.in[0], a.t) {
			a.in = a.in[1:]
		}
	}
}

// find adds the transitions that may fire in an instance to found. If one has a higher priority than
// those in found, it replaces them.
func (x *change) find(f *frame, transitions []int32) {
	for _, t := range transitions {
		if r := &x.s.rules[t]; !x.outranks(r) && (r.join == nil || x.foundAt(t) < 0) {
			x.add(f, t)
		}
	}
}

// outranks reports whether those in found have a higher priority than a transition.
func (x *change) outranks(r *rule) bool {
	return len(x.found) > 0 && r.rank > x.s.rules[x.found[0].t].rank
}

// add adds a transition to found if it may fire in a frame, and reports whether it may.
func (x *change) add(f *frame, t int32) bool {
	c, ok := x.ready(f, int(t))
	if !ok {
		return false
	}
	if len(x.found) > 0 && x.s.rules[t].rank < x.s.rules[x.found[0].t].rank {
		x.found = x.found[:0]
	}
	x.found = append(x.found, c)
	return true
}

func (x *change) foundAt(t int32) int {
	return slices.IndexFunc(x.found, func(c candidate) bool { return c.t == t })
}

// soonest is the shortest time, in µs, after which a guard is asked again at
// its own request. With less, other instances would get no time.
const soonest = 1000

// ready reports whether a transition may fire in a frame without a call, and
// with which tokens. It remembers a rejection by the guard.
func (x *change) ready(f *frame, t int) (candidate, bool) {
	r := &x.s.rules[t]
	if r.single {
		if n, _ := f.piles.count(r.conds[0].Place); n == 0 {
			return candidate{}, false
		}
	} else if !x.s.holds(x.in, f, t) {
		return candidate{}, false
	}
	if f.notes != none && x.s.notes.blocked(f, t) || r.Action && x.in.running >= x.s.running {
		return candidate{}, false
	}
	if r.oldest {
		return candidate{t: int32(t), frame: f.number, from: oldest}, true
	}
	c, v, err := x.pick(f, t, nil, nil)
	if err != nil {
		x.unevaluated(f, t, x.tokensOf(c), "guard failed", err, true)
		return candidate{}, false
	}
	if !v.OK {
		id := x.s.notes.addNote(x.in, f, note{kind: noteNo, transition: uint16(t), since: x.now})
		if v.Again > 0 {
			x.s.notes.plan(id, max(v.Again, x.now+soonest))
		}
	}
	return c, v.OK
}

// firstInTurn returns the index in found of the first transition from turn on,
// starting again at 0 after the last transition.
func (x *change) firstInTurn(turn int32) (first int) {
	n := int32(len(x.s.rules))
	after := func(k int) int32 { return (x.found[k].t - turn + n) % n }
	for k := range x.found {
		if after(k) < after(first) {
			first = k
		}
	}
	return first
}

// search iterates over the combinations of tokens with which a transition could fire.
type search struct {
	tokens []Placed // to choose from, by sight
	chosen []choice // by sight, ascending
}

// choice is an index into the tokens of a search, between the first and the last that it can be.
type choice struct{ at, first, last int }

// pick returns the tokens with which a transition may fire that is enabled in a frame, and that a second guard
// accepts, too; nil accepts all. The transition's own guard sees the tokens with data, if that is not nil.
func (x *change) pick(f *frame, t int, also Guard, data []byte) (candidate, Verdict, error) {
	r := &x.s.rules[t]
	c, v, err := candidate{t: int32(t), frame: f.number, from: oldest}, Verdict{OK: true}, error(nil)
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
		at := spot{v.place, home.number}
		if p := home.piles.pile(v.place); p != nil {
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
