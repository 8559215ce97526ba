// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// marking is the number of tokens of each marked place, in the order of places.
type marking []held

type held struct {
	place  int32
	tokens uint32
}

// finalMarkings returns the final markings of a net: those that its file declares,
// or one token in the final place of a net with one initial token and one final
// place (a workflow net). It returns nil for other nets, and with anyEnd.
func finalMarkings(t *petri.Tables, end []bool, anyEnd bool) (out []marking) {
	for _, declared := range t.Net.FinalMarkings {
		var m marking
		for p := range t.Places() {
			if n := declared[t.Net.Places[p].ID]; n > 0 {
				m = append(m, held{int32(p), n})
			}
		}
		out = append(out, m)
	}
	if out != nil || anyEnd {
		return out
	}
	initial, ends := uint64(0), 0
	for p, n := range t.Initial {
		initial += uint64(n)
		if end[p] {
			ends++
		}
	}
	if initial != 1 || ends != 1 {
		return nil
	}
	return []marking{{{int32(slices.Index(end, true)), 1}}}
}

// ending is how the tokens of an instance count at its end.
type ending struct{ consumed, missing, remaining uint64 }

// ending returns how the tokens of an instance that ends count: by the final
// marking that differs least, the first of several. Without final markings, those in
// final places are consumed, and one is missing if there is none.
func (r *Replay) ending(runs []run) ending {
	if r.finals == nil {
		return r.anyEnding(runs)
	}
	var best ending
	for k, m := range r.finals {
		e := endingIn(runs, m)
		if k == 0 || e.missing+e.remaining < best.missing+best.remaining {
			best = e
		}
	}
	return best
}

// endingIn returns how the tokens of an instance count if it should end in a marking.
func endingIn(runs []run, m marking) (e ending) {
	var there uint64
	for _, q := range runs {
		there += uint64(q.n)
	}
	for _, h := range m {
		var n uint64
		for _, q := range runs {
			if q.place == h.place {
				n += uint64(q.n)
			}
		}
		e.consumed += uint64(h.tokens)
		e.missing += uint64(h.tokens) - min(n, uint64(h.tokens))
	}
	e.remaining = there - (e.consumed - e.missing)
	return e
}

func (r *Replay) anyEnding(runs []run) (e ending) {
	for _, q := range runs {
		if r.end[q.place] {
			e.consumed += uint64(q.n)
		} else {
			e.remaining += uint64(q.n)
		}
	}
	if e.consumed == 0 && r.someEnd {
		e.consumed, e.missing = 1, 1
	}
	return e
}

// final reports whether a marking is a final marking.
func (r *Replay) final(tokens []uint32) bool {
	return slices.ContainsFunc(r.finals, func(m marking) bool {
		k := 0
		for p, n := range tokens {
			if n == 0 {
				continue
			}
			if k == len(m) || m[k].place != int32(p) || m[k].tokens != n {
				return false
			}
			k++
		}
		return k == len(m)
	})
}
