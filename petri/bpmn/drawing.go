// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"math"
	"strconv"

	"github.com/pnagent/pnagent/petri"
)

// drawing holds the position of each element: the centre of a shape, the middle of
// an edge. If an element is drawn several times, the first position counts.
type drawing struct{ at map[string]*petri.Point }

func (d *drawing) read(e *elem) {
	if d.at == nil {
		d.at = map[string]*petri.Point{}
	}
	for _, k := range e.kids {
		if k.space != diagram {
			continue
		}
		switch k.name {
		case "BPMNDiagram", "BPMNPlane":
			d.read(k)
		case "BPMNShape":
			d.add(k, centre(k))
		case "BPMNEdge":
			d.add(k, middle(k))
		}
	}
}

func (d *drawing) add(e *elem, at *petri.Point) {
	if id := local(e.attr("bpmnElement")); at != nil && d.at[id] == nil {
		d.at[id] = at
	}
}

// centre returns the centre of a shape's bounds.
func centre(shape *elem) *petri.Point {
	for _, b := range shape.kids {
		if b.space == dc && b.name == "Bounds" {
			corner, ok := point(b)
			w, errW := strconv.ParseFloat(b.attr("width"), 64)
			h, errH := strconv.ParseFloat(b.attr("height"), 64)
			if ok && errW == nil && errH == nil {
				return finite(corner.X+w/2, corner.Y+h/2)
			}
		}
	}
	return nil
}

// middle returns the middle one of an edge's way points, or the point half way between the two in the middle.
func middle(edge *elem) *petri.Point {
	var way []petri.Point
	for _, w := range edge.kids {
		if w.space == di && w.name == "waypoint" {
			if p, ok := point(w); ok {
				way = append(way, p)
			}
		}
	}
	if len(way) == 0 {
		return nil
	}
	a, b := way[(len(way)-1)/2], way[len(way)/2]
	return finite((a.X+b.X)/2, (a.Y+b.Y)/2)
}

func point(e *elem) (petri.Point, bool) {
	x, errX := strconv.ParseFloat(e.attr("x"), 64)
	y, errY := strconv.ParseFloat(e.attr("y"), 64)
	return petri.Point{X: x, Y: y}, errX == nil && errY == nil
}

func finite(x, y float64) *petri.Point {
	if math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x-y) {
		return nil
	}
	return &petri.Point{X: x, Y: y}
}
