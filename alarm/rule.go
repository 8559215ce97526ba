// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"time"

	"github.com/pnagent/pnagent/petri"
)

// Rule says when one kind of alarm is raised and cleared.
type Rule struct {
	On         bool
	After      time.Duration // an age beyond it is too old: of a token, or of being enabled without firing
	Above      float64       // more is too much: deadlocked instances, the share of runs that fail, firings a second
	Runs       uint64        // fewer in a window say nothing about how many fail
	Window     time.Duration // that runs and firings are counted over
	For        time.Duration // how long it must be so before the alarm is raised
	ClearAfter time.Duration // how long it must have been over before the alarm is cleared
}

// kinds is one more than the last Kind.
const kinds = int(RegionStopped) + 1

// Kinds lists every kind of alarm, in the order of their numbers.
func Kinds() []Kind {
	return []Kind{TokenStuck, TransitionStarved, SourceLost, NetDeadlocked, FailureRatio, TransitionLoop, NATSDisconnected,
		SourceConflict, SourceRefused, RegionStopped}
}

// Rules say what is wrong. The zero Rules watch nothing.
type Rules struct {
	// Settle is how long after a start an alarm from before stays at least, so
	// that there is time to hear that it is still so.
	Settle    time.Duration
	base      [kinds]Rule
	overrides []override
}

// override changes the rules of what its patterns match.
type override struct {
	net, place, transition, source string // patterns; "" matches everything
	changes                        []change
}

// change sets some fields of one kind's rule.
type change struct {
	kind Kind
	set  []func(*Rule)
}

func (c *change) apply(r *Rule) {
	for _, set := range c.set {
		set(r)
	}
}

// DefaultRules are those that hold where a file says nothing else: tokens
// stuck for 10 minutes, transitions starved for 10 minutes, sources that are
// silent, regions that stand still, instances deadlocked for a minute, and no
// connection to NATS for ten seconds. What share of runs may fail
// and how often a transition may fire is not known in general, so those are
// off; their numbers are what "on" stands for.
func DefaultRules() *Rules {
	return &Rules{Settle: 30 * time.Second, base: [kinds]Rule{
		TokenStuck:        {On: true, After: 10 * time.Minute, ClearAfter: time.Minute},
		TransitionStarved: {On: true, After: 10 * time.Minute, ClearAfter: time.Minute},
		SourceLost:        {On: true, ClearAfter: 10 * time.Second},
		NetDeadlocked:     {On: true, For: time.Minute, ClearAfter: time.Minute},
		FailureRatio:      {Above: 0.5, Runs: 20, Window: 5 * time.Minute, ClearAfter: time.Minute},
		TransitionLoop:    {Above: 1000, Window: time.Minute, ClearAfter: time.Minute},
		NATSDisconnected:  {On: true, For: 10 * time.Second},
		SourceConflict:    {On: true, For: 10 * time.Second, ClearAfter: 30 * time.Second},
		SourceRefused:     {On: true, For: 10 * time.Second, ClearAfter: 10 * time.Second},
		RegionStopped:     {On: true, ClearAfter: 10 * time.Second},
	}}
}

// Source returns the rule for SourceLost of a source.
func (r *Rules) Source(name string) Rule { return r.source(SourceLost, name) }

// source returns a rule for a source.
func (r *Rules) source(kind Kind, name string) Rule {
	rule := r.base[kind]
	for i := range r.overrides {
		if o := &r.overrides[i]; o.source != "" && match(o.source, name) {
			o.apply(kind, &rule)
		}
	}
	return rule
}

func (o *override) apply(kind Kind, rule *Rule) {
	for i := range o.changes {
		if c := &o.changes[i]; c.kind == kind {
			c.apply(rule)
		}
	}
}

// netRules are the rules for one net, with the overrides that can match in it.
type netRules struct {
	rules     *Rules
	overrides []*override
}

func (r *Rules) net(id string) netRules {
	n := netRules{rules: r}
	for i := range r.overrides {
		if o := &r.overrides[i]; o.source == "" && match(o.net, id) {
			n.overrides = append(n.overrides, o)
		}
	}
	return n
}

// whole returns a rule for the net as a whole.
func (n *netRules) whole(kind Kind) Rule {
	return n.rule(kind, func(o *override) bool { return o.place == "" && o.transition == "" })
}

// place returns a rule for a place.
func (n *netRules) place(kind Kind, id string) Rule {
	return n.rule(kind, func(o *override) bool { return o.transition == "" && match(o.place, id) })
}

// transition returns a rule for a transition.
func (n *netRules) transition(kind Kind, id string) Rule {
	return n.rule(kind, func(o *override) bool { return o.place == "" && match(o.transition, id) })
}

func (n *netRules) rule(kind Kind, matches func(*override) bool) Rule {
	rule := n.rules.base[kind]
	for _, o := range n.overrides {
		if matches(o) {
			o.apply(kind, &rule)
		}
	}
	return rule
}

// begins tells, by transition, that it needs nothing. It is always enabled, so
// that it does not fire says only that nobody wants it to.
func begins(def *petri.Net, placeAt, transitionAt map[string]int) []bool {
	begin := make([]bool, len(def.Transitions))
	for i := range begin {
		begin[i] = true
	}
	for i := range def.Arcs {
		a := &def.Arcs[i]
		if _, ok := placeAt[a.Source]; !ok {
			continue
		}
		if t, ok := transitionAt[a.Target]; ok {
			begin[t] = false
		}
	}
	return begin
}
