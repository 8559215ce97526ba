// SPDX-License-Identifier: Apache-2.0

// Command flow draws pictures of boxes and arrows from text, for documents. It writes an SVG beside
// each file that it is given. A line of the text is one of
//
//	title TEXT
//	box NAME COLUMN ROW TEXT       columns and rows count from 0, and may be fractions
//	arrow FROM TO TEXT             from one box to another; TEXT may be left out
//
// A | in the text of a box begins a smaller line. The pictures are readable on light and dark ground.
package main

import (
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"strings"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := convert(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func convert(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	svg, err := draw(path, string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(path, ".flow")+".svg", []byte(svg), 0o644)
}

// Sizes in pixels.
const (
	columnWide, rowHigh = 200, 96
	boxWide, boxHigh    = 136, 54
	margin              = 12
)

type box struct {
	x, y  float64 // of its middle
	lines []string
}

type arrow struct {
	from, to *box
	text     string
}

type picture struct {
	title  string
	boxes  map[string]*box
	order  []*box
	arrows []arrow
}

var errLine = errors.New(`expected "title TEXT", "box NAME COLUMN ROW TEXT" or "arrow FROM TO TEXT" with names of boxes above`)

// draw returns the SVG of a text.
func draw(path, text string) (string, error) {
	p := &picture{boxes: map[string]*box{}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if err := p.read(line); err != nil {
			return "", fmt.Errorf("%s:%d: %q; %w", path, i+1, line, err)
		}
	}
	return p.svg(), nil
}

func (p *picture) read(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "title":
		p.title = rest
		return nil
	case "box":
		var name string
		var column, row float64
		_, err := fmt.Sscan(rest, &name, &column, &row)
		words := strings.SplitN(rest, " ", 4)
		if err != nil || len(words) < 4 || p.boxes[name] != nil {
			return errLine
		}
		b := &box{x: margin + boxWide/2 + column*columnWide, y: margin + boxHigh/2 + row*rowHigh, lines: strings.Split(words[3], "|")}
		p.boxes[name] = b
		p.order = append(p.order, b)
		return nil
	case "arrow":
		words := strings.SplitN(rest+" ", " ", 3)
		a := arrow{from: p.boxes[words[0]], to: p.boxes[words[1]], text: strings.TrimSpace(words[2])}
		if a.from == nil || a.to == nil || a.from == a.to {
			return errLine
		}
		p.arrows = append(p.arrows, a)
		return nil
	}
	return errLine
}

const style = `<style>
.flow{--paper:#fff;--ink:#1f2933;--soft:#52606d;--node:#f1f5f9;font-family:system-ui,"DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){.flow{--paper:#11181f;--ink:#e4e9ee;--soft:#a3b1bf;--node:#1b2631}}
.flow .ground{fill:var(--paper)}
.flow .box{fill:var(--node);stroke:var(--ink);stroke-width:1.5}
.flow text{fill:var(--ink);font-size:13px;text-anchor:middle;dominant-baseline:central}
.flow .small{font-size:11px;fill:var(--soft)}
.flow .label{font-size:11px;paint-order:stroke;stroke:var(--paper);stroke-width:5px;stroke-linejoin:round}
.flow path{fill:none;stroke:var(--soft);stroke-width:1.5}
.flow .tip{fill:var(--soft);stroke:none}
</style>
`

func (p *picture) svg() string {
	wide, high := 0.0, 0.0
	for _, b := range p.order {
		wide = max(wide, b.x+boxWide/2+margin)
		high = max(high, b.y+boxHigh/2+margin)
	}
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" class="flow" viewBox="0 0 %g %g" width="%g" height="%g" role="img">`+"\n", wide, high, wide, high)
	fmt.Fprintf(&s, "<title>%s</title>\n%s", html.EscapeString(p.title), style)
	fmt.Fprintf(&s, `<rect class="ground" width="%g" height="%g"/>`+"\n", wide, high)
	for _, a := range p.arrows {
		a.line(&s)
	}
	for _, b := range p.order {
		b.draw(&s)
	}
	for _, a := range p.arrows {
		if a.text != "" {
			fmt.Fprintf(&s, `<text class="label" x="%.0f" y="%.0f">%s</text>`+"\n", (a.from.x+a.to.x)/2, (a.from.y+a.to.y)/2, html.EscapeString(a.text))
		}
	}
	s.WriteString("</svg>\n")
	return s.String()
}

func (b *box) draw(s *strings.Builder) {
	fmt.Fprintf(s, `<rect class="box" x="%g" y="%g" width="%d" height="%d" rx="6"/>`+"\n", b.x-boxWide/2, b.y-boxHigh/2, boxWide, boxHigh)
	const line = 16
	top := b.y - float64(len(b.lines)-1)*line/2
	class := ""
	for i, text := range b.lines {
		fmt.Fprintf(s, `<text%s x="%g" y="%g">%s</text>`+"\n", class, b.x, top+float64(i)*line, html.EscapeString(text))
		class = ` class="small"`
	}
}

// line draws an arrow from the border of one box to that of another, on the line between their
// middles.
func (a *arrow) line(s *strings.Builder) {
	dx := a.to.x - a.from.x
	dy := a.to.y - a.from.y
	// The share of the line that is in half a box.
	in := min(boxWide/2/math.Max(math.Abs(dx), 1e-9), boxHigh/2/math.Max(math.Abs(dy), 1e-9))
	x := a.from.x + dx*(1-in)
	y := a.from.y + dy*(1-in)
	fmt.Fprintf(s, `<path d="M%.1f %.1fL%.1f %.1f"/>`, a.from.x+dx*in, a.from.y+dy*in, x, y)
	const tip, half = 9, 4
	long := math.Hypot(dx, dy)
	ux := dx / long
	uy := dy / long
	fmt.Fprintf(s, `<path class="tip" d="M%.1f %.1fL%.1f %.1fL%.1f %.1fZ"/>`+"\n", x, y, x-ux*tip-uy*half, y-uy*tip+ux*half, x-ux*tip+uy*half, y-uy*tip-ux*half)
}
