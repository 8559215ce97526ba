// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"time"

	"github.com/pnagent/pnagent/petri"
)

// Rule is the condition of one kind of alarm.
type Rule struct {
	On         bool
	Severity   Severity      // of its alarms
	After      time.Duration // the largest age of a token, or of an enabled transition that does not fire
	Above      float64       // the largest number of deadlocked instances, share of failed runs, or firings a second
	Runs       uint64        // the least number of runs in a window that is judged
	Window     time.Duration // over which runs and firings are counted
	For        time.Duration // how long the condition must hold before the alarm is raised
	ClearAfter time.Duration // how long it must not hold before the alarm is cleared
}

// kinds is one more than the last Kind.
const kinds = int(RegionStopped) + 1

// Kinds lists every kind of alarm, in the order of their numbers.
func Kinds() []Kind {
	return []Kind{TokenStuck, TransitionStarved, SourceLost, NetDeadlocked, FailureRatio, TransitionLoop, NATSDisconnected,
		SourceConflict, SourceRefused, RegionStopped}
}

// Rules are the rules of all kinds. The zero Rules raise nothing.
type Rules struct {
	// Settle is how long after a start an earlier alarm stays at least, so that each
	// source has time to publish.
	Settle    time.Duration
	base      [kinds]Rule
	overrides []override
}

// override changes the rules of the subjects that its patterns match.
type override struct {
	net, place, transition, source string // patterns; "" matches everything
	changes                        []change
}

// change sets fields of one kind's rule.
type change struct {
	kind Kind
	set  []func(*Rule)
}

func (c *change) apply(r *Rule) {
	for _, set := range c.set {
		set(r)
	}
}

// DefaultRules returns the rules that a file overrides. The share of failed runs and the
// rate of firings depend on the net, so these rules are off; their numbers are the
// defaults of "on".
func DefaultRules() *Rules {
	return &Rules{Settle: 30 * time.Second, base: [kinds]Rule{
		TokenStuck:        {On: true, Severity: Minor, After: 10 * time.Minute, ClearAfter: time.Minute},
		TransitionStarved: {On: true, Severity: Warning, After: 10 * time.Minute, ClearAfter: time.Minute},
		SourceLost:        {On: true, Severity: Major, ClearAfter: 10 * time.Second},
		NetDeadlocked:     {On: true, Severity: Major, For: time.Minute, ClearAfter: time.Minute},
		FailureRatio:      {Severity: Minor, Above: 0.5, Runs: 20, Window: 5 * time.Minute, ClearAfter: time.Minute},
		TransitionLoop:    {Severity: Warning, Above: 1000, Window: time.Minute, ClearAfter: time.Minute},
		NATSDisconnected:  {On: true, Severity: Critical, For: 10 * time.Second},
		SourceConflict:    {On: true, Severity: Major, For: 10 * time.Second, ClearAfter: 30 * time.Second},
		SourceRefused:     {On: true, Severity: Major, For: 10 * time.Second, ClearAfter: 10 * time.Second},
		RegionStopped:     {On: true, Severity: Critical, ClearAfter: 10 * time.Second},
	}}
}

// Of returns the rule of a kind for a subject of a net: the id of a place or transition, or
// the name of a source. net or subject is "" where alarms of the kind have none.
func (r *Rules) Of(kind Kind, net, subject string) Rule {
	n := r.net(net)
	switch kind {
	case SourceLost, SourceConflict, SourceRefused:
		return r.source(kind, subject)
	case NATSDisconnected:
		return r.base[kind]
	case NetDeadlocked, RegionStopped:
		return n.whole(kind)
	case TokenStuck:
		return n.place(kind, subject)
	}
	return n.transition(kind, subject)
}

// source returns a rule for a source.
func (r *Rules) source(kind Kind, name string) Rule {
	rule := r.base[kind]
	for i := range r.overrides {
		if o := &r.overrides[i]; o.source != "" && Match(o.source, name) {
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
		if o := &r.overrides[i]; o.source == "" && Match(o.net, id) {
			n.overrides = append(n.overrides, o)
		}
	}
	return n
}

// whole returns a rule for the whole net.
func (n *netRules) whole(kind Kind) Rule {
	return n.rule(kind, func(o *override) bool { return o.place == "" && o.transition == "" })
}

// place returns a rule for a place.
func (n *netRules) place(kind Kind, id string) Rule {
	return n.rule(kind, func(o *override) bool { return o.transition == "" && Match(o.place, id) })
}

// transition returns a rule for a transition.
func (n *netRules) transition(kind Kind, id string) Rule {
	return n.rule(kind, func(o *override) bool { return o.place == "" && Match(o.transition, id) })
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

// begins reports, by transition, whether it has no inputs. Such a transition is always
// enabled, so it is never starved.
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
