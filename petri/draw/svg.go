// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// SVG writes the drawing as a self-contained picture, with an overlay; nil is the
// initial marking without heat. n must be the net of the drawing. SVG returns the
// writer's error.
func (d *Drawing) SVG(w io.Writer, n *petri.Net, overlay *Overlay) error {
	if overlay == nil {
		overlay = initialTokens(n)
	}
	p := picture{Canvas: NewCanvas(w), d: d, n: n, o: overlay}
	p.head()
	p.Put("<g>\n")
	for i := range d.Arcs {
		p.arc(&d.Arcs[i])
	}
	p.Put("</g>\n")
	for i := range n.Places {
		p.place(i)
	}
	for i := range n.Transitions {
		p.transition(i)
	}
	for i := range d.Arcs { // in front of everything, because they are text
		p.weight(&d.Arcs[i])
	}
	p.Put("</svg>\n")
	if err := p.Flush(); err != nil {
		return fmt.Errorf("writing the picture of net %q: %w", n.ID, err)
	}
	return nil
}

// picture writes the SVG of a net.
type picture struct {
	Canvas
	d *Drawing
	n *petri.Net
	o *Overlay
}

// titleRunes limits a name or an id in a title.
const titleRunes = 1000

func (p *picture) head() {
	width, height := Number(p.d.Width), Number(p.d.Height)
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" class="pn" viewBox="0 0 %s %s" width="%s" height="%s" role="img">`+"\n", width, height, width, height)
	id := clean(p.n.ID, titleRunes)
	p.Described(cmp.Or(clean(p.n.Name, titleRunes), id), fmt.Sprintf("Petri net %s: %d places, %d transitions, %d arcs.", id, len(p.n.Places), len(p.n.Transitions), len(p.d.Arcs)))
	p.Put("\n<style>\n" + Style + "</style>\n" + markers)
	fmt.Fprintf(p, `<rect class="ground" width="%s" height="%s" rx="6"/>`+"\n", width, height)
}

func (p *picture) place(i int) {
	pl, node := &p.n.Places[i], &p.d.Nodes[i]
	tokens, heat := -1.0, uint8(0)
	desc := "place " + clean(pl.ID, titleRunes)
	if i < len(p.o.Tokens) {
		tokens = float64(p.o.Tokens[i])
		desc += ", tokens: " + strconv.FormatUint(p.o.Tokens[i], 10)
	}
	if i < len(p.o.Heat) {
		heat = min(p.o.Heat[i], MaxHeat)
		desc += fmt.Sprintf(", heat: %d of %d", heat, MaxHeat)
	}
	fmt.Fprintf(p, `<g class="place heat%d">`, heat)
	p.Described(titleOf(pl.Name, pl.ID), desc)
	p.circle("body", node.X, node.Y, node.W/2)
	switch {
	case tokens > maxDots:
		p.Line("count", node.X, node.Y, Count(tokens))
	case tokens > 0:
		for _, at := range dots(int(tokens)) {
			p.circle("token", node.X+at.X, node.Y+at.Y, dotSize)
		}
	}
	p.Lines("below", node.X, node.Y+node.H/2+LabelGap+LineHeight/2, node.Label)
	p.Put("</g>\n")
}

func titleOf(name, id string) string {
	if name = clean(name, titleRunes); name != "" {
		return name
	}
	return clean(id, titleRunes)
}

func (p *picture) circle(class string, x, y, r float64) {
	fmt.Fprintf(p, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, Number(x), Number(y), Number(r))
}

// Up to maxDots tokens are drawn as dots, more as a number.
const (
	maxDots = 4
	dotSize = 4
	dotStep = 6 // from the middle of the place
)

// dots returns the positions of one to four dots, from the middle of a place.
func dots(n int) []Point {
	const s = dotStep
	return [][]Point{
		{{X: 0, Y: 0}},
		{{X: -s, Y: 0}, {X: s, Y: 0}},
		{{X: 0, Y: -s}, {X: -s, Y: s - 1}, {X: s, Y: s - 1}},
		{{X: -s, Y: -s}, {X: s, Y: -s}, {X: -s, Y: s}, {X: s, Y: s}},
	}[n-1]
}

