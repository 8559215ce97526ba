// SPDX-License-Identifier: Apache-2.0

// Package explore visits the markings that a net can reach, breadth first and
// up to a bound, and says what can be seen from them: how many tokens a place
// ever holds, and the shortest way to a marking in which nothing is enabled.
//
// Every enabled transition is followed, source transitions included, whatever
// its priority or timing: what is found dead is dead for every way of playing
// the net. A net with a source transition, or one that is not bounded, has no
// end of markings; the answer then says that it is not complete. A firing that
// would overflow a place is not followed and makes the answer incomplete too.
package explore

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Result is what was seen of a net's state space.
type Result struct {
	Markings  int      // visited, the initial one included
	Complete  bool     // there are no others
	Deadlocks int      // of the visited markings, those in which nothing is enabled
	Bounds    []uint32 // by place: the most tokens seen
	// Path is a shortest sequence of transitions to a deadlock, nil if none was
	// seen; it is empty, not nil, if the initial marking is one.
	Path []int
	Dead []uint32 // the marking at its end, by place
}

// arrival is how a marking was first reached.
type arrival struct {
	from       int32
	transition int32
}

// space is what is known while visiting.
type space struct {
	tables   *petri.Tables
	index    map[string]int32 // encoded marking to its number
	keys     []string         // by number
	arrivals []arrival        // by number
	complete bool
}

// Visit visits at most limit markings.
func Visit(t *petri.Tables, limit int) Result {
	limit = min(limit, math.MaxInt32)
	s := &space{tables: t, index: map[string]int32{}, complete: true}
	r := Result{Bounds: make([]uint32, t.Places())}
	firstDead := int32(-1)
	s.reach(encode(nil, t.Initial), arrival{-1, -1}, max(limit, 1))
	m, next := make([]uint32, t.Places()), make([]uint32, t.Places())
	var key []byte
	for at := int32(0); int(at) < len(s.keys); at++ {
		decode(s.keys[at], m)
		for p, n := range m {
			r.Bounds[p] = max(r.Bounds[p], n)
		}
		dead := true
		for tr := range t.Transitions() {
			if !enabled(t, tr, m) {
				continue
			}
			dead = false
			if !fire(t, tr, m, next) {
				s.complete = false
				continue
			}
			key = encode(key[:0], next)
			s.reach(key, arrival{at, int32(tr)}, limit)
		}
		if dead {
			r.Deadlocks++
			if firstDead < 0 {
				firstDead = at
			}
		}
	}
	r.Markings, r.Complete = len(s.keys), s.complete
	if firstDead >= 0 {
		r.Path, r.Dead = s.path(firstDead), make([]uint32, t.Places())
		decode(s.keys[firstDead], r.Dead)
	}
	return r
}

// reach notes a marking unless it is known or there is no room for it.
func (s *space) reach(key []byte, by arrival, limit int) {
	if _, known := s.index[string(key)]; known {
		return
	}
	if len(s.keys) >= limit {
		s.complete = false
		return
	}
	k := string(key)
	s.index[k] = int32(len(s.keys))
	s.keys = append(s.keys, k)
	s.arrivals = append(s.arrivals, by)
}

// path returns how a marking was first reached. Markings are numbered breadth
// first, so no way is shorter.
func (s *space) path(at int32) []int {
	path := []int{}
	for ; s.arrivals[at].from >= 0; at = s.arrivals[at].from {
		path = append(path, int(s.arrivals[at].transition))
	}
	slices.Reverse(path)
	return path
}

func enabled(t *petri.Tables, tr int, m []uint32) bool {
	for _, c := range t.Conds(tr) {
		if !c.Holds(m[c.Place]) {
			return false
		}
	}
	return true
}

// fire writes the marking after a firing and reports whether it fits.
func fire(t *petri.Tables, tr int, m, after []uint32) bool {
	copy(after, m)
	for _, e := range t.Effects(tr) {
		left := uint64(after[e.Place] - e.Take)
		if e.Reset {
			left = 0
		}
		if left+uint64(e.Put) > math.MaxUint32 {
			return false
		}
		after[e.Place] = uint32(left + uint64(e.Put))
	}
	return true
}

// encode writes a marking in as few bytes as its counts need.
func encode(dst []byte, m []uint32) []byte {
	for _, n := range m {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

func decode(key string, m []uint32) {
	b := []byte(key)
	for p := range m {
		n, size := binary.Uvarint(b)
		m[p], b = uint32(n), b[size:]
	}
}
