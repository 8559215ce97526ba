// SPDX-License-Identifier: Apache-2.0

package stats

import "slices"

// Check compares some rows with those that Merge over all contributors returns, and
// returns how many differ. It adds up those again. The rows need not have changed.
func (s *Sums) Check(places, transitions []int32, all Contributors) (differences int) {
	s.renew(places, transitions, all)
	sum := NewRows(len(s.places), len(s.transitions))
	var place Place
	var transition Transition
	for c, shift := range all {
		for _, i := range places {
			p := *c.PlaceAt(int(i), &place)
			p.Shift(shift)
			sum.Places[i].Merge(&p)
		}
		for _, i := range transitions {
			t := *c.TransitionAt(int(i), &transition)
			t.Shift(shift)
			sum.Transitions[i].Merge(&t)
		}
	}
	for _, i := range places {
		row := s.places[i].row()
		if want := &sum.Places[i]; !want.sameSum(&row) {
			differences++
			s.places[i] = placeSum{}
			s.Places.Add(i)
			for c, shift := range all {
				s.ReplacePlace(int(i), &Place{}, c.PlaceAt(int(i), &place), shift)
			}
		}
	}
	for _, i := range transitions {
		row := s.transitions[i].row()
		if want := &sum.Transitions[i]; !want.sameSum(&row) {
			differences++
			s.transitions[i] = transitionSum{}
			s.Transitions.Add(i)
			for c, shift := range all {
				s.ReplaceTransition(int(i), &Transition{}, c.TransitionAt(int(i), &transition), shift)
			}
		}
	}
	return differences
}

// sameSum reports whether a sum of Sums is what Merge returned. Two sums that are MaxSum
// or more may differ.
func (p *Place) sameSum(sum *Place) bool {
	if PlaceTable.Saturated(p) || p.Dwell.Saturated() || p.Injected.Sec == MaxSum {
		return true
	}
	dwell := p.Dwell.asSum(sum.Dwell.Schema)
	return PlaceTable.equal(p, sum) && p.Injected == sum.Injected && p.Ages.Equal(&sum.Ages) && dwell.Equal(&sum.Dwell) &&
		slices.EqualFunc(p.Stuck, sum.Stuck, func(a, b Token) bool { return a.Compare(&b) == 0 }) && SameGroups(p.Groups, sum.Groups)
}

func (t *Transition) sameSum(sum *Transition) bool {
	if TransitionTable.Saturated(t) || t.Duration.Saturated() {
		return true
	}
	duration := t.Duration.asSum(sum.Duration.Schema)
	return TransitionTable.equal(t, sum) && duration.Equal(&sum.Duration)
}

// asSum returns the histogram without empty buckets, which debts leave, and not finer than
// a schema.
func (h *Histogram) asSum(schema int8) Histogram {
	out := Histogram{Schema: h.Schema, Zero: h.Zero, Sum: h.Sum, Buckets: slices.Clone(h.Buckets)}
	if schema < out.Schema {
		out.coarsen(schema)
	}
	out.Buckets = slices.DeleteFunc(out.Buckets, func(b Bucket) bool { return b.N == 0 })
	if len(out.Buckets) == 0 {
		out.Schema = schema
	}
	return out
}
