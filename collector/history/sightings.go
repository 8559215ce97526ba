// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/stats"
)

// Sighting is a period during which an instance was among the oldest tokens of a
// place. Tokens that were injected there within one second are one sighting.
type Sighting struct {
	Place     int32
	Injected  int64 // microseconds since the Unix epoch
	FirstSeen int64 // time of the first View with it
	LastSeen  int64
	Gone      bool         // it is no longer among the oldest: the token has left, or its source is gone
	Waits     []stats.Wait // as of LastSeen
}

// sightingKey identifies a token. The second of its injection is precise enough,
// and times of a source can shift by less than that.
type sightingKey struct {
	net      string
	instance string
	place    int32
	second   int64
}

// maxWaits is the largest number of waits that a sighting holds.
const maxWaits = 16

// sightings holds the sightings of all nets.
type sightings struct {
	max       int
	all       map[sightingKey]*Sighting
	looked    map[string]int64 // by net: time of the last View that was searched
	next      int64            // time of the next search, see look
	full      bool             // since the last sweep a sighting did not fit
	forgotten uint64
}

func newSightings(limit int) sightings {
	return sightings{max: limit, all: map[sightingKey]*Sighting{}, looked: map[string]int64{}}
}

// look records the oldest tokens of a View. It counts those for which there is no
// room. With more than max tokens it searches only some Views, so that it handles
// at most max tokens per second.
func (s *sightings) look(view *merge.View) {
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
		key.instance = strings.Clone(t.Instance) // so that it does not keep the View in memory
		seen = &Sighting{Place: place, Injected: t.Injected, FirstSeen: at}
		s.all[key] = seen
	}
	seen.LastSeen = at
	if waits := t.Waits[:min(len(t.Waits), maxWaits)]; !slices.Equal(seen.Waits, waits) {
		seen.Waits = slices.Clone(waits)
	}
}

// sweep drops sightings last seen before a time. If there was no room it also
// drops some of those that are gone, the oldest first.
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

// drop drops the sightings of a net, whose rows have other indices now.
func (s *sightings) drop(net string) {
	for key := range s.all {
		if key.net == net {
			delete(s.all, key)
		}
	}
}

// SeenAt returns the tokens that were among the oldest of a place at a time, by their
// injection, without what they waited for.
func (s *Store) SeenAt(net string, place int, at int64) []stats.Token {
	var out []stats.Token
	for key, seen := range s.seen.all {
		if key.net == net && int(key.place) == place && seen.FirstSeen <= at && at <= seen.LastSeen {
			out = append(out, stats.Token{Instance: key.instance, Injected: seen.Injected})
		}
	}
	ordered.By(out, func(a, b *stats.Token) int {
		return cmp.Or(cmp.Compare(a.Injected, b.Injected), strings.Compare(a.Instance, b.Instance))
	})
	return out
}

// Sightings returns the sightings of an instance of a net, in order of FirstSeen.
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
	ordered.By(out, func(a, b *Sighting) int {
		return cmp.Or(cmp.Compare(a.FirstSeen, b.FirstSeen), cmp.Compare(a.Injected, b.Injected), cmp.Compare(a.Place, b.Place))
	})
	return out
}
