// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/petri/draw"
)

func isData(kind string) bool {
	return strings.HasPrefix(kind, "data")
}

// shape writes a shape with its state.
func (p *picture) shape(s *Shape) {
	class := "node"
	switch {
	case s.Kind == "group":
		class = "area group"
	case s.depth() == 0, s.expanded(), s.Kind == "textAnnotation":
		class = "area"
	}
	state := p.begin(class, s.Kind, s.Element, s.Name)
	at := Point{X: s.X + 5, Y: s.Y + 5} // of the badge
	switch {
	case s.Kind == "participant", s.Kind == "lane":
		p.rect("body", s.Bounds, 0)
		p.pool(s)
	case isEvent(s.Kind):
		p.event(s)
	case isGateway(s.Kind):
		p.gateway(s)
	case isActivity(s.Kind):
		at = Point{X: s.X, Y: s.Y}
		p.activity(s)
	case isData(s.Kind):
		p.data(s)
	case s.Kind == "textAnnotation":
		fmt.Fprintf(p, `<path class="line" d="%s"/>`, polygon(s.X+10, s.Y, s.X, s.Y, s.X, s.Y+s.H, s.X+10, s.Y+s.H))
	default:
		p.rect("body", s.Bounds, 8)
	}
	p.badge(at.X, at.Y, state.Tokens)
	if state.Rate >= 0 {
		p.Line("rate", s.X+s.W, s.Y-6, draw.Rate(state.Rate))
	}
	p.Put("</g>\n")
}

// polygon returns the path through points, given by x and y in turn.
func polygon(xy ...float64) string {
	var b strings.Builder
	for i := 0; i < len(xy); i += 2 {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(draw.Number(xy[i]) + " " + draw.Number(xy[i+1]))
	}
	return b.String()
}

// pool writes the line beside the name of a pool with content, and the marker of several.
func (p *picture) pool(s *Shape) {
	if s.Kind == "participant" && !s.BlackBox {
		path := polygon(s.X+bandWidth, s.Y, s.X+bandWidth, s.Y+s.H)
		if !s.Horizontal {
			path = polygon(s.X, s.Y+bandWidth, s.X+s.W, s.Y+bandWidth)
		}
		fmt.Fprintf(p, `<path class="line" d="%s"/>`, path)
	}
	if s.Several {
		p.icon("icon", "M3 1.5V12.5M7 1.5V12.5M11 1.5V12.5", s.X+s.W/2-7, s.Y+s.H-16, 1)
	}
}

func (p *picture) event(s *Shape) {
	line := ""
	if s.Continues {
		line = " dash"
	}
	inner := Bounds{s.X + s.W/12, s.Y + s.H/12, s.W * 10 / 12, s.H * 10 / 12}
	switch s.Kind {
	case "endEvent":
		p.ellipse("body bold", s.Bounds)
	case "startEvent":
		p.ellipse("body"+line, s.Bounds)
	default:
		p.ellipse("body"+line, s.Bounds)
		p.ellipse("line"+line, inner)
	}
	class := "icon"
	if s.Kind == "endEvent" || s.Kind == "intermediateThrowEvent" {
		class = "full"
	}
	p.icon(class, eventIcons[s.Event], s.X, s.Y, min(s.W, s.H)/eventSize)
}

func (p *picture) gateway(s *Shape) {
	m := s.middle()
	fmt.Fprintf(p, `<path class="body" d="%sz"/>`, polygon(m.X, s.Y, s.X+s.W, m.Y, m.X, s.Y+s.H, s.X, m.Y))
	path, bold := gatewayIcon(s)
	class, scale := "icon", min(s.W, s.H)/gatewaySize
	if bold {
		class = "icon thick"
	}
	p.icon(class, path, m.X-gatewaySize/2*scale, m.Y-gatewaySize/2*scale, scale)
}

func (p *picture) activity(s *Shape) {
	class := "body"
	switch {
	case s.Kind == "callActivity":
		class += " bold"
	case s.ByEvent:
		class += " dot"
	}
	p.rect(class, s.Bounds, 9)
	if s.Kind == "transaction" {
		p.rect("line", Bounds{s.X + 3, s.Y + 3, max(0, s.W-6), max(0, s.H-6)}, 7)
	}
	class = "icon"
	if s.Kind == "sendTask" {
		class = "full"
	}
	p.icon(class, taskIcons[s.Kind], s.X+6, s.Y+6, 1)
	if s.Kind == "receiveTask" && s.Instantiates {
		p.ellipse("line", Bounds{s.X + 2, s.Y + 2, 24, 24})
	}
	marks := markersOf(s)
	for i, path := range marks {
		p.icon("icon", path, s.X+s.W/2+18*(float64(i)-float64(len(marks))/2)+2, s.Y+s.H-17, 1)
	}
}

