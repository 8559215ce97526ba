// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"slices"

	"github.com/pnagent/pnagent/petri/draw"
)

// The sizes of shapes in a layout, in pixels.
const (
	eventSize   = 36
	gatewaySize = 50
	taskWidth   = 100
	taskHeight  = 80
	edgeLane    = 14 // between the flows of the boundary events of an activity
	besideEvent = 74 // between the boundary events of an activity
	besideWide  = 68 // of the name of one
	underEvents = 48 // for the names of boundary events
	padding     = 16 // between the border of what encloses others and these
	headHeight  = 24 // of the name of an expanded sub-process
	bandWidth   = 30 // of the name of a pool or a lane
	poolGap     = 60
	emptyLane   = 40 // the height of a lane without flow nodes
	blackBox    = 60 // the height of a pool without a process
)

// Layout returns diagrams of the model alone: one of the collaboration, if there is one with a
// process, and one of each process that it lacks. Sub-processes are expanded. Data,
// annotations and groups are left out. Shapes do not overlap but for what encloses them and for
// events on a border; sequence flows have level and upright lines from border to border.
func (f *File) Layout() []Diagram {
	var out []Diagram
	pooled := map[string]bool{}
	for _, k := range f.root.Kids {
		if named(k, modelSpace, "collaboration") {
			if d, ok := f.collaboration(k, pooled); ok {
				out = append(out, d)
			}
		}
	}
	for _, k := range f.root.Kids {
		if named(k, modelSpace, "process") && !pooled[k.Attr("id")] && hasNodes(k) {
			g := f.scope(k)
			g.move(padding, padding)
			out = append(out, Diagram{Plane: k.Attr("id"), Name: f.nameOf(k), Shapes: g.shapes, Edges: g.edges})
		}
	}
	for i := range out {
		out[i].ID = "pnagent_diagram_" + out[i].Plane
	}
	return out
}

func hasNodes(e *elem) bool {
	return slices.ContainsFunc(e.Kids, func(k *elem) bool { return k.Name.Space == modelSpace && isNode(k.Name.Local) && k.Attr("id") != "" })
}

// content is what is inside of a process or a sub-process, from 0, 0 to w, h.
type content struct {
	w, h   float64
	shapes []Shape
	edges  []Edge
}

func (c *content) move(dx, dy float64) {
	for i := range c.shapes {
		s := &c.shapes[i]
		s.X, s.Y = s.X+dx, s.Y+dy
		s.Label = s.Label.moved(dx, dy)
	}
	for i := range c.edges {
		g := &c.edges[i]
		for k := range g.Points {
			g.Points[k].X += dx
			g.Points[k].Y += dy
		}
		g.Label = g.Label.moved(dx, dy)
	}
}

func (b *Bounds) moved(dx, dy float64) *Bounds {
	if b == nil {
		return nil
	}
	return &Bounds{b.X + dx, b.Y + dy, b.W, b.H}
}

// scope is a process or a sub-process while it is laid out.
type scope struct {
	*File
	el     *elem
	lanes  []lane
	nodes  []*elem        // but boundary events
	index  map[string]int // of nodes, by id; of a boundary event that of its activity
	inner  []content      // by node: of an expanded sub-process
	edges  [][]*elem      // by node: its boundary events
	beside map[string]int // of boundary events: the index among those of the activity
	boxes  []draw.Box
	flows  []*elem
	lines  []draw.Line

	placed map[string]int // the index of each node's shape in the content
}

