// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// Precedence is which transitions fire before all others: those of petri.Urgent.
type Precedence struct {
	tables  *petri.Tables
	certain []int32 // urgent transitions that fire at once for any data
}

// NewPrecedence returns the precedence among the transitions of a net.
func NewPrecedence(t *petri.Tables) Precedence {
	p := Precedence{tables: t}
	for tr := range t.Transitions() {
		if t.Urgent(tr) && certain(t, tr) {
			p.certain = append(p.certain, int32(tr))
		}
	}
	return p
}

// certain reports whether a transition fires by itself, at once and for any data, while it
// is enabled.
func certain(t *petri.Tables, tr int) bool {
	always, _, otherwise := t.BranchMasks(tr)
	chooses := len(t.Branches(tr)) == 0 || always|otherwise != 0
	n := &t.Net.Transitions[tr]
	return n.Guard == "" && n.Trigger.Kind == petri.TriggerNone && !t.Source(tr) && chooses
}

// Only reports whether only urgent transitions can fire in a marking: one of them is enabled
// and fires for any data. The guard of an urgent transition may not hold, so that others fire.
func (p Precedence) Only(m []uint32) bool {
	return slices.ContainsFunc(p.certain, func(tr int32) bool { return p.tables.EnabledIn(m, int(tr)) })
}

// Fires reports whether a transition can fire in a marking, whatever its guard. only is Only
// of that marking.
func (p Precedence) Fires(tr int, m []uint32, only bool) bool {
	return (!only || p.tables.Urgent(tr)) && p.tables.EnabledIn(m, tr)
}

// rises reports whether tokens in a place can enable an urgent transition that holds back others.
func (p Precedence) rises(place int32) bool {
	return slices.ContainsFunc(p.certain, func(tr int32) bool {
		j := p.tables.Join(int(tr))
		return j != nil && slices.Contains(j.Places, place) ||
			slices.ContainsFunc(p.tables.Conds(int(tr)), func(c petri.Cond) bool { return c.Place == place && c.Lo > 0 })
	})
}
