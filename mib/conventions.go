// SPDX-License-Identifier: Apache-2.0

package mib

import "strings"

// convention is one TEXTUAL-CONVENTION.
type convention struct {
	name, hint, text, reference, syntax string
	labels                              []string // of an enumeration, from 1
}

func conventions() []convention {
	return []convention{
		{name: "PetrinetIndex", hint: "d", syntax: "Unsigned32 (1..2147483647)",
			text: "The number of a row. It is never used again for anything else in its table, and pnNetIndex, pnPlaceIndex and pnTransitionIndex never change: graphs and rules may be kept by them."},
		{name: "PetrinetIndexOrZero", hint: "d", syntax: "Unsigned32 (0..2147483647)",
			text: "The number of a row as PetrinetIndex has it, or 0 for none. The object describes what none means."},
		{name: "PetrinetRate", hint: "d-3", syntax: "Gauge32",
			text: "A rate in thousandths a second. 1500 is one and a half a second, and is shown as 1.500."},
		{name: "PetrinetReason", reference: petriNets,
			text: "What a token or a transition waits for. unknown: the source does not report it. enabled: the transition can fire and waits for " +
				"its turn. running: it is firing. delayed: it fires at a set time. guarded: its guard is false. missing: a place is short of " +
				"tokens. inhibited: a place has too many tokens. manual: it is fired only from outside. dead: nothing in the instance can " +
				"ever enable it. incident: it failed permanently, or none of its branches can be taken; an operator has to act.",
			labels: []string{"unknown", "enabled", "running", "delayed", "guarded", "missing", "inhibited", "manual", "dead", "incident"}},
		{name: "PetrinetSourceState",
			text: "The state of a source as the agent sees it. up: it sent a message within three of its intervals. stale: it is silent, " +
				"and its tokens stay in the sums. gone: it stopped or was silent for so long that its tokens left the sums. undefined: " +
				"it publishes, but is not in the sums. refused: it publishes, but its messages are refused, and its last rows stay in the sums.",
			labels: []string{"up", "stale", "gone", "undefined", "refused"}},
		{name: "PetrinetAlarm",
			text: "What an alarm is about. tokenStuck: the oldest token of a place is too old. transitionStarved: a transition is enabled and " +
				"has not fired for too long. sourceLost: a source is silent. netDeadlocked: instances of a net are deadlocked. " +
				"failureRatio: too many runs of a transition fail; pnTransitionFailing reports it. transitionLoop: a transition fires too " +
				"often; pnTransitionLooping reports it. natsDisconnected: the agent has no connection to NATS. " +
				"sourceConflict: two processes publish as one source. sourceRefused: messages of a source are refused. regionStopped: a region of a net is stopped. The other kinds are reported by the notifications of their names, with pn before them.",
			labels: []string{"tokenStuck", "transitionStarved", "sourceLost", "netDeadlocked", "failureRatio", "transitionLoop", "natsDisconnected", "sourceConflict", "sourceRefused", "regionStopped"}},
		{name: "PetrinetSeverity", reference: "RFC 3877, ItuPerceivedSeverity of ITU-ALARM-TC-MIB, which has the same numbers; ITU-T X.733, perceived severity.",
			text: "How serious an alarm is. cleared: it is over; only notifications have it. indeterminate: not known. critical: an operator has to act now, " +
				"because work has stopped or the numbers cannot be trusted. major: an operator has to act soon, because work is lost or about to stop. " +
				"minor: an operator has to act today. warning: an operator should look into it. The rules of the agent give each alarm one of critical to warning.",
			labels: []string{"cleared", "indeterminate", "critical", "major", "minor", "warning"}},
	}
}

func (m *petrinetText) conventions() {
	for _, c := range conventions() {
		m.names = append(m.names, c.name)
		m.use("TEXTUAL-CONVENTION", strings.Fields(c.syntax + " INTEGER")[0])
		m.printf("%s ::= TEXTUAL-CONVENTION\n", c.name)
		if c.hint != "" {
			m.printf("    DISPLAY-HINT \"%s\"\n", c.hint)
		}
		syntax := c.syntax
		if len(c.labels) > 0 {
			syntax = enumeration(c.labels)
		}
		m.printf("    STATUS      current\n%s%s    SYNTAX      %s\n\n", descriptionClause(c.text), referenceClause(c.reference), syntax)
	}
}

// enumeration returns an INTEGER with its labels, one a line.
func enumeration(labels []string) string {
	const indent = "\n                    "
	return "INTEGER {" + indent + strings.Join(withNumbers(labels), ","+indent) + "\n                }"
}
