// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/duration"
	"github.com/pnagent/pnagent/petri/yamlfile"
	"github.com/pnagent/pnagent/stats"
)

const (
	maxOverrides  = 1000
	maxStuckRules = int(stats.LastReason) + 1 // of one place
	maxPattern    = 256                       // bytes
	maxTime       = 10 * 365 * 24 * time.Hour // of every duration
)

// ruleName is the name of a kind's rule in a file, and the keys that it may set.
type ruleName struct {
	name string
	kind Kind
	keys []string
}

func ruleNames() []ruleName {
	return []ruleName{
		{"stuck", TokenStuck, []string{"reason", "after", "for", "clear_after", "severity"}},
		{"starved", TransitionStarved, []string{"after", "for", "clear_after", "severity"}},
		{"lost", SourceLost, []string{"for", "clear_after", "severity"}},
		{"deadlocked", NetDeadlocked, []string{"above", "for", "clear_after", "severity"}},
		{"failures", FailureRatio, []string{"above", "runs", "window", "for", "clear_after", "severity"}},
		{"loop", TransitionLoop, []string{"above", "window", "for", "clear_after", "severity"}},
		{"nats", NATSDisconnected, []string{"for", "clear_after", "severity"}},
		{"agentx", AgentXDisconnected, []string{"for", "clear_after", "severity"}},
		{"conflict", SourceConflict, []string{"for", "clear_after", "severity"}},
		{"refused", SourceRefused, []string{"for", "clear_after", "severity"}},
		{"stopped", RegionStopped, []string{"for", "clear_after", "severity"}},
		{"expect", FiringMissed, []string{"every", "cron", "zone", "grace", "clear_after", "severity"}},
	}
}

// ReadRules reads rules from YAML:
//
//	settle: 30s          # how long after a start earlier alarms stay at least
//	defaults:            # for all nets; a missing field is as in DefaultRules
//	  stuck:      {after: 10m, for: 0s, clear_after: 1m}
//	  starved:    {after: 10m, for: 0s, clear_after: 1m}
//	  lost:       {for: 0s, clear_after: 10s}
//	  deadlocked: {above: 0, for: 1m, clear_after: 1m}
//	  failures:   {above: 20%, runs: 20, window: 5m}
//	  loop:       {above: 100/s, window: 1m}
//	  nats:       {for: 10s, clear_after: 0s}
//	  agentx:     {for: 30s, clear_after: 0s}
//	  stopped:    {for: 0s, clear_after: 10s}
//	  expect:     {grace: 5m}
//	overrides:           # in order; for each field the last match counts
//	  - {net: "order-*", place: "awaiting*", stuck: {after: 2h, severity: major}}
//	  - {net: backup, transition: release, starved: off}
//	  - {net: backup, transition: start, expect: {cron: "0 3 * * *", zone: Europe/Berlin, grace: 15m}}
//	  - {source: "test-*", lost: off}
//	page: https://nets.example.org:9797   # for links in notifications
//	sinks:               # besides those for SNMP
//	  oncall: {mail: [oncall@example.org], severity: major, repeat: 4h, escalate: {after: 30m, to: manager}}
//
// A rule is on, off, or a mapping, which switches it on. stuck is also a list of these: a mapping
// with a reason is a rule of its own, for the tokens that wait for that reason, and
// {reason: delayed, after: off} switches it off. "after: due + 5m" counts from the time when a token
// was due. Every rule may have a severity, see Severities. In patterns "*" matches any
// number of characters and "?" one. An override has at least one of net, place,
// transition and source. With a source it has no other pattern and sets only lost,
// conflict and refused. With a place it sets only stuck, with a transition only starved,
// failures, loop and expect, and with only a net everything but lost, nats and agentx. Only one with a
// transition says when that is expected to fire, by every or by cron; the zone is UTC if there is none.
//
// The error joins all faults of the file, each of the form file:line:column:
// what was found; what was expected.
func ReadRules(r io.Reader, file string) (*Rules, error) {
	root, err := yamlfile.Read(r, file)
	if err != nil {
		return nil, err
	}
	return RulesOf(root)
}

