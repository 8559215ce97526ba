// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"slices"
)

// Group counts the tokens of a place that wait for one reason: that of the [Foremost] wait of each.
// The tokens that are in no group of the place wait for a reason that is not known.
type Group struct {
	Reason Reason // not ReasonUnknown
	Tokens uint64 // now; not 0
	// Due is the earliest time, in microseconds since the Unix epoch, at which one of them was or
	// will be due: Until of its Foremost wait, or its injection if that has none.
	Due    int64
	Oldest Token
}

// Foremost returns the wait that says best why a token does not move. Something that needs a person
// comes first, then what already works on the token, then what is least likely to end by itself; of
// two delays the one that ends first. Without a wait it is one of ReasonUnknown.
func Foremost(waits []Wait) (w Wait) {
	for i := range waits {
		o := &waits[i]
		if i == 0 || weight(o.Reason) > weight(w.Reason) || o.Reason == w.Reason && Earlier(w.Until, o.Until) != w.Until {
			w = *o
		}
	}
	return w
}

// weight orders reasons for Foremost.
func weight(r Reason) int {
	return slices.Index([]Reason{ReasonUnknown, ReasonEnabled, ReasonDelayed, ReasonGuarded, ReasonMissing, ReasonInhibited,
		ReasonManual, ReasonDead, ReasonRunning, ReasonNoWorker, ReasonIncident}, r)
}

// Due returns when a token was or will be due: Until of its Foremost wait, or its injection.
func (t *Token) Due() int64 {
	return cmp.Or(Foremost(t.Waits).Until, t.Injected)
}

// MergeGroups adds two lists that are each sorted by reason. It may reuse a's memory, never b's.
func MergeGroups(a, b []Group) []Group {
	if len(b) == 0 {
		return a
	}
	return mergeSorted(make([]Group, 0, len(a)+len(b)), a, b,
		func(a, b *Group) int { return cmp.Compare(a.Reason, b.Reason) },
		func(sum, b *Group) {
			sum.Tokens, sum.Due = Sum(sum.Tokens, b.Tokens), Earlier(sum.Due, b.Due)
			if b.Oldest.Compare(&sum.Oldest) < 0 {
				sum.Oldest = b.Oldest
			}
		})
}

// SameGroups reports whether two lists are equal.
func SameGroups(a, b []Group) bool {
	return slices.EqualFunc(a, b, func(a, b Group) bool {
		return a.Reason == b.Reason && a.Tokens == b.Tokens && a.Due == b.Due && a.Oldest.Compare(&b.Oldest) == 0
	})
}

func shiftGroups(groups []Group, d int64) []Group {
	if d == 0 || len(groups) == 0 {
		return groups
	}
	out := make([]Group, len(groups))
	for i, g := range groups {
		g.Due, g.Oldest = shifted(g.Due, d), g.Oldest.shifted(d)
		out[i] = g
	}
	return out
}

// groupSum is the sum of the groups of one reason.
type groupSum struct {
	reason Reason
	tokens wide
	due    times
	oldest oldest
}

// replaceGroups replaces the groups of a contributor, and reports whether they differ.
func (p *placeSum) replaceGroups(old, next []Group) (changed bool) {
	if SameGroups(old, next) {
		return false
	}
	for i := range next {
		g := &next[i]
		sum := p.group(g.Reason)
		sum.tokens.add(g.Tokens)
		sum.note(g)
	}
	for i := range old {
		g := &old[i]
		sum := p.group(g.Reason)
		sum.tokens.subtract(g.Tokens)
		sum.due.remove(g.Due)
		sum.oldest.remove(&g.Oldest)
	}
	p.groups = slices.DeleteFunc(p.groups, func(s groupSum) bool { return s.tokens.isZero() })
	return true
}

// note adds the times of a group.
func (s *groupSum) note(g *Group) {
	s.due.add(g.Due, spareEarliest)
	s.oldest.add(&g.Oldest)
}

// group returns the sum of a reason.
func (p *placeSum) group(r Reason) *groupSum {
	i, found := slices.BinarySearchFunc(p.groups, r, func(s groupSum, r Reason) int { return cmp.Compare(s.reason, r) })
	if !found {
		p.groups = slices.Insert(p.groups, i, groupSum{reason: r})
	}
	return &p.groups[i]
}

// renewGroups adds again the times of the groups of a place of which too few are known.
func (p *placeSum) renewGroups(todo []again, i int) []again {
	for k := range p.groups {
		s := &p.groups[k]
		if !s.due.lacks() && !s.oldest.lacks(1) {
			continue
		}
		s.due, s.oldest = times{}, oldest{}
		todo = append(todo, again{i, func(c Contributor, at int, shift int64) {
			for _, g := range shiftGroups(c.groupsIn(at), shift) {
				if g.Reason == s.reason {
					s.note(&g)
				}
			}
		}})
	}
	return todo
}

// groupRows returns the groups of the sum.
func (p *placeSum) groupRows() []Group {
	if len(p.groups) == 0 {
		return nil
	}
	out := make([]Group, len(p.groups))
	for i := range p.groups {
		s := &p.groups[i]
		out[i] = Group{Reason: s.reason, Tokens: s.tokens.count(), Due: s.due.least(), Oldest: s.oldest.best[0]}
	}
	return out
}
