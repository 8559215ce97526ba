// SPDX-License-Identifier: Apache-2.0

package petri

import "slices"

// Assignment is a variable that a run of a Scope gets from what is around it when it begins, or
// gives to that when it ends or something leaves it. Each Value sees those before it.
type Assignment struct {
	Name   string     // "" for all variables; of Out but Scope.Local
	Source string     // the variable that it copies; "" for Value
	Value  Expression // in a run that begins it sees what is around, and the variables of its Loop
	Inner  bool       // of Out: only those after it see it
	Leaves bool       // of Out: it is also written by Scope.Leave
}

// runs checks how the runs of scopes that are a tree begin and end, given what chains returns.
func (c *checker) runs(t *tree, place, acts map[string]int32) {
	ends, used := map[string]int32{}, map[string]bool{}
	for i := range c.net.Scopes {
		s := &c.net.Scopes[i]
		if !s.passesOn() && s.Begin+s.End == "" && len(s.Leave) == 0 {
			continue
		}
		if s.Begin == s.End || used[s.Begin] || used[s.End] {
			c.fault(s.Pos, "a run of scope %q begins or ends with a transition of another scope; expected transitions of its own", s.ID)
		}
		used[s.Begin], used[s.End] = true, true
		c.run(t, acts, s, int32(i)+1)
		if s.Loop != nil {
			ends[s.End] = int32(i) + 1
			c.loop(t, acts, s, int32(i)+1)
		}
	}
	if len(ends) > 0 {
		c.loopArcs(t, place, ends)
	}
}

// passesOn reports whether the engine does more in a run than to copy what is around it.
func (s *Scope) passesOn() bool {
	return s.Loop != nil || len(s.Out) > 0 || slices.ContainsFunc(s.In, func(a Assignment) bool { return a.Name != "" })
}

// run checks the transitions and the assignments of a scope.
func (c *checker) run(t *tree, acts map[string]int32, s *Scope, scope int32) {
	begin, begins := acts[s.Begin]
	end, ends := acts[s.End]
	switch {
	case !begins || begin == scope || !t.encloses(begin, scope):
		c.fault(s.Pos, "a run of scope %q begins with transition %q; expected one that acts around the scope", s.ID, s.Begin)
	case !ends || end != scope:
		c.fault(s.Pos, "a run of scope %q ends with transition %q; expected one that acts in the scope", s.ID, s.End)
	case len(s.In)+len(s.Out) > 0 && !c.net.Shared:
		c.fault(s.Pos, "scope %q has variables, but its net shares none", s.ID)
	}
	for _, id := range s.Leave {
		if at, known := acts[id]; !known || !t.encloses(scope, at) {
			c.fault(s.Pos, "something leaves a run of scope %q with transition %q; expected one that acts in the scope", s.ID, id)
		}
	}
	for _, list := range [][]Assignment{s.In, s.Out} {
		for k := range list {
			switch a := &list[k]; {
			case a.Name == "" && (!s.Apart || a.Source+a.Value.Text != "" || a.Inner):
				c.fault(s.Pos, "scope %q passes on all variables; expected it to be apart, and no value", s.ID)
			case a.Name != "" && (a.Source == "") == (a.Value.Text == ""):
				c.fault(s.Pos, "the variable %q of scope %q is a copy and has a value, or neither; expected one of them", a.Name, s.ID)
			}
		}
	}
}

func (c *checker) loop(t *tree, acts map[string]int32, s *Scope, scope int32) {
	l := s.Loop
	standard := l.While.Text != "" || l.Before || l.Most > 0
	switch {
	case s.Parent == "":
		c.fault(s.Pos, "scope %q has a loop and no scope around it; expected that of the activity as a whole", s.ID)
	case acts[s.Begin] == t.parent[scope]:
		c.fault(s.Pos, "the loop of scope %q begins with transition %q; expected one that acts around scope %q", s.ID, s.Begin, s.Parent)
	case l.Number.Text != "" && l.List.Text != "":
		c.fault(s.Pos, "the loop of scope %q has a number and a list; expected one of them", s.ID)
	case l.Multi() && standard, !l.Multi() && (l.Parallel || l.Until.Text != "" || l.Element != "" || l.Into != ""):
		c.fault(s.Pos, "the loop of scope %q is both multi-instance and a standard loop; expected one of them", s.ID)
	case l.First < 0 || l.Result.Text != "" && l.Into == "":
		c.fault(s.Pos, "the loop of scope %q has a result without a variable, or counts from %d; expected a variable, and 0 or more", s.ID, l.First)
	}
}

// loopArcs checks the arcs of the transitions that begin and end the runs of loops.
func (c *checker) loopArcs(t *tree, place, ends map[string]int32) {
	begins := map[string]int32{}
	for _, scope := range ends {
		begins[c.net.Scopes[scope-1].Begin] = scope
	}
	for i := range c.net.Arcs {
		a := &c.net.Arcs[i]
		if scope := ends[a.Source]; scope != 0 && !t.encloses(place[a.Target], scope) && !t.encloses(scope, place[a.Target]) {
			c.fault(a.Pos, "transition %q ends a run of scope %q and puts a token into scope %q; expected it to put them into scopes around, or into the run", a.Source, c.net.Scopes[scope-1].ID, c.net.Scopes[place[a.Target]-1].ID)
		}
		if scope := begins[a.Source]; scope != 0 && a.Kind == Branch && t.encloses(scope, place[a.Target]) {
			c.fault(a.Pos, "transition %q begins runs of scope %q with a branch; expected variables of the scope", a.Source, c.net.Scopes[scope-1].ID)
		}
		scope, from := ends[a.Target], place[a.Source]
		if scope != 0 && (a.Kind == Normal || a.Kind == Join) && from != scope {
			c.fault(a.Pos, "transition %q ends a run of scope %q and takes a token of another scope, which the other runs would miss; expected it to take those of the run only",
				a.Target, c.net.Scopes[scope-1].ID)
		}
	}
}
