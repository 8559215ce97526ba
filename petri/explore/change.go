// SPDX-License-Identifier: Apache-2.0

package explore

import "github.com/pnagent/pnagent/petri"

// change is the number of tokens that a place gains, by place; losses are negative.
// Other places do not change.
type change map[int32]int64

// changes returns changes of which all firings of all transitions are combinations,
// and which are combinations of firings themselves. So a sum that none of them
// changes is one that no firing changes. A plain transition has its one firing. An
// inclusive gateway has one of its firings, and the differences of the others from
// it: as many as its arcs, not as the sets of its arcs. Resets are left out.
func changes(t *petri.Tables) (all []change) {
	for tr := range t.Transitions() {
		base := change{}
		for _, e := range t.Effects(tr) {
			base[e.Place] += int64(e.Put) - int64(e.Take)
		}
		apart := joinDifferences(t, tr)
		first, more := branchDifferences(t, tr)
		for p, n := range first {
			base[p] += n
		}
		all = append(append(append(all, base), apart...), more...)
	}
	return all
}

// joinDifferences returns the differences between the firings of an inclusive join:
// each place of its own may lose a token or not. A join of a single place and no
// other input has only one firing.
func joinDifferences(t *petri.Tables, tr int) (apart []change) {
	var optional []int32
	single := false
	for _, e := range t.Effects(tr) {
		if e.Join {
			optional = append(optional, e.Place)
			single = e.Take == 1
		}
	}
	if len(optional) == 1 && single {
		return nil
	}
	for _, p := range optional {
		apart = append(apart, change{p: 1})
	}
	return apart
}

// branchDifferences returns one set of branches of an inclusive split, and the
// differences of the other sets from it.
func branchDifferences(t *petri.Tables, tr int) (first change, apart []change) {
	always, guarded, otherwise := t.BranchMasks(tr)
	branches := t.Branches(tr)
	sum := func(set uint64, sign int64, into change) change {
		for i, b := range branches {
			if set>>i&1 != 0 {
				into[b.Place] += sign * int64(b.Put)
			}
		}
		return into
	}
	one := guarded & -guarded
	if always == 0 {
		first = sum(one, 1, change{})
	} else {
		first = sum(always, 1, change{})
	}
	if always != 0 || guarded != one { // each guarded branch can be added or not
		for rest := guarded; rest != 0; rest &= rest - 1 {
			apart = append(apart, sum(rest&-rest, 1, change{}))
		}
	}
	if otherwise != 0 {
		apart = append(apart, sum(one, -1, sum(otherwise, 1, change{})))
	}
	return first, apart
}