// scope lays out the content of a process or a sub-process.
func (f *File) scope(e *elem) content {
	s := &scope{File: f, el: e, index: map[string]int{}, placed: map[string]int{}, beside: map[string]int{}}
	s.lanes = f.lanesOf(e, 0)
	s.readNodes()
	s.readFlows()
	band := leaves(s.lanes)
	used := map[int]bool{}
	for i, n := range s.nodes {
		s.boxes[i].Band = band[n.Attr("id")]
		used[s.boxes[i].Band] = true
	}
	for k := range flat(s.lanes) {
		if !used[k] {
			s.boxes = append(s.boxes, draw.Box{W: taskWidth, H: emptyLane, Band: k})
		}
	}
	d := draw.Boxes(s.boxes, s.lines, len(s.lanes) > 0 || e.Name.Local == "process")
	c := content{w: d.Width, h: d.Height}
	for i := range s.nodes {
		s.place(&c, i, &d.Nodes[i])
	}
	for i := range d.Arcs {
		c.edges = append(c.edges, s.way(&c, i, d.Arcs[i].Points))
	}
	s.placeLanes(&c, d)
	return c
}

// readNodes makes the boxes.
func (s *scope) readNodes() {
	for _, k := range s.el.Kids {
		id := k.Attr("id")
		if k.Name.Space == modelSpace && isNode(k.Name.Local) && k.Name.Local != "boundaryEvent" && s.first(k) {
			s.index[id] = len(s.nodes)
			s.nodes = append(s.nodes, k)
		}
	}
	s.edges = make([][]*elem, len(s.nodes))
	for _, k := range s.el.Kids {
		id := k.Attr("id")
		if k.Name.Space != modelSpace || k.Name.Local != "boundaryEvent" || !s.first(k) {
			continue
		}
		host, ok := s.index[ref(k, "attachedToRef")]
		if !ok || !isActivity(s.nodes[host].Name.Local) { // it has a place of its own
			s.index[id] = len(s.nodes)
			s.nodes, s.edges = append(s.nodes, k), append(s.edges, nil)
			continue
		}
		s.index[id], s.beside[id] = host, len(s.edges[host])
		s.edges[host] = append(s.edges[host], k)
	}
	s.inner = make([]content, len(s.nodes))
	for i := range s.nodes {
		s.boxes = append(s.boxes, s.box(i))
	}
}

// box returns the box of a node.
func (s *scope) box(i int) draw.Box {
	n := s.nodes[i]
	b := draw.Box{W: taskWidth, H: taskHeight, First: n.Name.Local == "startEvent"}
	switch {
	case isEvent(n.Name.Local):
		b.W, b.H, b.Round, b.Label = eventSize, eventSize, true, draw.Label(s.nameOf(n))
	case isGateway(n.Name.Local):
		b.W, b.H, b.Round, b.Label = gatewaySize, gatewaySize, true, draw.Label(s.nameOf(n))
	case isSub(n.Name.Local) && hasNodes(n):
		s.inner[i] = s.scope(n)
		b.W, b.H = s.inner[i].w, s.inner[i].h+headHeight
	}
	if k := float64(len(s.edges[i])); k > 0 {
		b.W = max(b.W, besideEvent*k+eventSize)
		b.Below = eventSize/2 + underEvents + edgeLane*k
	}
	return b
}

// readFlows makes the lines.
func (s *scope) readFlows() {
	for _, k := range s.el.Kids {
		from, okFrom := s.index[ref(k, "sourceRef")]
		to, okTo := s.index[ref(k, "targetRef")]
		if !named(k, modelSpace, "sequenceFlow") || !okFrom || !okTo {
			continue
		}
		line := draw.Line{From: from, To: to}
		s.flows, s.lines = append(s.flows, k), append(s.lines, line)
		if _, is := s.beside[ref(k, "sourceRef")]; is {
			s.lines[len(s.lines)-1].Leave = s.under(len(s.lines) - 1)
		}
	}
}

// under returns the height, below the centre of its box, of the flow of a boundary event: that
// of the first event is below the others.
func (s *scope) under(flow int) float64 {
	source := ref(s.flows[flow], "sourceRef")
	from := s.index[source]
	below := len(s.edges[from]) - 1 - s.beside[source]
	return s.boxes[from].H/2 + eventSize/2 + underEvents + edgeLane*float64(below)
}

