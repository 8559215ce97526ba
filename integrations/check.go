// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
)

// check is one call of check_snmp.
type check struct {
	Name     string // unique, of letters, digits and dashes: pn-2-place-7
	Title    string // for people; it has names of the net
	OID      string
	Label    string
	Units    string
	Warning  string // range; "" for none
	Critical string
}

// checks returns those of the agent, and of each net that was given, with the thresholds of
// the rules for alarms.
func (s *site) checks() (all []check) {
	add := func(name, title, object string, index smi.OID, warning, critical string) {
		all = append(all, s.check(name, title, object, index, warning, critical))
	}
	scalar := smi.OID{0}
	add("pn-view-age", "numbers are current", "pnAgentViewAge", scalar, "", strconv.Itoa(oldView))
	add("pn-nats", "connection to NATS", "pnAgentNatsState", scalar, "", "1")
	add("pn-stale", "silent sources", "pnAgentSourcesStale", scalar, "0", "")
	add("pn-refused", "refused sources", "pnAgentSourcesRefused", scalar, "0", "")
	for _, severity := range alarm.Severities() {
		warning, critical := thresholds(severity, "0")
		add("pn-alarms-"+severity.String(), "alarms that are "+severity.String(), countOf(severity), scalar, warning, critical)
	}
	for _, net := range s.Nets {
		all = append(all, s.netChecks(net)...)
	}
	return all
}

// netChecks returns the checks of a net with numbers.
func (s *site) netChecks(net *petri.Net) (all []check) {
	add := func(name, title, object string, index smi.OID, warning, critical string) {
		all = append(all, s.check(name, title, object, index, warning, critical))
	}
	locked := s.Lock.Net(net.ID)
	n := strconv.Itoa(int(locked.Number))
	if rule := s.Rules.Of(alarm.NetDeadlocked, net.ID, ""); rule.On {
		warning, critical := thresholds(rule.Severity, strconv.FormatFloat(rule.Above, 'f', -1, 64))
		add("pn-"+n+"-deadlocked", clip(net.ID)+": deadlocked instances", "pnNetDeadlockedInstances", smi.OID{locked.Number}, warning, critical)
	}
	final := net.FinalPlaces()
	for i := range net.Places {
		p := &net.Places[i]
		rule, e := s.Rules.Of(alarm.TokenStuck, net.ID, p.ID), locked.Place(p.ID)
		if final[i] || !rule.On {
			continue
		}
		warning, critical := thresholds(rule.Severity, seconds(rule.After))
		add(fmt.Sprintf("pn-%s-place-%d", n, e.Number), clip(net.ID)+": oldest token of "+clip(cmp.Or(p.Name, p.ID)), "pnPlaceOldestAge", smi.OID{locked.Number, e.Number}, warning, critical)
	}
	for i := range net.Transitions {
		t := &net.Transitions[i]
		rule, e := s.Rules.Of(alarm.TransitionStarved, net.ID, t.ID), locked.Transition(t.ID)
		if !rule.On || !hasInput(net, t.ID) {
			continue
		}
		warning, critical := thresholds(rule.Severity, seconds(rule.After))
		add(fmt.Sprintf("pn-%s-transition-%d", n, e.Number), clip(net.ID)+": waiting work of "+clip(cmp.Or(t.Name, t.ID)), "pnTransitionEnabledAge", smi.OID{locked.Number, e.Number}, warning, critical)
	}
	return all
}

// check returns a check of an object.
func (s *site) check(name, title, object string, index smi.OID, warning, critical string) check {
	o := s.objects[object]
	c := check{Name: name, Title: title, OID: o.OID.Append(index...).String(), Label: snake(o), Warning: warning, Critical: critical}
	if o.Units == "seconds" {
		c.Units = "s"
	}
	return c
}

// longest is the length of a name in a title, in characters once it is quoted: a title fits
// into the 255 of Nagios and of Icinga's database.
const longest = 100

// clip returns the beginning of a name that is too long.
func clip(name string) string {
	for end := range name {
		if utf8.RuneCountInString(plaintext.Escape(name[:end])) >= longest {
			return name[:end] + "…"
		}
	}
	return name
}

// hasInput reports whether a transition has an input. One without is always enabled.
func hasInput(net *petri.Net, id string) bool {
	return slices.ContainsFunc(net.Arcs, func(a petri.Arc) bool { return a.Target == id })
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// thresholds returns a limit as a warning or as critical, by the severity of its alarm.
func thresholds(s alarm.Severity, limit string) (warning, critical string) {
	if s == alarm.Critical || s == alarm.Major {
		return "", limit
	}
	return limit, ""
}
