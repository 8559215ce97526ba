// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Tables is a net compiled to flat arrays. It is immutable and shared by all instances.
// Places and transitions are indices in the net.
type Tables struct {
	Net     *Net
	Initial []uint32 // the initial marking, by place

	conds   lists[Cond]   // by transition: its input conditions
	effects lists[Effect] // by transition: the effects of its firing
	watch   lists[Watch]  // by place: the conditions that look at it
	prio    []int32       // by transition
	topPrio int32         // the highest of prio
	final   []bool        // by place: see Net.FinalPlaces
	source  []bool        // by transition: no inputs
	held    []bool        // by transition: does not fire by itself

	rivals   lists[int32] // by transition, see Order
	stamp    []int32      // by transition: the index of its stamp in an Order, if it has rivals
	orderLen int

	joins     []*JoinTest      // by transition: of an inclusive join; nil if the net has none
	joinWatch lists[int32]     // by place: the inclusive joins that look at it
	branches  lists[BranchArc] // by transition: the branches of an inclusive split

	tree *tree // nil for a net without scopes

	placeID      map[string]int32
	transitionID map[string]int32
}

// Cond is one input condition of a transition: the marking of Place is at
// least Lo and, if Hi is not 0, less than Hi. It combines all
// arcs from that place to that transition.
type Cond struct {
	Place  int32
	Lo, Hi uint32
}

// Holds reports whether the condition holds at m tokens.
func (c Cond) Holds(m uint32) bool {
	return m >= c.Lo && (c.Hi == 0 || m < c.Hi)
}

// Effect is what a firing does to one place: take Take tokens, or all of them
// if Reset is set, or as many of them as there are if Join is set, then put
// Put.
type Effect struct {
	Place     int32
	Take, Put uint32
	Reset     bool
	Join      bool
}

// Watch is a condition in the list of its place.
type Watch struct {
	Transition int32
	Lo, Hi     uint32
}

// lists is a list of T for each index, in one array.
type lists[T any] struct {
	all   []T
	start []int32 // start[i] to start[i+1] are those of i
}

func (l *lists[T]) of(i int) []T { return l.all[l.start[i]:l.start[i+1]] }

func flatten[T any](by [][]T) lists[T] {
	l := lists[T]{start: make([]int32, 1, len(by)+1)}
	for _, list := range by {
		l.all = append(l.all, list...)
		l.start = append(l.start, int32(len(l.all)))
	}
	return l
}

// MaxNodes bounds the places, the transitions and the arcs of a net.
const MaxNodes = math.MaxInt32 / 2

// Compile validates a net and makes its tables. The weights of parallel normal arcs add
// up, and so do those of parallel read arcs. All parallel inhibitor arcs must hold, so
// the lowest threshold counts.
func Compile(n *Net) (*Tables, error) { return compile(n, MaxNodes) }

// compile is Compile with a given bound instead of MaxNodes.
func compile(n *Net, maxNodes int) (*Tables, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	if max(len(n.Places), len(n.Transitions), len(n.Arcs)) > maxNodes {
		return nil, &Fault{File: n.File, Pos: n.Pos, Msg: fmt.Sprintf("net %q has more than %d nodes or arcs of a kind", n.ID, maxNodes)}
	}
	t := &Tables{
		Net:          n,
		Initial:      make([]uint32, len(n.Places)),
		prio:         make([]int32, len(n.Transitions)),
		final:        n.FinalPlaces(),
		source:       make([]bool, len(n.Transitions)),
		held:         make([]bool, len(n.Transitions)),
		placeID:      make(map[string]int32, len(n.Places)),
		transitionID: make(map[string]int32, len(n.Transitions)),
	}
	for i := range n.Places {
		t.Initial[i] = n.Places[i].Initial
		t.placeID[n.Places[i].ID] = int32(i)
	}
	for i := range n.Transitions {
		t.prio[i] = int32(min(max(n.Transitions[i].Priority, math.MinInt16), math.MaxInt16))
		t.transitionID[n.Transitions[i].ID] = int32(i)
		if i == 0 || t.prio[i] > t.topPrio {
			t.topPrio = t.prio[i]
		}
	}
	t.compileScopes()
	return t, t.compileArcs()
}

// pair combines all arcs between one place and one transition.
type pair struct {
	place                  int32
	take, read, limit, put uint64 // limit: lowest inhibitor threshold, 0 for none
	reset, input, join     bool
}