// place adds the shapes of a node to the content.
func (s *scope) place(c *content, i int, at *draw.Node) {
	n, b := s.nodes[i], s.boxes[i]
	shape := s.newShape(n)
	shape.Bounds = Bounds{at.X - b.W/2, at.Y - b.H/2, b.W, b.H}
	shape.Marker = n.Name.Local == "exclusiveGateway"
	shape.Expanded = isSub(n.Name.Local) && hasNodes(n)
	if b.Round && shape.Name != "" {
		w, h := draw.LabelSize(b.Label)
		shape.Label = &Bounds{at.X - w/2, shape.Y + shape.H + draw.LabelGap, w, h}
	}
	s.placed[shape.Element] = len(c.shapes)
	c.shapes = append(c.shapes, shape)
	if in := &s.inner[i]; len(in.shapes) > 0 {
		in.move(shape.X+(b.W-in.w)/2, shape.Y+headHeight)
		c.shapes, c.edges = append(c.shapes, in.shapes...), append(c.edges, in.edges...)
	}
	for k, e := range s.edges[i] {
		event := s.newShape(e)
		event.Bounds = Bounds{shape.X + eventSize/2 + besideEvent*float64(k), shape.Y + shape.H - eventSize/2, eventSize, eventSize}
		if event.Name != "" {
			w, h := draw.LabelSize(draw.Wrap(event.Name, besideWide, 3))
			event.Label = &Bounds{event.X + eventSize/2 + 5, event.Y + eventSize + draw.LabelGap, w, h}
		}
		s.placed[event.Element] = len(c.shapes)
		c.shapes = append(c.shapes, event)
	}
}

// way returns a sequence flow along points from box to box.
func (s *scope) way(c *content, i int, points []Point) Edge {
	k, line := s.flows[i], s.lines[i]
	from, to := &c.shapes[s.placed[ref(k, "sourceRef")]], &c.shapes[s.placed[ref(k, "targetRef")]]
	switch {
	case line.From == line.To && from.Kind == "boundaryEvent":
		points = back(from.middle(), from.Y+from.H, s.under(i), &c.shapes[s.placed[s.nodes[line.From].Attr("id")]].Bounds)
	case line.From == line.To:
		points = around(&c.shapes[s.placed[s.nodes[line.From].Attr("id")]].Bounds)
	case len(points) < 2:
		points = []Point{from.middle(), to.middle()}
	case line.Leave != 0: // down from the event, and then out of the box
		points[0].X = from.middle().X
		points = append([]Point{{X: points[0].X, Y: from.Y + from.H}}, points...)
	}
	from.touch(&points[0], points[1])
	if _, is := s.beside[to.Element]; is { // no flow should lead to one
		points = append(points, Point{X: to.X, Y: to.middle().Y})
	}
	to.touch(&points[len(points)-1], points[len(points)-2])
	g := s.newEdge(k, points)
	if g.Name != "" {
		g.Label = flowLabel(g.Name, points)
	}
	return g
}

func (b *Bounds) middle() Point { return Point{X: b.X + b.W/2, Y: b.Y + b.H/2} }

// around returns a way from the right of a shape to its top.
func around(b *Bounds) []Point {
	m := b.middle()
	const out = 10
	right, top := b.X+b.W+out, b.Y-out
	return []Point{{X: b.X + b.W, Y: m.Y}, {X: right, Y: m.Y}, {X: right, Y: top}, {X: m.X, Y: top}, {X: m.X, Y: b.Y}}
}

// back returns a way from an event on the lower border of a shape to its right, at a height
// below the middle of the shape.
func back(event Point, bottom, under float64, b *Bounds) []Point {
	m := b.middle()
	const out = 10
	right, low := b.X+b.W+out, m.Y+under
	return []Point{{X: event.X, Y: bottom}, {X: event.X, Y: low}, {X: right, Y: low}, {X: right, Y: m.Y}, {X: b.X + b.W, Y: m.Y}}
}

// touch moves the end of a way, of which the next point is given, to the border of a gateway:
// in a direction that is level or upright.
func (s *Shape) touch(end *Point, next Point) {
	m := s.middle()
	if !isGateway(s.Kind) || end.Y != next.Y {
		return
	}
	dx := s.W / 2 * max(0, 1-2*abs(end.Y-m.Y)/s.H)
	if next.X < end.X {
		dx = -dx
	}
	end.X = m.X + dx
}

