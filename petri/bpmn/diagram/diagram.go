// SPDX-License-Identifier: Apache-2.0

package diagram

import "github.com/pnagent/pnagent/petri"

// Diagram is one picture. Lengths are in pixels at the natural size, and y grows
// downwards. All numbers are finite.
type Diagram struct {
	ID    string
	Name  string
	Plane string // the id of the process, the collaboration or the sub-process that it shows
	// Shapes and Edges are in the order of the file; a shape is after those that enclose it
	// in a diagram of Layout.
	Shapes []Shape
	Edges  []Edge
}

// Bounds is a rectangle.
type Bounds struct{ X, Y, W, H float64 }

// Point is a place on the diagram.
type Point = petri.Point

// Shape is an element that has an area.
type Shape struct {
	Element string // the id of the element
	Kind    string // the name of its XML element, such as "userTask"
	Name    string // of an annotation: its text
	Bounds
	Label *Bounds // of the name; nil if the file has none

	Expanded   bool // of a sub-process and a call activity: its content is in it
	Horizontal bool // of a participant and a lane
	Marker     bool // of an exclusive gateway: it shows its X
	Traits
}

// Traits are what a picture shows of an element beside its kind.
type Traits struct {
	Event        string // of an event: "none", "message", …, "multiple", "parallelMultiple"
	Continues    bool   // of an event: it does not interrupt
	Loop         string // of an activity: "", "loop", "parallel" or "sequential"
	Compensation bool   // of an activity: it compensates
	AdHoc        bool
	ByEvent      bool // of a sub-process: an event begins it
	Instantiates bool // of an event gateway and a receive task: it begins a process
	Several      bool // of data and participants: there are several
	ParallelGate bool // of an event gateway: it waits for all events
	BlackBox     bool // of a participant: its process is not in the file
	CallsTask    bool // of a call activity: it calls a global task of the file
}

// expanded reports whether a shape is an activity with its content in it.
func (s *Shape) expanded() bool {
	return s.Expanded && (isSub(s.Kind) || s.Kind == "callActivity")
}

// Edge is an element that connects others.
type Edge struct {
	Element string
	Kind    string // such as "sequenceFlow"
	Name    string
	Points  []Point // two or more
	Label   *Bounds

	Source, Target string // ids of elements
	Default        bool   // of a sequence flow
	Conditional    bool   // of a sequence flow of an activity
	Direction      string // of an association: "None", "One", "Both"
}
