// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"math"

	"github.com/pnagent/pnagent/petri"
)

// Drawing is the layout of a net. Lengths are in pixels at the natural size, and y
// grows downwards. Everything is within 0 to Width and 0 to Height. All numbers are
// finite and have at most one decimal.
type Drawing struct {
	Width, Height float64
	Given         bool   // the positions are those of the source; otherwise layered
	Nodes         []Node // places first, then transitions, in the order of the net
	Arcs          []Arc  // in the order of the net
}

// Node is a place or a transition. A place is a circle (W and H are the same),
// a transition is a box.
type Node struct {
	Place bool    // otherwise a transition
	X, Y  float64 // the centre
	W, H  float64
	// Label is the name or the id, in lines separated by '\n': without characters
	// that a picture cannot show, wrapped, and shortened with an ellipsis. Lines
	// are LineHeight apart, in a font of FontSize, centred at X. A transition has
	// them centred in its box, a place has them below its circle, the middle of
	// the first at Y + H/2 + LabelGap + LineHeight/2.
	Label string

	below float64 // free height below it, for what a caller draws there
}

// The font of labels.
const (
	FontSize   = 12
	LineHeight = 14
	LabelGap   = 2
)

// Arc is an arc of the net. From and To are indices of Nodes. Points lead from
// the border of From to the border of To, two or more, joined by straight lines;
// a picture may round the corners.
type Arc struct {
	From, To int
	Kind     petri.ArcKind
	Weight   uint32
	Points   []Point
}

// Point is a place on the drawing.
type Point = petri.Point

// Wide is the ratio of width to height of most screens.
const Wide = 1.6

// Net lays out a net that passes [petri.Net.Validate]. In another net it leaves out
// arcs that do not connect a place and a transition. A large drawing gets about the
// ratio of width to height that aspect asks for, unless its positions are given.
func Net(n *petri.Net, aspect float64) *Drawing {
	d := newDrawing(n)
	if at := givenPositions(n, d); at != nil {
		d.Given = true
		d.place(at)
		d.straight(func(int) bool { return true })
	} else {
		d.layered(plan{first: func(node int) bool { return node < len(n.Places) && n.Places[node].Initial > 0 }, aspect: aspect})
	}
	d.fit()
	return d
}

// newDrawing returns nodes with labels and sizes, and arcs, all without positions.
func newDrawing(n *petri.Net) *Drawing {
	d := &Drawing{Nodes: make([]Node, 0, len(n.Places)+len(n.Transitions))}
	index := make(map[string]int, cap(d.Nodes))
	for i := range n.Places {
		p := &n.Places[i]
		index[p.ID] = len(d.Nodes)
		d.Nodes = append(d.Nodes, Node{Place: true, W: placeSize, H: placeSize, Label: label(p.Name, p.ID)})
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		index[t.ID] = len(d.Nodes)
		d.Nodes = append(d.Nodes, newTransition(t))
	}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		from, okFrom := index[a.Source]
		to, okTo := index[a.Target]
		if okFrom && okTo && (from < len(n.Places)) != (to < len(n.Places)) {
			d.Arcs = append(d.Arcs, Arc{From: from, To: to, Kind: a.Kind, Weight: a.Weight})
		}
	}
	return d
}

// margin is the free space around the drawing.
const margin = 24

// fit moves everything to the margin, sets the size, and rounds to one decimal.
func (d *Drawing) fit() {
	b := nothing()
	for i := range d.Nodes {
		b.add(d.Nodes[i].footprint())
	}
	for i := range d.Arcs {
		for _, p := range d.Arcs[i].Points {
			b.add(box{p.X, p.Y, p.X, p.Y})
		}
	}
	if b.right < b.left { // an empty net
		b = box{}
	}
	dx, dy := margin-b.left, margin-b.top
	for i := range d.Nodes {
		n := &d.Nodes[i]
		n.X, n.Y = round(n.X+dx), round(n.Y+dy)
	}
	for i := range d.Arcs {
		for k, p := range d.Arcs[i].Points {
			d.Arcs[i].Points[k] = Point{X: round(p.X + dx), Y: round(p.Y + dy)}
		}
	}
	d.Width, d.Height = math.Ceil(b.right-b.left+2*margin), math.Ceil(b.bottom-b.top+2*margin)
}

// round adds 0 to avoid -0.
func round(x float64) float64 { return math.Round(x*10)/10 + 0 }