func abs(x float64) float64 { return max(x, -x) }

// flowLabel returns the bounds of a flow's name: above the longest of its level lines.
func flowLabel(name string, points []Point) *Bounds {
	w, h := draw.LabelSize(draw.Label(name))
	best, longest := 1, -1.0
	for k := 1; k < len(points); k++ {
		if far := abs(points[k].X - points[k-1].X); far > longest {
			best, longest = k, far
		}
	}
	left := min(points[best].X, points[best-1].X)
	return &Bounds{left + (longest-w)/2, points[best].Y - h - 2, w, h}
}

// lane is a lane, or a set of several inside of one.
type lane struct {
	el   *elem
	kids []lane
	band int // of one without kids
}

// lanesOf returns the lanes of a process or a lane, and numbers those without kids from a number on.
func (f *File) lanesOf(e *elem, from int) (out []lane) {
	for _, set := range e.Kids {
		if !named(set, modelSpace, "laneSet") && !named(set, modelSpace, "childLaneSet") {
			continue
		}
		for _, k := range set.Kids {
			if !named(k, modelSpace, "lane") {
				continue
			}
			l := lane{el: k, kids: f.lanesOf(k, from), band: from}
			from += max(1, len(flat(l.kids)))
			out = append(out, l)
		}
	}
	return out
}

// flat returns the lanes without kids.
func flat(lanes []lane) (out []lane) {
	for _, l := range lanes {
		if len(l.kids) == 0 {
			out = append(out, l)
		}
		out = append(out, flat(l.kids)...)
	}
	return out
}

// leaves returns the band of each flow node.
func leaves(lanes []lane) map[string]int {
	of := map[string]int{}
	for _, l := range flat(lanes) {
		for _, k := range l.el.Kids {
			if k.Name.Local == "flowNodeRef" {
				of[local(k.Text)] = l.band
			}
		}
	}
	return of
}

// placeLanes adds the lanes before the other shapes.
func (s *scope) placeLanes(c *content, d *draw.Drawing) {
	leaf := flat(s.lanes)
	if len(leaf) == 0 {
		return
	}
	top, bottom := s.bands(len(leaf), d)
	deep := depth(s.lanes) * bandWidth
	c.move(deep, 0)
	c.w += deep
	var shapes []Shape
	var add func(lanes []lane, left float64)
	add = func(lanes []lane, left float64) {
		for _, l := range lanes {
			last := l.band + max(1, len(flat(l.kids))) - 1
			shape := s.newShape(l.el)
			shape.Bounds = Bounds{left, top[l.band], c.w - left, bottom[last] - top[l.band]}
			if shape.Element != "" {
				shapes = append(shapes, shape)
			}
			add(l.kids, left+bandWidth)
		}
	}
	add(s.lanes, 0)
	c.h = bottom[len(bottom)-1]
	c.shapes = append(shapes, c.shapes...)
}

func depth(lanes []lane) (d float64) {
	for _, l := range lanes {
		d = max(d, 1+depth(l.kids))
	}
	return d
}

// bands returns where each band begins and ends, one below the other. What the bands are
// apart is divided between them.
func (s *scope) bands(count int, d *draw.Drawing) (top, bottom []float64) {
	low, high := make([]float64, count), make([]float64, count)
	for k := range low {
		low[k] = d.Height
	}
	for i, b := range s.boxes {
		at := &d.Nodes[i]
		_, h := draw.LabelSize(b.Label)
		low[b.Band], high[b.Band] = min(low[b.Band], at.Y-b.H/2), max(high[b.Band], at.Y+b.H/2+b.Below+h)
	}
	top, bottom = make([]float64, count), make([]float64, count)
	for k := range count {
		bottom[k] = d.Height
		if k > 0 {
			top[k] = (high[k-1] + low[k]) / 2
			bottom[k-1] = top[k]
		}
	}
	return top, bottom
}
