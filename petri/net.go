// SPDX-License-Identifier: Apache-2.0

package petri

import (
	"fmt"
	"strings"
)

// Net is a place/transition net as in its source, before checks and compilation. Places
// and Transitions are in the order of the file, which is also the order of the net's
// rows.
type Net struct {
	ID   string
	Name string // for people; "" if the source has none
	Doc  string // free text of the source, for descriptions
	File string // the source, for messages; "" if unknown
	Pos  Pos

	Places      []Place
	Transitions []Transition
	Arcs        []Arc

	// Scopes are the scopes of the net, in any order. Their parents make a tree, whose
	// root is the net itself: the scope "", which is not listed.
	Scopes []Scope

	// Shared makes the fields of data variables, as in BPMN: see Scope.Local. A run of a scope owns
	// them, and its tokens show them.
	Shared bool

	// FinalMarkings are the markings in which an instance should end, as the source
	// declares them; nil if it declares none. The token game ignores them.
	FinalMarkings []Marking

	// Model is the document that the net was made from; nil if that is not kept.
	Model *Model

	// Decisions are those that data of the net can name. Files of nets do not keep them.
	Decisions []*Decision
}

// Scope is a part of a net that runs again each time it is entered: an activity or a
// sub-process. The tokens of one run of a scope are apart from those of its other runs.
//
// A transition acts in the innermost scope of the places from which normal, read and join
// arcs lead to it, and in one run of it. Of a place of an outer scope it sees the tokens in
// the run that encloses its own; inhibitor and reset arcs of a place of an inner scope cover
// all runs inside of its own. A token that it puts into a place of an inner scope opens a
// new run of that scope, one for all tokens of the firing. A run without tokens and inner
// runs is gone.
type Scope struct {
	ID     string
	Parent string // the enclosing scope; "" for the net
	Pos    Pos

	// Begin and End are the ids of the transitions that open a run, and end it; "" if nothing needs
	// them. Leave are those by which something else leaves a run, such as an error that is thrown.
	Begin, End string
	Leave      []string

	// Local are the variables of which each run of the scope has its own, if the net is
	// Shared. With Apart, all are. Other variables are those of the scope around.
	Local []string
	Apart bool

	// In are the variables with which Begin begins a run, and Out those that End writes around it.
	In, Out []Assignment

	// Loop is set if the scope is one run of an activity that runs several times. The scope around
	// it is the activity as a whole.
	Loop *Loop
}

// Marking is the number of tokens by place id; a place that it lacks has none.
type Marking map[string]uint32

// Pos is a position in the source, both from 1. The zero Pos is unknown.
type Pos struct{ Line, Column int }

// Point is the position of a node, in the units of the source (points in PNML).
type Point struct{ X, Y float64 }

// Urgent is the priority of a transition before which no other fires: one that catches an
// event, for example. Every priority from math.MaxInt16 counts as Urgent.
const Urgent = 1 << 30

// Place is one place of a net.
type Place struct {
	ID      string
	Name    string
	Doc     string
	Initial uint32 // tokens in the initial marking
	Scope   string // the innermost scope that the place is in; "" for the net
	Data    PlaceData
	Open    bool   // tokens also leave it in ways that the net does not show, so it is never final
	Role    Role   // what the place is for
	Called  Called // of the Model: what the element is called
	Element string // of the Model: where the tokens are shown; "" for that of the id, or for none: see ElementOf
	At      *Point // nil if the source has none
	Pos     Pos
}

// PlaceData is what the data of the tokens of a place of a Shared net are.
type PlaceData uint8

// The kinds of PlaceData.
const (
	Variables  PlaceData = iota // variables that the run of the place's scope sees
	DataAround                  // variables that the run around it sees
)

// Transition is one transition of a net.
type Transition struct {
	ID       string
	Name     string
	Doc      string
	Priority int // higher fires first; default 0
	Role     Role
	Called   Called // of the Model: what the element is called
	At       *Point
	Pos      Pos

	// Guard is an expression over the data of the tokens that the transition takes or
	// tests. The transition is enabled only if it holds; "" always holds. Its beginning
	// says its language: "=" FEEL, "${" or "#{" UEL, otherwise pnagent's own. Lines
	// "unless EXPRESSION" before it hold if theirs does not; then it can be missing.
	// "once: " before it makes it not hold while a variable of UEL does not exist. Behind
	// is ["a", "b"] of "its source": it holds if its value is one of the texts, or a list of some;
	// behind has ["a"] of "its source": if it is a list with one of them.
	Guard string
	// Alternative marks one of several transitions of which one should take the tokens:
	// if the guards of all permanently reject them, that is an incident.
	Alternative bool
	// Trigger is what the transition waits for when it is enabled.
	Trigger Trigger
	// Throws is the event that a firing sends.
	Throws Event
	// Silent marks a transition that leaves no event in a log: it routes tokens only.
	// The token game ignores it.
	Silent bool
	// Preempts makes the transition also take tokens that a running transition holds,
	// which is then cancelled.
	Preempts bool
}