// HoldsRules reports whether a file has rules: a mapping with a key that only such a
// file has.
func HoldsRules(root yamlfile.Node) (holds bool) {
	if root.IsEmpty() {
		return false
	}
	_ = root.Each("", func(key yamlfile.Key, _ yamlfile.Node) error { // the caller reports its faults
		holds = holds || slices.Contains([]string{"settle", "defaults", "overrides", "page", "sinks"}, key.Name)
		return nil
	})
	return holds
}

// RulesOf reads rules from a part of a file; see ReadRules.
func RulesOf(root yamlfile.Node) (*Rules, error) {
	rules := DefaultRules()
	if root.IsEmpty() {
		return rules, nil
	}
	const expected = "a mapping with the keys settle, defaults, overrides, page and sinks"
	err := root.Fields(expected, expected, map[string]func(yamlfile.Node) error{
		"settle":    yamlfile.Into(&rules.Settle, durationOf),
		"defaults":  rules.readDefaults,
		"overrides": rules.readOverrides,
		"page":      rules.readPage,
		"sinks":     rules.readSinks,
	})
	if err != nil {
		return nil, err
	}
	return rules, nil
}

func (r *Rules) readDefaults(n yamlfile.Node) error {
	return n.Each("a mapping from rules such as stuck", func(key yamlfile.Key, value yamlfile.Node) error {
		changes, err := readRule(key, value, nil, false)
		for i := range changes {
			if c := &changes[i]; c.reason == stats.ReasonUnknown && err == nil {
				c.apply(&r.base[c.kind])
			} else {
				r.byReason = append(r.byReason, *c)
			}
		}
		return err
	})
}

