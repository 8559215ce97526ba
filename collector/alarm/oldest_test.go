// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"slices"
	"testing"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// The places in which tokens may stay are known by id: faces number the places of a net in another
// way than the alarms, without those that have left.
func TestTheOldestTokenIsOutsideThePlacesOfRest(t *testing.T) {
	rows := stats.NewRows(5, 0)
	for i, at := range []int64{40, 10, 20, 30, 5} {
		rows.Places[i].Oldest, rows.Places[i].Tokens = at, 1
	}
	n := (&merge.NetView{Name: "n", Def: &petri.Net{ID: "n", Places: []petri.Place{{ID: "d"}, {ID: "c"}, {ID: "b"}, {ID: "a"}, {ID: "a/list", Role: petri.RoleData}}}, Final: []bool{false, true, false, false, false}, Rows: rows}).Sum()
	for _, c := range []struct {
		resting      []string
		since        int64
		place        int
		restingPlace []int
	}{
		{nil, 20, 2, nil},
		{[]string{"a"}, 20, 2, []int{3}},
		{[]string{"b"}, 30, 3, []int{2}},
		{[]string{"a", "b"}, 40, 0, []int{2, 3}},
		{[]string{"a", "b", "d"}, 0, 0, []int{0, 2, 3}},
		{[]string{"of another version"}, 20, 2, nil},
	} {
		s := &ActiveSet{Resting: map[string][]string{"n": c.resting, "other": {"b"}}}
		if since, place := s.Oldest(n); since != c.since || place != c.place {
			t.Errorf("without %q the oldest is of %d in %d; want %d in %d", c.resting, since, place, c.since, c.place)
		}
		if got := s.RestingOf(n); !slices.Equal(got, c.restingPlace) {
			t.Errorf("%q are the places %v; want %v", c.resting, got, c.restingPlace)
		}
	}
	var none *ActiveSet
	if since, place := none.Oldest(n); since != 20 || place != 2 {
		t.Errorf("without alarms the oldest is of %d in %d", since, place)
	}
}
