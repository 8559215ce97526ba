// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri/bpmn"
)

// File is a BPMN file with its diagrams, in the order of the file.
type File struct {
	Diagrams []Diagram

	root *elem
	byID map[string]*item
}

// item is an element of the model with an id.
type item struct {
	*elem
	parent *elem
}

// Has reports whether an element of the model has an id.
func (f *File) Has(id string) bool { return f.byID[id] != nil }

// Read reads the diagrams of a BPMN 2.0 file, whose name is used in messages only. It
// leaves out shapes and edges of elements that are not in the file, and those whose
// geometry is not usable. The error is a *petri.Fault, as of [bpmn.Read]: XML that is not
// well-formed, a root element other than BPMN's, or a limit ([bpmn.ErrLimit]).
func Read(r io.Reader, file string, lim bpmn.Limits) (*File, error) {
	root, err := tree(r, file, lim.OrDefault())
	if err != nil {
		return nil, err
	}
	f := &File{root: root, byID: map[string]*item{}}
	f.index(root)
	for _, k := range root.Kids {
		if named(k, diagramSpace, "BPMNDiagram") {
			f.Diagrams = append(f.Diagrams, f.diagram(k))
		}
	}
	return f, nil
}

// index notes the elements of the model by their ids; the first of an id counts.
func (f *File) index(parent *elem) {
	for _, k := range parent.Kids {
		if k.Name.Space != modelSpace {
			continue
		}
		if id := k.Attr("id"); id != "" && f.byID[id] == nil {
			f.byID[id] = &item{k, parent}
		}
		f.index(k)
	}
}

// first reports whether an element has an id, and is the first that has it.
func (f *File) first(e *elem) bool {
	of := f.byID[e.Attr("id")]
	return of != nil && of.elem == e
}

func (f *File) diagram(e *elem) Diagram {
	d := Diagram{ID: e.Attr("id"), Name: oneLine(e.Attr("name"))}
	plane := e.Kid("BPMNPlane")
	if plane == nil {
		return d
	}
	d.Plane = ref(plane, "bpmnElement")
	for _, k := range plane.Kids {
		switch {
		case named(k, diagramSpace, "BPMNShape"):
			if s, ok := f.shape(k); ok {
				d.Shapes = append(d.Shapes, s)
			}
		case named(k, diagramSpace, "BPMNEdge"):
			if g, ok := f.edge(k); ok {
				d.Edges = append(d.Edges, g)
			}
		}
	}
	drawn := map[string]bool{}
	for i := range d.Shapes {
		drawn[d.Shapes[i].Element] = true
	}
	f.expand(&d, drawn)
	return d
}

// expand marks the sub-processes whose content is drawn.
func (f *File) expand(d *Diagram, drawn map[string]bool) {
	for i := range d.Shapes {
		s := &d.Shapes[i]
		for _, k := range f.byID[s.Element].Kids {
			if isSub(s.Kind) && isNode(k.Name.Local) && drawn[k.Attr("id")] {
				s.Expanded = true
			}
		}
	}
}

// farthest bounds coordinates, in pixels.
const farthest = 1e8

func (f *File) shape(e *elem) (Shape, bool) {
	of := f.byID[ref(e, "bpmnElement")]
	b, ok := boundsOf(e)
	if of == nil || !ok {
		return Shape{}, false
	}
	s := f.newShape(of.elem)
	s.Bounds = b
	s.Expanded = e.Attr("isExpanded") == "true"
	s.Horizontal = e.Attr("isHorizontal") != "false"
	s.Marker = e.Attr("isMarkerVisible") == "true"
	s.Label = labelOf(e)
	return s, true
}

// newShape returns the shape of an element without its geometry.
func (f *File) newShape(e *elem) Shape {
	return Shape{Element: e.Attr("id"), Kind: e.Name.Local, Name: f.nameOf(e), Horizontal: true, Traits: f.traits(e)}
}

func labelOf(e *elem) *Bounds {
	l := e.Kid("BPMNLabel")
	if l == nil {
		return nil
	}
	if b, ok := boundsOf(l); ok {
		return &b
	}
	return nil
}

func boundsOf(e *elem) (b Bounds, ok bool) {
	k := e.Kid("Bounds")
	if k == nil {
		return b, false
	}
	for _, v := range []struct {
		name string
		to   *float64
	}{{"x", &b.X}, {"y", &b.Y}, {"width", &b.W}, {"height", &b.H}} {
		if *v.to, ok = number(k, v.name); !ok {
			return b, false
		}
	}
	return b, b.W >= 0 && b.H >= 0
}

func number(e *elem, name string) (float64, bool) {
	x, err := strconv.ParseFloat(e.Attr(name), 64)
	return x, err == nil && math.Abs(x) <= farthest // false for NaN
}

func (f *File) edge(e *elem) (Edge, bool) {
	of := f.byID[ref(e, "bpmnElement")]
	var points []Point
	for _, k := range e.Kids {
		if !named(k, diSpace, "waypoint") {
			continue
		}
		x, okX := number(k, "x")
		y, okY := number(k, "y")
		if !okX || !okY {
			return Edge{}, false
		}
		points = append(points, Point{X: x, Y: y})
	}
	if of == nil || len(points) < 2 {
		return Edge{}, false
	}
	g := f.newEdge(of.elem, points)
	g.Label = labelOf(e)
	return g, true
}

func (f *File) newEdge(e *elem, points []Point) Edge {
	g := Edge{Element: e.Attr("id"), Kind: e.Name.Local, Name: f.nameOf(e), Points: points, Direction: e.Attr("associationDirection")}
	g.Source, g.Target = ref(e, "sourceRef"), ref(e, "targetRef")
	if g.Element == "" && e.Name.Local == "sequenceFlow" {
		g.Element = g.Source + "-" + g.Target // as petri/bpmn names it
	}
	if source := f.byID[g.Source]; source != nil && e.Name.Local == "sequenceFlow" {
		g.Default = ref(source.elem, "default") == g.Element && g.Element != ""
		g.Conditional = e.Kid("conditionExpression") != nil && !strings.HasSuffix(source.Name.Local, "Gateway")
	}
	return g
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
