// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"strings"

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

// maxWaits is how much of what a token waits for is remembered.
const maxWaits = 16

// sightings remembers who was seen.
type sightings struct {
	max       int
	all       map[sightingKey]*Sighting
	looked    map[string]int64 // by net: when it was last looked at
	next      int64            // not to look before, see look
	full      bool             // since the last sweep one was not noted for room
	forgotten uint64
}

func newSightings(limit int) sightings {
	return sightings{max: limit, all: map[sightingKey]*Sighting{}, looked: map[string]int64{}}
}

// look notes who is among the oldest tokens of a View. Where there is no room
// for one, it is not noted, and counted. More than max tokens are not looked at
// every time, but so often that a second brings no more than max.
func (s *sightings) look(view *collector.View) {
	if view.At < s.next {
		return
	}
	var tokens int64
	for _, n := range view.Nets {
		s.looked[n.Name] = view.At
		for p := range n.Rows.Places {
			stuck := n.Stuck(p)
			tokens += int64(len(stuck))
			for i := range stuck {
				s.note(n.Name, int32(p), &stuck[i], view.At)
			}
		}
	}
	s.next = view.At + tokens/int64(s.max)*1e6
}

func (s *sightings) note(net string, place int32, t *stats.Token, at int64) {
	key := sightingKey{net, t.Instance, place, t.Injected / 1e6}
	seen := s.all[key]
	if seen == nil {
		if len(s.all) >= s.max {
			s.full = true
			s.forgotten++
			return
		}
		key.instance = strings.Clone(t.Instance) // the View need not be kept for it
		seen = &Sighting{Place: place, Injected: t.Injected, FirstSeen: at}
		s.all[key] = seen
	}
	seen.LastSeen = at
	if waits := t.Waits[:min(len(t.Waits), maxWaits)]; !slices.Equal(seen.Waits, waits) {
		seen.Waits = slices.Clone(waits)
	}
}

// sweep drops who was last seen before a time. If there was no room it makes
// some: of those that are gone, the ones that are gone for longest go.
func (s *sightings) sweep(since int64) {
	var gone []int64
	for key, seen := range s.all {
		if seen.LastSeen < since {
			delete(s.all, key)
		} else if s.full && seen.LastSeen < s.looked[key.net] {
			gone = append(gone, seen.LastSeen)
		}
	}
	if s.full && len(gone) > 0 && len(s.all) >= s.max {
		slices.Sort(gone)
		upTo := gone[min(len(gone), s.max/8+1)-1]
		for key, seen := range s.all {
			if seen.LastSeen <= upTo && seen.LastSeen < s.looked[key.net] {
				delete(s.all, key)
				s.forgotten++
			}
		}
	}
	s.full = false
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
