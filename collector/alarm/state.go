// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"cmp"
	"slices"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// Kind is the condition of an alarm. Its numbers are those of PetrinetAlarm in
// PETRINET-MIB.
type Kind uint8

// The kinds of alarms.
const (
	TokenStuck         Kind = 1 + iota // the oldest token of a place is too old
	TransitionStarved                  // a transition is enabled and has not fired for too long
	SourceLost                         // a source is silent
	NetDeadlocked                      // instances of a net are deadlocked
	FailureRatio                       // too many runs of a transition fail
	TransitionLoop                     // a transition fires too often
	NATSDisconnected                   // the sidecar has no connection to NATS
	SourceConflict                     // two processes publish as one source of one net
	SourceRefused                      // the messages of a source are refused
	RegionStopped                      // a region is stopped
	FiringMissed                       // a transition did not fire when it was due
	AgentXDisconnected                 // a sidecar has no session with its AgentX master
)

// String returns the name of the kind.
func (k Kind) String() string {
	names := [...]string{"unknown", "tokenStuck", "transitionStarved", "sourceLost", "netDeadlocked", "failureRatio", "transitionLoop",
		"natsDisconnected", "sourceConflict", "sourceRefused", "regionStopped", "firingMissed", "agentxDisconnected"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}

// Runbook returns the name of the kind's page in docs/runbooks.
func (k Kind) Runbook() string {
	switch k {
	case FailureRatio:
		return "transitionFailing.md"
	case TransitionLoop:
		return "transitionLooping.md"
	}
	return k.String() + ".md"
}

// KindNamed returns the kind with a name, and whether there is one.
func KindNamed(name string) (Kind, bool) {
	i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.String() == name })
	if i < 0 {
		return 0, false
	}
	return Kinds()[i], true
}

// Alarm is an active alarm.
type Alarm struct {
	Index    uint32 // later alarms have larger numbers, over restarts too
	Kind     Kind
	Net      string       // id; "" for an alarm about a source or the sidecar
	Subject  string       // id of the place or transition, name of the source or the region, or "" for the whole net or the sidecar
	Selects  stats.Reason // of tokenStuck: the reason of its rule; ReasonUnknown for a rule that names none
	Severity Severity     // by the rules; 0 in Saved, which does not keep it
	Raised   int64        // microseconds since the Unix epoch
	Since    int64        // since when the condition has held, or when a firing was due
	Affected uint64       // tokens, instances, nets of a source, 1 region, or missed firings
	Text     string       // for people
	Why      Why          // not in Saved

	// Lost are the sources that held what the alarm is about and do not report it any more,
	// by name. While there is one it is unknown whether the alarm is over.
	Lost *Origins
	// Unknown is why it is not known whether the condition still holds; "" if it is known.
	// Such an alarm stays active until there is evidence of its end, or a person closes it.
	Unknown string
	// Follows is the source without which there would be no alarm, and of which sourceLost
	// was active before; "" if there is none. Its notifications are held back while it is
	// set, and it is not counted by severity.
	Follows string

	// Unshown reports of a sourceConflict or sourceRefused that no rows of the source were
	// ever shown. None of its tokens can be gone, so the alarm ends with its messages.
	Unshown bool

	// Numbers of the text, in an ActiveSet only; 0 where the kind has none.
	After     time.Duration // of the rule
	Above     float64       // of the rule
	Window    time.Duration // of the rule
	Measured  float64       // the runs of which Affected failed, or the firings a second
	LastFired int64         // when the transition of a FiringMissed fired last, in microseconds since the Unix epoch
	Outdated  bool          // Since, Affected and Measured are of an earlier moment: whether the condition holds is not known, or it does not

	// Notes of operators, in an ActiveSet only.
	Ack           *Ack  // nil if it is not acknowledged
	SilencedUntil int64 // microseconds since the Unix epoch; 0 if it is not silenced
}

// Why is why the oldest token that an alarm is about does not move. The zero Why is not known.
type Why struct {
	Instance   string     // that holds the token
	Wait       stats.Wait // what it waits for; its Transition and Place are indices in the net's definition
	Transition string     // id
	Place      string     // id of the place that blocks the transition; "" for none
	Words      string     // the same for people
}

// Reason returns why the oldest token that the alarm is about does not move, also if only the reason
// of its rule is known.
func (a *Alarm) Reason() stats.Reason { return cmp.Or(a.Selects, a.Why.Wait.Reason) }

// ActiveSet is the set of active alarms at one moment. It is immutable and shared by all readers.
type ActiveSet struct {
	Active     []Alarm // by Index
	LastChange int64   // when Active last changed; 0 if it never did
	// Settling reports whether alarms may be missing from Active: this process, or its
	// reception after a break, began less than Rules.Settle ago.
	Settling   bool
	Suppressed uint64 // notifications suppressed since the sidecar's start

	// Resting are the places of each net in which tokens may stay, by an override that
	// turns tokenStuck off; ids, in order. It is not changed.
	Resting map[string][]string

	Silences []Silence      // those in effect, by their end
	Cleared  []ClearedAlarm // the last ones, the newest last
	Noted    uint64         // grows with each change of acknowledgements, silences and Cleared
}

// Differs reports whether alarms or notes have changed since another ActiveSet of the same
// Coordinator.
func (s *ActiveSet) Differs(before *ActiveSet) bool {
	return s.LastChange != before.LastChange || s.Noted != before.Noted
}

// BySeverity returns how many alarms are active, not silenced, and follow from no other
// one, by Severity.
func (s *ActiveSet) BySeverity() (n [severities]int) {
	for i := range s.Active {
		if a := &s.Active[i]; a.SilencedUntil == 0 && a.Follows == "" {
			n[a.Severity]++
		}
	}
	return n
}

// About returns the subject in the result of its type. The other results are "", and
// all are "" for an alarm about a whole net or the sidecar.
func (a *Alarm) About() (place, transition, source, region string) {
	switch a.Kind {
	case TokenStuck:
		return a.Subject, "", "", ""
	case TransitionStarved, FailureRatio, TransitionLoop, FiringMissed:
		return "", a.Subject, "", ""
	case SourceLost, SourceConflict, SourceRefused:
		return "", "", a.Subject, ""
	case RegionStopped:
		return "", "", "", a.Subject
	}
	return "", "", "", ""
}
