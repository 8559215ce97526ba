// SPDX-License-Identifier: Apache-2.0

package petri

// Loop says how often an activity runs: a multi-instance activity with Number or List, otherwise
// a standard loop. The engine keeps the list, how many runs there are, and the results.
//
// The transition Begin begins the activity: it opens the first run, or all if Parallel is set, and
// what it puts into the scope it puts into each. The transition End ends a run. Only if that is
// the last one, it also does what it does outside of the scope; before, it begins the next run.
// With no run at all, Begin puts what End puts. An analysis without data sees one run.
type Loop struct {
	Begin, End string // ids of transitions

	Number   Expression // of multi-instance: its value is the number of runs
	List     Expression // of multi-instance: its value is a list, with a run for each element
	Parallel bool       // of multi-instance: all runs begin at once
	Until    Expression // of multi-instance: no run continues after a run with which it holds

	While  Expression // of a standard loop: another run begins if it holds after a run
	Before bool       // and also before the first run
	Most   uint32     // of a standard loop: the maximum number of runs; 0 for none

	First   int        // the value of LoopCounter in the first run
	Element string     // the variable with the element of the list; "" for none
	Result  Expression // of a run that ends
	Into    string     // the variable with the list of the results; "" for none
}

// Expression is an expression of a source.
type Expression struct {
	Text string // as in Transition.Guard; "" for none
	Of   string // what has it in the source, for messages
	Pos  Pos
}

// The variables that the engine sets: LoopCounter in each run, the others where Until is evaluated.
const (
	LoopCounter  = "loopCounter"
	LoopRuns     = "nrOfInstances"
	LoopEnded    = "nrOfCompletedInstances"
	LoopContinue = "nrOfActiveInstances"
)

// Multi reports whether the loop is that of a multi-instance activity.
func (l *Loop) Multi() bool { return l.Number.Text != "" || l.List.Text != "" }

// Expressions returns the expressions of the loop.
func (l *Loop) Expressions() []*Expression {
	return []*Expression{&l.Number, &l.List, &l.Until, &l.While, &l.Result}
}

// loops checks the loops of scopes that are a tree.
func (c *checker) loops(t *tree) {
	ends, used := map[string]int32{}, map[string]bool{}
	for i := range c.net.Scopes {
		l := c.net.Scopes[i].Loop
		if l == nil {
			continue
		}
		if l.Begin == l.End || used[l.Begin] || used[l.End] {
			c.fault(c.net.Scopes[i].Pos, "the loop of scope %q begins or ends with a transition of another loop; expected transitions of its own", c.net.Scopes[i].ID)
		}
		used[l.Begin], used[l.End] = true, true
		ends[l.End] = int32(i) + 1
	}
	if len(ends) == 0 {
		return
	}
	acts := c.acts(t)
	for i := range c.net.Scopes {
		if s := &c.net.Scopes[i]; s.Loop != nil {
			c.loop(t, acts, s, int32(i)+1)
		}
	}
	place := c.scopeOf(t)
	for i := range c.net.Arcs {
		a := &c.net.Arcs[i]
		if scope := ends[a.Source]; scope != 0 && !t.encloses(place[a.Target], scope) && !t.encloses(scope, place[a.Target]) {
			c.fault(a.Pos, "transition %q ends a run of scope %q and puts a token into scope %q; expected it to put them into scopes around, or into the run", a.Source, c.net.Scopes[scope-1].ID, c.net.Scopes[place[a.Target]-1].ID)
		}
		scope, from := ends[a.Target], place[a.Source]
		if scope != 0 && (a.Kind == Normal || a.Kind == Join) && from != scope {
			c.fault(a.Pos, "transition %q ends a run of scope %q and takes a token of another scope, which the other runs would miss; expected it to take those of the run only",
				a.Target, c.net.Scopes[scope-1].ID)
		}
	}
}

func (c *checker) loop(t *tree, acts map[string]int32, s *Scope, scope int32) {
	l := s.Loop
	begin, begins := acts[l.Begin]
	end, ends := acts[l.End]
	standard := l.While.Text != "" || l.Before || l.Most > 0
	switch {
	case s.Parent == "":
		c.fault(s.Pos, "scope %q has a loop and no scope around it; expected that of the activity as a whole", s.ID)
	case !begins || begin == t.parent[scope] || !t.encloses(begin, scope):
		c.fault(s.Pos, "the loop of scope %q begins with transition %q; expected one that acts around scope %q", s.ID, l.Begin, s.Parent)
	case !ends || end != scope:
		c.fault(s.Pos, "a run of scope %q ends with transition %q; expected one that acts in the scope", s.ID, l.End)
	case l.Number.Text != "" && l.List.Text != "":
		c.fault(s.Pos, "the loop of scope %q has a number and a list; expected one of them", s.ID)
	case l.Multi() && standard, !l.Multi() && (l.Parallel || l.Until.Text != "" || l.Element != "" || l.Into != ""):
		c.fault(s.Pos, "the loop of scope %q is both multi-instance and a standard loop; expected one of them", s.ID)
	case l.First < 0 || l.Result.Text != "" && l.Into == "":
		c.fault(s.Pos, "the loop of scope %q has a result without a variable, or counts from %d; expected a variable, and 0 or more", s.ID, l.First)
	}
}

// scopeOf returns the scopes of the places.
func (c *checker) scopeOf(t *tree) map[string]int32 {
	place := make(map[string]int32, len(c.net.Places))
	for i := range c.net.Places {
		place[c.net.Places[i].ID] = t.place[i]
	}
	return place
}

// acts returns the scopes in which transitions act.
func (c *checker) acts(t *tree) map[string]int32 {
	place, acts := c.scopeOf(t), make(map[string]int32, len(c.net.Transitions))
	for i := range c.net.Transitions {
		acts[c.net.Transitions[i].ID] = 0
	}
	for i := range c.net.Arcs {
		a := &c.net.Arcs[i]
		scope, input := place[a.Source]
		if input && a.Kind != Inhibitor && a.Kind != Reset && t.encloses(acts[a.Target], scope) {
			acts[a.Target] = scope
		}
	}
	return acts
}
