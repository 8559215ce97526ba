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
)

// Arc joins a place and a transition, by their ids. Inhibitor, read and reset
// arcs lead from a place to a transition.
type Arc struct {
	ID     string
	Source string
	Target string
	Kind   ArcKind
	Weight uint32 // 1 or more; not used by Reset
	Pos    Pos
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
	}
	return "unknown"
}
