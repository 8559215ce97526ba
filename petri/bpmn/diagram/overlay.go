// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/draw"
)

// State is what a picture shows of an element beside its shape.
type State struct {
	Tokens  uint64  // that are at it
	Heat    uint8   // of the hottest of its places: 0 to draw.MaxHeat
	Rate    float64 // how often it occurs, or a flow is passed, a second; negative if unknown
	Enabled bool    // one of its transitions is enabled
}

// Overlay is the current state of a process, by the ids of elements.
type Overlay map[string]State

// Show returns the overlay that shows what one of a net shows, with the parts of its process:
// those of [bpmn.File]. What is inside of called processes is not in it.
func Show(parts []bpmn.Part, n *petri.Net, o *draw.Overlay) Overlay {
	s := newStates(n, o)
	out := Overlay{}
	for i := range parts {
		p := &parts[i]
		if len(p.Calls) > 0 {
			continue
		}
		state := State{Rate: -1}
		for _, id := range p.Tokens {
			k := s.places[id]
			if k < len(o.Tokens) {
				state.Tokens += o.Tokens[k]
			}
			if k < len(o.Heat) {
				state.Heat = max(state.Heat, o.Heat[k])
			}
		}
		for _, id := range p.Transitions {
			k := s.transitions[id]
			state.Enabled = state.Enabled || k < len(o.Enabled) && o.Enabled[k]
		}
		state.Rate = s.rate(p.Fires)
		if len(p.Transitions) == 0 && len(p.Places) == 1 {
			state.Rate = s.rate(s.into[p.Places[0]])
		}
		out[p.Element] = state
	}
	return out
}

// states are the indices of a net's places and transitions.
type states struct {
	places, transitions map[string]int
	into                map[string][]string // the transitions that put tokens into a place; nil if one may not
	rates               []float64
}

func newStates(n *petri.Net, o *draw.Overlay) *states {
	s := &states{places: map[string]int{}, transitions: map[string]int{}, into: map[string][]string{}, rates: o.Rates}
	for i := range n.Places {
		s.places[n.Places[i].ID] = i
	}
	for i := range n.Transitions {
		s.transitions[n.Transitions[i].ID] = i
	}
	branch := map[string]bool{}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		if _, puts := s.transitions[a.Source]; puts {
			s.into[a.Target] = append(s.into[a.Target], a.Source)
			branch[a.Target] = branch[a.Target] || a.Kind == petri.Branch
		}
	}
	for place := range branch {
		if branch[place] {
			delete(s.into, place)
		}
	}
	return s
}

// rate returns the sum of the rates of transitions; -1 if one is unknown, or there are none.
func (s *states) rate(transitions []string) (sum float64) {
	if len(transitions) == 0 || slices.ContainsFunc(transitions, func(id string) bool {
		k := s.transitions[id]
		return k >= len(s.rates) || s.rates[k] < 0
	}) {
		return -1
	}
	for _, id := range transitions {
		sum += s.rates[s.transitions[id]]
	}
	return sum
}
