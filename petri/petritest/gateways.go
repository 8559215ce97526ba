// SPDX-License-Identifier: Apache-2.0

package petritest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// RandomGateways returns a valid net of a few places and transitions, some of
// which are inclusive joins, inclusive splits, or both. Every second net is like a
// process: each place has at most one transition before it and one after it. The
// others also have the other kinds of arcs.
func RandomGateways(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "gateways"}
	for i := range 2 + r.IntN(7) {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprintf("p %d", i), Initial: r.Uint32N(4) / 2})
	}
	for i := range 1 + r.IntN(6) {
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprintf("t %d", i), Priority: r.IntN(5) / 4})
	}
	g := &gateways{Rand: r, net: n}
	if r.IntN(2) == 0 {
		g.process()
	} else {
		g.anything()
	}
	if r.IntN(3) == 0 {
		g.aside()
	}
	return n
}

// gateways draws the arcs of a net.
type gateways struct {
	*rand.Rand
	net *petri.Net
}

// process gives each place at most one producer and one consumer.
func (g *gateways) process() {
	joins, splits := g.IntN(1<<6), g.IntN(1<<6) // bits by transition
	for _, p := range g.net.Places {
		if tr := g.IntN(len(g.net.Transitions) + 1); tr < len(g.net.Transitions) {
			kind := petri.Normal
			if joins>>tr&1 != 0 {
				kind = petri.Join
			}
			g.input(p.ID, g.net.Transitions[tr].ID, kind, 1)
		}
		if tr := g.IntN(len(g.net.Transitions) + 1); tr < len(g.net.Transitions) {
			g.output(g.net.Transitions[tr].ID, p.ID, splits>>tr&1 != 0, 1)
		}
	}
}

// anything mixes all kinds of arcs, including parallel ones.
func (g *gateways) anything() {
	for range 1 + g.IntN(5*len(g.net.Transitions)) {
		p, tr := g.net.Places[g.IntN(len(g.net.Places))].ID, g.net.Transitions[g.IntN(len(g.net.Transitions))].ID
		kinds := []petri.ArcKind{petri.Join, petri.Join, petri.Join, petri.Normal, petri.Normal, petri.Inhibitor, petri.Read, petri.Reset}
		if g.IntN(5) < 2 {
			g.output(tr, p, g.IntN(3) > 0, 1+g.Uint32N(2))
			continue
		}
		kind, weight := kinds[g.IntN(len(kinds))], uint32(1)
		if kind == petri.Inhibitor || kind == petri.Normal {
			weight += g.Uint32N(2)
		}
		g.input(p, tr, kind, weight)
	}
}

func (g *gateways) input(place, transition string, kind petri.ArcKind, weight uint32) {
	twice := slices.ContainsFunc(g.net.Arcs, func(a petri.Arc) bool {
		return a.Kind == petri.Join && a.Source == place && a.Target == transition
	})
	if kind == petri.Join && twice {
		return
	}
	g.add(petri.Arc{Source: place, Target: transition, Kind: kind, Weight: weight})
}

func (g *gateways) output(transition, place string, branch bool, weight uint32) {
	a := petri.Arc{Source: transition, Target: place, Weight: weight}
	if branch {
		a.Kind = petri.Branch
		taken := slices.ContainsFunc(g.net.Arcs, func(o petri.Arc) bool { return o.Source == transition && o.Default })
		switch k := g.IntN(6); {
		case k == 0 && !taken:
			a.Default = true
		case k < 5:
			a.Guard = "true"
		}
	}
	g.add(a)
}

// aside sets some arcs aside of the paths of inclusive joins.
func (g *gateways) aside() {
	for k := range g.net.Arcs {
		if a := &g.net.Arcs[k]; a.Kind != petri.Inhibitor && a.Kind != petri.Reset && g.IntN(3) == 0 {
			a.Aside = petri.AsideAll + petri.Aside(g.IntN(2))
		}
	}
}

func (g *gateways) add(a petri.Arc) {
	a.ID = fmt.Sprintf("a %d", len(g.net.Arcs))
	g.net.Arcs = append(g.net.Arcs, a)
}
