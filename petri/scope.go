// SPDX-License-Identifier: Apache-2.0

package petri

import "slices"

// MaxScopeDepth is the maximum number of scopes inside each other.
const MaxScopeDepth = 200

// tree is the scopes of a net by number: 0 is the net, the others are in the order of
// Net.Scopes.
type tree struct {
	parent []int32 // of the net: 0
	depth  []int32
	place  []int32 // by place: its scope
	acts   []int32 // by transition: the scope in which it acts
	begins []int32 // by transition: the scope of which it is the Begin; 0 for none
}

// encloses reports whether a scope is another one or encloses it.
func (t *tree) encloses(outer, inner int32) bool {
	for t.depth[inner] > t.depth[outer] {
		inner = t.parent[inner]
	}
	return inner == outer
}

// Scoped reports whether the net has scopes.
func (t *Tables) Scoped() bool { return t.tree != nil }

// Scopes returns the number of scopes, with the net itself, which is scope 0. The i-th
// of Net.Scopes is scope i+1.
func (t *Tables) Scopes() int { return len(t.Net.Scopes) + 1 }

// ScopeParent returns the scope that encloses another; 0 for the net.
func (t *Tables) ScopeParent(scope int32) int32 {
	if t.tree == nil {
		return 0
	}
	return t.tree.parent[scope]
}

// ScopeOf returns the innermost scope of a place.
func (t *Tables) ScopeOf(place int32) int32 {
	if t.tree == nil {
		return 0
	}
	return t.tree.place[place]
}

// ActsIn returns the scope in which a transition acts: the innermost one of its normal,
// read and join arcs, or the net if it has none of these.
func (t *Tables) ActsIn(transition int) int32 {
	if t.tree == nil {
		return 0
	}
	return t.tree.acts[transition]
}

// Begins returns the scope of which a transition is the Begin; 0 for none.
func (t *Tables) Begins(transition int) int32 {
	if t.tree == nil {
		return 0
	}
	return t.tree.begins[transition]
}

// TakesInScope reports whether a transition takes a token of the scope in which it acts, or
// acts in the net. Otherwise a run of the scope can be gone while an action of the
// transition runs.
func (t *Tables) TakesInScope(transition int) bool {
	scope := t.ActsIn(transition)
	return scope == 0 || slices.ContainsFunc(t.Effects(transition), func(e Effect) bool { return e.Take > 0 && t.ScopeOf(e.Place) == scope })
}

// Encloses reports whether a scope is another one or encloses it.
func (t *Tables) Encloses(outer, inner int32) bool {
	return t.tree == nil || t.tree.encloses(outer, inner)
}

// tree checks the scopes and returns them; ok reports whether there are any, and all are
// right. The tree has no acts.
func (c *checker) tree() (t *tree, ok bool) {
	n, before := c.net, len(c.found)
	index := map[string]int32{"": 0}
	for i := range n.Scopes {
		s := &n.Scopes[i]
		if first, dup := index[s.ID]; s.ID == "" {
			c.fault(s.Pos, "a scope without an id; expected an id")
		} else if dup {
			c.fault(s.Pos, "a scope has the id %q of the scope at line %d; expected every id once", s.ID, n.Scopes[first-1].Pos.Line)
		} else {
			index[s.ID] = int32(i) + 1
		}
	}
	t = &tree{parent: make([]int32, len(n.Scopes)+1), depth: make([]int32, len(n.Scopes)+1), place: make([]int32, len(n.Places))}
	for i := range n.Scopes {
		s := &n.Scopes[i]
		if t.parent[i+1], ok = index[s.Parent]; !ok {
			c.fault(s.Pos, "scope %q is in scope %q, which net %q does not have", s.ID, s.Parent, n.ID)
		}
	}
	for i := range n.Places {
		p := &n.Places[i]
		if t.place[i], ok = index[p.Scope]; !ok {
			c.fault(p.Pos, "place %q is in scope %q, which net %q does not have", p.ID, p.Scope, n.ID)
		} else if p.Scope != "" && p.Initial > 0 {
			c.fault(p.Pos, "place %q of scope %q has %d tokens in the initial marking; expected none in a scope", p.ID, p.Scope, p.Initial)
		}
	}
	for i := range n.Scopes {
		if !t.measure(int32(i) + 1) {
			c.fault(n.Scopes[i].Pos, "scope %q encloses itself or is in more than %d others; expected a tree of at most %d scopes inside each other",
				n.Scopes[i].ID, MaxScopeDepth, MaxScopeDepth)
		}
	}
	return t, len(c.found) == before && len(n.Scopes) > 0
}

// measure sets the depth of a scope, and reports whether its parents lead to the net.
func (t *tree) measure(scope int32) bool {
	for at := scope; at != 0; at = t.parent[at] {
		if t.depth[scope]++; t.depth[scope] > MaxScopeDepth {
			return false
		}
	}
	return true
}

// chains checks that the inputs of each transition are in scopes of which one encloses the
// other, and that those of join arcs are in one scope, the innermost. It returns the scopes of the
// places, and those in which the transitions act.
func (c *checker) chains(t *tree) (place, acts map[string]int32) {
	n := c.net
	place = make(map[string]int32, len(n.Places))
	for i := range n.Places {
		place[n.Places[i].ID] = t.place[i]
	}
	acts = make(map[string]int32, len(n.Transitions))
	for i := range n.Transitions {
		acts[n.Transitions[i].ID] = 0
	}
	joined := make(map[string]int32)
	for i := range n.Arcs {
		a := &n.Arcs[i]
		scope, ok := place[a.Source]
		if !ok || a.Kind == Inhibitor || a.Kind == Reset {
			continue
		}
		so := acts[a.Target]
		switch {
		case t.encloses(so, scope):
			acts[a.Target] = scope
		case !t.encloses(scope, so):
			c.fault(a.Pos, "transition %q has inputs in scopes %q and %q; expected one to enclose the other", a.Target, n.Scopes[so-1].ID, n.Scopes[scope-1].ID)
		}
		if a.Kind == Join {
			if before, has := joined[a.Target]; has && before != scope {
				c.fault(a.Pos, "join arc %q is in another scope than the join arc before it; expected one scope for all that transition %q joins", a.ID, a.Target)
			}
			joined[a.Target] = scope
		}
	}
	for i := range n.Transitions {
		tr := &n.Transitions[i]
		if scope, joins := joined[tr.ID]; joins && scope != acts[tr.ID] {
			c.fault(tr.Pos, "transition %q joins in a scope that encloses the one of its other inputs; expected the innermost scope", tr.ID)
		}
	}
	return place, acts
}

// compileScopes makes the tree of scopes of a valid net.
func (t *Tables) compileScopes() {
	c := checker{net: t.Net}
	scopes, ok := c.tree()
	if !ok {
		return
	}
	scopes.acts = make([]int32, len(t.Net.Transitions))
	_, acts := c.chains(scopes)
	for id, scope := range acts {
		scopes.acts[t.transitionID[id]] = scope
	}
	scopes.begins = make([]int32, len(t.Net.Transitions))
	for k := range t.Net.Scopes {
		if begin := t.Net.Scopes[k].Begin; begin != "" {
			scopes.begins[t.transitionID[begin]] = int32(k) + 1
		}
	}
	t.tree = scopes
}