func (t *Tables) compileArcs() error {
	pairs := make([][]pair, len(t.Net.Transitions))
	index := make(map[[2]int32]int, len(t.Net.Arcs))
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		place, toTransition := t.placeID[a.Source]
		tr := t.transitionID[a.Target]
		if !toTransition {
			place, tr = t.placeID[a.Target], t.transitionID[a.Source]
		}
		k, seen := index[[2]int32{place, tr}]
		if !seen {
			k = len(pairs[tr])
			index[[2]int32{place, tr}] = k
			pairs[tr] = append(pairs[tr], pair{place: place})
		}
		if err := pairs[tr][k].add(t.Net, a, toTransition); err != nil {
			return err
		}
	}
	return t.flattenPairs(pairs)
}

func (p *pair) add(n *Net, a *Arc, input bool) error {
	w := uint64(a.Weight)
	p.input = p.input || input
	switch {
	case a.Kind == Branch:
	case !input:
		p.put += w
	case a.Kind == Join:
		p.join = true
	case a.Kind == Normal:
		p.take += w
	case a.Kind == Read:
		p.read += w
	case a.Kind == Reset:
		p.reset = true
	case p.limit == 0 || w < p.limit:
		p.limit = w
	}
	if max(p.take, p.read, p.put) > math.MaxUint32 {
		return &Fault{File: n.File, Pos: a.Pos, Msg: fmt.Sprintf(
			"the parallel arcs from %q to %q weigh more than %d together", a.Source, a.Target, uint32(math.MaxUint32))}
	}
	return nil
}

func (t *Tables) flattenPairs(pairs [][]pair) error {
	conds := make([][]Cond, len(pairs))
	effects := make([][]Effect, len(pairs))
	watch := make([][]Watch, len(t.Net.Places))
	joins := make([][]int32, len(pairs))
	for tr, ps := range pairs {
		slices.SortFunc(ps, func(a, b pair) int { return cmp.Compare(a.place, b.place) })
		t.source[tr] = true
		for _, p := range ps {
			t.source[tr] = t.source[tr] && !p.input
			if lo, hi := uint32(max(p.take, p.read)), uint32(p.limit); lo > 0 || hi > 0 {
				conds[tr] = append(conds[tr], Cond{Place: p.place, Lo: lo, Hi: hi})
				watch[p.place] = append(watch[p.place], Watch{Transition: int32(tr), Lo: lo, Hi: hi})
			}
			if p.join {
				joins[tr] = append(joins[tr], p.place)
				p.take++
			}
			if p.take > 0 || p.put > 0 || p.reset {
				effects[tr] = append(effects[tr], Effect{Place: p.place, Take: uint32(p.take), Put: uint32(p.put), Reset: p.reset, Join: p.join})
			}
		}
	}
	copy(t.held, t.source)
	t.conds, t.effects, t.watch = flatten(conds), flatten(effects), flatten(watch)
	t.compileBranches()
	if err := t.compileJoins(joins); err != nil {
		return err
	}
	t.findRivals()
	return nil
}

// Places returns the number of places.
func (t *Tables) Places() int { return len(t.Initial) }

// Transitions returns the number of transitions.
func (t *Tables) Transitions() int { return len(t.prio) }

// Conds returns the input conditions of a transition, by place.
func (t *Tables) Conds(transition int) []Cond { return t.conds.of(transition) }

// Effects returns the effects of a firing of a transition, by place.
func (t *Tables) Effects(transition int) []Effect { return t.effects.of(transition) }

// Watchers returns the conditions that look at a place, by transition.
func (t *Tables) Watchers(place int) []Watch { return t.watch.of(place) }

// Final reports whether a place is final, see Net.FinalPlaces.
func (t *Tables) Final(place int) bool { return t.final[place] }

// Priority returns a transition's priority; higher fires first.
func (t *Tables) Priority(transition int) int32 { return t.prio[transition] }

// Urgent reports whether a transition has the priority Urgent.
func (t *Tables) Urgent(transition int) bool { return t.prio[transition] == math.MaxInt16 }

// Source reports whether a transition has no inputs. It is always enabled, and fires only
// from outside or by its timer.
func (t *Tables) Source(transition int) bool { return t.source[transition] }

// Held reports whether a transition does not fire by itself: a source
// transition, or one that WithHeld holds.
func (t *Tables) Held(transition int) bool { return t.held[transition] }

// WithHeld returns tables in which further transitions, by index, are held: they fire by
// a timer or from outside, not by themselves.
func (t *Tables) WithHeld(held []bool) *Tables {
	with := *t
	with.held = make([]bool, len(t.held))
	for tr := range with.held {
		with.held[tr] = t.source[tr] || held[tr]
	}
	with.findRivals()
	return &with
}

// PlaceIndex returns the index of the place with an id.
func (t *Tables) PlaceIndex(id string) (int, bool) {
	i, ok := t.placeID[id]
	return int(i), ok
}

// TransitionIndex returns the index of the transition with an id.
func (t *Tables) TransitionIndex(id string) (int, bool) {
	i, ok := t.transitionID[id]
	return int(i), ok
}