func (r *Rules) readOverrides(n yamlfile.Node) error {
	list, ok := n.List()
	if !ok {
		return n.Expected("a list of overrides such as {net: orders, stuck: {after: 1h}}")
	}
	if len(list) > maxOverrides {
		return n.Fault("%d overrides; expected at most %d", len(list), maxOverrides)
	}
	var faults []error
	for _, entry := range list {
		o, err := overrideOf(entry)
		r.overrides = append(r.overrides, o)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func overrideOf(n yamlfile.Node) (o override, err error) {
	const expected = "an override such as {net: orders, stuck: {after: 1h}}"
	patterns := map[string]*string{"net": &o.net, "place": &o.place, "transition": &o.transition, "source": &o.source}
	err = n.Each(expected, func(key yamlfile.Key, value yamlfile.Node) error {
		pattern := patterns[key.Name]
		if pattern == nil {
			return nil
		}
		s, ok := value.Scalar()
		if !ok || s == "" || len(s) > maxPattern {
			return value.Expected(fmt.Sprintf("a pattern of 1 to %d bytes, such as order-*", maxPattern))
		}
		*pattern = s
		return nil
	})
	if err != nil {
		return o, err
	}
	allowed, err := o.kinds(n)
	if err != nil {
		return o, err
	}
	err = n.Each(expected, func(key yamlfile.Key, value yamlfile.Node) error {
		if patterns[key.Name] != nil {
			return nil
		}
		changes, err := readRule(key, value, allowed, o.transition != "")
		o.changes = append(o.changes, changes...)
		return err
	})
	if err == nil && len(o.changes) == 0 {
		err = n.Fault("an override without a rule; expected one of %s", strings.Join(namesOf(allowed), ", "))
	}
	return o, err
}

// kinds returns the kinds that an override with these patterns may set.
func (o *override) kinds(n yamlfile.Node) ([]Kind, error) {
	switch {
	case o.source != "" && o.net+o.place+o.transition != "":
		return nil, n.Fault("a source beside a net, place or transition; expected the source alone, since an alarm is about all of it")
	case o.place != "" && o.transition != "":
		return nil, n.Fault("a place beside a transition; expected one of them")
	case o.source != "":
		return []Kind{SourceLost, SourceConflict, SourceRefused}, nil
	case o.place != "":
		return []Kind{TokenStuck}, nil
	case o.transition != "":
		return []Kind{TransitionStarved, FailureRatio, TransitionLoop, FiringMissed}, nil
	case o.net != "":
		return []Kind{TokenStuck, TransitionStarved, NetDeadlocked, FailureRatio, TransitionLoop, RegionStopped, FiringMissed}, nil
	}
	return nil, n.Fault("an override that names nothing; expected net, place, transition or source, or the rule under defaults")
}

// namesOf returns the names of the rules of these kinds; nil is all kinds.
func namesOf(allowed []Kind) []string {
	var names []string
	for _, r := range ruleNames() {
		if allowed == nil || slices.Contains(allowed, r.kind) {
			names = append(names, r.name)
		}
	}
	return names
}

// readRule reads the rule of one kind, or the rules of stuck. Only the rule of a transition says when it
// is expected to fire.
func readRule(key yamlfile.Key, n yamlfile.Node, allowed []Kind, ofTransition bool) ([]change, error) {
	names := namesOf(allowed)
	if !slices.Contains(names, key.Name) {
		return nil, key.Fault("unknown key %q; expected one of %s", key.Name, strings.Join(names, ", "))
	}
	all := ruleNames()
	rule := all[slices.IndexFunc(all, func(r ruleName) bool { return r.name == key.Name })]
	list, ok := n.List()
	if !ok || rule.kind != TokenStuck {
		c, err := readOneRule(rule, n, ofTransition)
		return []change{c}, err
	}
	if len(list) == 0 || len(list) > maxStuckRules {
		return nil, n.Fault("%d rules; expected 1 to %d", len(list), maxStuckRules)
	}
	var changes []change
	var faults []error
	for _, entry := range list {
		c, err := readOneRule(rule, entry, ofTransition)
		if err == nil && slices.ContainsFunc(changes, func(o change) bool { return o.reason == c.reason }) {
			err = entry.Fault("a second rule for reason %s; expected one for each reason, and one without", c.reason)
		}
		changes, faults = append(changes, c), append(faults, err)
	}
	return changes, errors.Join(faults...)
}

// readOneRule reads one rule.
func readOneRule(rule ruleName, n yamlfile.Node, ofTransition bool) (c change, err error) {
	c.kind = rule.kind
	if s, ok := n.Scalar(); ok {
		if s != "on" && s != "off" {
			return c, n.Expected("on, off, or a mapping with " + strings.Join(rule.keys, ", "))
		}
		c.set = []func(*Rule){func(r *Rule) { r.On = s == "on" }}
		return c, nil
	}
	var expected expectation
	c.set = []func(*Rule){func(r *Rule) { r.On = true }}
	err = n.Each("on, off, or a mapping with "+strings.Join(rule.keys, ", "), func(key yamlfile.Key, value yamlfile.Node) error {
		if !slices.Contains(rule.keys, key.Name) {
			return key.Fault("unknown key %q; expected one of %s", key.Name, strings.Join(rule.keys, ", "))
		}
		if into := expected.node(key.Name); into != nil {
			if !ofTransition {
				return key.Fault("%s without a transition; expected it in an override with one", key.Name)
			}
			*into = value
			return nil
		}
		if key.Name == "reason" {
			reason, err := reasonOf(value)
			c.reason = reason
			return err
		}
		set, err := fieldOf(rule.kind, key.Name, value)
		c.set = append(c.set, set)
		return err
	})
	if err != nil {
		return c, err
	}
	set, err := expected.change()
	if set != nil {
		c.set = append(c.set, set)
	}
	return c, err
}

// fieldOf reads one field of a rule.
func fieldOf(kind Kind, name string, n yamlfile.Node) (func(*Rule), error) {
	switch name {
	case "above":
		v, err := aboveOf(kind, n)
		return func(r *Rule) { r.Above = v }, err
	case "runs":
		v, err := countOf(n)
		return func(r *Rule) { r.Runs = v }, err
	case "severity":
		v, err := severityOf(n)
		return func(r *Rule) { r.Severity = v }, err
	case "after":
		return afterOf(kind, n)
	}
	d, err := durationOf(n)
	switch name {
	case "grace":
		return func(r *Rule) { r.After = d }, err
	case "for":
		return func(r *Rule) { r.For = d }, err
	case "clear_after":
		return func(r *Rule) { r.ClearAfter = d }, err
	}
	if err == nil && d < time.Second {
		err = n.Expected("a window of a second or more, such as 5m")
	}
	return func(r *Rule) { r.Window = d }, err
}

// afterOf reads an age, of tokens also one that counts from when they were due, or off.
func afterOf(kind Kind, n yamlfile.Node) (func(*Rule), error) {
	s, _ := n.Scalar()
	if kind != TokenStuck {
		d, err := durationOf(n)
		return func(r *Rule) { r.After = d }, err
	}
	if s == "off" {
		return func(r *Rule) { r.On = false }, nil
	}
	s, due := strings.CutPrefix(s, "due")
	s, plus := strings.CutPrefix(strings.TrimSpace(s), "+")
	d, err := duration.Parse(strings.TrimSpace(s))
	if due && !plus && s == "" {
		d, plus, err = 0, true, nil
	}
	if err != nil || plus != due || d < 0 || d > maxTime {
		return nil, n.Expected("a duration from 0s to 10 years such as 10m, one from when a token was due such as due + 5m, or off")
	}
	return func(r *Rule) { r.After, r.Due = d, due }, nil
}

func reasonOf(n yamlfile.Node) (stats.Reason, error) {
	name, _ := n.Scalar()
	if r := stats.ReasonNamed(name); r != stats.ReasonUnknown {
		return r, nil
	}
	var names []string
	for r := stats.ReasonUnknown + 1; r <= stats.LastReason; r++ {
		names = append(names, r.String())
	}
	return stats.ReasonUnknown, n.Expected("a reason: one of " + strings.Join(names, ", "))
}

func durationOf(n yamlfile.Node) (time.Duration, error) {
	s, _ := n.Scalar()
	d, err := duration.Parse(s)
	if err != nil || d < 0 || d > maxTime {
		return 0, n.Expected("a duration from 0s to 10 years such as 30s, 10m or 1h30m")
	}
	return d, nil
}

func severityOf(n yamlfile.Node) (Severity, error) {
	name, _ := n.Scalar()
	s, ok := SeverityNamed(name)
	if !ok {
		return 0, n.Expected("critical, major, minor or warning")
	}
	return s, nil
}

func countOf(n yamlfile.Node) (uint64, error) {
	s, _ := n.Scalar()
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, n.Expected("a number from 0 to 4294967295")
	}
	return v, nil
}

// aboveOf reads a threshold: instances, a share, or a rate.
func aboveOf(kind Kind, n yamlfile.Node) (float64, error) {
	s, _ := n.Scalar()
	switch kind {
	case NetDeadlocked:
		v, err := countOf(n)
		return float64(v), err
	case FailureRatio:
		number, percent := strings.CutSuffix(s, "%")
		v, err := strconv.ParseFloat(number, 64)
		if percent {
			v /= 100
		}
		if err != nil || !(v >= 0 && v < 1) {
			return 0, n.Expected("a share such as 20% or 0.2, below 100%")
		}
		return v, nil
	}
	count, unit, _ := strings.Cut(s, "/")
	seconds := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	v, err := strconv.ParseFloat(count, 64)
	if err != nil || seconds == 0 || !(v > 0 && v <= 1e9) {
		return 0, n.Expected("a rate such as 100/s, 30/m or 2/h, above 0 and at most a thousand million")
	}
	return v / seconds, nil
}