// Count formats a number of tokens in at most four characters.
func Count(n float64) string {
	for _, unit := range []string{"", "k", "M", "G", "T", "P", "E"} {
		if n < 9.95 && unit != "" {
			return strconv.FormatFloat(n, 'f', 1, 64) + unit
		}
		if n < 999.5 {
			return strconv.FormatFloat(n, 'f', 0, 64) + unit
		}
		n /= 1000
	}
	return "∞" // a rate can be
}

func (p *picture) transition(i int) {
	t, node := &p.n.Transitions[i], &p.d.Nodes[len(p.n.Places)+i]
	class, desc := "transition", "transition "+clean(t.ID, titleRunes)
	if i < len(p.o.Enabled) && p.o.Enabled[i] {
		class += " enabled"
		desc += ", enabled"
	}
	known := i < len(p.o.Rates) && p.o.Rates[i] >= 0
	if known {
		desc += ", firings: " + Rate(p.o.Rates[i])
	}
	fmt.Fprintf(p, `<g class="%s">`, class)
	p.Described(titleOf(t.Name, t.ID), desc)
	fmt.Fprintf(p, `<rect x="%s" y="%s" width="%s" height="%s" rx="3"/>`, Number(node.X-node.W/2), Number(node.Y-node.H/2), Number(node.W), Number(node.H))
	_, h := LabelSize(node.Label)
	p.Lines("", node.X, node.Y-h/2+LineHeight/2, node.Label)
	if known {
		p.Line("rate", node.X, node.Y-node.H/2-7, Rate(p.o.Rates[i]))
	}
	p.Put("</g>\n")
}

// Rate formats firings a second, a minute, an hour or a day.
func Rate(r float64) string {
	unit := "/s"
	if r > 0 && r < 0.1 {
		r, unit = r*60, "/min"
		if r < 0.1 {
			r, unit = r*60, "/h"
		}
	}
	if r >= 1000 {
		return Count(r) + unit
	}
	return strconv.FormatFloat(r, 'g', 3, 64) + unit
}

func (p *picture) arc(a *Arc) {
	kind := a.Kind.String()
	fmt.Fprintf(p, `<path class="arc %s" d="%s"`, kind, Path(a.Points))
	switch a.Kind {
	case petri.Branch:
		p.Put(` marker-start="url(#pn-branch)" marker-end="url(#pn-normal)"`)
	case petri.Inhibitor, petri.Read, petri.Reset:
		fmt.Fprintf(p, ` marker-end="url(#pn-%s)"`, kind)
	default:
		p.Put(` marker-end="url(#pn-normal)"`)
	}
	p.Put("/>\n")
}

// cornerSize is the distance from a corner at which an arc begins to turn.
const cornerSize = 12

// Path returns the SVG path through points with round corners.
func Path(points []Point) string {
	var b strings.Builder
	write := func(command byte, p Point) {
		b.WriteByte(command)
		b.WriteString(Number(p.X) + " " + Number(p.Y))
	}
	write('M', points[0])
	for k := 1; k < len(points)-1; k++ {
		write('L', towards(points[k], points[k-1]))
		write('Q', points[k])
		write(' ', towards(points[k], points[k+1]))
	}
	write('L', points[len(points)-1])
	return b.String()
}

// towards returns the point where the corner at p begins on the way to q, at most half
// of the way.
func towards(p, q Point) Point {
	far := math.Hypot(q.X-p.X, q.Y-p.Y)
	if far == 0 {
		return p
	}
	k := min(cornerSize/far, 0.5)
	return Point{X: p.X + (q.X-p.X)*k, Y: p.Y + (q.Y-p.Y)*k}
}

// Longest returns the ends of the longest line through points.
func Longest(points []Point) (a, b Point) {
	best, longest := 1, -1.0
	for k := 1; k < len(points); k++ {
		if far := math.Hypot(points[k].X-points[k-1].X, points[k].Y-points[k-1].Y); far > longest {
			best, longest = k, far
		}
	}
	return points[best-1], points[best]
}

// weight writes an arc's weight in the middle of its longest line.
func (p *picture) weight(a *Arc) {
	if a.Weight <= 1 || a.Kind == petri.Reset {
		return
	}
	q, r := Longest(a.Points)
	p.Line("weight", (q.X+r.X)/2, (q.Y+r.Y)/2, strconv.FormatUint(uint64(a.Weight), 10))
	p.Put("\n")
}

// Number formats a coordinate with at most one decimal.
func Number(x float64) string { return strconv.FormatFloat(round(x), 'f', -1, 64) }
