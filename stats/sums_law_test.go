// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
)

// contributor is rows with their shift.
type contributor struct {
	rows  *Rows
	shift int64
}

func contributorsOf(all []*contributor) Contributors {
	return func(yield func(Contributor, int64) bool) {
		for i, c := range all { // every other one is packed
			var rows Contributor = c.rows
			if i%2 == 1 {
				rows = packed(c.rows)
			}
			if !yield(rows, c.shift) {
				return
			}
		}
	}
}

// replaceRows replaces all rows of a contribution.
func replaceRows(s *Sums, old, next *Rows, shift int64) {
	for i := range next.Places {
		s.ReplacePlace(i, &old.Places[i], &next.Places[i], shift)
	}
	for i := range next.Transitions {
		s.ReplaceTransition(i, &old.Transitions[i], &next.Transitions[i], shift)
	}
	s.ReplaceRest(old, next, shift)
}

// mergedOf adds up all contributors by Merge: the slow and obvious way.
func mergedOf(all []*contributor) *Rows {
	sum := NewRows(3, 2)
	for _, c := range all {
		sum.MergeShifted(c.rows, c.shift)
	}
	sum.Columns = 0
	return sum
}

// quiet returns random rows without what Sums leaves to others.
func quiet(r *rand.Rand) *Rows {
	rows := randomRows(r)
	for i := range rows.Places {
		rows.Places[i].Slowest = Slowest{}
	}
	for i := range rows.Transitions {
		rows.Transitions[i].Slowest = Slowest{}
	}
	return rows
}

// After any story the sums are those of Merge over all contributors. Histograms may be
// coarser, after a finer contributor left.
func TestSumsAreWhatMergeOverAllContributorsReturns(t *testing.T) {
	for seed := range seeds.Of(2, 40) {
		r := rand.New(rand.NewPCG(seed, 7))
		var s Sums
		s.Grow(3, 2)
		var all []*contributor
		var prev *Rows
		shifts := []int64{0, 0, 1_500_000, -3600e6, 77}
		for range 200 {
			switch k := r.IntN(10); {
			case k < 2 && len(all) < 25 || len(all) == 0:
				c := &contributor{quiet(r), shifts[r.IntN(len(shifts))]}
				s.Add(c.rows, c.shift)
				all = append(all, c)
			case k == 2 && len(all) > 15:
				i := r.IntN(len(all))
				replaceRows(&s, all[i].rows, NewRows(3, 2), all[i].shift)
				all = slices.Delete(all, i, i+1)
			case k == 4:
				c := all[r.IntN(len(all))]
				to := shifts[r.IntN(len(shifts))]
				s.Move(c.rows, c.shift, to)
				c.shift = to
			case k == 5:
				c := all[r.IntN(len(all))]
				next := quiet(r)
				replaceRows(&s, c.rows, next, c.shift)
				c.rows = next
			default:
				c, next := all[r.IntN(len(all))], quiet(r)
				i, k := r.IntN(3), r.IntN(2)
				s.ReplacePlace(i, &c.rows.Places[i], &next.Places[i], c.shift)
				s.ReplaceTransition(k, &c.rows.Transitions[k], &next.Transitions[k], c.shift)
				c.rows.Places[i], c.rows.Transitions[k] = next.Places[i], next.Transitions[k]
			}
			if r.IntN(3) > 0 {
				continue
			}
			prev = s.Rows(prev, contributorsOf(all))
			want := mergedOf(all)
			for i := range want.Places {
				asCoarse(&want.Places[i].Dwell, &prev.Places[i].Dwell)
			}
			for i := range want.Transitions {
				asCoarse(&want.Transitions[i].Duration, &prev.Transitions[i].Duration)
			}
			if d := differs(want, prev); d != "" {
				t.Fatalf("seed %d, %d contributors (-merged +sums):\n%s", seed, len(all), d)
			}
		}
	}
}

// asCoarse makes a histogram as coarse as another one that is not finer.
func asCoarse(h, as *Histogram) {
	if h.Schema > as.Schema {
		h.coarsen(as.Schema)
	}
}

func TestBucketsThatBecameEmptyAreNotInASum(t *testing.T) {
	of := func(buckets ...Bucket) *Rows {
		return &Rows{Transitions: []Transition{{Duration: Histogram{Schema: 3, Buckets: buckets}}}}
	}
	var s Sums
	s.Grow(0, 1)
	s.Add(of(Bucket{1, 5}, Bucket{2, 3}, Bucket{4, 1}), 0)
	s.Add(of(Bucket{1, 5}, Bucket{4, 1}).Debt(), 0)
	got := s.Rows(nil, contributorsOf(nil)).Transitions[0].Duration.Buckets
	if want := []Bucket{{2, 3}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What differs from what the contributors add up to is counted, and is right afterwards.
func TestCheckCorrectsWhatDiffers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	var s Sums
	s.Grow(3, 2)
	all := []*contributor{{rows: quiet(r)}, {rows: quiet(r), shift: 5e6}}
	for _, c := range all {
		s.Add(c.rows, c.shift)
	}
	if n := s.Check([]int32{0, 1, 2}, []int32{0, 1}, contributorsOf(all)); n != 0 {
		t.Fatalf("%d rows differ before anything did", n)
	}
	all[0].rows.Places[1].Arrivals++ // without a word
	all[1].rows.Transitions[0].Duration.Observe(12345)
	all[1].rows.Places[2].Groups = []Group{{ReasonDead, 9, now0, Token{Instance: "x", Injected: now0 - 99}}}
	if n := s.Check([]int32{0, 1, 2}, []int32{0, 1}, contributorsOf(all)); n != 3 {
		t.Errorf("%d rows differ, want 3", n)
	}
	if n := s.Check([]int32{0, 1, 2}, []int32{0, 1}, contributorsOf(all)); n != 0 {
		t.Errorf("%d rows differ after they were corrected", n)
	}
}
