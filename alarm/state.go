// SPDX-License-Identifier: Apache-2.0

package alarm

// Kind is what an alarm is about. The numbers are those of PetrinetAlarm in
// PETRINET-MIB.
type Kind uint8

// The kinds of alarms.
const (
	TokenStuck        Kind = 1 + iota // the oldest token of a place is too old
	TransitionStarved                 // a transition could fire and has not for too long
	SourceLost                        // a source is silent
	NetDeadlocked                     // instances of a net can never go on by themselves
	FailureRatio                      // too many runs of a transition fail
	TransitionLoop                    // a transition fires more often than it should
	NATSDisconnected                  // the sidecar has no connection to NATS
	SourceConflict                    // two processes publish as one source of one net
	SourceRefused                     // a source is heard, and its messages are refused
	RegionStopped                     // a region does not play on
)

// String returns the kind's name, as every face shows it.
func (k Kind) String() string {
	names := [...]string{"unknown", "tokenStuck", "transitionStarved", "sourceLost", "netDeadlocked", "failureRatio", "transitionLoop",
		"natsDisconnected", "sourceConflict", "sourceRefused", "regionStopped"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[0]
}

// Alarm is one that is active.
type Alarm struct {
	Index    uint32 // later alarms have larger numbers, over restarts too
	Kind     Kind
	Net      string // id; "" for an alarm about a source or the sidecar
	Subject  string // id of the place or transition, name of the source or the region, or "" if it is of the whole net or the sidecar
	Raised   int64  // microseconds since the Unix epoch
	Since    int64  // since when what it tells of is so
	Affected uint64 // tokens, instances, nets of a source, or 1 region
	Text     string // for people
}

// State is what is wrong at one moment. It is immutable and shared by every face.
type State struct {
	Active     []Alarm // by Index
	LastChange int64   // when Active last gained or lost one; 0 if it never did
	Suppressed uint64  // notifications that were held back, cumulative since the sidecar's start
}

// About returns what the alarm is about as the place, the transition or the
// source or the region that it is; the others are "", and all are for one of a
// whole net or of the sidecar.
func (a *Alarm) About() (place, transition, source, region string) {
	switch a.Kind {
	case TokenStuck:
		return a.Subject, "", "", ""
	case TransitionStarved, FailureRatio, TransitionLoop:
		return "", a.Subject, "", ""
	case SourceLost, SourceConflict, SourceRefused:
		return "", "", a.Subject, ""
	case RegionStopped:
		return "", "", "", a.Subject
	}
	return "", "", "", ""
}
