// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"slices"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
)

// shown is a table as tools show it.
type shown struct {
	Key     string   // beginning of the names of metrics: place
	Title   string   // Places
	Section string   // pnPlaceTable
	Net     string   // column with the id of the net
	ID      string   // column with the id of the row; "" if Net has it
	Label   string   // column with the name of the row for people
	Final   string   // column that is true(1) for rows in which tokens stay on purpose; "" for none
	Columns []string // that have numbers
}

// tables returns what tools show of each row that they discover.
func tables() []shown {
	return []shown{
		{"net", "Nets", "pnNetTable", "pnNetName", "", "pnNetName", "", prefixed("pnNet", "OldestAge", "Tokens", "ActiveInstances", "DeadlockedInstances",
			"CreatedInstances", "FinishedInstances", "FailedInstances", "Firings", "SourcesUp", "SourcesStale", "WaitingWork")},
		{"place", "Places", "pnPlaceTable", "pnPlaceNet", "pnPlaceId", "pnPlaceName", "pnPlaceFinal", prefixed("pnPlace", "OldestAge", "MeanAge", "Tokens",
			"Instances", "Arrivals", "Departures")},
		{"transition", "Transitions", "pnTransitionTable", "pnTransitionNet", "pnTransitionId", "pnTransitionName", "", prefixed("pnTransition", "EnabledAge",
			"Enabled", "Running", "Firings", "Failures", "Retries", "Timeouts")},
		{"source", "Sources", "pnSourceTable", "pnSourceNet", "pnSourceName", "pnSourceName", "", prefixed("pnSource", "State", "Silence", "Gaps", "Restarts")},
	}
}

// scalars returns the numbers of the agent that tools show.
func scalars() []string {
	return append(prefixed("pnAgent", "ViewAge", "Nets", "SourcesUp", "SourcesStale", "SourcesGone", "SourcesRefused", "NatsState", "MessagesReceived",
		"MessagesLost", "MessagesBad", "NotificationsSuppressed"), prefixed("pnAlarm", "Active", "Critical", "Major", "Minor", "Warning")...)
}

// oldView is the age of the numbers, in seconds, from which they cannot be trusted.
const oldView = 10

func prefixed(prefix string, names ...string) []string {
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// known returns the objects of these names; "" stands for none.
func (s *site) known(names []string) (all []mib.Object) {
	for _, name := range names {
		if name != "" {
			all = append(all, s.objects[name])
		}
	}
	return all
}

// numbers returns the columns of a table that have numbers.
func (s *site) numbers(t *shown) []mib.Object { return s.known(t.Columns) }

// names returns the columns that name a row of a table: the net, and the id and the name for
// people where they are others.
func (t *shown) names() (all []string) {
	for _, name := range []string{t.Net, t.ID, t.Label} {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// word returns the name of a column without that of its table, in lower camel case: oldestAge.
func word(o mib.Object) string {
	for _, prefix := range []string{"pnNet", "pnPlace", "pnTransition", "pnSource", "pnAgent", "pnAlarm"} {
		if rest, is := strings.CutPrefix(o.Name, prefix); is {
			return strings.ToLower(rest[:1]) + rest[1:]
		}
	}
	return o.Name
}

// spaced returns the name of a column in words: Oldest age.
func spaced(o mib.Object) string {
	var out strings.Builder
	for i, r := range word(o) {
		switch {
		case i == 0:
			out.WriteString(strings.ToUpper(string(r)))
		case r >= 'A' && r <= 'Z':
			out.WriteString(" " + strings.ToLower(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// snake returns the name of a column with underscores, and its unit if that is a duration:
// oldest_age_seconds.
func snake(o mib.Object) string {
	name := strings.ReplaceAll(strings.ToLower(spaced(o)), " ", "_")
	if o.Units == "seconds" || o.Units == "milliseconds" {
		name += "_" + o.Units
	}
	return name
}

func isCounter(o mib.Object) bool {
	return o.Type == smi.TypeCounter32 || o.Type == smi.TypeCounter64
}

func isRate(o mib.Object) bool { return o.Syntax == "PetrinetRate" }

// isNumber reports whether a value is a number for graphs.
func isNumber(o mib.Object) bool {
	return !o.Key && o.Type != smi.TypeOctetString && o.Type != smi.TypeObjectIdentifier
}

// sentence returns the first sentence of an object's description.
func sentence(o mib.Object) string {
	text, _, _ := strings.Cut(o.Text, ". ")
	return strings.TrimSuffix(text, ".") + "."
}

// countOf returns the name of the number of active alarms of a severity.
func countOf(s alarm.Severity) string {
	name := s.String()
	return "pnAlarm" + strings.ToUpper(name[:1]) + name[1:]
}

// varbind returns the place of an object in a notification, from 1; 0 if it is not there.
func varbind(n mib.Notification, object string) int { return slices.Index(n.Objects, object) + 1 }
