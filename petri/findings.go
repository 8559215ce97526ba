// SPDX-License-Identifier: Apache-2.0

package petri

import "fmt"

// Findings returns probable mistakes in a valid net, in source order of transitions,
// then places. An element that ends a process is none.
func (t *Tables) Findings() []Fault {
	var out []Fault
	note := func(pos Pos, format string, args ...any) {
		out = append(out, Fault{File: t.Net.File, Pos: pos, Msg: fmt.Sprintf(format, args...)})
	}
	used := make([]bool, t.Places())
	for tr := range t.Transitions() {
		n := &t.Net.Transitions[tr]
		for _, e := range t.Effects(tr) {
			used[e.Place] = true
		}
		for _, b := range t.Branches(tr) {
			used[b.Place] = true
		}
		for _, c := range t.Conds(tr) {
			used[c.Place] = true
			if c.Hi > 0 && c.Lo >= c.Hi {
				note(n.Pos, "transition %q can never be enabled: place %q must hold at least %d tokens and fewer than %d",
					n.ID, t.Net.Places[c.Place].ID, c.Lo, c.Hi)
			}
		}
		switch {
		case t.Source(tr) && len(t.Effects(tr)) == 0 && len(t.Branches(tr)) == 0:
			note(n.Pos, "transition %q has no arcs", n.ID)
		case t.Source(tr):
			note(n.Pos, "transition %q has no inputs: it fires only from outside or by a timer", n.ID)
		}
		if p := t.idleDefault(tr); p >= 0 {
			note(n.Pos, "transition %q never takes its default branch, to place %q: another branch has no guard", n.ID, t.Net.Places[p].ID)
		}
	}
	leaves := t.left()
	for p := range t.Net.Places {
		switch n := &t.Net.Places[p]; {
		case !used[p]:
			note(n.Pos, "place %q has no arcs", n.ID)
		case leaves[p] || t.Net.Model != nil:
		case t.Final(p):
			note(n.Pos, "place %q is final: no transition takes its tokens", n.ID)
		default:
			note(n.Pos, "place %q keeps its tokens: each transition that takes some puts as many back", n.ID)
		}
	}
	return out
}

// left reports, by place, whether some firing takes tokens from it.
func (t *Tables) left() []bool {
	leaves := make([]bool, t.Places())
	for tr := range t.Transitions() {
		always, _, _ := t.BranchMasks(tr)
		for _, e := range t.Effects(tr) {
			back := uint64(e.Put) + put(t.Branches(tr), always, e.Place)
			leaves[e.Place] = leaves[e.Place] || e.Reset || uint64(e.Take) > back
		}
	}
	return leaves
}

// idleDefault returns the place of a default that is never taken, or -1.
func (t *Tables) idleDefault(transition int) int32 {
	always, guarded, otherwise := t.BranchMasks(transition)
	for i, b := range t.Branches(transition) {
		if (always|guarded|otherwise)>>i&1 == 0 {
			return b.Place
		}
	}
	return -1
}
