// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri/draw"
)

// margin is the free space around a picture, in pixels.
const margin = 24

// SVG writes the diagram as a self-contained picture, with an overlay; nil shows no state. It is readable on
// light and dark ground, and has a title for every element. SVG returns the writer's error.
func (d *Diagram) SVG(w io.Writer, overlay Overlay) error {
	p := picture{Canvas: draw.NewCanvas(w), o: overlay}
	p.head(d)
	order := make([]*Shape, len(d.Shapes))
	for i := range d.Shapes {
		order[i] = &d.Shapes[i]
	}
	slices.SortStableFunc(order, func(a, b *Shape) int { // what encloses others is behind them
		return cmp.Or(cmp.Compare(a.depth(), b.depth()), cmp.Compare(b.area(), a.area()))
	})
	edges := slices.IndexFunc(order, func(s *Shape) bool { return s.depth() == 2 })
	for i, s := range order {
		if i == edges {
			p.edges(d)
		}
		p.shape(s)
	}
	if edges < 0 {
		p.edges(d)
	}
	for _, s := range order {
		p.name(s)
	}
	for i := range d.Edges {
		p.edgeName(&d.Edges[i])
	}
	p.Put("</svg>\n")
	if err := p.Flush(); err != nil {
		return fmt.Errorf("writing the picture of diagram %q: %w", d.ID, err)
	}
	return nil
}

// depth is 0 for pools and lanes, 1 for sub-processes that enclose others, 2 for what is in
// front of the edges, and 3 for events.
func (s *Shape) depth() int {
	switch {
	case s.Kind == "participant", s.Kind == "lane", s.Kind == "group":
		return 0
	case s.expanded():
		return 1
	case isEvent(s.Kind):
		return 3
	}
	return 2
}

// area returns the area of a shape that encloses others, and 0 for the rest.
func (s *Shape) area() float64 {
	if s.depth() > 1 {
		return 0
	}
	return s.W * s.H
}

// picture writes the SVG of a diagram.
type picture struct {
	draw.Canvas
	o Overlay
}

func (p *picture) head(d *Diagram) {
	left, top, right, bottom := d.limits()
	left, top = left-margin, top-margin
	w, h := draw.Number(math.Ceil(right-left+margin)), draw.Number(math.Ceil(bottom-top+margin))
	x, y := draw.Number(left), draw.Number(top)
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" class="bp" viewBox="%s %s %s %s" width="%s" height="%s" role="img">`+"\n", x, y, w, h, w, h)
	p.Described(cmp.Or(draw.Text(d.Name), draw.Text(d.Plane)), fmt.Sprintf("BPMN diagram of %s: %d shapes, %d edges.", draw.Text(d.Plane), len(d.Shapes), len(d.Edges)))
	p.Put("\n<style>\n" + Style + "</style>\n" + markers)
	fmt.Fprintf(p, `<rect class="ground" x="%s" y="%s" width="%s" height="%s" rx="6"/>`+"\n", x, y, w, h)
}

