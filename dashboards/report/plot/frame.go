// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"time"
)

// Point is a value at a time.
type Point struct {
	At    time.Time
	Value float64
}

// most is the largest value that is drawn, so that the difference of two is one
// too; and its inverse is the smallest interval.
const most = 1e100

// Drawn reports whether a value is drawn: it is a number and not beyond 1e100.
func Drawn(v float64) bool { return math.Abs(v) <= most }

func (p Point) drawn() bool { return Drawn(p.Value) }

// Series is a line: points in the order of their times.
type Series struct {
	Name   string
	Points []Point
}

// Frame is where a picture is drawn. The zone of From is that of the times
// which the axis names.
type Frame struct {
	Width, Height int           // of the whole picture
	From, To      time.Time     // first and last time
	Step          time.Duration // between points; more than one and a half is a gap
	Unit          string        // of values, as Format takes it
	Title         string        // for those who do not see it

	inset int // more space on the left
}

// Space around the plot itself for what axes say.
const (
	left   = 62
	right  = 10
	above  = 8
	below  = 34
	apart  = 78 // pixels at least between times, for "Mon 2 Jan"
	apartY = 34
)

// canvas collects the SVG.
type canvas struct {
	strings.Builder
	f Frame
	y span // values at the bottom and at the top
}

func (f Frame) canvas(class string) *canvas {
	c := &canvas{f: f}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %d %d" role="img" aria-label="%s">`,
		class, f.Width, f.Height, escape(f.Title))
	return c
}

func (c *canvas) end() []byte {
	c.WriteString("</svg>")
	return []byte(c.String())
}

// x is where a time is.
func (f Frame) x(t time.Time) float64 {
	begin := float64(left + f.inset)
	length := f.To.Sub(f.From)
	if length <= 0 {
		return begin
	}
	part := float64(t.Sub(f.From)) / float64(length)
	return begin + min(max(part, 0), 1)*(float64(f.Width-right)-begin)
}

// at is where a value is.
func (c *canvas) at(v float64) float64 {
	high := float64(c.f.Height - above - below)
	part := (v - c.y.low) / (c.y.high - c.y.low)
	return above + high*(1-min(max(part, 0), 1))
}

// gap reports whether nothing is known between two points.
func (f Frame) gap(a, b Point) bool { return f.Step > 0 && b.At.Sub(a.At) > f.Step*3/2 }

// timeAxis draws the times below, and lines up from them.
func (c *canvas) timeAxis() {
	bottom := c.f.Height - below
	wanted := (c.f.Width - left - c.f.inset - right) / apart
	for _, t := range timeTicks(c.f.From, c.f.To, wanted) {
		x := c.f.x(t.at)
		fmt.Fprintf(c, `<path class="grid" d="M%s %dV%d"/><text class="mid" x="%s" y="%d">%s</text>`, px(x), above, bottom, px(x), bottom+16, t.label)
		if t.date != "" {
			fmt.Fprintf(c, `<text class="mid faint" x="%s" y="%d">%s</text>`, px(x), bottom+29, t.date)
		}
	}
	fmt.Fprintf(c, `<path class="axis" d="M%d %dH%d"/>`, left+c.f.inset, bottom, c.f.Width-right)
}

// valueAxis fits the axis to the values, draws it and lines from it.
func (c *canvas) valueAxis(s span) {
	var ticks []float64
	ticks, c.y = valueTicks(c.f.Unit, s, (c.f.Height-above-below)/apartY)
	for _, v := range ticks {
		y := c.at(v)
		fmt.Fprintf(c, `<path class="grid" d="M%d %sH%d"/><text class="end" x="%d" y="%s">%s</text>`,
			left, px(y), c.f.Width-right, left-6, px(y+4), escape(Format(c.f.Unit, v)))
	}
}

// nothing says so in the middle.
func (c *canvas) nothing() {
	fmt.Fprintf(c, `<text class="mid faint" x="%d" y="%d">no values in this span</text>`, (left+c.f.Width-right)/2, c.f.Height/2)
}

// px writes a place on the picture, to a tenth.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// escape makes a text safe inside of an element or an attribute.
func escape(s string) string { return html.EscapeString(s) }

// Clock is how a time is said: with its date where that is another than that of
// near.
func Clock(t, near time.Time) string {
	y, m, d := t.Date()
	if ny, nm, nd := near.Date(); y == ny && m == nm && d == nd {
		return t.Format("15:04:05")
	}
	return t.Format("Mon 2 Jan 15:04")
}
