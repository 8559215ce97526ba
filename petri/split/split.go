// SPDX-License-Identifier: Apache-2.0

package split

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Main is the region of transitions about which nothing is said, neither
// directly nor by what they share places with.
const Main = "main"

// Plan says which region each transition and each place of a net is in.
type Plan struct {
	Regions []Part // in the order of the first transition of each
	owner   []int32
}

// Part is one region. Transitions and Places are by the indices of the whole
// net and say what is in it: each is in exactly one part of a plan.
type Part struct {
	Name        string
	Transitions []bool
	Places      []bool
	Upstream    []int // the other parts, by index in the plan, that put tokens into its places; rising
	Downstream  []int // those into whose places it puts tokens; rising
}

// Whole reports whether the part is all of the net.
func (p *Part) Whole() bool {
	return !slices.Contains(p.Transitions, false) && !slices.Contains(p.Places, false)
}

// Check returns an error unless the part can be one of a net: it is of the
// net's size, and its transitions test and take from its own places only.
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

// Owner returns the index in Regions of the region that a place, by its index
// in the net, belongs to.
func (p *Plan) Owner(place int) int { return int(p.owner[place]) }

// Split finds the regions of a net.
//
// A place belongs to the region of the transitions that test or take from it:
// those to which an arc of any kind leads from it. So transitions that share
// such a place are in one region, and with an inclusive join is all that tests
// or takes from a place from which a token could reach it, because the join
// looks there. (A transition that preempts looks at runs that hold tokens of its
// own places: those share the place with it.) A place from which nothing leads
// belongs to the first transition that puts into it; one without arcs to the
// first region.
//
// region gives the name of the region of the transition with an id, "" if
// nothing is said about it: then it goes with those that it shares places with,
// and into [Main] if none of them says anything. Regions that merge lists
// together are one, under the name that is listed first. The error says of
// every two that name different regions and have to be in one what they share;
// each is a *petri.Fault at the place, all are joined, at most petri.MaxFaults
// of them.
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
	return c.plan(rest), nil
}

// mergeNames returns, after merging, the region that each transition says it is
// in, or "", and the name of the region of the rest.
func mergeNames(t *petri.Tables, region func(string) string, merge [][]string) (names []string, rest string, err error) {
	names = make([]string, t.Transitions())
	known := map[string]bool{Main: true}
	for tr := range names {
		names[tr] = region(t.Net.Transitions[tr].ID)
		known[names[tr]] = names[tr] != ""
	}
	into := map[string]string{} // a name to the one that it is merged into
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
