// SPDX-License-Identifier: Apache-2.0

package petritest

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Awaits returns the empty places of an inclusive join for which it waits, in the
// order of the net; none for another transition. The join arcs enable the join if
// there are none.
//
// It walks the paths of the rule (BPMN 2.0, 13.4.3) one by one: for every path from a
// token to an empty place of the join there must be a path from that token to a place
// of the join that is not empty, both without the join. If all places of the join are
// empty, it waits for all.
func (r *Reference) Awaits(join string) []string {
	var full, empty, awaits []string
	for _, p := range r.joined(join) {
		if r.Marking[p] > 0 {
			full = append(full, p)
		} else {
			empty = append(empty, p)
		}
	}
	if len(full) == 0 {
		return empty
	}
	for _, e := range empty {
		for _, token := range r.Net.Places {
			if r.Marking[token.ID] > 0 && r.leads(token.ID, []string{e}, join) && !r.leads(token.ID, full, join) {
				awaits = append(awaits, e)
				break
			}
		}
	}
	return awaits
}

// joined returns the places from which join arcs lead to a transition.
func (r *Reference) joined(transition string) (places []string) {
	var from []string
	for _, a := range r.arcs(transition) {
		if a.Kind == petri.Join {
			from = append(from, a.Source)
		}
	}
	if len(from) == 0 {
		return nil
	}
	for _, p := range r.Net.Places {
		if slices.Contains(from, p.ID) {
			places = append(places, p.ID)
		}
	}
	return places
}

// leads reports whether a path that does not pass a transition leads from a place to
// one of others. A path may have no steps.
func (r *Reference) leads(from string, to []string, without string) bool {
	return len(to) > 0 && r.walk(from, to, without, map[string]bool{})
}

// walk continues a path from its last place, and visits no place twice.
func (r *Reference) walk(from string, to []string, without string, passed map[string]bool) bool {
	if slices.Contains(to, from) {
		return true
	}
	passed[from] = true
	defer delete(passed, from)
	for _, in := range r.Net.Arcs {
		if in.Source != from || in.Target == without || in.Kind == petri.Inhibitor || in.Kind == petri.Reset || r.aside(in, in.Source, without) {
			continue
		}
		for _, out := range r.Net.Arcs {
			if out.Source == in.Target && !r.aside(out, out.Target, without) && !passed[out.Target] && r.walk(out.Target, to, without, passed) {
				return true
			}
		}
	}
	return false
}

// aside reports whether no path of a join leads along an arc of a place.
func (r *Reference) aside(a petri.Arc, place, join string) bool {
	return a.Aside == petri.AsideAll || a.Aside == petri.AsideOwn && slices.ContainsFunc(r.Net.Arcs, func(reset petri.Arc) bool {
		return reset.Kind == petri.Reset && reset.Source == place && reset.Target == join
	})
}
