// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Result describes the visited state space of a net.
type Result struct {
	Markings  int      // visited, including the initial one
	Complete  bool     // there are no others
	Deadlocks int      // dead markings among them, in which no transition is enabled
	Ends      int      // proper ends among these: all tokens are in final places, see petri.Net.FinalPlaces
	Bounds    []uint32 // by place: the most tokens
	// Path is a shortest sequence of transitions to a dead marking that is not a
	// proper end, or nil if there is none. It is empty, not nil, if the initial
	// marking is one.
	Path []int
	Dead []uint32 // the marking at its end, by place
	// Branches has, by step of Path, the places of the branches that an
	// inclusive split took, in the order of its arcs; nil for another
	// transition. It is nil if no step of Path is a split.
	Branches [][]int32
	// Cut is the indices of the enabled inclusive splits of which not every set of
	// branches was followed.
	Cut []int
}

// arrival is how a marking was first reached.
type arrival struct {
	from       int32
	transition int32
	choice     int32 // index in the transition's choices
}

// space is the state of a visit.
type space struct {
	tables   *petri.Tables
	limit    int
	choices  []choices        // by transition; nil if the net has no splits
	index    map[string]int32 // encoded marking to its number
	keys     []string         // by number
	arrivals []arrival        // by number
	complete bool

	marking, next []uint32 // the markings before and after a firing
	key           []byte
}

// Visit visits at most limit markings.
func Visit(t *petri.Tables, limit int) Result {
	s := &space{tables: t, limit: max(min(limit, math.MaxInt32), 1), choices: splits(t), index: map[string]int32{}, complete: true,
		marking: make([]uint32, t.Places()), next: make([]uint32, t.Places())}
	r := Result{Bounds: make([]uint32, t.Places())}
	final, firstDead := t.Net.FinalPlaces(), int32(-1)
	s.reach(t.Initial, arrival{from: -1})
	for at := int32(0); int(at) < len(s.keys); at++ {
		decode(s.keys[at], s.marking)
		for p, n := range s.marking {
			r.Bounds[p] = max(r.Bounds[p], n)
		}
		if s.leave(at) {
			continue
		}
		r.Deadlocks++
		switch {
		case properEnd(s.marking, final):
			r.Ends++
		case firstDead < 0:
			firstDead = at
		}
	}
	r.Markings, r.Complete, r.Cut = len(s.keys), s.complete, s.cut()
	if firstDead >= 0 {
		r.Path, r.Branches = s.path(firstDead)
		r.Dead = make([]uint32, t.Places())
		decode(s.keys[firstDead], r.Dead)
	}
	return r
}

// properEnd reports whether all tokens of a marking are in final places.
func properEnd(marking []uint32, final []bool) bool {
	for p, n := range marking {
		if n > 0 && !final[p] {
			return false
		}
	}
	return true
}

// leave fires every enabled transition in a marking and reports whether there is
// one.
func (s *space) leave(at int32) (alive bool) {
	for tr := range s.tables.Transitions() {
		if !enabled(s.tables, tr, s.marking) {
			continue
		}
		alive = true
		switch {
		case s.choices != nil && len(s.choices[tr].sets) > 0:
			s.followBranches(at, tr)
		case fire(s.tables, tr, s.marking, s.next):
			s.reach(s.next, arrival{from: at, transition: int32(tr)})
		default:
			s.complete = false
		}
	}
	return alive
}

// reach records a marking unless it is known or the limit is reached.
func (s *space) reach(marking []uint32, by arrival) {
	s.key = encode(s.key[:0], marking)
	if _, known := s.index[string(s.key)]; known {
		return
	}
	if len(s.keys) >= s.limit {
		s.complete = false
		return
	}
	k := string(s.key)
	s.index[k] = int32(len(s.keys))
	s.keys = append(s.keys, k)
	s.arrivals = append(s.arrivals, by)
}

// path returns how a marking was first reached. Markings are numbered breadth first,
// so that no path is shorter.
func (s *space) path(at int32) (path []int, branches [][]int32) {
	path = []int{}
	split := false
	for ; s.arrivals[at].from >= 0; at = s.arrivals[at].from {
		a := &s.arrivals[at]
		path = append(path, int(a.transition))
		branches = append(branches, s.chosen(a))
		split = split || len(s.tables.Branches(int(a.transition))) > 0
	}
	if !split {
		branches = nil
	}
	slices.Reverse(path)
	slices.Reverse(branches)
	return path, branches
}

func enabled(t *petri.Tables, tr int, m []uint32) bool {
	for _, c := range t.Conds(tr) {
		if !c.Holds(m[c.Place]) {
			return false
		}
	}
	j := t.Join(tr)
	return j == nil || joinReady(j, m)
}

// fire writes the marking after a firing and reports whether it fits.
func fire(t *petri.Tables, tr int, m, after []uint32) bool {
	copy(after, m)
	for _, e := range t.Effects(tr) {
		left := uint64(after[e.Place] - e.Take)
		if e.Reset || e.Join && after[e.Place] < e.Take {
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
		if n < 0x80 { // nearly always
			dst = append(dst, byte(n))
		} else {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
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
