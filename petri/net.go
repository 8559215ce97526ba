// SPDX-License-Identifier: Apache-2.0

package petri

// Net is a place/transition net as its source describes it: not yet checked,
// not yet compiled. The order of Places and Transitions is the order in the
// file, and it is the order of columns wherever rows of this net are kept.
type Net struct {
	ID   string
	Name string // for people; "" if the source gives none
	Doc  string // free text of the source, for descriptions
	File string // where it was read from, for messages; "" if unknown
	Pos  Pos

	Places      []Place
	Transitions []Transition
	Arcs        []Arc
}

// Pos is a position in the source, both from 1. The zero Pos is unknown.
type Pos struct{ Line, Column int }

// Point is where a node is drawn, in the units of the source (points in PNML).
type Point struct{ X, Y float64 }

// Place is one place of a net.
type Place struct {
	ID      string
	Name    string
	Doc     string
	Initial uint32 // tokens in the initial marking
	At      *Point // nil if the source gives no position
	Pos     Pos
}

// Transition is one transition of a net.
type Transition struct {
	ID       string
	Name     string
	Doc      string
	Priority int // higher goes first; 0 unless the source says otherwise
	At       *Point
	Pos      Pos

	// Guard is an expression over the data of the tokens that the transition
	// takes or tests; it is enabled only where it holds. "" always does.
	Guard string
	// Alternative says that some transition is meant to take the tokens that this
	// one could: that its guard says no to them for good is an incident.
	Alternative bool
	// Trigger says what the transition waits for when it is enabled.
	Trigger Trigger
	// Preempts lets the transition take tokens that are in flight, on a running
	// transition: that one is cancelled.
	Preempts bool
}

// Trigger is what a transition waits for when it is enabled, as far as the
// source says it.
type Trigger struct {
	Kind TriggerKind
	Name string // of the event or the work; the expression of a timer
	// Micros is the delay of TriggerDelay, or the time of TriggerTime in
	// microseconds since the Unix epoch.
	Micros int64
}

// TriggerKind is a kind of Trigger.
type TriggerKind uint8

// The kinds of triggers.
const (
	TriggerNone  TriggerKind = iota // it fires at once
	TriggerEvent                    // somebody, or something outside, fires it
	TriggerWork                     // it performs work, if some is bound to it; else it fires at once
	TriggerDelay                    // it was enabled for Micros
	TriggerTime                     // it is Micros
)

// String returns the kind's name as the messages and the PNML writer use it.
func (k TriggerKind) String() string {
	return [...]string{"none", "event", "work", "delay", "time"}[min(k, TriggerTime)]
}

// ArcKind says what an arc does with the tokens of its place.
type ArcKind uint8

const (
	// Normal takes Weight tokens (place to transition) or puts them.
	Normal ArcKind = iota
	// Inhibitor lets the transition be enabled while tokens < Weight.
	Inhibitor
	// Read lets the transition be enabled while tokens >= Weight and takes none.
	Read
	// Reset empties the place when the transition fires; it tests nothing.
	Reset
	// Join takes a token if there is one. A transition with such arcs is an
	// inclusive join: see Join.
	Join
	// Branch puts its tokens if its guard holds. A transition with such arcs is
	// an inclusive split: it is enabled where the guard of one of them holds, or
	// where one is the default, which is taken if no guard holds.
	Branch
)

// Arc joins a place and a transition, by their ids. Inhibitor, read, reset and
// join arcs lead from a place to a transition, branch arcs from a transition to
// a place.
type Arc struct {
	ID     string
	Source string
	Target string
	Kind   ArcKind
	Weight uint32 // 1 or more; not used by Reset
	Pos    Pos

	Guard   string // of a Branch arc: an expression; "" always holds
	Default bool   // of a Branch arc: taken if no other is
}

// String returns the kind's name as the messages and the PNML writer use it.
func (k ArcKind) String() string {
	switch k {
	case Normal:
		return "normal"
	case Inhibitor:
		return "inhibitor"
	case Read:
		return "read"
	case Reset:
		return "reset"
	case Join:
		return "join"
	case Branch:
		return "branch"
	}
	return "unknown"
}
