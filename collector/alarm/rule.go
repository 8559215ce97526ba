// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"slices"
	"time"

	"github.com/pnagent/pnagent/internal/cron"
	"github.com/pnagent/pnagent/stats"
)

// Rule is the condition of one kind of alarm.
type Rule struct {
	On         bool
	Reason     stats.Reason  // of tokenStuck: only of tokens that wait for it; ReasonUnknown: of those whose reason no other rule selects
	Severity   Severity      // of its alarms
	After      time.Duration // the largest age of a token, or of an enabled transition that does not fire, or how late a firing may be
	Due        bool          // of tokenStuck: After counts from when a token was due, if that was later than its injection
	Above      float64       // the largest number of deadlocked instances, share of failed runs, or firings a second
	Runs       uint64        // the least number of runs in a window that is judged
	Window     time.Duration // over which runs and firings are counted
	For        time.Duration // how long the condition must hold before the alarm is raised
	ClearAfter time.Duration // how long it must not hold before the alarm is cleared

	// When a transition is to fire: this long after it fired last, or at the times of Cron. If both are
	// zero its engine says when.
	Every time.Duration
	Cron  *cron.Schedule
}

// kinds is one more than the last Kind.
const kinds = int(AgentXDisconnected) + 1

// Kinds lists every kind of alarm, in the order of their numbers.
func Kinds() []Kind {
	return []Kind{TokenStuck, TransitionStarved, SourceLost, NetDeadlocked, FailureRatio, TransitionLoop, NATSDisconnected,
		SourceConflict, SourceRefused, RegionStopped, FiringMissed, AgentXDisconnected}
}

// Rules are the rules of all kinds. The zero Rules raise nothing.
type Rules struct {
	// Settle is how long after a start an earlier alarm stays at least, so that each
	// source has time to publish.
	Settle time.Duration
	Page   string     // the address of the live page, for readers of notifications; "" if it is not given
	Sinks  []SinkRule // in the order of the file

	base      [kinds]Rule
	byReason  []change // of base: those of a reason, in order
	overrides []override
}

// override changes the rules of the subjects that its patterns match.
type override struct {
	net, place, transition, source string // patterns; "" matches everything
	changes                        []change
}

// change sets fields of one kind's rule, or of the rule of a reason.
type change struct {
	kind   Kind
	reason stats.Reason
	set    []func(*Rule)
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
		TokenStuck:         {On: true, Severity: Minor, After: 10 * time.Minute, ClearAfter: time.Minute},
		TransitionStarved:  {On: true, Severity: Warning, After: 10 * time.Minute, ClearAfter: time.Minute},
		SourceLost:         {On: true, Severity: Major, ClearAfter: 10 * time.Second},
		NetDeadlocked:      {On: true, Severity: Major, For: time.Minute, ClearAfter: time.Minute},
		FailureRatio:       {Severity: Minor, Above: 0.5, Runs: 20, Window: 5 * time.Minute, ClearAfter: time.Minute},
		TransitionLoop:     {Severity: Warning, Above: 1000, Window: time.Minute, ClearAfter: time.Minute},
		NATSDisconnected:   {On: true, Severity: Critical, For: 10 * time.Second},
		SourceConflict:     {On: true, Severity: Major, For: 10 * time.Second, ClearAfter: 30 * time.Second},
		SourceRefused:      {On: true, Severity: Major, For: 10 * time.Second, ClearAfter: 10 * time.Second},
		RegionStopped:      {On: true, Severity: Critical, ClearAfter: 10 * time.Second},
		FiringMissed:       {On: true, Severity: Major, After: 5 * time.Minute},
		AgentXDisconnected: {On: true, Severity: Major, For: 30 * time.Second},
	}}
}

// of returns the rule of an alarm.
func (r *Rules) of(a *Alarm) Rule {
	if a.Selects == stats.ReasonUnknown {
		return r.Of(a.Kind, a.Net, a.Subject)
	}
	n := r.net(a.Net)
	for _, rule := range n.stuck(a.Subject) {
		if rule.Reason == a.Selects {
			return rule
		}
	}
	return Rule{Reason: a.Selects} // off
}

// Of returns the rule of a kind for a subject of a net: the id of a place or transition, or
// the name of a source. net or subject is "" where alarms of the kind have none. Of a place it is
// the rule that selects no reason.
func (r *Rules) Of(kind Kind, net, subject string) Rule {
	n := r.net(net)
	switch kind {
	case SourceLost, SourceConflict, SourceRefused:
		return r.source(kind, subject)
	case NATSDisconnected, AgentXDisconnected:
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
		if c := &o.changes[i]; c.kind == kind && c.reason == stats.ReasonUnknown {
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

// stuck returns the rules for the tokens of a place: that of place, then one for each reason that a
// rule selects. What the rule of a reason does not set is as in that of place. What it sets counts
// before that, also if place is a pattern of the other rule.
func (n *netRules) stuck(id string) []Rule {
	rules := []Rule{n.place(TokenStuck, id)}
	take := func(changes []change) {
		for k := range changes {
			c := &changes[k]
			if c.reason == stats.ReasonUnknown {
				continue
			}
			i := slices.IndexFunc(rules, func(r Rule) bool { return r.Reason == c.reason })
			if i < 0 {
				i, rules = len(rules), append(rules, rules[0])
				rules[i].Reason = c.reason
			}
			c.apply(&rules[i])
		}
	}
	take(n.rules.byReason)
	for _, o := range n.overrides {
		if o.transition == "" && Match(o.place, id) {
			take(o.changes)
		}
	}
	return rules
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
