// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/stats"
)

// Sighting is a time during which an instance was among the oldest tokens of a
// place. Several of its tokens that were injected there within one second are
// one sighting.
type Sighting struct {
	Place     int32
	Injected  int64 // microseconds since the Unix epoch
	FirstSeen int64 // the View that it was first among the oldest in
	LastSeen  int64
	Gone      bool         // it is not among the oldest any more: the token has left, or its source is gone
	Waits     []stats.Wait // what it waited for when it was last seen
}

// sightingKey is what a token is known again by. The second of its injection is
// enough, and times of a source can move by less than that.
type sightingKey struct {
	net      string
	instance string
	place    int32
	second   int64
}

// sightings remembers who was seen.
type sightings struct {
	max       int
	n         int
	all       map[sightingKey]*Sighting
	looked    map[string]int64 // by net: when it was last looked at
	forgotten uint64
}

func newSightings(limit int) sightings {
	return sightings{max: limit, all: map[sightingKey]*Sighting{}, looked: map[string]int64{}}
}

// look notes who is among the oldest tokens of a net. Where there is no room
// for one, it is not noted, and counted.
func (s *sightings) look(n *collector.Net, at int64) {
	s.looked[n.Name] = at
	for p := range n.Rows.Places {
		for i := range n.Rows.Places[p].Stuck {
			t := &n.Rows.Places[p].Stuck[i]
			key := sightingKey{n.Name, t.Instance, int32(p), t.Injected / 1e6}
			seen := s.all[key]
			if seen == nil {
				if !s.room() {
					continue
				}
				key.instance = string(append([]byte(nil), t.Instance...)) // the rest of the View need not be kept
				seen = &Sighting{Place: int32(p), Injected: t.Injected, FirstSeen: at}
				s.all[key] = seen
				s.n++
			}
			seen.LastSeen = at
			if !slices.Equal(seen.Waits, t.Waits) {
				seen.Waits = slices.Clone(t.Waits)
			}
		}
	}
}

func (s *sightings) room() bool {
	if s.n < s.max {
		return true
	}
	s.forgotten++
	return false
}

// forget drops who was last seen before a time.
func (s *sightings) forget(since int64) {
	for key, seen := range s.all {
		if seen.LastSeen < since {
			delete(s.all, key)
			s.n--
		}
	}
}

// Sightings returns where an instance of a net was seen, the first first.
func (s *Store) Sightings(net, instance string) []Sighting {
	var out []Sighting
	for key, seen := range s.seen.all {
		if key.net != net || key.instance != instance {
			continue
		}
		one := *seen
		one.Gone = seen.LastSeen < s.seen.looked[net]
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Sighting) int {
		return cmp.Or(cmp.Compare(a.FirstSeen, b.FirstSeen), cmp.Compare(a.Injected, b.Injected), cmp.Compare(a.Place, b.Place))
	})
	return out
}
