// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
)

// Rests reports whether tokens may stay in a place of a net, an index in its definition, by an
// override that turns tokenStuck off.
func (s *ActiveSet) Rests(n *merge.NetView, place int) bool {
	if s == nil || place >= len(n.Def.Places) {
		return false
	}
	_, is := slices.BinarySearch(s.Resting[n.Name], n.Def.Places[place].ID)
	return is
}

// RestingOf returns the places of a net in which tokens may stay: indexes in its definition, ascending.
func (s *ActiveSet) RestingOf(n *merge.NetView) (places []int) {
	if s == nil || len(s.Resting[n.Name]) == 0 {
		return nil
	}
	for i := range n.Def.Places {
		if s.Rests(n, i) {
			places = append(places, i)
		}
	}
	return places
}

// Oldest returns the injection time of the oldest token of a net, in microseconds since the Unix
// epoch, and the place that holds it: for every face, what "oldest" of a net means. It leaves out
// the places that are not work, and those in which tokens stay on purpose: final ones, and those of
// Resting. The time is 0 if there is no token elsewhere.
func (s *ActiveSet) Oldest(n *merge.NetView) (since int64, place int) {
	if !s.Rests(n, n.OldestPlace) {
		return n.OldestSince, n.OldestPlace
	}
	for i := range n.Rows.Places {
		at := n.Rows.Places[i].Oldest
		if at != 0 && (since == 0 || at < since) && n.Work(i) && !n.IsFinal(i) && !s.Rests(n, i) {
			since, place = at, i
		}
	}
	return since, place
}