// limits returns the bounds of all that is drawn.
func (d *Diagram) limits() (left, top, right, bottom float64) {
	left, top, right, bottom = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	add := func(x, y float64) {
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	for i := range d.Shapes {
		s := &d.Shapes[i]
		add(s.X, s.Y)
		add(s.X+s.W, s.Y+s.H)
		if x, y, label := s.outside(); label != "" {
			w, h := draw.LabelSize(label)
			add(x-w/2, y)
			add(x+w/2, y+h)
		}
	}
	for i := range d.Edges {
		for _, q := range d.Edges[i].Points {
			add(q.X, q.Y)
		}
		if x, y, label := d.Edges[i].label(); label != "" {
			w, h := draw.LabelSize(label)
			add(x-w/2, y)
			add(x+w/2, y+h)
		}
	}
	if right < left {
		return 0, 0, 0, 0
	}
	return left, top, right, bottom
}

// begin opens the group of an element, with its title and its state.
func (p *picture) begin(class, kind, id, name string) (state State) {
	desc := words(kind) + " " + draw.Text(id)
	state, known := p.o[id]
	if known {
		state.Heat = min(state.Heat, draw.MaxHeat)
		desc += ", tokens: " + strconv.FormatUint(state.Tokens, 10)
		if state.Enabled {
			class += " enabled"
			desc += ", enabled"
		}
		if state.Heat > 0 {
			class += " heat" + strconv.Itoa(int(state.Heat))
			desc += fmt.Sprintf(", heat: %d of %d", state.Heat, draw.MaxHeat)
		}
		if state.Rate >= 0 {
			desc += ", rate: " + draw.Rate(state.Rate)
		}
	} else {
		state.Rate = -1
	}
	fmt.Fprintf(p, `<g class="%s">`, class)
	p.Described(cmp.Or(draw.Text(name), draw.Text(id)), desc)
	return state
}

// words returns the name of an XML element in words.
func words(kind string) string {
	var b strings.Builder
	for _, r := range kind {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// badge writes the number of tokens around a point.
func (p *picture) badge(x, y float64, tokens uint64) {
	if tokens == 0 {
		return
	}
	s := draw.Count(float64(tokens))
	w := 12 + 7*float64(len(s))
	p.rect("badge", Bounds{x - w/2, y - 9, w, 18}, 9)
	p.Line("count", x, y, s)
}

func (p *picture) rect(class string, b Bounds, radius float64) {
	fmt.Fprintf(p, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, class, draw.Number(b.X), draw.Number(b.Y), draw.Number(b.W), draw.Number(b.H), draw.Number(radius))
}

func (p *picture) ellipse(class string, b Bounds) {
	m := b.middle()
	fmt.Fprintf(p, `<ellipse class="%s" cx="%s" cy="%s" rx="%s" ry="%s"/>`, class, draw.Number(m.X), draw.Number(m.Y), draw.Number(b.W/2), draw.Number(b.H/2))
}

// icon writes a path that is made for a square of a size into a square at x, y.
func (p *picture) icon(class, path string, x, y, scale float64) {
	if path != "" {
		fmt.Fprintf(p, `<path class="%s" transform="translate(%s %s) scale(%s)" d="%s"/>`, class, draw.Number(x), draw.Number(y), strconv.FormatFloat(scale, 'g', 4, 64), path)
	}
}

// lines writes a label with the top of its first line at a height.
func (p *picture) lines(class string, x, top float64, label string) {
	if label != "" {
		p.Lines(class, x, top+draw.LineHeight/2, label)
	}
}

// edges writes the lines of the edges.
func (p *picture) edges(d *Diagram) {
	for i := range d.Edges {
		g := &d.Edges[i]
		state := p.begin("edge", g.Kind, g.Element, g.Name)
		class, marks := g.ends()
		fmt.Fprintf(p, `<path class="%s" d="%s"%s/>`, class, draw.Path(g.Points), marks)
		a, b := draw.Longest(g.Points)
		p.badge(a.X+(b.X-a.X)/4, a.Y+(b.Y-a.Y)/4, state.Tokens)
		if state.Rate >= 0 { // below the line: the name is above it
			p.Line("rate", (a.X+b.X)/2+14, (a.Y+b.Y)/2+9, draw.Rate(state.Rate))
		}
		p.Put("</g>\n")
	}
}

// ends returns the class of the line of an edge, and the markers at its ends.
func (g *Edge) ends() (class, marks string) {
	const end = ` marker-end="url(#bp-%s)"`
	const start = ` marker-start="url(#bp-%s)"`
	switch g.Kind {
	case "sequenceFlow":
		marks = fmt.Sprintf(end, "flow")
		switch {
		case g.Default:
			marks += fmt.Sprintf(start, "default")
		case g.Conditional:
			marks += fmt.Sprintf(start, "condition")
		}
		return "flow", marks
	case "messageFlow":
		return "flow dash", fmt.Sprintf(start+end, "from", "message")
	case "dataInputAssociation", "dataOutputAssociation":
		return "flow dot", fmt.Sprintf(end, "points")
	case "association":
		switch g.Direction {
		case "One":
			marks = fmt.Sprintf(end, "points")
		case "Both":
			marks = fmt.Sprintf(start+end, "points", "points")
		}
		return "flow dot", marks
	}
	return "flow", ""
}

func (p *picture) edgeName(g *Edge) {
	x, y, label := g.label()
	p.lines("out", x, y, label)
}

// labelWide is the least width for a name beside its shape.
const labelWide = 110.0

// label returns the name of an edge and where it is: the middle of its upper border.
func (g *Edge) label() (x, y float64, label string) {
	if g.Name == "" {
		return 0, 0, ""
	}
	b := g.Label
	if b == nil {
		b = flowLabel(g.Name, g.Points)
	}
	return b.X + b.W/2, b.Y, draw.Wrap(g.Name, max(b.W+4, labelWide), 6)
}

// outside returns a name that is beside its shape, and the middle of its upper border.
func (s *Shape) outside() (x, y float64, label string) {
	switch {
	case s.Name == "" || !isEvent(s.Kind) && !isGateway(s.Kind) && !isData(s.Kind) && s.Kind != "group":
		return 0, 0, ""
	case s.Label != nil:
		wide := labelWide
		if s.Kind == "boundaryEvent" { // others can be right beside it
			wide = besideWide
		}
		label = draw.Wrap(s.Name, max(s.Label.W+4, wide), 6)
		if y = s.Label.Y; y+s.Label.H <= s.Y { // above the shape, whatever the number of lines
			_, h := draw.LabelSize(label)
			y += s.Label.H - h
		}
		return s.Label.X + s.Label.W/2, y, label
	case s.Kind == "group":
		return s.X + s.W/2, s.Y + draw.LabelGap, draw.Wrap(s.Name, max(s.W, labelWide), 2)
	}
	return s.X + s.W/2, s.Y + s.H + draw.LabelGap, draw.Wrap(s.Name, max(s.W, labelWide), 6)
}
