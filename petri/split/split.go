// SPDX-License-Identifier: Apache-2.0

package split

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Main is the region of transitions without a named region, directly or through the
// transitions that they share places with.
const Main = "main"

// Plan is the regions of a net's transitions and places.
type Plan struct {
	Regions []Part // in the order of the first transition of each
	owner   []int32
}

// Part is one region. Transitions and Places are by the indices of the whole net; each
// node is in exactly one part of a plan.
type Part struct {
	Name        string
	Transitions []bool
	Places      []bool
	Upstream    []int // the other parts, by index in the plan, that put tokens into its places; ascending
	Downstream  []int // the parts into whose places it puts tokens; ascending
}

// Whole reports whether the part is all of the net.
func (p *Part) Whole() bool {
	return !slices.Contains(p.Transitions, false) && !slices.Contains(p.Places, false)
}

// Check returns an error unless the part fits a net: it has the net's size, and its
// transitions test and take from its own places only.
func (p *Part) Check(t *petri.Tables) error {
	if len(p.Transitions) != t.Transitions() || len(p.Places) != t.Places() {
		return fmt.Errorf("net %q, region %q: it is of %d places and %d transitions; expected %d and %d",
			t.Net.ID, p.Name, len(p.Places), len(p.Transitions), t.Places(), t.Transitions())
	}
	for i := range t.Net.Arcs {
		a := &t.Net.Arcs[i]
		tr, ok := t.TransitionIndex(a.Target)
		if !ok || !p.Transitions[tr] {
			continue
		}
		if place, _ := t.PlaceIndex(a.Source); !p.Places[place] {
			return fmt.Errorf("net %q, region %q: transition %q tests or takes from place %q, which is in another region", t.Net.ID, p.Name, a.Target, a.Source)
		}
	}
	return nil
}

// Owner returns the index in Regions of the region of a place, by its index in the
// net.
func (p *Plan) Owner(place int) int { return int(p.owner[place]) }

// Split finds the regions of a net.
//
// A place belongs to the region of the transitions to which an arc of any kind leads
// from it. So transitions that share such a place are in one region. An inclusive join
// looks at every place from which a token could reach it, so the transitions that test
// or take from these places are in its region, too. (A transition that preempts looks
// at runs with tokens of its own places, so they share a place.) A place without
// outgoing arcs belongs to the first transition that puts into it, and one without arcs
// to the first region.
//
// region returns the name of the region of a transition by its id, or "" to use that of
// the transitions with which it shares places, or [Main] if none of them has one. The
// regions of each list in merge become one, with the first name of the list. The error
// joins a *petri.Fault for each place that two transitions with different regions
// share, at most petri.MaxFaults of them. A net with scopes has one region only: more
// are an error.
func Split(t *petri.Tables, region func(id string) string, merge [][]string) (*Plan, error) {
	names, rest, err := mergeNames(t, region, merge)
	if err != nil {
		return nil, err
	}
	c := newClusters(t, names)
	for p := range t.Places() {
		c.join(int32(p))
	}
	if err := c.faults(); err != nil {
		return nil, err
	}
	p := c.plan(rest)
	if t.Scoped() && len(p.Regions) > 1 {
		return nil, &petri.Fault{File: t.Net.File, Pos: t.Net.Pos, Msg: fmt.Sprintf(
			"net %q has scopes and %d regions; expected one region, because the runs of a scope are in one place", t.Net.ID, len(p.Regions))}
	}
	return p, nil
}

// mergeNames returns the named region of each transition after merging, or "", and the
// name of the region of the others.
func mergeNames(t *petri.Tables, region func(string) string, merge [][]string) (names []string, rest string, err error) {
	names = make([]string, t.Transitions())
	known := map[string]bool{Main: true}
	for tr := range names {
		names[tr] = region(t.Net.Transitions[tr].ID)
		known[names[tr]] = names[tr] != ""
	}
	into := map[string]string{} // the merged name of each name
	last := func(name string) string {
		for into[name] != "" {
			name = into[name]
		}
		return name
	}
	for _, group := range merge {
		for _, name := range group {
			if !known[name] {
				return nil, "", &petri.Fault{File: t.Net.File, Pos: t.Net.Pos, Msg: fmt.Sprintf(
					"net %q: region %q is merged with others, but no transition is in it", t.Net.ID, name)}
			}
			if first, other := last(group[0]), last(name); first != other {
				into[other] = first
			}
		}
	}
	for tr := range names {
		names[tr] = last(names[tr])
	}
	return names, last(Main), nil
}
