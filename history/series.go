// SPDX-License-Identifier: Apache-2.0

package history

import "github.com/pnagent/pnagent/stats"

// MaxPoints is how many points a series has at most.
const MaxPoints = 360

// PlacePoint is a place at one moment.
type PlacePoint struct {
	At      int64 // microseconds since the Unix epoch
	Columns stats.Columns
	Place
}

// TransitionPoint is a transition at one moment.
type TransitionPoint struct {
	At      int64
	Columns stats.Columns
	Transition
}

// PlaceSeries returns what was kept of a place, by its index, at most MaxPoints
// spread over the time that there is.
func (s *Store) PlaceSeries(net string, place int) []PlacePoint {
	var out []PlacePoint
	s.walk(net, func(d *reader) {
		if v := &d.values; place < len(v[colTokens]) {
			out = append(out, PlacePoint{d.at, d.columns, Place{v[colTokens][place], int64(v[colOldest][place]), v[colInstances][place], v[colArrivals][place]}})
		}
	})
	return out
}

// TransitionSeries is PlaceSeries of a transition.
func (s *Store) TransitionSeries(net string, transition int) []TransitionPoint {
	var out []TransitionPoint
	s.walk(net, func(d *reader) {
		if v, t := &d.values, transition; t < len(v[colFirings]) {
			out = append(out, TransitionPoint{d.at, d.columns, Transition{v[colFirings][t], v[colEnabled][t], int64(v[colSince][t]),
				v[colRunning][t], v[colBlocked][t], v[colFailures][t]}})
		}
	})
	return out
}

// walk shows at most MaxPoints frames of a net, the youngest among them.
func (s *Store) walk(net string, show func(*reader)) {
	r := s.nets[net]
	if r == nil {
		return
	}
	every := (r.frames + MaxPoints - 1) / MaxPoints
	left := r.frames
	for _, b := range r.blocks {
		for d := b.reader(); d.next(); {
			if left--; left%every == 0 {
				show(d)
			}
		}
	}
}