// Trigger is what a transition waits for when it is enabled.
type Trigger struct {
	Kind TriggerKind
	// Name is that of the event or the work, or the text of a timer. That of work which
	// begins with "=" is an expression of FEEL, which the engine compiles and does not
	// evaluate. For TriggerTimer it is
	// an expression over the data of the tokens that the transition takes or tests, as in
	// Guard, or a text with expressions of UEL in it. Its value is a date, a duration or a
	// cycle of ISO 8601; a duration begins when the transition is enabled.
	Name string
	// Micros is the delay of TriggerDelay, or the time of TriggerTime in
	// microseconds since the Unix epoch.
	Micros int64
	// Begins makes a timer begin instances, of a transition that needs no token: one each time, of all
	// instances of the net together. Times is how often it does; 0 is without end.
	Begins bool
	Times  uint32
	// Event is what a transition of TriggerEvent catches, in addition to firings
	// by its name. One that needs no token begins an instance.
	Event Event
}

// Eventful reports whether the transition throws or catches an event.
func (t *Transition) Eventful() bool {
	return t.Throws.Kind != EventNone || t.Trigger.Event.Kind != EventNone
}

// Event is a message or a signal that transitions throw and catch. The zero Event is
// none.
type Event struct {
	Kind EventKind
	// Name is the same at the throwing and the catching end: at most MaxEventName bytes, or
	// an expression, see Computed, whose value that is. It sees the tokens that the
	// transition takes or tests; at an event that begins an instance there are none.
	Name string
	// Key is an expression, of a message only: its value identifies one conversation. A
	// message reaches a catcher if the values at both ends are equal. It sees the
	// tokens that the transition takes or tests. "" is no key: such a catcher
	// accepts any key.
	Key string
}

// Computed reports whether the name is an expression: it begins with the sign of FEEL, or
// has expressions of UEL in it.
func (e Event) Computed() bool {
	return strings.HasPrefix(e.Name, "=") || strings.Contains(e.Name, "${") || strings.Contains(e.Name, "#{")
}

// EventKind is a kind of Event.
type EventKind uint8

// The kinds of events.
const (
	EventNone    EventKind = iota
	EventMessage           // it reaches one catcher
	EventSignal            // it reaches every catcher
)

// String returns the kind's name in messages and in PNML.
func (k EventKind) String() string {
	return [...]string{"none", "message", "signal"}[min(k, EventSignal)]
}

// MaxEventName is the largest length of the name of an event, and MaxEventKey that
// of the expression of its name or its key, in bytes.
const (
	MaxEventName = 255
	MaxEventKey  = 4 << 10
)

// TriggerKind is a kind of Trigger.
type TriggerKind uint8

// The kinds of triggers.
const (
	TriggerNone  TriggerKind = iota // it fires at once
	TriggerEvent                    // a user or another program fires it
	TriggerWork                     // it performs the bound work, or fires at once if there is none
	TriggerDelay                    // it was enabled for Micros
	TriggerTime                     // it is Micros
	TriggerTimer                    // the time is there that the expression Name gives
)

// String returns the kind's name in messages and in PNML.
func (k TriggerKind) String() string {
	return [...]string{"none", "event", "work", "delay", "time", "timer"}[min(k, TriggerTimer)]
}

// ArcKind is what an arc does with the tokens of its place.
type ArcKind uint8

const (
	// Normal takes Weight tokens (place to transition) or puts them.
	Normal ArcKind = iota
	// Inhibitor enables the transition while tokens < Weight.
	Inhibitor
	// Read enables the transition while tokens >= Weight and takes none.
	Read
	// Reset empties the place when the transition fires; it tests nothing.
	Reset
	// Join takes a token if there is one. A transition with such arcs is an
	// inclusive join: see Join.
	Join
	// Branch puts its tokens if its guard holds. A transition with such arcs is an
	// inclusive split: it is enabled if the guard of one of them holds, or if one is
	// the default, which is taken if no guard holds.
	Branch
)

// Arc connects a place and a transition, by their ids. Inhibitor, read, reset and
// join arcs lead from a place to a transition, branch arcs from a transition to
// a place.
type Arc struct {
	ID      string
	Source  string
	Target  string
	Kind    ArcKind
	Default bool // of a Branch arc: taken if no other is
	// Aside says which paths of inclusive joins, see JoinTest, do not lead along the arc. In
	// BPMN, tokens also move where no sequence flow leads, such as from an activity to its
	// boundary event.
	Aside  Aside
	Weight uint32 // 1 or more; ignored for Reset
	Pos    Pos

	Guard string // of a Branch arc: an expression as in Transition.Guard; "" always holds
}

// Name names an output arc for messages. One without an id leads to the place of a
// sequence flow, which has the flow's id.
func (a *Arc) Name() string {
	if a.ID == "" {
		return fmt.Sprintf("the arc to %q", a.Target)
	}
	return fmt.Sprintf("arc %q", a.ID)
}

// Aside is which paths of inclusive joins do not lead along an arc.
type Aside uint8

// The kinds of Aside.
const (
	AsideNone Aside = iota // all paths do
	AsideAll               // no path does
	AsideOwn               // no path of a join that has a reset arc from the arc's place: both are parts of one gateway
)

// String returns the value in messages and in PNML.
func (a Aside) String() string { return [...]string{"none", "all", "own"}[min(a, AsideOwn)] }

// String returns the kind's name in messages and in PNML.
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