// data writes a sheet with a corner folded, or a cylinder.
func (p *picture) data(s *Shape) {
	x, y, right, bottom := s.X, s.Y, s.X+s.W, s.Y+s.H
	if s.Kind == "dataStoreReference" || s.Kind == "dataStore" {
		rx, ry := draw.Number(s.W/2), draw.Number(s.H/8)
		arc := "A" + rx + " " + ry + " 0 0 "
		top, low := draw.Number(y+s.H/8), draw.Number(bottom-s.H/8)
		l, r := draw.Number(x), draw.Number(right)
		fmt.Fprintf(p, `<path class="body" d="M%[1]s %[3]s%[5]s1 %[2]s %[3]sV%[4]s%[5]s1 %[1]s %[4]sz"/><path class="line" d="M%[1]s %[3]s%[5]s0 %[2]s %[3]s"/>`, l, r, top, low, arc)
		return
	}
	fold := min(s.W, s.H) / 3
	fmt.Fprintf(p, `<path class="body" d="%sz"/>`, polygon(x, y, right-fold, y, right, y+fold, right, bottom, x, bottom))
	fmt.Fprintf(p, `<path class="line" d="%s"/>`, polygon(right-fold, y, right-fold, y+fold, right, y+fold))
	if s.Kind == "dataInput" || s.Kind == "dataOutput" {
		class := "icon"
		if s.Kind == "dataOutput" {
			class = "full"
		}
		p.icon(class, "M1 5H8V2L13 7 8 12V9H1z", x+3, y+3, 1)
	}
	if s.Several {
		p.icon("icon", "M3 1.5V10M7 1.5V10M11 1.5V10", x+s.W/2-7, bottom-12, 1)
	}
}

// name writes the name of a shape: inside of it, along the side of a pool, or beside it.
func (p *picture) name(s *Shape) {
	m := s.middle()
	inside := func(w, h float64) (string, float64) {
		label := draw.Wrap(s.Name, max(w, 20), max(1, int(h/draw.LineHeight)))
		_, high := draw.LabelSize(label)
		return label, high
	}
	switch {
	case s.Name == "":
	case s.Kind == "participant" && s.BlackBox:
		label, high := inside(s.W-10, s.H)
		p.lines("in", m.X, m.Y-high/2, label)
	case (s.Kind == "participant" || s.Kind == "lane") && s.Horizontal:
		label, high := inside(s.H-8, bandWidth)
		x, y := draw.Number(s.X+bandWidth/2), draw.Number(m.Y)
		fmt.Fprintf(p, `<g transform="translate(%s %s) rotate(-90)">`, x, y)
		p.lines("in", 0, -high/2, label)
		p.Put("</g>")
	case s.Kind == "participant" || s.Kind == "lane":
		label, high := inside(s.W-8, bandWidth)
		p.lines("in", m.X, s.Y+bandWidth/2-high/2, label)
	case s.expanded():
		label, _ := inside(s.W-16, 2*draw.LineHeight)
		p.lines("start", s.X+8, s.Y+5, label)
	case s.Kind == "textAnnotation":
		label, high := inside(max(s.W-8, labelWide), max(s.H, 3*draw.LineHeight)) // small ones are common
		p.lines("start", s.X+6, m.Y-high/2, label)
	case s.depth() < 3 && !isGateway(s.Kind) && !isData(s.Kind) && s.Kind != "group":
		room, lift := s.H-8, 0.0
		if len(markersOf(s)) > 0 {
			room, lift = s.H-24, 7
		}
		label, high := inside(s.W-3, room)
		top := m.Y - high/2 - lift
		if taskIcons[s.Kind] != "" { // below the icon, if there is room
			top = max(top, min(s.Y+22, s.Y+s.H-high-4-2*lift))
		}
		p.lines("in", m.X, top, label)
	default:
		x, y, label := s.outside()
		p.lines("out", x, y, label)
	}
	p.Put("\n")
}
